"""Filters, order and pages: one syntax for Python, query strings and tools. No Django models, no SQL.

A filter maps ``field`` or ``field__operator`` to a value. Everything is checked here, against the
schema, so that a back end only ever meets clauses that make sense.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONValue
from agentstore.entities.codec import flat_errors, suggest
from agentstore.entities.epochs import NO_TIME, epochs
from agentstore.entities.fields import SchemaField
from agentstore.entities.schema import UTCDateTime

__all__ = [
    "CONTROLS",
    "DEFAULT_LIMIT",
    "MAX_IN",
    "MAX_LIMIT",
    "SYSTEM_FIELDS",
    "Clause",
    "Order",
    "fingerprint_of",
    "operators_of",
    "parse_filter",
    "parse_limit",
    "parse_order",
]

DEFAULT_LIMIT = 25
MAX_LIMIT = 100
#: How many values ``in`` takes.
MAX_IN = 100
#: The query string's own names; a field of that name is filtered with ``__eq``.
CONTROLS = ("limit", "cursor", "order_by")

_RANGES = ("lt", "lte", "gt", "gte")
_TEXT = ("startswith", "contains", "icontains")
#: Columns that can be filtered beside the schema's fields, and their kind.
SYSTEM_FIELDS = {"id": "id", "version": "integer", "created_at": "time", "updated_at": "time"}
_ORDER_COLUMNS = ("created_at", "updated_at", "id")


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """One checked condition: ``kind`` is the field's (or a system field's), ``value`` encoded."""

    field: str
    op: str
    value: Any
    kind: str
    system: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What to sort by; ``kind`` is None for a column. Ties go by (updated_at, id), same direction."""

    field: str
    descending: bool
    kind: str | None = None

    def __str__(self) -> str:
        return f"-{self.field}" if self.descending else self.field


def operators_of(field: SchemaField) -> tuple[str, ...]:
    """Return the operators that a field takes, ``eq`` first; none where its name is a column's."""
    if field.key in SYSTEM_FIELDS:
        return ()
    if field.kind == "array":
        return ("eq", "contains", "isnull")
    if field.kind == "object":
        return ("eq", "isnull")
    ranges = _RANGES if field.orderable else ()
    plain_text = field.kind == "text" and isinstance(field.base, type) and issubclass(field.base, str)
    return ("eq", "ne", *ranges, "in", *(_TEXT if plain_text else ()), "isnull")


def _system_operators(kind: str) -> tuple[str, ...]:
    return ("eq", "ne", "in") if kind == "id" else ("eq", "ne", *_RANGES, "in")


def parse_limit(limit: object) -> int:
    """Return ``limit`` clamped to 1..100.

    Raises:
        ValidationFailed: it is not an int.
    """
    if isinstance(limit, bool) or not isinstance(limit, int):
        guards.refuse("limit", f"Expected a whole number, found {limit!r:.100}.")
    return min(max(limit, 1), MAX_LIMIT)


def parse_order(order_by: object, fields: Mapping[str, SchemaField]) -> Order:
    """Return what ``field`` or ``-field`` means; None is last updated first.

    Raises:
        ValidationFailed: there is no such field, or its stored form has no order.
    """
    if order_by is None:
        return Order(field="updated_at", descending=True)
    if not isinstance(order_by, str):
        guards.refuse("order_by", f"Expected a field name, found {type(order_by).__name__}.")
    name = order_by.removeprefix("-")
    if name in _ORDER_COLUMNS:
        return Order(field=name, descending=order_by.startswith("-"))
    if name not in fields or not fields[name].orderable:
        known = [*(key for key, field in fields.items() if field.orderable), *_ORDER_COLUMNS]
        what = (
            "no such field" if name not in fields else f"no order for {fields[name].kind} values of this type"
        )
        guards.refuse("order_by", f"Can't order by {name[:100]!r}: there is {what}.", suggest(name, known))
    return Order(field=name, descending=order_by.startswith("-"), kind=fields[name].kind)


