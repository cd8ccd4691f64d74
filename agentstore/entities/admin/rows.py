"""What the pages of one row share: its store, its tabs, its addresses."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.http import HttpRequest
from django.utils.translation import gettext as _

from agentstore.core.models import AuditEntry
from agentstore.core.values import EntityRow
from agentstore.entities.admin.listing import ListingAdmin, Tab
from agentstore.entities.store import EntityStore

__all__ = ["RowAdmin"]


class RowAdmin(ListingAdmin):
    """One row: where its pages are, and what stands on all of them."""

    def store(self, request: HttpRequest, tenant: str) -> EntityStore[Any]:
        """Return the tenant's store, with the user as the actor."""
        return self.model.store(tenant, actor=self.actor(request))

    def instance(self, row: EntityRow[Any]) -> Any:
        """Return the model instance of a row, for its name, its address and the log."""
        return self.model(id=row.id, tenant=row.tenant, data=row.raw, version=row.version)

    def row_url(self, request: HttpRequest, name: str, obj: Any, *args: object) -> str:
        """Return the address of one of a row's pages, from which the list is found again as it was."""
        return self.preserving(request, self.url(name, obj.pk, *args))

    def list_url(self, request: HttpRequest) -> str:
        """Return the address of the list, with the filters from which the user came."""
        return self.preserving(request, self.url("changelist"))

    def add_url(self, request: HttpRequest) -> str:
        """Return the address of the add form."""
        return self.preserving(request, self.url("add"))

    def preserving(self, request: HttpRequest, url: str) -> str:
        """Return an address from which the list is found again as it was."""
        preserved: dict[str, Any] = {
            "preserved_filters": self.get_preserved_filters(request),
            "opts": self.opts,
        }
        return add_preserved_filters(preserved, url)

    def full_text(self, tenant: str) -> str:
        """Say that a tenant's quota has no place left."""
        usage = self.model.store(tenant).usage()
        return _("No place left: %(used)s of %(capacity)s are used.") % {
            "used": f"{usage.used:,}",
            "capacity": f"{usage.capacity:,}",
        }

    def row_context(self, request: HttpRequest, obj: Any, current: str) -> dict[str, Any]:
        """Return the tabs of a row, and the tenant that it belongs to."""
        count = self.audit(obj).count()
        edit = _("Edit") if self.has_change_permission(request, obj) else _("View")
        history = _("History (%(count)s)") % {"count": f"{count:,}"}
        return {
            "tabs": [
                Tab(label=edit, url=self.row_url(request, "change", obj), current=current == "edit"),
                Tab(label=history, url=self.row_url(request, "history", obj), current=current == "history"),
            ],
            "tenant": self.label(obj.tenant),
        }

    def audit(self, obj: Any) -> Any:
        """Return the audited changes of a row."""
        return AuditEntry.objects.using(obj._state.db or "default").filter(tenant=obj.tenant, row_id=obj.pk)
