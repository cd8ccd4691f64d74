"""The history of a row: what each change did, by whom and why; and a whole row as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.core.admin import Crumb, time_tag
from agentstore.core.guards import printable
from agentstore.core.values import EntityRow, HistoryEntry, JSONObject, JSONValue
from agentstore.entities import changes
from agentstore.entities.admin.display import show, show_all, tag
from agentstore.entities.admin.formpages import document
from agentstore.entities.admin.removing import RemovingAdmin
from agentstore.entities.forms.shape import MISSING, Shape, shapes_of
from agentstore.entities.reading import parse_id
from agentstore.entities.store import EntityStore

__all__ = ["HistoryAdmin"]

#: How many changes a page shows.
PAGE = 25


@dataclass(frozen=True, kw_only=True)
class Line:
    """One change in the table."""

    entry: HistoryEntry
    what: Sequence[SafeString | str]
    when: SafeString
    run: str
    current: bool
    moved: bool
    view_url: str


class HistoryAdmin(RemovingAdmin):
    """The history page of a row, and the pages of its versions."""

    object_history_template = "agentstore/admin/entity_history.html"
    version_template = "agentstore/admin/entity_version.html"

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what was changed in a row, newest first."""
        obj = self.get_object(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        store = self.store(request, obj.tenant)
        before = parse_id(request.GET.get("before", ""))
        entries = store.history(obj.pk, limit=PAGE + 1, before=before)
        context = {
            **self.row_context(request, obj, "history"),
            "lines": list(self._lines(request, obj, store, entries[:PAGE])),
            "older": f"?before={entries[PAGE - 1].id}" if len(entries) > PAGE else "",
            "newest": request.path if before else "",
            "total": f"{self.audit(obj).count():,}",
            "original": obj,
        }
        title = _("%(name)s history") % {"name": str(self.opts.verbose_name).capitalize()}
        return self.page(
            request, self.object_history_template, context, title=title, subtitle=str(obj),
            crumbs=self._row_crumbs(request, obj, Crumb(label=_("History"))),
        )  # fmt: skip

    def version_view(self, request: HttpRequest, object_id: str, version: int) -> HttpResponse:
        """Show the whole row as it was at one version, for reading."""
        obj = self.get_object(request, object_id)
        row = None if obj is None else _at(self.store(request, obj.tenant), obj, version)
        if obj is None or row is None:
            return self.not_found(request, object_id)
        shown = document(row)
        extra = {key: value for key, value in shown.items() if key not in self._shapes}
        context = {
            **self.row_context(request, obj, ""),
            "fields": [show_all(shape, shown.get(key, MISSING)) for key, shape in self._shapes.items()],
            "extra": [(key, show(None, value, longest=None)) for key, value in extra.items()],
            "row": row,
            "when": time_tag(row.updated_at),
            "current": version == obj.version,
            "history_url": self.row_url(request, "history", obj),
        }
        name = {"number": version}
        history = Crumb(label=_("History"), url=self.row_url(request, "history", obj))
        crumbs = self._row_crumbs(request, obj, history, Crumb(label=_("Version %(number)d") % name))
        title = _("Version %(number)d of the %(name)s") % {**name, "name": self.opts.verbose_name}
        return self.page(
            request, self.version_template, context, title=title, subtitle=str(obj), crumbs=crumbs
        )

    @property
    def _shapes(self) -> dict[str, Shape]:
        return {shape.key: shape for shape in shapes_of(self.model.Schema)}

    def _row_crumbs(self, request: HttpRequest, obj: Any, *steps: Crumb) -> list[Crumb]:
        return self.crumbs(Crumb(label=str(obj), url=self.row_url(request, "change", obj)), *steps)

    # --- lines ---------------------------------------------------------------------------------

    def _lines(
        self, request: HttpRequest, obj: Any, store: EntityStore[Any], entries: list[HistoryEntry]
    ) -> Any:
        described = changes.describe(entries, _before(store, obj, entries), self._shapes)
        for change in described:
            entry = change.entry
            moved = entry.op in ("delete", "undelete")
            yield Line(
                entry=entry,
                what=list(self._what(change)),
                when=time_tag(entry.at),
                run=_run(entry.context),
                current=not moved and entry.version == obj.version,
                moved=moved,
                view_url="" if moved else self.row_url(request, "version", obj, entry.version),
            )

    def _what(self, change: changes.Change) -> Any:
        op = change.entry.op
        if op == "create":
            yield self._created_with(change.entry.patch or {})
        elif op == "update":
            yield _("Changed")
            for field in change.fields:
                yield self._field_line(field)
        else:
            yield {"delete": _("Deleted"), "undelete": _("Undeleted")}.get(op, op)

    def _created_with(self, row: JSONObject) -> str:
        names = []
        for key in [*self._shapes, *(key for key in row if key not in self._shapes)]:
            value = row.get(key)
            if isinstance(value, list) and len(value) > 1:
                names.append(f"{len(value)} {key}")
            elif value:
                names.append(key)
        if not names:
            return _("Created empty")
        *first, last = names
        if not first:
            return _("Created with %(fields)s") % {"fields": last}
        return _("Created with %(fields)s and %(last)s") % {"fields": ", ".join(first), "last": last}

    def _field_line(self, field: changes.FieldChange) -> SafeString:
        shape = self._shapes.get(field.key)
        if field.rows:
            body = self._rows(shape, field)
        elif field.inner:
            parts = {part.key: part for part in shape.parts} if shape else {}
            swaps = [
                format_html("{} {}", swap.key, _swap(parts.get(swap.key), swap.old, swap.new))
                for swap in field.inner
            ]
            body = _joined(swaps)
        elif field.known:
            body = _swap(shape, field.old, field.new)
        else:
            body = format_html("→ <ins>{}</ins>", show(shape, _missing(field.new)))
        if field.reset:
            body = format_html("{} {}", body, tag(_("back to the default")))
        elif field.new is changes.ABSENT and shape is None:
            body = format_html("{} {}", body, tag(_("no longer a field")))
        return format_html("<strong>{}</strong>: {}", field.key, body)

    def _rows(self, shape: Shape | None, field: changes.FieldChange) -> SafeString:
        parts = {part.key: part for part in shape.parts} if shape else {}
        first = next(iter(parts), "")
        rows = changes.compare_rows(field.old, field.new, first=first)
        found: list[SafeString | str] = []
        for words, names in (
            (ngettext("%d row added", "%d rows added", len(rows.added)), rows.added),
            (ngettext("%d row removed", "%d rows removed", len(rows.removed)), rows.removed),
        ):
            if names:
                found.append(f"{words % len(names)} ({_few(names)})")
        if rows.changed:
            words = ngettext("%d row changed", "%d rows changed", len(rows.changed)) % len(rows.changed)
            details = [_row_swaps(name, swaps, parts) for name, swaps in rows.changed[:3]]
            found.append(format_html("{} ({})", words, _joined(details)))
        return _joined(found or [_("the order of the rows")])


def _row_swaps(name: str, swaps: Sequence[changes.Swap], parts: dict[str, Shape]) -> SafeString:
    told = [
        format_html("{} {}", swap.key, _swap(parts.get(swap.key), swap.old, swap.new)) for swap in swaps[:5]
    ]
    return format_html("{}: {}", printable(name), _joined(told))


def _swap(shape: Shape | None, old: JSONValue, new: JSONValue) -> SafeString:
    """Return a value before and after; of long texts the part that differs."""
    if isinstance(old, str) and isinstance(new, str) and (shape is None or shape.kind != "moment"):
        old, new = changes.clip(old, new)
    return format_html(
        "<del>{}</del> → <ins>{}</ins>", show(shape, _missing(old)), show(shape, _missing(new))
    )


def _missing(value: JSONValue) -> JSONValue:
    return MISSING if value is changes.ABSENT else value


def _joined(parts: Sequence[SafeString | str]) -> SafeString:
    return format_html_join(", ", "{}", ((part,) for part in parts))


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:5])
    return f"{shown}, …" if len(names) > 5 else shown


def _run(context: JSONObject) -> str:
    """Return the run or trace that the context names."""
    run = context.get("run") or context.get("trace") if isinstance(context, dict) else None
    return printable(str(run))[:60] if isinstance(run, str | int) else ""


def _at(store: EntityStore[Any], obj: Any, version: int) -> EntityRow[Any] | None:
    return (store.get if obj.deleted_at is None else store.get_deleted)(obj.pk, version=version)


def _before(store: EntityStore[Any], obj: Any, entries: Sequence[HistoryEntry]) -> JSONObject | None:
    """Return the row before the oldest change of a page, which its values before are read from."""
    if not entries or entries[-1].op == "create":
        return None
    oldest = entries[-1]
    row = _at(store, obj, oldest.version - 1 if oldest.op == "update" else oldest.version)
    return None if row is None else document(row)
