"""The vendors' public rules for tool definitions, as a checker that knows nothing of our code."""

import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
#: What OpenAI's and Anthropic's strict modes take: https://platform.openai.com/docs/guides/structured-outputs
STRICT = {
    "type",
    "description",
    "enum",
    "anyOf",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "format",
}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
#: The fields of Gemini's Schema that all of its endpoints take.
GEMINI = {
    "type", "description", "enum", "anyOf", "items", "properties", "required", "format", "nullable",
    "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
}  # fmt: skip
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
}  # fmt: skip


def problems(name: str, schema: object, *, strict: bool, dialect: str) -> list[str]:
    """Return what breaks a rule of the dialect's vendor."""
    if dialect == "gemini":
        return [f"{name}: {text}" for text in _root(name, schema)] + list(_gemini(schema, name))
    found = _root(name, schema)
    found += [f"{name}{path}: {text}" for path, text in _walk(schema, "", strict)]
    return found


def _root(name: str, schema: object) -> list[str]:
    found = []
    if not NAME.fullmatch(name) or not NAME.fullmatch(f"mcp__agentstore__{name}"):
        found.append(f"{name}: the name is too long or has odd characters")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return [*found, f"{name}: the root is not an object"]
    if {"oneOf", "anyOf", "allOf"} & schema.keys():
        found.append(f"{name}: the root has options")
    return found


def _walk(part: object, path: str, strict: bool) -> Iterator[tuple[str, str]]:
    if not isinstance(part, dict):
        yield path, f"is {type(part).__name__}, not a schema"
        return
    if ("type" in part) == ("anyOf" in part):
        yield path, "has not just one of a type and options"
    if strict and (part.keys() - STRICT or part.get("format", "uuid") not in FORMATS):
        yield path, f"has what strict modes refuse: {part}"
    if re.search(r"\(\?[^:]|\\[pPAZzh]", part.get("pattern", "")):
        yield path, f"has a pattern that some clients cannot read: {part['pattern']}"
    if "enum" in part and not all(isinstance(value, TYPES[part["type"]]) for value in part["enum"]):
        yield path, "lists values of another type"
    if "$ref" in part or "allOf" in part or "oneOf" in part:
        yield path, "has a reference, allOf or oneOf"
    if isinstance(part.get("type"), list):
        yield path, "has an array of types"
    if part.get("type") == "array" and not isinstance(part.get("items"), dict):
        yield path, "is an array without items"
    if "properties" in part:
        yield from _object(part, path, strict)
    elif part.get("type") == "object" and strict:
        yield path, "is an open object"
    if strict and _alike(part.get("anyOf", [])):
        yield path, "has objects among its options that begin alike"
    for number, option in enumerate(part.get("anyOf", [])):
        yield from _walk(option, f"{path}|{number}", strict)
    if isinstance(part.get("items"), dict):
        yield from _walk(part["items"], f"{path}[]", strict)


def _alike(options: list[dict]) -> bool:
    """Tell whether objects among options begin with the same key, and no value in it tells them apart."""
    firsts = [next(iter(option["properties"].items())) for option in options if option.get("properties")]
    tags = [f"{key}={value.get('enum', '')}" for key, value in firsts]
    return len(set(tags)) < len(tags)


def _object(part: dict, path: str, strict: bool) -> Iterator[tuple[str, str]]:
    if part.get("additionalProperties") is not False:
        yield path, "is not closed"
    if set(part.get("required", [])) - set(part["properties"]):
        yield path, "requires what it does not have"
    if strict and set(part.get("required", [])) != set(part["properties"]):
        yield path, "does not require every property"
    for key, value in part["properties"].items():
        if not NAME.fullmatch(key):
            yield f"{path}.{key}", "has a key with odd characters"
        yield from _walk(value, f"{path}.{key}", strict)


def _gemini(part: object, path: str) -> Iterator[str]:
    if not isinstance(part, dict) or part.keys() - GEMINI:
        yield f"{path}: is no schema of Gemini's: {part}"
        return
    kind = part.get("type")
    if (kind in TYPES) == ("anyOf" in part) and kind != "null":
        yield f"{path}: has not just one of a type and options"
    if "enum" in part and not (
        kind == "string" and all(value and isinstance(value, str) for value in part["enum"])
    ):
        yield f"{path}: lists what is not text, or empty"
    if "anyOf" in part and len(part) > 1:  # the answer of Vertex: "it must be the only field set"
        yield f"{path}: has something beside options"
    if "format" in part and (kind, part["format"]) != ("string", "date-time"):
        yield f"{path}: has the format {part['format']}"
    if kind == "object" and not part.get("properties"):
        yield f"{path}: is an object without properties"
    if kind == "array" and "items" not in part:
        yield f"{path}: is an array without items"
    if set(part.get("required", [])) - set(part.get("properties", {})):
        yield f"{path}: requires what it does not have"
    for key, value in part.get("properties", {}).items():
        if not NAME.fullmatch(key):
            yield f"{path}.{key}: has a key with odd characters"
        yield from _gemini(value, f"{path}.{key}")
    for number, option in enumerate(part.get("anyOf", [])):
        yield from _gemini(option, f"{path}|{number}")
    if "items" in part:
        yield from _gemini(part["items"], f"{path}[]")
