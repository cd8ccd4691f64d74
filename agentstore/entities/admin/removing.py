"""Delete and undelete, one row or many: a question first, then the store, then the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import CHANGE, DELETION
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentstore.core import errors
from agentstore.core.admin import Crumb, breaking
from agentstore.entities.admin.editing import EditingAdmin
from agentstore.entities.admin.filters import DELETED

__all__ = ["MOST", "RemovingAdmin"]

#: How many rows one action takes, and how many of them its question lists.
MOST, LISTED = 500, 20


class RemovingAdmin(EditingAdmin):
    """The delete and undelete pages and actions of an entity."""

    delete_confirmation_template = delete_selected_confirmation_template = "agentstore/admin/confirm.html"
    actions = ("delete_selected", "undelete_selected")

    def get_actions(self, request: HttpRequest, action_location: Any = None) -> Any:
        """Return the action of the tab: delete on live rows, undelete on deleted ones."""
        found: Any = (
            super().get_actions(request)
            if action_location is None
            else super().get_actions(request, action_location)  # type: ignore[call-arg]
        )
        found.pop("delete_selected" if DELETED in request.GET else "undelete_selected", None)
        return found

    # --- one row -------------------------------------------------------------------------------

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask whether to delete a row, or delete it."""
        obj = self.get_object(request, object_id)
        if obj is None or obj.deleted_at is not None:
            return self.not_found(request, object_id)
        self.require(request, "delete", obj.tenant)
        if request.method != "POST":
            return self._ask_delete(request, obj)
        try:
            expected = _number(request.POST.get("version", ""))
            store = self.store(request, obj.tenant)
            gone = store.delete(obj.pk, expected_version=expected, reason=self.reason(request))
        except errors.Conflict:
            obj = self.get_object(request, object_id)
            if obj is None:
                return self.not_found(request, object_id)
            return self._ask_delete(request, obj, changed=True)
        if not gone:
            return self.not_found(request, object_id)
        self.log(request, [obj], DELETION, self._log_text(_("Deleted at version %d.") % obj.version, request))
        if self.popup_fields(request):
            return self.response_delete(request, str(obj), obj.pk)
        names = {"name": self.opts.verbose_name, "obj": str(obj), "version": obj.version}
        message = _("The %(name)s “%(obj)s” was deleted at version %(version)d. It can be undeleted.") % names
        return self.done(request, message, self.list_url(request))

    def _ask_delete(self, request: HttpRequest, obj: Any, *, changed: bool = False) -> HttpResponse:
        name = {"name": self.opts.verbose_name, "obj": str(obj)}
        note = _("It is now at version %d, saved by somebody while you were looking. Here it is again.")
        return self._ask(
            request,
            [obj],
            title=_("Delete this %(name)s?") % name,
            sentence=_("It disappears for everybody and frees its place. It can be undeleted."),
            button=_("Delete “%(obj)s”") % name,
            hidden=[("version", obj.version)],
            back=self.row_url(request, "change", obj),
            warning=note % obj.version if changed else "",
            status=409 if changed else 200,
        )

    def undelete_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask whether to undelete a row, or undelete it."""
        obj = self.get_object(request, object_id)
        if obj is None or obj.deleted_at is None:
            return self.not_found(request, object_id)
        self.require(request, "undelete", obj.tenant)
        if request.method == "POST":
            try:
                row = self.store(request, obj.tenant).undelete(obj.pk, reason=self.reason(request))
            except errors.NotFound:  # purged in this very moment
                return self.not_found(request, object_id)
            except errors.QuotaExceeded:
                self.message_user(request, self.full_text(obj.tenant), messages.ERROR)
            else:
                return self._undeleted(request, obj, row.version)
        name = {"name": self.opts.verbose_name, "obj": str(obj)}
        return self._ask(
            request,
            [obj],
            title=_("Undelete this %(name)s?") % name,
            sentence=_("It comes back as it was, at version %d, and takes a place again.") % obj.version,
            button=_("Undelete “%(obj)s”") % name,
            back=self.row_url(request, "change", obj),
        )

    def _undeleted(self, request: HttpRequest, obj: Any, version: int) -> HttpResponse:
        self.log(request, [obj], CHANGE, self._log_text(_("Undeleted at version %d.") % version, request))
        names = {"name": self.opts.verbose_name, "obj": str(obj), "version": version}
        message = _("The %(name)s “%(obj)s” was undeleted at version %(version)d.") % names
        return self.done(request, message, self.row_url(request, "change", obj))

    # --- many rows -----------------------------------------------------------------------------

    @admin.action(
        permissions=["delete"], description=gettext_lazy("Delete selected %(verbose_name_plural)s…")
    )
    def delete_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask whether to delete the ticked rows, or delete them."""
        rows = self._ticked(request, queryset, "delete")
        if not rows or request.POST.get("post"):
            self._delete_rows(request, rows)
            return None
        count = {"count": len(rows), "name": self._noun(len(rows))}
        return self._ask_many(
            request,
            rows,
            action="delete_selected",
            title=_("Delete %(count)d %(name)s?") % count,
            sentence=_("They disappear for everybody and free their places. They can be undeleted."),
            button=_("Delete %(count)d %(name)s") % count,
        )

    def _delete_rows(self, request: HttpRequest, rows: list[Any]) -> None:
        reason, gone = self.reason(request), []
        for row in rows:
            if self.store(request, row.tenant).delete(row.pk, reason=reason):
                gone.append(row)
        self.log(request, gone, DELETION, self._log_text(_("Deleted."), request))
        if gone:
            message = _("Deleted %(count)d %(name)s.") % {"count": len(gone), "name": self._noun(len(gone))}
            self.message_user(request, message, messages.SUCCESS)

    @admin.action(
        permissions=["undelete"], description=gettext_lazy("Undelete selected %(verbose_name_plural)s")
    )
    def undelete_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask whether to undelete the ticked rows, or undelete them as far as there are places."""
        rows = self._ticked(request, queryset, "undelete")
        if not rows or request.POST.get("post"):
            self._undelete_rows(request, rows)
            return None
        count = {"count": len(rows), "name": self._noun(len(rows))}
        return self._ask_many(
            request,
            rows,
            action="undelete_selected",
            title=_("Undelete %(count)d %(name)s?") % count,
            sentence=_("They come back as they were, and take places again."),
            button=_("Undelete %(count)d %(name)s") % count,
        )

    def _undelete_rows(self, request: HttpRequest, rows: list[Any]) -> None:
        reason, back, full = self.reason(request), [], {}
        for row in rows:
            try:
                self.store(request, row.tenant).undelete(row.pk, reason=reason)
                back.append(row)
            except errors.QuotaExceeded:
                full[row.tenant] = self.full_text(row.tenant)
            except errors.NotFound:
                continue  # purged while the question was on the screen
        self.log(request, back, CHANGE, self._log_text(_("Undeleted."), request))
        if back:
            message = _("Undeleted %(count)d %(name)s.") % {"count": len(back), "name": self._noun(len(back))}
            self.message_user(request, message, messages.SUCCESS)
        for text in full.values():
            self.message_user(request, text, messages.ERROR)

    def _ticked(self, request: HttpRequest, queryset: QuerySet[Any], action: str) -> list[Any]:
        """Return the ticked rows; none, with a message, where there are too many."""
        rows = list(queryset[: MOST + 1])
        for tenant in {row.tenant for row in rows}:
            self.require(request, action, tenant)
        if len(rows) <= MOST:
            return rows
        self.message_user(request, _("Choose at most %d rows at a time.") % MOST, messages.ERROR)
        return []

    # --- the question --------------------------------------------------------------------------

    def _ask_many(self, request: HttpRequest, rows: list[Any], *, action: str, **words: Any) -> HttpResponse:
        hidden = [(ACTION_CHECKBOX_NAME, row.pk) for row in rows]
        hidden += [("action", action), ("post", "yes")]
        return self._ask(request, rows, hidden=hidden, back=request.get_full_path(), **words)

    def _ask(
        self,
        request: HttpRequest,
        rows: Sequence[Any],
        *,
        title: str,
        sentence: str,
        button: str,
        back: str,
        hidden: Sequence[tuple[str, object]] = (),
        warning: str = "",
        status: int = 200,
    ) -> HttpResponse:
        columns = [*self._field_columns, self._fixed_columns["tenant"], self._fixed_columns["updated"]]
        context = {
            "sentence": sentence,
            "warning": warning,
            "columns": [column.short_description for column in columns],
            "rows": list(self._evidence(columns, rows[:LISTED])),
            "more": max(0, len(rows) - LISTED),
            "hidden": hidden,
            "with_reason": True,
            "button": button,
            "back": back,
        }
        crumbs = self.crumbs(Crumb(label=title))
        template = self.delete_confirmation_template
        return self.page(request, template, context, title=title, crumbs=crumbs, status=status)

    def _evidence(self, columns: Sequence[Any], rows: Sequence[Any]) -> Iterator[list[tuple[Any, Any]]]:
        for row in rows:
            cells = [breaking(column(row)) if column.breaks else column(row) for column in columns]
            yield list(zip((column.short_description for column in columns), cells, strict=True))

    def _noun(self, count: int) -> str:
        return str(self.opts.verbose_name if count == 1 else self.opts.verbose_name_plural)

    def _log_text(self, text: str, request: HttpRequest) -> str:
        reason = self.reason(request)
        return f"{text} {_('Reason: %s') % reason}" if reason else text


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