def parse_filter(given: object, fields: Mapping[str, SchemaField]) -> tuple[Clause, ...]:
    """Return the checked clauses of a filter, in the order given; None and {} are no clause.

    Raises:
        ValidationFailed: an unknown field or operator, or a value that the field can't have; every
            problem is in ``errors`` under its key.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        guards.refuse("filter", f"Expected an object, found {type(given).__name__}.")
    clauses: list[Clause] = []
    errors: dict[str, list[str]] = {}
    hint = ""
    for key, value in given.items():
        try:
            clauses.append(_parse_clause(str(key), value, fields))
        except ValidationFailed as error:
            errors.setdefault(str(key), []).extend(m for ms in error.errors.values() for m in ms)
            hint = hint or error.hint
    if errors:
        first, messages = next(iter(errors.items()))
        raise ValidationFailed(f"Filter {first[:100]!r}: {messages[0]}", hint=hint, errors=errors)
    return tuple(clauses)


def _parse_clause(key: str, value: object, fields: Mapping[str, SchemaField]) -> Clause:
    name, op = _split(key, fields)
    if name in SYSTEM_FIELDS:
        kind = SYSTEM_FIELDS[name]
        _check_operator(op, _system_operators(kind))
        encode = functools.partial(_system_operand, kind)
        return Clause(field=name, op=op, value=_operand(op, value, encode), kind=kind, system=True)
    field = fields[name]
    _check_operator(op, operators_of(field))
    return Clause(field=name, op=op, value=_field_operand(op, value, field), kind=field.kind)


def _split(key: str, fields: Mapping[str, SchemaField]) -> tuple[str, str]:
    known = [*fields, *SYSTEM_FIELDS]
    if key in known:
        return key, "eq"
    name, found, op = key.rpartition("__")
    if found and name in known:
        return name, op
    unknown = (name if found else key)[:100]
    guards.refuse("", f"There is no field {unknown!r}.", suggest(unknown, known))


def _check_operator(op: str, valid: Iterable[str]) -> None:
    if op not in valid:
        guards.refuse("", f"There is no operator {op[:100]!r} for this field.", suggest(op, valid))


def _field_operand(op: str, value: object, field: SchemaField) -> Any:
    if op == "contains" and field.kind == "array":
        return guards.to_json(value)
    if op in _TEXT:
        return guards.check_text(value, "")
    return _operand(op, value, functools.partial(_encode, field))


def _operand(op: str, value: object, encode: Any) -> Any:
    if op == "isnull":
        if not isinstance(value, bool):
            guards.refuse("", f"Expected true or false, found {type(value).__name__}.")
        return value
    if op == "in":
        return [encode(item) for item in _items(value)]
    encoded = encode(value)
    if op in _RANGES and (encoded is None or isinstance(encoded, dict | list)):
        guards.refuse(
            "", f"{op} needs a value to compare with, found {value!r:.100}.", "Use isnull to look for null."
        )
    if op == "ne" and isinstance(encoded, dict | list):
        guards.refuse("", "ne takes text, numbers, true, false and null only.")
    return encoded


def _items(value: object) -> list[object]:
    if not isinstance(value, list | tuple | set | frozenset):
        guards.refuse("", f"in takes a list, found {type(value).__name__}.")
    if len(value) > MAX_IN:
        guards.refuse("", f"in takes up to {MAX_IN} values, found {len(value):,}.")
    return list(value)


def _encode(field: SchemaField, value: object) -> JSONValue:
    """Return the stored form of a filter's value: scalars by the field's type, the rest as it is."""
    plain = guards.to_json(value)
    if isinstance(plain, dict | list) or plain is None:
        return plain
    try:
        decoded = field.validator.validate_json(guards.dump_json(plain))
    except ValidationError as error:
        messages = [message for found in flat_errors(error).values() for message in found]
        guards.refuse("", next((m for m in messages if "None" not in m), messages[0]))
    encoded = guards.to_json(field.adapter.dump_python(decoded, mode="json", by_alias=True, round_trip=True))
    if [*epochs(plain, encoded, "")]:
        guards.refuse("", NO_TIME)
    return encoded


_TIME = TypeAdapter[Any](UTCDateTime)


def _system_operand(kind: str, value: object) -> Any:
    """Return the operand of a column as Python: UUID, int or aware datetime."""
    if kind == "integer":
        if isinstance(value, bool) or not isinstance(value, int):
            guards.refuse("", f"Expected a whole number, found {value!r:.100}.")
        return max(min(value, 2**31 - 1), -(2**31))
    try:
        if kind == "id":
            return value if isinstance(value, UUID) else UUID(guards.check_text(value, ""))
        return _TIME.validate_python(value)
    except ValidationError as error:
        guards.refuse("", next(iter(flat_errors(error).values()))[0])
    except ValueError:
        guards.refuse("", f"{value!r:.100} is not an id.")


def fingerprint_of(clauses: Iterable[Clause]) -> list[str]:
    """Return texts that are the same for the same filters, whatever the order of their clauses."""
    return sorted(guards.dump_json([c.field, c.op, guards.to_json(c.value)]) for c in clauses)
