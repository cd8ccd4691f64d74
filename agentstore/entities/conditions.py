"""Checked clauses and orders as ORM expressions that mean the same on PostgreSQL and SQLite."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import DateTimeField, F, Field, IntegerField, UUIDField, Value
from django.db.models.expressions import OrderBy

from agentstore.core import guards
from agentstore.core.ordering import fold, fold_alphabets, number_key
from agentstore.core.values import JSONValue
from agentstore.entities.expressions import Condition, Operand
from agentstore.entities.query import Clause, Order
from agentstore.indexes import FieldValue

__all__ = ["after", "condition", "contains", "has_value", "ordering"]

_COMPARISONS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
# Making a field object costs more than all the rest of an expression; they hold no state.
_COLUMN_TYPES: dict[str, Field[Any, Any]] = {
    "id": UUIDField(),
    "integer": IntegerField(),
    "time": DateTimeField(),
}


@functools.lru_cache(maxsize=1024)
def _value(field: str, kind: str) -> FieldValue:
    return FieldValue(field, kind)


def _operand(value: JSONValue) -> Operand:
    if isinstance(value, str):
        return Operand(value, value, "::text")
    text = str(value) if isinstance(value, Decimal) else guards.dump_json(value)
    if isinstance(value, bool):
        return Operand(text, int(value), "::jsonb")
    return Operand(text, number_key(value), "::jsonb")


def _kind(value: JSONValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) else "other"


def contains(document: JSONValue) -> Condition:
    """Tell whether ``data @> document`` holds."""
    text = guards.dump_json(document)
    return Condition(
        "({0} @> {1})", F("data"), Operand(text, text, "::jsonb"), sqlite="AGENTSTORE_CONTAINS({0}, {1})"
    )


def has_value(field: str, kind: str, *, negate: bool = False) -> Condition:
    """Tell whether the field holds a value of its own kind."""
    return Condition("({0} IS NULL)" if negate else "({0} IS NOT NULL)", _value(field, kind))


def condition(clause: Clause) -> Condition:
    """Return the expression of one clause, for ``QuerySet.filter``."""
    if clause.system:
        return _system(clause)
    if clause.op in _COMPARISONS:
        return _compare(clause.field, clause.kind, _COMPARISONS[clause.op], clause.value)
    return _BUILDERS[clause.op](clause)


def _compare(field: str, kind: str, sign: str, value: JSONValue) -> Condition:
    return Condition(f"({{0}} {sign} {{1}})", _value(field, kind), _operand(value))


def _equals(clause: Clause) -> Condition:
    if _kind(clause.value) == clause.kind:
        return _compare(clause.field, clause.kind, "=", clause.value)
    return contains({clause.field: clause.value})


def _differs(clause: Clause) -> Condition:
    return Condition("({0} IS NOT TRUE)", _equals(clause))


def _joined(word: str, conditions: Sequence[Condition]) -> Condition:
    slots = (f"{{{number}}}" for number in range(len(conditions)))
    return Condition(f"({f' {word} '.join(slots)})", *conditions)


def _one_of(clause: Clause) -> Condition:
    if not clause.value:
        return _nothing()
    same = [value for value in clause.value if _kind(value) == clause.kind]
    others = [value for value in clause.value if _kind(value) != clause.kind]
    options: list[Condition] = [contains({clause.field: value}) for value in others]
    if same:
        options.append(_in(_value(clause.field, clause.kind), [_operand(value) for value in same]))
    return _joined("OR", options)


def _nothing() -> Condition:
    return Condition("(1 = 0)")


def _in(left: Any, operands: Sequence[Any]) -> Condition:
    slots = (f"{{{number}}}" for number in range(1, len(operands) + 1))
    return Condition(f"({{0}} IN ({', '.join(slots)}))", left, *operands)


def _is_null(clause: Clause) -> Condition:
    # The key is a checked identifier; as a literal it keeps the expression plain for the planner.
    path = f"json_type({{0}}, '$.\"{clause.field}\"')"
    then, otherwise = ("true", "false") if clause.value else ("false", "true")
    found = Condition(
        # A bare IS NULL on an expression without statistics is taken for 1 row in 200.
        f"CASE WHEN ({{0}} ->> '{clause.field}') IS NULL THEN {then} ELSE {otherwise} END",
        F("data"),
        sqlite=f"(COALESCE({path}, 'null') {'=' if clause.value else '<>'} 'null')",
    )
    if not clause.value or clause.kind not in ("text", "number", "boolean"):
        return found
    # Implied by the other; it is what the declared field's index can find.
    return _joined("AND", [has_value(clause.field, clause.kind, negate=True), found])


def _contains(clause: Clause) -> Condition:
    if clause.kind == "array":
        return contains({clause.field: [clause.value]})
    return Condition(
        "(strpos({0}, {1}) > 0)",
        _value(clause.field, "text"),
        _operand(clause.value),
        sqlite="(instr({0}, {1}) > 0)",
    )


def _icontains(clause: Clause) -> Condition:
    capitals, small = fold_alphabets()
    # ``lower`` under COLLATE "C" folds ASCII; the rest is translated only where there is a rest.
    folded = (
        "CASE WHEN octet_length({0}) = char_length({0}) THEN lower({0})"
        " ELSE translate(lower({0}), {1}, {2}) END"
    )
    return Condition(
        f"(strpos({folded}, {{3}}) > 0)",
        _value(clause.field, "text"),
        _operand(capitals),
        _operand(small),
        _operand(fold(clause.value)),
        sqlite="(instr(AGENTSTORE_FOLD({0}), {3}) > 0)",
    )


def _starts_with(clause: Clause) -> Condition:
    """A prefix is a range of code points, which an ordinary index serves on both databases."""
    if not clause.value:
        return has_value(clause.field, "text")
    lower = _compare(clause.field, "text", ">=", clause.value)
    upper = _next_prefix(clause.value)
    return _joined("AND", [lower, _compare(clause.field, "text", "<", upper)]) if upper else lower


def _next_prefix(prefix: str) -> str:
    """Return the smallest text above every text that starts with ``prefix``; "" if there is none."""
    while prefix:
        last = ord(prefix[-1])
        prefix = prefix[:-1]
        if last < 0x10FFFF:
            return prefix + chr(0xE000 if last == 0xD7FF else last + 1)
    return ""


_BUILDERS = {
    "eq": _equals,
    "ne": _differs,
    "in": _one_of,
    "isnull": _is_null,
    "contains": _contains,
    "icontains": _icontains,
    "startswith": _starts_with,
}


def _system(clause: Clause) -> Condition:
    column, kind = F(clause.field), _COLUMN_TYPES[clause.kind]
    if clause.op == "in":
        return _in(column, [Value(value, kind) for value in clause.value]) if clause.value else _nothing()
    sign = {"eq": "=", "ne": "<>", **_COMPARISONS}[clause.op]
    return Condition(f"({{0}} {sign} {{1}})", column, Value(clause.value, kind))


def ordering(order: Order) -> list[OrderBy]:
    """Return what to order by.

    Rows without a value are sorted on it as well, though it is NULL in all of them: that is how
    the planner knows that the declared field's index has them in order.
    """
    keys: list[Any] = [_value(order.field, order.kind)] if order.kind else []
    if not order.kind and order.field != "updated_at":
        keys.append(F(order.field))
    if order.field != "id":
        keys += [F("updated_at"), F("id")]
    return [key.desc() if order.descending else key.asc() for key in keys]


def after(
    order: Order, *, value: JSONValue, created_at: datetime, updated_at: datetime, id: UUID
) -> Condition:
    """Return the condition for rows behind a position; ``value`` is None behind the rows with one."""
    place: list[tuple[Any, Any]] = []
    if order.kind and value is not None:
        place.append((_value(order.field, order.kind), _operand(value)))
    if order.field == "created_at":
        place.append((F("created_at"), Value(created_at, _COLUMN_TYPES["time"])))
    if order.field != "id":
        place.append((F("updated_at"), Value(updated_at, _COLUMN_TYPES["time"])))
    place.append((F("id"), Value(id, _COLUMN_TYPES["id"])))
    left = ", ".join(f"{{{number}}}" for number in range(len(place)))
    right = ", ".join(f"{{{number + len(place)}}}" for number in range(len(place)))
    sign = "<" if order.descending else ">"
    return Condition(f"(({left}) {sign} ({right}))", *(key for key, _ in place), *(mark for _, mark in place))
