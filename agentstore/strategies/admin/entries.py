"""One strategy: its page, and deleting it or several; a question first, then the store, then the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import DELETION
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.admin import Crumb, breaking, tenant_label, time_tag
from agentstore.core.guards import printable
from agentstore.strategies.admin.base import key_of
from agentstore.strategies.admin.listing import ListingAdmin
from agentstore.strategies.admin.words import Line, words_of
from agentstore.strategies.terms import analyse_query

__all__ = ["EntriesAdmin"]

#: How many strategies one action deletes, and how many of its words a page lists.
MOST, WORDS = 500, 60
DELETE = "delete_selected"


class EntriesAdmin(ListingAdmin):
    """The page of a strategy, and what deletes."""

    change_form_template = "agentstore/admin/strategies/entry.html"
    delete_confirmation_template = delete_selected_confirmation_template = "agentstore/admin/confirm.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list, or carry on with the action that was chosen there."""
        if request.method == "POST":
            return self._act(request)
        return super().changelist_view(request, extra_context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show a strategy; nothing on its page changes it."""
        obj = self.get_object(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        if request.method == "POST":
            raise PermissionDenied
        ordered = [row.pk for row in self.rows(request, obj.tenant).ranked()]
        words = analyse_query(printable(str(obj.problem))).every
        context = {
            "original": obj,
            "line": self.line(obj, ordered.index(obj.pk) + 1 if obj.pk in ordered else 0),
            "total": f"{len(ordered):,}",
            "problem": printable(str(obj.problem)),
            "strategy": printable(str(obj.strategy)),
            "learned": time_tag(obj.ts),
            "words": words[:WORDS],
            "more_words": max(0, len(words) - WORDS),
            "may_delete": self.has_delete_permission(request, obj),
            "may_find": self.allows(request, "find", obj.tenant),
            "delete_url": self.to("delete", obj.pk),
            "find_url": self.to("find", tenant=obj.tenant, explain=obj.strategy_id),
            "list_url": self.to("list", tenant=obj.tenant),
        }
        title = _("Strategy %s") % obj.strategy_id
        return self.strategy_page(
            request, self.change_form_template, obj.tenant, context, title=title, current="list",
            step=obj.strategy_id,
        )  # fmt: skip

    # --- delete --------------------------------------------------------------------------------

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask whether to delete a strategy, or delete it."""
        obj = self.get_object(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        self.require(request, "delete", obj.tenant)
        if request.method != "POST" or "post" not in request.POST:
            return self._ask(request, [obj], back=self.to("change", obj.pk))
        return self._delete(request, [obj])

    def _act(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.POST.get("action") != DELETE:
            self.message_user(request, _("No action selected."), messages.WARNING)
            return HttpResponseRedirect(request.get_full_path())
        rows = self._ticked(request)
        for tenant in {obj.tenant for obj in rows}:
            self.require(request, "delete", tenant)
        if not rows:
            message = _("Tick the strategies to delete first.")
            self.message_user(request, message, messages.WARNING)
            return HttpResponseRedirect(request.get_full_path())
        if "post" not in request.POST:
            return self._ask(request, rows, back=request.get_full_path())
        return self._delete(request, rows)

    def _ticked(self, request: HttpRequest) -> list[Any]:
        """Return the strategies that were ticked, of those that the user may see."""
        if not self.has_delete_permission(request):
            raise PermissionDenied
        keys = [key for text in request.POST.getlist(ACTION_CHECKBOX_NAME)[:MOST] if (key := key_of(text))]
        rows = self.get_queryset(request).filter(pk__in=keys).order_by("tenant")
        tenants = dict.fromkeys(rows.values_list("tenant", flat=True))
        seen = [tenant for tenant in tenants if self.allows(request, "view", tenant)]
        return [obj for tenant in seen for obj in self._by_rank(request, tenant, keys)]

    def _by_rank(self, request: HttpRequest, tenant: str, keys: list[UUID]) -> list[Any]:
        rows = self.rows(request, tenant)
        places = {light.pk: place for place, light in enumerate(rows.ranked())}
        return sorted(rows.instances(keys), key=lambda obj: places.get(obj.pk, 0))

    def _ask(self, request: HttpRequest, rows: Sequence[Any], *, back: str) -> HttpResponse:
        count, one = {"count": f"{len(rows):,}"}, len(rows) == 1
        title = _("Delete this strategy?") if one else _("Delete %(count)s strategies?") % count
        columns = [_("Problem"), _("Strategy"), _("Score"), _("Confidence"), _("Age"), _("Origin")]
        hidden = [("post", "yes"), ("action", DELETE), *((ACTION_CHECKBOX_NAME, obj.pk) for obj in rows)]
        context = {
            "sentence": _("Agents no longer find it. Deleted strategies can’t be undeleted.")
            if one
            else _("Agents no longer find them. Deleted strategies can’t be undeleted."),
            "columns": columns,
            "rows": [list(zip(columns, _cells(self.line(obj)), strict=True)) for obj in rows],
            "hidden": hidden,
            "with_reason": True,
            "button": _("Delete strategy %s") % rows[0].strategy_id
            if one
            else _("Delete %(count)s strategies") % count,
            "danger": True,
            "back": back,
        }
        crumbs = self.crumbs(Crumb(label=_("Delete")))
        subtitle = ", ".join(sorted({tenant_label(obj.tenant) for obj in rows}))
        return self.page(
            request, self.delete_confirmation_template, context, title=title, subtitle=subtitle, crumbs=crumbs
        )

    def _delete(self, request: HttpRequest, rows: Sequence[Any]) -> HttpResponse:
        gone = []
        try:
            for obj in rows:
                if self.store(request, obj.tenant).delete(obj.strategy_id):
                    gone.append(obj)
        except errors.AgentStoreError as error:
            self.message_user(request, words_of(error), messages.ERROR)
        for obj in gone:
            self.log(
                request,
                [obj],
                DELETION,
                self.with_reason(request, _("Deleted: “%s”.") % self.line(obj).problem),
            )
        back = self.to("list", tenant=rows[0].tenant)
        if not gone:
            self.message_user(request, self._why_not(request, rows[0]), messages.WARNING)
            return HttpResponseRedirect(back)
        names = {"count": f"{len(gone):,}", "id": gone[0].strategy_id, "tenant": tenant_label(gone[0].tenant)}
        one, many = (
            _("Deleted strategy %(id)s of %(tenant)s."),
            _("Deleted %(count)s strategies of %(tenant)s."),
        )
        return self.done(request, (one if len(gone) == 1 else many) % names, back)

    def _why_not(self, request: HttpRequest, obj: Any) -> str:
        if self.get_object(request, str(obj.pk)) is None:
            return _("Nothing was deleted: it was gone already.")
        return _("Nothing was deleted. A strategy whose id is none is removed by pruning.")


def _cells(line: Line) -> list[object]:
    return [
        breaking(line.problem),
        breaking(line.strategy),
        line.score,
        line.confidence,
        line.age,
        line.origin,
    ]
