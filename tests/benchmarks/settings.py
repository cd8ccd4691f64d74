"""The tests' settings with the benchmarks' own entities, one database under two sets of options.

``default`` has what the README recommends (statements prepared on the server), ``stock`` has
Django's own defaults. ``Switch`` sends the stores to the one that is being measured.
"""

import os
from copy import deepcopy

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.benchmarks"]

DATABASES["default"]["TEST"] = {"NAME": f"agentstore_bench_{os.getpid()}"}
DATABASES["default"]["CONN_MAX_AGE"] = None  # a server worker that is warm
DATABASES["stock"] = deepcopy(DATABASES["default"])
for _option in ("server_side_binding", "prepare_threshold"):
    del DATABASES["stock"]["OPTIONS"][_option]
DATABASE_ROUTERS = ["tests.benchmarks.database.Switch"]

ROOT_URLCONF = "tests.benchmarks.urls"
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": ["tests.benchmarks.wsgi.Bearer"]}
