"""The admin of everything agentstore stores: fills the gaps that the host's own registrations leave.

The admin imports this module, as any app's, while it looks for registrations. Those of the other apps
are looked for first, so that a host's own wins whatever the order of ``INSTALLED_APPS``.
"""

from __future__ import annotations

import sys

from django.apps import apps
from django.contrib import admin
from django.utils.module_loading import autodiscover_modules

from agentstore.entities.admin import EntityAdmin
from agentstore.entities.admin import register_missing as register_missing_entities
from agentstore.files.admin import AgentFileAdmin
from agentstore.files.admin import register_missing as register_missing_files
from agentstore.overview.admin import OverviewAdmin
from agentstore.overview.admin import register_missing as register_missing_overview
from agentstore.strategies.admin import IncidentAdmin, StrategyAdmin
from agentstore.strategies.admin import register_missing as register_missing_strategies

__all__ = [
    "AgentFileAdmin",
    "EntityAdmin",
    "IncidentAdmin",
    "OverviewAdmin",
    "StrategyAdmin",
    "register_missing",
]


def register_missing(site: admin.AdminSite) -> None:
    """Register what no app has registered with ``site``."""
    register_missing_entities(site)
    register_missing_files(site)
    register_missing_strategies(site)
    register_missing_overview(site)


def _is_importing() -> bool:
    """Tell whether some app's own ``admin`` is half imported: it is what imports this module.

    Only the import system knows, in a private attribute; without it, registering is merely earlier.
    """
    modules = (sys.modules.get(f"{config.name}.admin") for config in apps.get_app_configs())
    specs = (getattr(module, "__spec__", None) for module in modules if module is not None)
    return any(spec.name != __name__ and getattr(spec, "_initializing", False) for spec in specs if spec)


if not _is_importing():  # pragma: no branch
    autodiscover_modules("admin", register_to=admin.site)
    register_missing(admin.site)
