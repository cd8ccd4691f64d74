"""``EntityAdmin``: the admin of any entity, made from its schema. Subclass it in a host's ``admin.py``."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.urls import URLPattern, path

from agentstore.entities.admin.transfer import TransferAdmin
from agentstore.entities.base import EntityModel
from agentstore.entities.registry import all_entities

__all__ = ["EntityAdmin", "register_missing"]


class EntityAdmin(TransferAdmin):
    """List, form, history, delete and undelete of an entity's rows; every change goes through its store.

    A subclass may set ``list_display``, ``list_filter``, ``multiline`` (text fields with room for
    several lines) and every template's name.
    """

    def __init__(self, model: type[EntityModel], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        self.capability = self.capability or f"entities.{model.entity.name}"

    def get_urls(self) -> list[URLPattern]:
        """Return the admin's own addresses, and those of import, export, versions and undelete."""
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        pages: dict[str, tuple[str, Any]] = {
            "import": ("import/", self.import_view),
            "export": ("export/", self.export_view),
            "version": ("<path:object_id>/versions/<int:version>/", self.version_view),
            "undelete": ("<path:object_id>/undelete/", self.undelete_view),
        }
        own = [
            path(route, self.admin_site.admin_view(view), name=f"{prefix}_{name}")
            for name, (route, view) in pages.items()
        ]
        return [*own, *super().get_urls()]


def register_missing(site: admin.AdminSite, admin_class: Any = EntityAdmin) -> None:
    """Register every entity that nobody registered: a host's own registration wins."""
    for model in all_entities():
        if not site.is_registered(model):
            site.register(model, admin_class)
