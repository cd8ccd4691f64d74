"""The demo's settings with the tests' own entities; ``tests.conftest`` supplies the database.

``DATABASE_URL`` names the server to test on: PostgreSQL, or ``sqlite://``. Without it the tests
start a throw-away PostgreSQL when the first of them needs a database, so that reading these
settings (as mypy and ``makemigrations`` do) starts nothing.
"""

import os

from project.settings import *  # noqa: F403
from project.settings import INSTALLED_APPS, database

DATABASE_URL = os.environ.get("DATABASE_URL") or "postgresql://postgres@/agentstore"

INSTALLED_APPS = [*INSTALLED_APPS, "tests.testapp"]

DATABASES = {"default": database(DATABASE_URL)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["OPTIONS"] |= {"connect_timeout": 20}
    if os.environ.get("AGENTSTORE_TEST_BINDING") == "client":  # Django's own defaults
        for name in ("server_side_binding", "prepare_threshold"):
            del DATABASES["default"]["OPTIONS"][name]
else:
    DATABASES["default"]["OPTIONS"] |= {
        "timeout": 60,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF",
    }

AGENTSTORE = {}  # the defaults; the demo sets its own

DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
