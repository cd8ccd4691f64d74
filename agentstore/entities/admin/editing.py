"""Add and change: forms made from the schema, and saves that never overwrite what somebody else saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.access import get_access
from agentstore.core.tenancy import check_tenant
from agentstore.core.values import EntityRow, JSONObject
from agentstore.entities.admin.filters import TENANT
from agentstore.entities.admin.formpages import FormPages, document
from agentstore.entities.admin.stale import Notice, Overlap, compare, merged_form, taken, who_saved
from agentstore.entities.forms import SchemaForm
from agentstore.entities.forms.shape import shapes_of
from agentstore.entities.store import EntityStore

__all__ = ["EditingAdmin"]


@dataclass(kw_only=True)
class TenantField:
    """The tenant of a new row: one of ``choices``, or typed where any tenant may be named."""

    value: str
    choices: Sequence[tuple[str, str]]
    typed: bool
    help: str = ""
    errors: list[str] = field(default_factory=list)


class EditingAdmin(FormPages):
    """The add and change pages of an entity."""

    # --- add -----------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show an empty form for a new row, or create the row."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        posted = request.POST if request.method == "POST" else None
        form = SchemaForm(self.model.Schema, posted=posted, multiline=self.multiline)
        tenant = self.tenant_field(request)
        if posted is not None:
            row = self._create(request, form, tenant)
            if row is not None:
                return self._created(request, row)
        return self.form_page(request, form, None, {"tenant_field": tenant})

    def tenant_field(self, request: HttpRequest) -> TenantField:
        """Return the field for the tenant: what was posted, else the one that the list shows."""
        tenants = self.tenants(request)
        filters = parse_qs(request.GET.get("_changelist_filters", ""))
        given = request.POST or request.GET
        value = given.get(TENANT, filters.get(TENANT, [""])[0])
        words = _("Whom the row belongs to. It can’t be changed later.")
        if tenants is None:
            offered = self.offered_tenants(request)[0]
            return TenantField(value=value, choices=offered, typed=True, help=words)
        choices = sorted(((t, self.label(t)) for t in tenants), key=lambda pair: pair[1].casefold())
        return TenantField(value=value, choices=choices, typed=False, help=words)

    def _create(self, request: HttpRequest, form: SchemaForm, tenant: TenantField) -> EntityRow[Any] | None:
        """Return the new row, or None with the errors in ``form`` and ``tenant``."""
        data = form.changes.patch
        if not self.may_add_to(request, tenant) or form.error_count:
            return None
        try:
            store = self.store(request, tenant.value)
            return store.create(data, reason=self.reason(request))
        except errors.AgentStoreError as error:
            self.explain(form, error, tenant.value)
        return None

    def may_add_to(self, request: HttpRequest, tenant: TenantField) -> bool:
        """Tell whether rows may be added for the tenant, with the reason in the field if not."""
        try:
            check_tenant(tenant.value)
        except errors.ValidationFailed as error:
            tenant.errors = [_("Choose a tenant.")] if not tenant.value else [error.message]
            return False
        if not self.allows(request, "add", tenant.value):
            tenant.errors = [_("You may not add rows for this tenant.")]
        return not tenant.errors

    def _created(self, request: HttpRequest, row: EntityRow[Any]) -> HttpResponse:
        obj = self.instance(row)
        self.log(request, [obj], ADDITION, _("Added as version 1."))
        message = _("The {name} “{obj}” was added.")
        text = format_html(message, name=self.opts.verbose_name, obj=self.link(request, obj))
        return self.go_on(request, obj, text, added=True)

    # --- change --------------------------------------------------------------------------------

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show a row in its form, or save what was changed in it."""
        obj = self.get_object(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        store = self.store(request, obj.tenant)
        if request.method == "POST":
            self.require(request, "change", obj.tenant)
            return self._save(request, obj, store)
        row = store.get(obj.pk)
        if row is None or not self.has_change_permission(request, obj):
            return self.readonly_page(request, obj, row or store.get_deleted(obj.pk), deleted=row is None)
        form = SchemaForm(self.model.Schema, document(row), multiline=self.multiline)
        form.attach(row.schema_errors)
        return self.form_page(
            request, form, obj, {"version": row.version, "spoiled": bool(row.schema_errors)}
        )

    def _save(self, request: HttpRequest, obj: Any, store: EntityStore[Any]) -> HttpResponse:
        version = opened_version(request.POST)
        row = store.get(obj.pk)
        if row is None:
            return self._gone(request, obj, store)
        opened = row if version == row.version else store.get(obj.pk, version=version) if version else None
        base = None if opened is None else document(opened)
        form = self._posted_form(request.POST, document(row) if base is None else base)
        if version != row.version:
            return self._stale(request, obj, store, row, form, base)
        if not form.changes and not form.error_count:
            return self._unchanged(request, obj)
        if not form.error_count:
            try:
                return self._saved(request, obj, self._update(request, store, row, form))
            except (errors.Conflict, errors.NotFound):
                return self._save(request, obj, store)  # somebody was faster: now it is stale
            except errors.AgentStoreError as error:
                self.explain(form, error, obj.tenant)
        return self.form_page(request, form, obj, {"version": row.version})

    def _posted_form(self, posted: Mapping[str, str], base: JSONObject) -> SchemaForm:
        keys = [shape.key for shape in shapes_of(self.model.Schema)]
        only = set(keys) - taken(posted, keys)
        return SchemaForm(self.model.Schema, base, posted, only=only, multiline=self.multiline)

    def _update(
        self, request: HttpRequest, store: EntityStore[Any], row: EntityRow[Any], form: SchemaForm
    ) -> tuple[EntityRow[Any], EntityRow[Any], list[str]]:
        changes = form.changes
        saved = store.update(
            row.id,
            changes.patch,
            unset=changes.unset,
            expected_version=row.version,
            reason=self.reason(request),
        )
        return row, saved, changes.keys

    def _saved(
        self, request: HttpRequest, obj: Any, result: tuple[EntityRow[Any], EntityRow[Any], list[str]]
    ) -> HttpResponse:
        before, row, keys = result
        if not row.changed:
            return self._unchanged(request, obj)
        obj = self.instance(row)
        names = {"fields": ", ".join(keys), "old": before.version, "new": row.version}
        self.log(
            request, [obj], CHANGE, _("Changed %(fields)s: version %(old)d became version %(new)d.") % names
        )
        message = _("The {name} “{obj}” was saved: version {old} became version {new}.")
        link = self.link(request, obj)
        text = format_html(
            message, name=self.opts.verbose_name, obj=link, old=before.version, new=row.version
        )
        return self.go_on(request, obj, text)

    def _unchanged(self, request: HttpRequest, obj: Any) -> HttpResponse:
        self.message_user(request, _("Nothing was changed, so nothing was saved."), messages.INFO)
        return self.go_on(request, obj, None)

    # --- stale ---------------------------------------------------------------------------------

    def _stale(
        self,
        request: HttpRequest,
        obj: Any,
        store: EntityStore[Any],
        row: EntityRow[Any],
        form: SchemaForm,
        base: JSONObject | None,
    ) -> HttpResponse:
        """Show the form again on top of what somebody saved; write nothing."""
        overlap = compare(form, base, document(row))
        if not overlap.both and not overlap.yours:
            return self._unchanged(request, obj)
        opened = opened_version(request.POST)
        entries = store.history(obj.pk, limit=50)
        who, last = who_saved(entries, opened)
        who = who or _("others")
        merged = merged_form(
            self.model.Schema, base, document(row), request.POST, overlap, who, self.multiline
        )
        notice = Notice(
            opened=opened,
            current=row.version,
            who=last.actor if last else "",
            by_you=bool(last and last.actor == get_access().actor(request.user)),
            at=last.at if last else None,
            reason=last.reason if last else "",
            **_sorted_fields(merged, overlap),
        )
        context = {"version": row.version, "notice": notice, "who": who}
        return self.form_page(request, merged, obj, context, status=409)

    def _gone(self, request: HttpRequest, obj: Any, store: EntityStore[Any]) -> HttpResponse:
        """Keep the text of a form whose row was deleted meanwhile."""
        row = store.get_deleted(obj.pk)
        if row is None:
            return self.not_found(request, str(obj.pk))
        form = self._posted_form(request.POST, document(row))
        last = next(iter(store.history(obj.pk, limit=1)), None)
        notice = Notice(
            opened=opened_version(request.POST),
            current=row.version,
            who=last.actor if last else "",
            at=last.at if last else row.deleted_at,
            reason=last.reason if last else "",
            deleted=True,
        )
        context = {"version": opened_version(request.POST) or row.version, "notice": notice}
        return self.form_page(request, form, obj, context, status=409)


def opened_version(posted: Mapping[str, str]) -> int | None:
    """Return the version that the form was opened at, None where it says none that can be."""
    text = posted.get("version", "")
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 10 else None


def _sorted_fields(form: SchemaForm, overlap: Overlap) -> dict[str, Any]:
    groups = {"both": overlap.both, "theirs": overlap.theirs, "yours": overlap.yours}
    return {name: [form[key] for key in keys] for name, keys in groups.items()}
