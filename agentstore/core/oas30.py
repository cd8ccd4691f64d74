"""Says in the words of OpenAPI 3.0 what we describe in those of 3.1: 3.0 is what drf-spectacular writes
unless a project asks for 3.1. Pure."""

from __future__ import annotations

from typing import Any

from agentstore.core.values import JSONObject

__all__ = ["document_30", "schema_30"]

#: What 3.0 has no word for: it is left out, which allows more and forbids nothing that is true.
_UNKNOWN = ("propertyNames", "patternProperties", "prefixItems", "contentEncoding", "examples", "$comment")
#: Null alone: 3.0 has no such type, and spectacular empties an enum of it.
_NOTHING: JSONObject = {"type": "object", "nullable": True, "maxProperties": 0}


def document_30(part: Any) -> Any:
    """Return a part of a document, such as an operation, with its schemas in the words of 3.0."""
    if isinstance(part, list):
        return [document_30(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: schema_30(value) if key == "schema" and isinstance(value, dict) else document_30(value)
        for key, value in part.items()
    }


def schema_30(schema: JSONObject) -> JSONObject:
    """Return a schema in the words of 3.0."""
    found = {key: _inner(key, value) for key, value in schema.items() if key not in _UNKNOWN}
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if not isinstance(found.get(exclusive, True), bool):
            found |= {bound: found[exclusive], exclusive: True}
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "contentMediaType" in found:
        del found["contentMediaType"]
        found["format"] = "binary"
    return _without_null(found)


def _inner(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: schema_30(part) for name, part in value.items()}
    if key in ("anyOf", "oneOf", "allOf"):
        return [schema_30(part) for part in value]
    if key in ("items", "additionalProperties", "not") and isinstance(value, dict):
        return schema_30(value)
    return value


def _without_null(schema: JSONObject) -> JSONObject:
    """Return a schema that is nullable instead of naming the type null."""
    kinds = schema.get("type")
    if kinds == "null":
        return {**{key: value for key, value in schema.items() if key != "type"}, **_NOTHING}
    if isinstance(kinds, list):
        rest = {key: value for key, value in schema.items() if key != "type"}
        named = [kind for kind in kinds if kind != "null"]
        one = {"type": named[0]} if len(named) == 1 else {"anyOf": [{"type": kind} for kind in named]}
        return {**rest, **one, **({"nullable": True} if "null" in kinds else {})}
    options = schema.get("anyOf", [])
    left = [option for option in options if option != _NOTHING]
    if len(left) == len(options):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if len(left) > 1:
        return {**rest, "anyOf": left, "nullable": True}
    only = {"allOf": left} if "$ref" in left[0] else left[0]
    return {**only, **rest, "nullable": True}
