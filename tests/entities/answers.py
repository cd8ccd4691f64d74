"""What a filter and an order mean, once more and in plain Python: the answers that databases are held to.

Written from the documented rules alone, without the package's own query, ordering or SQL code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

__all__ = ["Stored", "answer", "contained", "matches"]

SYSTEM = ("id", "version", "created_at", "updated_at")
MISSING = object()


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One row as it stands in the table."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    deleted: bool
    data: Any


def answer(
    rows: Iterable[Stored], filter: dict[str, Any], order_by: str | None, kinds: dict[str, str]
) -> list[UUID]:
    """Return the ids of the live rows that match, in order. ``kinds`` says each field's own type."""
    found = [row for row in rows if not row.deleted and matches(row, filter, kinds)]
    name = (order_by or "-updated_at").removeprefix("-")
    descending = (order_by or "-updated_at").startswith("-")
    have = [row for row in found if name in SYSTEM or _own(row.data, name, kinds[name]) is not None]
    rest = [row for row in found if row not in have]

    def place(row: Stored) -> tuple[Any, ...]:
        first = getattr(row, name) if name in SYSTEM else _own(row.data, name, kinds[name])
        return (first, row.updated_at, row.id)

    have.sort(key=place, reverse=descending)
    rest.sort(key=lambda row: (row.updated_at, row.id), reverse=descending)
    return [row.id for row in have + rest]


def matches(row: Stored, filter: dict[str, Any], kinds: dict[str, str]) -> bool:
    """Tell whether every clause holds for the row."""
    return all(_holds(row, *_split(key), value, kinds) for key, value in filter.items())


def _split(key: str) -> tuple[str, str]:
    name, _, op = key.partition("__")
    return name, op or "eq"


def _holds(row: Stored, name: str, op: str, value: Any, kinds: dict[str, str]) -> bool:
    if name in SYSTEM:
        return _compare(op, getattr(row, name), value)
    stored = row.data.get(name, MISSING) if isinstance(row.data, dict) else MISSING
    if op in ("eq", "ne"):
        return _equal(stored, value) is (op == "eq")
    if op == "in":
        return any(_equal(stored, item) for item in value)
    if op == "isnull":
        return (stored is MISSING or stored is None) is value
    if op == "contains" and kinds[name] == "array":
        return stored is not MISSING and contained(stored, [value])
    own = _own(row.data, name, kinds[name])
    return own is not None and _OPERATORS[op](own, _exact(value))


def _compare(op: str, left: Any, right: Any) -> bool:
    if op == "in":
        return left in right
    if op in ("eq", "ne"):
        return (left == right) is (op == "eq")
    return _OPERATORS[op](left, right)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda left, right: left < right,
    "lte": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "gte": lambda left, right: left >= right,
    "startswith": lambda left, right: left.startswith(right),
    "contains": lambda left, right: right in left,
    "icontains": lambda left, right: _folded(right) in _folded(left),
}


def _folded(text: str) -> str:
    return "".join(map(_fold, text))


@functools.cache
def _fold(char: str) -> str:
    """Capitals and small letters alike, one character to one; what folds to several stays."""
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


def _own(data: Any, name: str, kind: str) -> Any:
    """Return the value of a field if it is of the field's own type, comparable; None otherwise."""
    value = data.get(name) if isinstance(data, dict) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind == "number":
        return _exact(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return value if isinstance(value, str) else None


def _exact(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _equal(stored: Any, value: Any) -> bool:
    return stored is not MISSING and contained(stored, value)


def contained(left: Any, right: Any) -> bool:
    """Tell whether a stored value contains another: objects by keys, arrays by elements, else equality."""
    if isinstance(right, dict):
        return isinstance(left, dict) and all(k in left and contained(left[k], v) for k, v in right.items())
    if isinstance(right, list):
        return isinstance(left, list) and all(any(contained(x, y) for x in left) for y in right)
    if isinstance(left, dict | list):
        return False
    return _scalar(left) == _scalar(right)


def _scalar(value: Any) -> tuple[str, Any]:
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float):
        return "number", _exact(value)
    return type(value).__name__, value
