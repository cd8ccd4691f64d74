"""The pages of a form: what they show, what they say when it is refused, where they lead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.forms import Media
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.core import errors
from agentstore.core.admin import Crumb
from agentstore.core.values import EntityRow, JSONObject
from agentstore.entities.admin.display import show_all
from agentstore.entities.admin.rows import RowAdmin
from agentstore.entities.forms import SchemaForm
from agentstore.entities.forms.shape import MISSING, shapes_of

__all__ = ["FormPages", "document"]

_FORM_MEDIA = Media(js=["admin/js/calendar.js", "admin/js/admin/DateTimeShortcuts.js"])


def document(row: EntityRow[Any]) -> JSONObject:
    """Return what a form shows of a row: what is stored, even where the schema refuses it."""
    return row.raw if isinstance(row.raw, dict) else {}


class FormPages(RowAdmin):
    """The form's page, the page for reading, and the way on after a save."""

    add_form_template = change_form_template = "agentstore/admin/entity_form.html"
    readonly_template = "agentstore/admin/entity_view.html"
    #: Text fields that get room for several lines, whatever their name.
    multiline: Sequence[str] = ()

    def explain(self, form: SchemaForm, error: errors.AgentStoreError, tenant: str) -> None:
        """Put an error of the store where it belongs: at its field, or above the form."""
        if isinstance(error, errors.ValidationFailed) and error.errors:
            form.attach(error.errors)
        elif isinstance(error, errors.QuotaExceeded):
            form.errors.append(self.full_text(tenant))
        else:
            form.errors.append(error.full_message)

    def form_page(
        self,
        request: HttpRequest,
        form: SchemaForm,
        obj: Any,
        context: dict[str, Any],
        *,
        status: int = 200,
    ) -> HttpResponse:
        name = self.opts.verbose_name
        add = obj is None
        count = form.error_count
        summary = ngettext(
            "Please correct the error below. Nothing was saved.",
            "Please correct the %(count)d errors below. Nothing was saved.",
            count,
        ) % {"count": count}
        label = _("Add %(name)s") % {"name": name} if add else str(obj)
        context = {
            "form": form,
            "original": obj,
            "summary": summary if form.is_bound and count and "notice" not in context else "",
            "reason": request.POST.get("reason", ""),
            "may_delete": not add and self.has_delete_permission(request, obj),
            "may_add": self.has_add_permission(request),
            "media": self.media + _FORM_MEDIA,
            "clean_url": request.get_full_path(),
            "delete_url": "" if add else self.row_url(request, "delete", obj),
            **context,
            **({} if add else self.row_context(request, obj, "edit")),
        }
        title = label if add else _("Change %(name)s") % {"name": name}
        subtitle = "" if add else str(obj)
        template = self.add_form_template if add else self.change_form_template
        crumbs = self.crumbs(Crumb(label=label))
        return self.page(
            request, template, context, title=title, subtitle=subtitle, crumbs=crumbs, status=status
        )

    def readonly_page(
        self, request: HttpRequest, obj: Any, row: EntityRow[Any] | None, *, deleted: bool
    ) -> HttpResponse:
        if row is None:
            return self.not_found(request, str(obj.pk))
        shown = document(row)
        context = {
            "fields": [
                show_all(shape, shown.get(shape.key, MISSING)) for shape in shapes_of(self.model.Schema)
            ],
            "row": row,
            "original": obj,
            "deleted": deleted,
            "may_undelete": deleted and self.has_undelete_permission(request, obj),
            "undelete_url": self.row_url(request, "undelete", obj),
            **self.row_context(request, obj, "edit"),
        }
        title = _("View %(name)s") % {"name": self.opts.verbose_name}
        return self.page(
            request, self.readonly_template, context, title=title, subtitle=str(obj),
            crumbs=self.crumbs(Crumb(label=str(obj))),
        )  # fmt: skip

    def link(self, request: HttpRequest, obj: Any) -> str:
        return format_html('<a href="{}">{}</a>', self.url("change", obj.pk), str(obj))

    def go_on(
        self, request: HttpRequest, obj: Any, message: str | None, *, added: bool = False
    ) -> HttpResponse:
        """Say what was done, and go where the button said; from a popup, back to what opened it."""
        if self.popup_fields(request):
            return self.response_add(request, obj) if added else self.response_change(request, obj)
        if message is not None:
            self.message_user(request, message, messages.SUCCESS)
        if "_continue" in request.POST:
            return HttpResponseRedirect(self.row_url(request, "change", obj))
        if "_addanother" in request.POST:
            return HttpResponseRedirect(self.add_url(request))
        return HttpResponseRedirect(self.list_url(request))
