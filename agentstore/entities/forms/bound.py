"""Nested objects and tables bound to a stored value and to what was posted: groups of widgets."""

from __future__ import annotations

from collections.abc import Sequence

from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.forms.leaf import BoundField, Leaf, Posted, posted_as_json
from agentstore.entities.forms.shape import MISSING, Shape, as_json
from agentstore.entities.forms.texts import UNSET

__all__ = ["MAX_CELLS", "BoundField", "Group", "Leaf", "Table", "bind"]

#: A table with more inputs than this is edited as JSON: Django takes at most 1,000 inputs a form.
MAX_CELLS = 400


class Group(BoundField):
    """A nested object: a fieldset with one field per key."""

    template = "agentstore/admin/field_group.html"

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        super().__init__(shape, path, value, posted)
        value = shape.default if value is MISSING else value
        known: JSONObject = value if isinstance(value, dict) else {}
        self.parts = [
            Leaf(part, f"{path}.{part.key}", known.get(part.key, MISSING), posted) for part in shape.parts
        ]
        self.can_clear = shape.nullable and isinstance(self.stored, dict)
        self.cleared = self.can_clear and posted is not None and f"{self.name}:none" in posted

    @property
    def touched(self) -> bool:
        return self.cleared or any(part.touched for part in self.parts)

    @property
    def was_posted(self) -> bool:
        return any(part.was_posted for part in self.parts)

    def empty(self) -> JSONValue:
        return None if self.shape.nullable else self.whole()

    def value(self) -> JSONValue:
        return None if self.cleared else self.whole()

    def whole(self) -> JSONObject:
        """Return the object of all parts; those without a value are left to their defaults."""
        values = {part.shape.key: part.empty() if part.lacking else part.value() for part in self.parts}
        return {key: value for key, value in values.items() if value is not MISSING and value is not UNSET}

    def attach(self, rest: Sequence[str], message: str) -> None:
        for part in self.parts:
            if rest and part.shape.key == rest[0]:
                part.attach(rest[1:], message)
                return
        super().attach(rest, message)

    @property
    def error_count(self) -> int:
        return len(self.errors) + sum(part.error_count for part in self.parts)


class Row(Group):
    """One row of a table; the last one is spare."""

    def __init__(
        self, shape: Shape, path: str, value: JSONValue, posted: Posted | None, *, number: int
    ) -> None:
        super().__init__(shape, path, value, posted)
        self.number = number
        self.can_clear = False
        self.spare = value is MISSING
        self.deleted = posted is not None and f"{self.name}:delete" in posted

    @property
    def blank(self) -> bool:
        """True when the row stands for nothing: a spare one left empty, or one that was emptied."""
        return all(part.blank for part in self.parts) and (self.spare or self.touched)


class Table(BoundField):
    """A list of objects: one row each, and a spare one for the next."""

    template = "agentstore/admin/field_table.html"

    def __init__(self, shape: Shape, path: str, value: JSONValue, posted: Posted | None) -> None:
        super().__init__(shape, path, value, posted)
        value = shape.default if value is MISSING else value
        self.items: list[JSONValue] = value if isinstance(value, list) else []
        count = self._given_rows()
        self.given = count is not None
        self.rows = [self._row(number) for number in range(len(self.items) + 1 if count is None else count)]
        if self.given and (not self.rows or not self.rows[-1].blank):
            self.rows.append(self._row(len(self.rows)))
        #: The rows that count, in the order in which they are sent: errors name them by that.
        self.kept = [row for row in self.rows if not row.deleted and not row.blank]

    def _given_rows(self) -> int | None:
        given = "" if self.posted is None else self.posted.get(f"{self.name}:rows", "")
        return min(int(given), 1000) if given.isdecimal() and len(given) < 9 else None

    def _row(self, number: int) -> Row:
        item = self.items[number] if number < len(self.items) else MISSING
        item = item if isinstance(item, dict) else MISSING
        return Row(self.shape, f"{self.path}.{number}", item, self.posted, number=number + 1)

    @property
    def columns(self) -> tuple[Shape, ...]:
        return self.shape.parts

    @property
    def touched(self) -> bool:
        return self.given and (len(self.kept) != len(self.items) or any(row.touched for row in self.kept))

    @property
    def was_posted(self) -> bool:
        return self.given

    def empty(self) -> JSONValue:
        return None if self.shape.nullable else []

    def value(self) -> JSONValue:
        return [row.whole() for row in self.kept]

    def attach(self, rest: Sequence[str], message: str) -> None:
        if rest and rest[0].isdigit() and int(rest[0]) < len(self.kept):
            self.kept[int(rest[0])].attach(rest[1:], message)
        else:
            super().attach(rest, message)

    @property
    def error_count(self) -> int:
        return len(self.errors) + sum(row.error_count for row in self.rows)


def bind(
    shape: Shape, path: str, value: JSONValue, posted: Posted | None, *, max_cells: int = MAX_CELLS
) -> BoundField:
    """Return the field of ``shape``; a value that its own widget can't show is bound to JSON text."""
    stored = shape.default if value is MISSING else value
    if shape.kind == "group" and not posted_as_json(path, posted, otherwise=not _is_group(stored)):
        return Group(shape, path, value, posted)
    if shape.kind == "table" and not posted_as_json(
        path, posted, otherwise=not _is_table(shape, stored, max_cells)
    ):
        return Table(shape, path, value, posted)
    return Leaf(as_json(shape) if shape.kind in ("group", "table") else shape, path, value, posted)


def _is_group(value: JSONValue) -> bool:
    return value is MISSING or value is None or isinstance(value, dict)


def _is_table(shape: Shape, value: JSONValue, max_cells: int) -> bool:
    if value is MISSING or value is None:
        return True
    if not isinstance(value, list) or (len(value) + 1) * (len(shape.parts) + 1) > max_cells:
        return False
    return all(isinstance(item, dict) for item in value)
