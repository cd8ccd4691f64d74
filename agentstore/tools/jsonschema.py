"""Schemas that every vendor of language models accepts, made from pydantic's. Pure Python.

The rules come from the vendors' public documents: an object at the root without anyOf, oneOf or
allOf; ``additionalProperties: false``; no arrays of types; ``items`` on every array; names and keys
of at most 64 letters, digits, ``_`` and ``-``. OpenAI's strict mode wants every property required.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agentstore.core.values import JSONObject, JSONValue

__all__ = [
    "KEY_RE",
    "nullable",
    "object_schema",
    "plain",
    "strict_variant",
    "unbounded",
    "without_additional",
]

KEY_RE = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_KEPT = (
    "type", "description", "enum", "const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
)  # fmt: skip
_BOUNDS = _KEPT[_KEPT.index("pattern") :]
#: What OpenAI's strict mode understands; the rest is for the store to check.
_STRICT_KEPT = ("type", "description", "enum", "const", "anyOf", "items", "properties", "required")
ANY_VALUE: JSONObject = {
    "anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]
    + [{"type": "array", "items": {"type": "string"}}, {"type": "object", "additionalProperties": True}]
}


def object_schema(properties: Mapping[str, JSONObject], required: Iterable[str] = ()) -> JSONObject:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def nullable(schema: JSONObject) -> JSONObject:
    """Return ``schema`` or null."""
    if "anyOf" in schema:
        options = schema["anyOf"]
        if any(option.get("type") == "null" for option in options):
            return schema
        return {**schema, "anyOf": [*options, {"type": "null"}]}
    description = {"description": schema["description"]} if "description" in schema else {}
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {**description, "anyOf": [bare, {"type": "null"}]}


def plain(schema: JSONObject, root: JSONObject, *, above: tuple[str, ...] = ()) -> JSONObject:
    """Return a part of pydantic's JSON Schema without references, titles and defaults.

    A model that contains itself is an open object from its second occurrence on.
    """
    if "$ref" in schema:
        return _referred(schema, root, above)
    out: JSONObject = {key: schema[key] for key in _KEPT if key in schema}
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        parts = [plain(option, root, above=above) for option in options]
        return (
            {**out, **parts[0]} if len(parts) == 1 else {**_only(out, "description"), "anyOf": _flat(parts)}
        )
    if out.get("type") == "array":
        out["items"] = _items(schema, root, above)
    elif out.get("type") == "object":
        out |= _object(schema, root, above)
    elif "const" in out:
        out = {**_typed(out["const"]), **out, "enum": [out.pop("const")]}
        out.pop("const", None)
    elif not out.keys() - {"description"}:
        out |= ANY_VALUE
    return out


def _referred(schema: JSONObject, root: JSONObject, above: tuple[str, ...]) -> JSONObject:
    name = schema["$ref"].rsplit("/", 1)[1]
    own = _only(schema, "description")
    if name in above:
        return {"type": "object", "additionalProperties": True, "description": f"A {name}.", **own}
    return plain(root["$defs"][name], root, above=(*above, name)) | own


def _only(schema: JSONObject, *keys: str) -> JSONObject:
    return {key: schema[key] for key in keys if key in schema}


def _flat(parts: list[JSONObject]) -> list[JSONObject]:
    """Lift options out of options, so that there is one level of anyOf; each stands once."""
    found: list[JSONObject] = []
    for part in parts:
        for option in part.get("anyOf", [part]):
            if option not in found:
                found.append(option)
    return found


def _typed(value: JSONValue) -> JSONObject:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": kinds[type(value)]}


def _items(schema: JSONObject, root: JSONObject, above: tuple[str, ...]) -> JSONObject:
    if "prefixItems" in schema:
        parts = [plain(item, root, above=above) for item in schema["prefixItems"]]
        flat = _flat(parts)
        return flat[0] if len(flat) == 1 else {"anyOf": flat}
    return plain(schema.get("items") or {}, root, above=above)


def _object(schema: JSONObject, root: JSONObject, above: tuple[str, ...]) -> JSONObject:
    if "properties" not in schema:
        values = schema.get("additionalProperties", True)
        open_to = plain(values, root, above=above) if isinstance(values, dict) and values else True
        return {"additionalProperties": open_to}
    properties = {key: plain(value, root, above=above) for key, value in schema["properties"].items()}
    return {
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def strict_variant(schema: JSONObject) -> JSONObject:
    """Return OpenAI's strict variant: every property required, the optional ones widened to null.

    What it can't express, an open object or any value, is asked for as JSON text.
    """
    if "anyOf" in schema:
        options = [strict_variant(option) for option in schema["anyOf"]]
        return {**_only(schema, "description"), "anyOf": _flat(options)}
    if schema.get("type") == "object" and "properties" not in schema:
        text = f"{schema.get('description', 'An object.')} As JSON text.".strip()
        return {"type": "string", "description": text}
    out: JSONObject = {key: schema[key] for key in _STRICT_KEPT if key in schema}
    if "properties" in schema:
        given = schema.get("required", [])
        out["properties"] = {
            key: strict_variant(value) if key in given else nullable(strict_variant(value))
            for key, value in schema["properties"].items()
        }
        out["required"], out["additionalProperties"] = list(schema["properties"]), False
    if "items" in schema:
        out["items"] = strict_variant(schema["items"])
    return out


def unbounded(schema: JSONObject) -> JSONObject:
    """Return ``schema`` without bounds, lengths and patterns: a filter's values need not keep them."""
    out = {key: value for key, value in schema.items() if key not in _BOUNDS}
    if "anyOf" in out:
        out["anyOf"] = [unbounded(option) for option in out["anyOf"]]
    if "items" in out:
        out["items"] = unbounded(out["items"])
    return out


def without_additional(schema: JSONValue) -> JSONValue:
    """Return ``schema`` without ``additionalProperties``, which some of Gemini's endpoints refuse."""
    if isinstance(schema, list):
        return [without_additional(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_additional(value) for key, value in schema.items() if key != "additionalProperties"}
