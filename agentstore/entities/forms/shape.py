"""What each field of a schema looks like in a form: one widget per leaf, read from the schema once.

Pure: no request, no values. A nested object is a group, a list of objects a table, a list of scalars
has one item per line, and whatever is deeper is JSON text.
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, RootModel

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.fields import SchemaField, fields_of, schema_json, unalias

__all__ = ["MISSING", "Choice", "Shape", "as_json", "has_default_text", "shapes_of"]

#: There is no value.
MISSING: Any = object()
#: Text fields whose name ends in one of these words get room for several lines.
_LONG = re.compile(
    r"(.*_)?(about|bio|body|comments?|content|descriptions?|details|instructions|message|notes?|prompt"
    r"|summary|text|transcript)",
    re.ASCII | re.IGNORECASE,
)
#: Text fields that may hold more characters than this get room for several lines.
_LINE = 255
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """One option of a select: the text that is posted, what is shown, and the JSON value it means."""

    text: str
    label: str
    value: JSONValue


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """One widget, or a group of them.

    ``kind``: text, number, boolean, choice, moment (UTC date and time), day, lines, json, group, table.
    ``plain`` is True for text whose empty form is a value of its own. ``item`` is the shape of a
    line, ``parts`` those of a group or of a table's columns.
    """

    key: str
    kind: str
    label: str
    help: str = ""
    required: bool = False
    nullable: bool = False
    default: JSONValue = MISSING
    plain: bool = False
    multiline: bool = False
    numeric: str = ""
    choices: tuple[Choice, ...] = ()
    item: Shape | None = None
    parts: tuple[Shape, ...] = ()


@functools.cache
def shapes_of(schema: type[BaseModel], multiline: frozenset[str] = frozenset()) -> tuple[Shape, ...]:
    """Return the shape of each field of ``schema``; those named in ``multiline`` get several lines."""
    return tuple(_top(schema, field, multiline) for field in fields_of(schema).values())


def as_json(shape: Shape) -> Shape:
    """Return the shape that shows any value at all: JSON text."""
    return replace(shape, kind="json", multiline=True)


def has_default_text(shape: Shape) -> bool:
    """Tell whether leaving the widget empty means "the schema's own default"."""
    return not shape.required and not shape.nullable


def _top(schema: type[BaseModel], field: SchemaField, multiline: Set[str]) -> Shape:
    shape = _shape(schema, field)
    if shape.kind == "text" and shape.plain:
        long = field.key in multiline or _is_long(field)
        return replace(shape, multiline=long)
    return shape


def _is_long(field: SchemaField) -> bool:
    limits = [getattr(mark, "max_length", None) for mark in field.info.metadata]
    limit = min((number for number in limits if isinstance(number, int)), default=None)
    if limit is not None:
        return limit > _LINE
    return _LONG.fullmatch(field.key) is not None


def _shape(schema: type[BaseModel], field: SchemaField, *, deep: bool = False) -> Shape:
    basic = Shape(
        key=field.key,
        kind="json",
        label=_label(field),
        help=field.description,
        required=field.required,
        nullable=field.nullable,
        default=_default(field),
        multiline=True,
    )
    return replace(basic, **_leaf(schema, field) or _nested(schema, field, deep=deep) or {})


def _default(field: SchemaField) -> JSONValue:
    """Return the fixed default; what a factory will make is not known before it is made."""
    if field.required or field.info.default_factory is not None:
        return MISSING
    try:
        return guards.to_json(field.info.default)
    except ValidationFailed:
        return MISSING


def _label(field: SchemaField) -> str:
    title = field.title
    return title[:1].upper() + title[1:]


def _leaf(schema: type[BaseModel], field: SchemaField) -> dict[str, Any] | None:
    choices = tuple(_choices(field.json_schema, schema_json(schema, mode="serialization")))
    if choices:
        return {"kind": "choice", "choices": choices, "multiline": False}
    if field.kind == "boolean":
        return {"kind": "boolean", "multiline": False}
    if field.kind == "number":
        integer = _types(field.json_schema, schema_json(schema, mode="serialization")) <= {"integer", "null"}
        return {"kind": "number", "numeric": "numeric" if integer else "decimal", "multiline": False}
    if field.kind == "text":
        return {"multiline": False, **_text(field)}
    return None


def _text(field: SchemaField) -> dict[str, Any]:
    if field.utc:
        return {"kind": "moment"}
    base = field.base if isinstance(field.base, type) else None
    if base is not None and issubclass(base, date) and not issubclass(base, datetime):
        return {"kind": "day"}
    numeric = "decimal" if base is Decimal else ""
    return {"kind": "text", "plain": base is not None and issubclass(base, str), "numeric": numeric}


def _choices(part: JSONObject, root: JSONObject) -> Iterator[Choice]:
    values = list(_enumerated(part, root))
    if any(isinstance(value, dict | list) or value is _ANY for value in values):
        return
    values = [value for value in values if value is not None]
    if not values or all(isinstance(value, bool) for value in values):
        return
    plain = all(isinstance(value, str) and value for value in values)
    for value in values:
        yield Choice(text=value if plain else repr(value), label=str(value), value=value)


_ANY = object()


def _enumerated(part: JSONObject, root: JSONObject) -> Iterator[Any]:
    """Yield the values that a part of a JSON Schema lists; ``_ANY`` where it allows others."""
    if "$ref" in part:
        yield from _enumerated(root["$defs"][part["$ref"].rsplit("/", 1)[1]], root)
    elif "anyOf" in part:
        for option in part["anyOf"]:
            yield from _enumerated(option, root)
    elif "enum" in part or "const" in part:
        yield from part.get("enum", [part.get("const")])
    else:
        yield None if part.get("type") == "null" else _ANY


def _types(part: JSONObject, root: JSONObject) -> set[str]:
    """Return the JSON types that a part of a JSON Schema allows."""
    if "$ref" in part:
        return _types(root["$defs"][part["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in part:
        return {kind for option in part["anyOf"] for kind in _types(option, root)}
    return {str(part.get("type", "any"))}


def _nested(schema: type[BaseModel], field: SchemaField, *, deep: bool) -> dict[str, Any] | None:
    bare = _bare(field.info.annotation)
    if field.kind == "object" and _is_model(bare) and not deep:
        return _parts("group", bare)
    if field.kind == "array" and get_origin(bare) in (list, set, frozenset):
        item = _bare(get_args(bare)[0])
        if _is_model(item):
            return None if deep else _parts("table", item)
        return _lines(schema, field)
    return None


def _parts(kind: str, model: type[BaseModel]) -> dict[str, Any] | None:
    parts = tuple(_shape(model, field, deep=True) for field in fields_of(model).values())
    if kind == "table":
        parts = tuple(as_json(part) if part.kind == "lines" else part for part in parts)
    if not parts or not all(_IDENTIFIER.fullmatch(part.key) for part in parts):
        return None
    return {"kind": kind, "parts": parts, "multiline": False}


def _lines(schema: type[BaseModel], field: SchemaField) -> dict[str, Any] | None:
    root = schema_json(schema, mode="serialization")
    arrays = [
        part for part in field.json_schema.get("anyOf", [field.json_schema]) if part.get("type") == "array"
    ]
    kinds = _types(arrays[0].get("items", {}), root) if arrays else set()
    if kinds == {"string"}:
        return {"kind": "lines", "item": Shape(key="", kind="text", label="", required=True, plain=True)}
    if kinds and kinds <= {"integer", "number"}:
        return {"kind": "lines", "item": Shape(key="", kind="number", label="", required=True)}
    return None


def _is_model(annotation: Any) -> bool:
    """Tell whether it is a model with fields: a ``RootModel`` is stored as what it holds, without any."""
    model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return model and not issubclass(annotation, RootModel)


def _bare(annotation: Any) -> Any:
    """Return the one type behind ``Annotated`` and ``| None``, or the annotation itself."""
    annotation = unalias(annotation)
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        options = [option for option in get_args(annotation) if option is not type(None)]
        return _bare(options[0]) if len(options) == 1 else annotation
    return annotation
