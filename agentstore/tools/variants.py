"""What single vendors want of a schema besides: the strict modes, and Gemini's subset. Pure Python.

What a variant can't express is told in the description; the store checks it all the same. An open
object is asked for as JSON text, which ``arguments`` reads.
"""

from __future__ import annotations

import json

from agentstore.core.values import JSONObject, JSONValue
from agentstore.tools.jsonschema import flat, only

__all__ = ["gemini_variant", "strict_variant"]

#: The formats that the strict modes of both OpenAI and Anthropic know.
_STRICT_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_STRICT = ("type", "enum", "required")
#: OpenAPI's words that Gemini takes; patterns are left out, since it knows fewer of them.
_GEMINI = (
    "type", "required", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
)  # fmt: skip
_STRUCTURE = ("type", "description", "required", "properties", "items", "anyOf", "additionalProperties")


def strict_variant(schema: JSONObject) -> JSONObject:
    """Return the variant for strict modes: every property required, the optional ones widened to null."""
    if "anyOf" in schema:
        options = flat([strict_variant(option) for option in schema["anyOf"]])
        return {**only(schema, "description"), "anyOf": options}
    if _is_open(schema):
        return _as_text(schema)
    kept = _STRICT + (("format",) if schema.get("format") in _STRICT_FORMATS else ())
    out = {**_described(schema, kept), **only(schema, *kept)}
    if "properties" in schema:
        given = schema.get("required", [])
        out["properties"] = {
            key: strict_variant(value) if key in given else _nullable(strict_variant(value))
            for key, value in schema["properties"].items()
        }
        out["required"], out["additionalProperties"] = list(schema["properties"]), False
    if "items" in schema:
        out["items"] = strict_variant(schema["items"])
    return out


def gemini_variant(schema: JSONObject) -> JSONObject:
    """Return the variant for Gemini: the subset of OpenAPI's schemas that all its endpoints take."""
    if "anyOf" in schema:
        return _gemini_options(schema)
    if _is_open(schema) or not schema.get("properties", True):
        return _as_text(schema)
    kept = _GEMINI
    if schema.get("type") == "string":
        kept += ("enum", *(("format",) if schema.get("format") == "date-time" else ()))
    out = {**_described(schema, kept), **only(schema, *kept)}
    if "properties" in schema:
        out["properties"] = {key: gemini_variant(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        out["items"] = gemini_variant(schema["items"])
    return out


def _gemini_options(schema: JSONObject) -> JSONObject:
    """Return options without null, which is a mark there."""
    options = flat([gemini_variant(option) for option in schema["anyOf"] if option.get("type") != "null"])
    mark: JSONObject = {"nullable": True} if len(options) < len(schema["anyOf"]) else {}
    shown: JSONObject = options[0] if len(options) == 1 else {"anyOf": options}
    texts = [part["description"] for part in (schema, shown) if "description" in part]
    return {**shown, **({"description": " ".join(texts)} if texts else {}), **mark}


def _is_open(schema: JSONObject) -> bool:
    return schema.get("type") == "object" and "properties" not in schema


def _as_text(schema: JSONObject) -> JSONObject:
    return {"type": "string", "description": f"{schema.get('description', 'An object.')} As JSON text."}


def _described(schema: JSONObject, kept: tuple[str, ...]) -> JSONObject:
    """Return the description, with what the variant can't express otherwise."""
    lost = {key: value for key, value in schema.items() if key not in (*kept, *_STRUCTURE)}
    told = ", ".join(f"{key} {_shown(value)}" for key, value in lost.items())
    text = " ".join(filter(None, [schema.get("description", ""), told and f"({told})"]))
    return {"description": text} if text else {}


def _shown(value: JSONValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return value if isinstance(value, str) else json.dumps(value)


def _nullable(schema: JSONObject) -> JSONObject:
    """Return ``schema`` or null."""
    if "anyOf" in schema:
        options = schema["anyOf"]
        if any(option.get("type") == "null" for option in options):
            return schema
        return {**schema, "anyOf": [*options, {"type": "null"}]}
    description = {"description": schema["description"]} if "description" in schema else {}
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {**description, "anyOf": [bare, {"type": "null"}]}
