"""The Django app of the reference tables."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ReferenceConfig(AppConfig):
    """Airports and cars."""

    name = "project.reference"
    verbose_name = _("Reference")
