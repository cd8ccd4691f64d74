"""What the pages of one row share: its store, its tabs, its addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.admin.exceptions import DisallowedModelAdminToField
from django.contrib.admin.options import IS_POPUP_VAR, TO_FIELD_VAR
from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.http import HttpRequest
from django.template.response import TemplateResponse
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

    def page(
        self, request: HttpRequest, template: str, context: Mapping[str, Any], **words: Any
    ) -> TemplateResponse:
        """Answer with one of our templates; in a popup without what leads away from it."""
        popup = self.popup_fields(request)
        context = {"is_popup": bool(popup), "popup_fields": popup, **context}
        return super().page(request, template, context, **words)

    def popup_fields(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return what a popup's form sends back: another model's form opened it. Else return nothing.

        Raises:
            DisallowedModelAdminToField: the popup asks for a field that no model refers to.
        """
        given = {**request.GET.dict(), **request.POST.dict()}
        if IS_POPUP_VAR not in given:
            return []
        field = str(given.get(TO_FIELD_VAR, ""))
        if field and not self.to_field_allowed(request, field):
            raise DisallowedModelAdminToField(f"The field {field} cannot be referenced.")
        names = (IS_POPUP_VAR, TO_FIELD_VAR, "_source_model")
        return [(name, str(given[name])) for name in names if given.get(name)]

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
        editable = obj.deleted_at is None and self.has_change_permission(request, obj)
        edit = _("Edit") if editable else _("View")
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
