"""Settings of the demo project: SQLite in a file, or the database that ``DATABASE_URL`` names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dj_database_url

BASE_DIR = Path(__file__).resolve().parent.parent

SECRET_KEY = os.environ.get("SECRET_KEY", "only-for-the-demo-choose-your-own-for-anything-else")
DEBUG = True
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "testserver"]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
    "simple_history",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "agentstore",
    "project",
    "project.desk",
    "project.reference",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
ASGI_APPLICATION = "project.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# A write transaction takes SQLite's lock when it begins, and waits for it: without this, two
# writers that both read first would end in "database is locked".
SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
}

# Prepared statements on the server: about a third faster. Not behind PgBouncer.
POSTGRES_OPTIONS: dict[str, Any] = {"server_side_binding": True, "prepare_threshold": 0}


def database(url: str) -> dict[str, Any]:
    """Return Django's settings for ``url``; none, or ``sqlite://``, is the demo's own file."""
    config: dict[str, Any] = dict(dj_database_url.parse(url or "sqlite://"))
    if config["ENGINE"] == "django.db.backends.sqlite3":
        if config["NAME"] == ":memory:":
            config["NAME"] = BASE_DIR / "demo.sqlite3"
        defaults = SQLITE_OPTIONS
    else:
        defaults = POSTGRES_OPTIONS
    config["OPTIONS"] = {**defaults, **config.get("OPTIONS", {})}
    return config


DATABASES = {"default": database(os.environ.get("DATABASE_URL", ""))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "Europe/Berlin"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "rest_framework.authentication.BasicAuthentication",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Agentstore demo",
    "DESCRIPTION": "Durable state for LLM agents: entities, agent files and strategies.",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "agentstore.openapi.describe_groups",
    ],
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none"},  # every group on one screen
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

AGENTSTORE: dict[str, Any] = {
    "ACCESS": "project.access.CompanyAccess",
    "STRATEGY_CAPACITY": 160,  # low, so that one company's lessons are at the limit
}
