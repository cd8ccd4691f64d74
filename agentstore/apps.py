"""The Django app. ``ready()`` registers checks and SQLite's functions; nothing is built there."""

from __future__ import annotations

import sys
from collections.abc import Callable

from django.apps import AppConfig, apps
from django.utils.translation import gettext_lazy as _


class AgentstoreConfig(AppConfig):
    """django-agentstore; its schema does not depend on the host's settings."""

    name = label = "agentstore"
    verbose_name = _("Agentstore")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agentstore import checks
        from agentstore.core import sqlite

        checks.register()
        sqlite.register()
        _after_the_admin(_fill_the_admin)


def _after_the_admin(work: Callable[[], None]) -> None:
    """Do ``work`` once the admin has looked for registrations, wherever it stands in ``INSTALLED_APPS``."""
    installed = [config.label for config in apps.get_app_configs()]
    if "admin" not in installed or installed.index("admin") < installed.index("agentstore"):
        work()
        return
    config = apps.get_app_config("admin")
    look = config.ready

    def ready() -> None:
        look()
        work()

    config.ready = ready  # type: ignore[method-assign]


def _fill_the_admin() -> None:
    """Register what is missing: a host's ``admin`` may have imported ours before it was finished itself."""
    ours = sys.modules.get("agentstore.admin")
    if ours is not None:
        ours.register_missing(ours.admin.site)
