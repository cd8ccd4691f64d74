"""The Django app. ``ready()`` registers checks and SQLite's functions; nothing is built there."""

from __future__ import annotations

import sys

from django.apps import AppConfig
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
        # A host's admin.py may import ours while the admin still looks for registrations.
        ours = sys.modules.get("agentstore.admin")
        if ours is not None:
            ours.register_missing(ours.admin.site)
