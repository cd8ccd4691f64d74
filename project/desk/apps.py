"""The Django app of the front desk."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DeskConfig(AppConfig):
    """Reminders, contacts, orders and notes."""

    name = "project.desk"
    verbose_name = _("Desk")
