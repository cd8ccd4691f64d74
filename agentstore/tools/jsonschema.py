"""Schemas that every vendor of language models accepts, made from pydantic's. Pure Python.

The rules come from the vendors' public documents: an object at the root without anyOf, oneOf or
allOf; ``additionalProperties: false``; no arrays of types; ``items`` on every array; names and keys
of at most 64 letters, digits, ``_`` and ``-``. ``variants`` has what single vendors want besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agentstore.core.values import JSONObject, JSONValue

__all__ = ["ANY_VALUE", "KEY_RE", "flat", "object_schema", "only", "options_of", "plain", "unbounded"]

KEY_RE = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_KEPT = (
    "type", "description", "enum", "const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
)  # fmt: skip
#: OpenAI's strict mode takes ten levels of objects, of which a call's arguments and the data are two.
MAX_LEVELS = 8
#: How many parts a field's schema has at most, if more than the first level is shown.
MAX_PARTS = 500
_BOUNDS = _KEPT[_KEPT.index("pattern") :]
_TYPES: dict[type, str] = {
    bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null",
    list: "array", dict: "object",
}  # fmt: skip
_OPEN: JSONObject = {"type": "object", "additionalProperties": True}
ANY_VALUE: JSONObject = {
    "anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]
    + [{"type": "array", "items": {"type": "string"}}, _OPEN]
}


def object_schema(properties: Mapping[str, JSONObject], required: Iterable[str] = ()) -> JSONObject:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def plain(schema: JSONObject, root: JSONObject) -> JSONObject:
    """Return a part of pydantic's JSON Schema without references, titles and defaults.

    A model that contains itself is an open object from its second occurrence on. So is what is nested
    more deeply than ``MAX_LEVELS``, or, where models that contain each other would make the schema
    grow beyond all use, less deeply: then as many levels are shown as have room.
    """
    for levels in range(MAX_LEVELS, 1, -1):
        try:
            return _plain(schema, _Room(root, levels, MAX_PARTS))
        except _Full:
            continue
    return _plain(schema, _Room(root, 1))


class _Full(Exception):
    """A schema has more parts than there is room for."""


class _Room:
    """What a schema's references lead to, and how much of it is shown."""

    def __init__(self, root: JSONObject, levels: int, parts: int | None = None) -> None:
        self.root, self.levels, self.left = root, levels, parts

    def take(self) -> None:
        """Count a part.

        Raises:
            _Full: there is no room for it.
        """
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise _Full


def _plain(schema: JSONObject, room: _Room, above: tuple[str, ...] = ()) -> JSONObject:
    room.take()
    if "$ref" in schema:
        return _referred(schema, room, above)
    out: JSONObject = {key: schema[key] for key in _KEPT if key in schema}
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        parts = flat([_plain(option, room, above) for option in options])
        return {**out, **parts[0]} if len(parts) == 1 else {**only(out, "description"), "anyOf": parts}
    if out.get("type") == "array":
        out["items"] = _items(schema, room, above)
    elif out.get("type") == "object":
        out |= _object(schema, room, above)
    elif "const" in out or "enum" in out:
        out = _listed(out)
    elif "type" not in out:
        return {**only(out, "description"), **ANY_VALUE}
    return out


def _referred(schema: JSONObject, room: _Room, above: tuple[str, ...]) -> JSONObject:
    name = schema["$ref"].rsplit("/", 1)[1]
    own = only(schema, "description")
    if name in above:
        return {**_OPEN, "description": f"An object as above: {name}.", **own}
    if len(above) >= room.levels and "properties" in room.root["$defs"][name]:
        return {**_OPEN, "description": f"An object: {name}.", **own}
    return _plain(room.root["$defs"][name], room, (*above, name)) | own


def only(schema: JSONObject, *keys: str) -> JSONObject:
    """Return what ``schema`` has of ``keys``."""
    return {key: schema[key] for key in keys if key in schema}


def options_of(schema: JSONObject) -> Sequence[JSONObject]:
    """Return what a value may be one of; without options, the schema itself."""
    options: Sequence[JSONObject] = schema.get("anyOf") or (schema,)
    return options


def flat(parts: list[JSONObject]) -> list[JSONObject]:
    """Lift options out of options, so that there is one level of anyOf; each stands once."""
    found: list[JSONObject] = []
    for part in parts:
        for option in part.get("anyOf", [part]):
            if option not in found:
                found.append(option)
    return found


def _listed(schema: JSONObject) -> JSONObject:
    """Return the schema of listed values: each option has one type, as every vendor wants it."""
    values = schema.get("enum", [schema.get("const")])
    kinds: dict[str, list[JSONValue]] = {}
    for value in values:
        kinds.setdefault(_TYPES[type(value)], []).append(value)
    parts = [
        {"type": kind} if kind == "null" else {"type": kind, "enum": listed} for kind, listed in kinds.items()
    ]
    return {**only(schema, "description"), **(parts[0] if len(parts) == 1 else {"anyOf": parts})}


def _items(schema: JSONObject, room: _Room, above: tuple[str, ...]) -> JSONObject:
    if "prefixItems" in schema:
        parts = [_plain(item, room, above) for item in schema["prefixItems"]]
        options = flat(parts)
        return options[0] if len(options) == 1 else {"anyOf": options}
    return _plain(schema.get("items") or {}, room, above)


def _object(schema: JSONObject, room: _Room, above: tuple[str, ...]) -> JSONObject:
    if "properties" not in schema:
        values = schema.get("additionalProperties", True)
        open_to = _plain(values, room, above) if isinstance(values, dict) and values else True
        return {"additionalProperties": open_to}
    properties = {key: _plain(value, room, above) for key, value in schema["properties"].items()}
    if not all(map(KEY_RE.fullmatch, properties)):
        # No vendor takes such keys: the object is open, and the store checks what is in it.
        return {"additionalProperties": True, "description": f"An object: {', '.join(properties)}.",
                **only(schema, "description")}  # fmt: skip
    return {
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def unbounded(schema: JSONObject) -> JSONObject:
    """Return ``schema`` without bounds, lengths and patterns: a filter's values need not keep them."""
    out = {key: value for key, value in schema.items() if key not in _BOUNDS}
    if "anyOf" in out:
        out["anyOf"] = [unbounded(option) for option in out["anyOf"]]
    if "items" in out:
        out["items"] = unbounded(out["items"])
    return out
