"""Reads a filter from a query string: each value by the type of its field. No Django, no REST.

What a field or operator may be is decided by ``query``, as for every other caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.requests import read_integer
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.fields import SchemaField
from agentstore.entities.query import CONTROLS, DEFAULT_LIMIT, SYSTEM_FIELDS

__all__ = ["ListRequest", "read_filter", "read_list_request"]

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_WORDS: dict[str, JSONValue] = {"true": True, "false": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class ListRequest:
    """What the query string of a list asks for."""

    filter: JSONObject = field(default_factory=dict)
    limit: int = DEFAULT_LIMIT
    order_by: str | None = None
    cursor: str | None = None


def read_list_request(pairs: Iterable[tuple[str, str]], fields: Mapping[str, SchemaField]) -> ListRequest:
    """Return the controls and the filter, its values read but not yet checked.

    Raises:
        ValidationFailed: a parameter is given twice, or its value can't be read; all are in ``errors``.
    """
    filters: JSONObject = {}
    controls: JSONObject = {}
    problems: dict[str, list[str]] = {}
    for name, text in pairs:
        try:
            if name in CONTROLS:
                _once(controls, name, read_integer(text, name) if name == "limit" else text)
            else:
                _add_filter(filters, name, text, fields)
        except ValidationFailed as error:
            problems.setdefault(name, []).extend(m for ms in error.errors.values() for m in ms)
    if problems:
        first, messages = next(iter(problems.items()))
        raise ValidationFailed(f"{first[:100]}: {messages[0]}", errors=problems)
    return ListRequest(filter=filters, **controls)


def read_filter(pairs: Iterable[tuple[str, str]], fields: Mapping[str, SchemaField]) -> JSONObject:
    """Return the filter of a request that takes nothing else, its values read but not yet checked.

    Raises:
        ValidationFailed: a parameter is no filter, is given twice, or its value can't be read.
    """
    pairs = list(pairs)
    for name, _ in pairs:
        if name in CONTROLS:
            guards.refuse(name, "This takes a filter only.", f"A field of that name is {name}__eq.")
    return read_list_request(pairs, fields).filter


def _add_filter(filters: JSONObject, name: str, text: str, fields: Mapping[str, SchemaField]) -> None:
    key, op = _split(name, fields)
    value = _read(text, op, fields[key]) if key in fields else _read_system(text, SYSTEM_FIELDS.get(key))
    if op == "in":
        filters.setdefault(name, []).append(value)
    else:
        _once(filters, name, value)


def _split(name: str, fields: Mapping[str, SchemaField]) -> tuple[str, str]:
    if name in fields or name in SYSTEM_FIELDS:
        return name, "eq"
    key, _, op = name.rpartition("__")
    return key, op


def _once(found: JSONObject, name: str, value: JSONValue) -> None:
    if name in found:
        guards.refuse(name, "The parameter is given twice; only in repeats its parameter.")
    found[name] = value


def _read_system(text: str, kind: str | None) -> JSONValue:
    return read_integer(text, "") if kind == "integer" else text


def _read(text: str, op: str, field: SchemaField) -> JSONValue:
    if op == "isnull":
        return _boolean(text)
    kind = field.kind
    if op == "contains" and kind == "array":
        kind = _kind_of_items(field)
    if kind == "text":
        return _dated(text, field.base) if field.kind == kind else text
    if text == "null" and (field.nullable or kind == "mixed"):
        return None
    if kind == "boolean":
        return _boolean(text)
    return _json(text, kind)


def _dated(text: str, base: object) -> str:
    """Return the text; where the field holds dates or times, it must start like one: "0" is none."""
    if isinstance(base, type) and issubclass(base, date) and not _DATE.match(text):
        guards.refuse("", f"Expected a date such as 2026-01-31, found {text!r:.100}.")
    return text


def _boolean(text: str) -> bool:
    if text not in _WORDS:
        guards.refuse("", f"Expected true or false, found {text!r:.100}.")
    return bool(_WORDS[text])


def _json(text: str, kind: str) -> JSONValue:
    """Return a number, object or array; where the type is open, what is not JSON is text."""
    try:
        value = guards.parse_json(text)
    except ValidationFailed:
        if kind == "mixed":
            return text
        guards.refuse("", f"Expected {_NAMES[kind]}, found {text!r:.100}.")
    if kind == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
        guards.refuse("", f"Expected {_NAMES[kind]}, found {text!r:.100}.")
    return value


_NAMES = {"number": "a number", "object": "a JSON object", "array": "a JSON array"}


def _kind_of_items(field: SchemaField) -> str:
    """Return ``text`` where an array holds text and nothing else; else its items are read as JSON."""
    return "text" if _array_of_text(field.json_schema) else "mixed"


def _array_of_text(part: JSONObject) -> bool:
    options = [option for option in part.get("anyOf", [part]) if option.get("type") != "null"]
    return all(option.get("items", {}).get("type") == "string" for option in options)
