"""``StrategyAdmin`` and ``IncidentAdmin``: the pages of strategies. Every change goes through the store."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpResponse
from django.urls import URLPattern, path

from agentstore.strategies.admin.adding import AddingAdmin
from agentstore.strategies.admin.incidents import IncidentAdmin
from agentstore.strategies.models import Incident, Strategy

__all__ = ["IncidentAdmin", "StrategyAdmin", "register_missing"]


class StrategyAdmin(AddingAdmin):
    """Strategies: list by rank, find playground, pruning, seed upload, export.

    A subclass may set every template's name.
    """

    actions = None

    def get_urls(self) -> list[URLPattern]:
        """Return the admin's own addresses and ours."""
        pages: dict[str, Callable[..., HttpResponse]] = {
            "find": self.find_view,
            "prune": self.prune_view,
            "seed": self.seed_view,
            "export": self.export_view,
        }
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path(f"{name}/", self.admin_site.admin_view(view), name=f"{prefix}_{name}")
            for name, view in pages.items()
        ]
        return [*own, *super().get_urls()]


def register_missing(site: admin.AdminSite) -> None:
    """Register strategies and incidents unless the host did: its own registration wins."""
    if not site.is_registered(Strategy):
        site.register(Strategy, StrategyAdmin)
    if not site.is_registered(Incident):
        site.register(Incident, IncidentAdmin)
