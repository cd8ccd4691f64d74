"""What the admin lists the overview under. It is no table, and nothing to migrate."""

from __future__ import annotations

from django.apps.registry import Apps
from django.utils.translation import gettext_lazy as _

from agentstore.core.models import Usage

__all__ = ["Overview"]


class Overview(Usage):
    """The counters under the name of the page that shows them.

    A registry of its own keeps it out of the project's models: migrations, dumps and content types
    know nothing of it, and no permission guards it but those of what the page shows.
    """

    class Meta:
        proxy = True
        apps = Apps()
        app_label = "agentstore"
        default_permissions = ()
        verbose_name = _("overview")
        verbose_name_plural = _("overview")
