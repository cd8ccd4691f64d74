"""The list's columns: the field that names the row, the declared indexes, tenant and times."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentstore.core.admin import tenant_label, time_tag
from agentstore.entities.admin.changelist import SortKey
from agentstore.entities.admin.display import quiet, raw, show, tag
from agentstore.entities.base import EntityModel
from agentstore.entities.fields import SchemaField, fields_of, naming_field
from agentstore.entities.forms.moments import parse_moment
from agentstore.entities.forms.shape import MISSING, Shape, shapes_of
from agentstore.entities.reading import codec_of

__all__ = ["Column", "field_columns", "fixed_columns", "problems_of"]

#: Times of these names are due: when they are past, and the row isn't done, they are overdue.
_DUE = re.compile(r"(due|deadline)(_|$)", re.ASCII)
_DONE = ("done", "completed", "closed", "finished", "resolved", "sent")


class Column:
    """One column: how to show a row in it, what it is sorted by, and whether it may hold long words."""

    def __init__(
        self, name: str, label: Any, render: Callable[[Any], Any], order: Any = None, *, breaks: bool = False
    ) -> None:
        self.__name__ = name
        self.short_description = label
        self.admin_order_field = order
        self.render, self.breaks = render, breaks

    def __call__(self, row: Any) -> Any:
        return self.render(row)


def problems_of(row: Any) -> Mapping[str, list[str]]:
    """Return why the stored row doesn't fit its schema: top-level field -> messages."""
    if not hasattr(row, "_agentstore_problems"):
        model: type[EntityModel] = type(row)
        _data, _raw, errors = codec_of(model).decode(json.dumps(row.data))
        found: dict[str, list[str]] = {}
        for path, messages in errors.items():
            found.setdefault(path.split(".")[0], []).extend(messages)
        row._agentstore_problems = found
    problems: Mapping[str, list[str]] = row._agentstore_problems
    return problems


def field_columns(model: type[EntityModel]) -> list[Column]:
    """Return the columns of the field that names a row and of the declared indexes."""
    fields = fields_of(model.Schema)
    naming = naming_field(model.Schema)
    keys = dict.fromkeys([*([naming.key] if naming else []), *model.entity.indexes])
    shapes = {shape.key: shape for shape in shapes_of(model.Schema)}
    columns = [_field_column(fields[key], shapes[key]) for key in keys if key in fields]
    return columns if naming else [Column("row", model._meta.verbose_name, str, breaks=True), *columns]


def _field_column(field: SchemaField, shape: Shape) -> Column:
    def render(row: Any) -> SafeString | str:
        data = row.data if isinstance(row.data, dict) else {}
        value = data.get(field.key, MISSING)
        if field.key in problems_of(row) or not isinstance(row.data, dict):
            return _spoiled(value)
        shown = show(shape, value)
        if row.deleted_at is None and _is_overdue(shape, data):
            return format_html("{} {}", shown, tag(_("overdue"), warn=True))
        return shown

    order = SortKey(field.key, field.kind) if field.orderable else None
    return Column(field.key, shape.label, render, order, breaks=shape.kind == "text" and shape.plain)


def _spoiled(value: Any) -> SafeString:
    if value is MISSING:
        return tag(_("missing"), warn=True)
    return format_html("{} {}", raw(value, longest=100), tag(_("not allowed"), warn=True))


def _is_overdue(shape: Shape, data: Mapping[str, Any]) -> bool:
    if shape.kind != "moment" or not _DUE.match(shape.key):
        return False
    due = parse_moment(data.get(shape.key))
    return due is not None and due < timezone.now() and not any(data.get(name) is True for name in _DONE)


def fixed_columns() -> dict[str, Column]:
    """Return the columns that every entity has: tenant, updated, deleted and by whom."""
    return {
        "tenant": Column("tenant", gettext_lazy("tenant"), lambda row: tenant_label(row.tenant), breaks=True),
        "updated": Column("updated", gettext_lazy("last updated"), _updated, "updated_at"),
        "deleted": Column("deleted", gettext_lazy("deleted"), _deleted, "deleted_at"),
        "by": Column("by", gettext_lazy("by"), _deleted_by),
    }


def _updated(row: Any) -> SafeString:
    return time_tag(row.updated_at)


def _deleted(row: Any) -> SafeString | str:
    return time_tag(row.deleted_at) if row.deleted_at else ""


def _deleted_by(row: Any) -> SafeString | str:
    return getattr(row, "deleted_by", "") or quiet(_("unknown"))
