"""The vendors' public rules for tool definitions, as a checker that knows nothing of our code."""

import re
from collections.abc import Iterator

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)


def problems(name: str, schema: object, *, strict: bool, closed: bool = True) -> list[str]:
    """Return what breaks a rule; ``closed`` asks for ``additionalProperties``, which Gemini refuses."""
    found = []
    if not NAME.fullmatch(name) or not NAME.fullmatch(f"mcp__agentstore__{name}"):
        found.append(f"{name}: the name is too long or has odd characters")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return [*found, f"{name}: the root is no object"]
    if {"oneOf", "anyOf", "allOf"} & schema.keys():
        found.append(f"{name}: the root has options")
    return found + [f"{name}{path}: {text}" for path, text in _walk(schema, "", strict, closed)]


def _walk(part: object, path: str, strict: bool, closed: bool) -> Iterator[tuple[str, str]]:
    if not isinstance(part, dict):
        yield path, f"is {type(part).__name__}, not a schema"
        return
    if "$ref" in part or "allOf" in part or "oneOf" in part:
        yield path, "has a reference, allOf or oneOf"
    if isinstance(part.get("type"), list):
        yield path, "has an array of types"
    if part.get("type") == "array" and not isinstance(part.get("items"), dict):
        yield path, "is an array without items"
    if "properties" in part:
        yield from _object(part, path, strict, closed)
    elif part.get("type") == "object" and strict:
        yield path, "is an open object"
    for number, option in enumerate(part.get("anyOf", [])):
        yield from _walk(option, f"{path}|{number}", strict, closed)
    if isinstance(part.get("items"), dict):
        yield from _walk(part["items"], f"{path}[]", strict, closed)


def _object(part: dict, path: str, strict: bool, closed: bool) -> Iterator[tuple[str, str]]:
    if closed and part.get("additionalProperties") is not False:
        yield path, "is not closed"
    if set(part.get("required", [])) - set(part["properties"]):
        yield path, "requires what it does not have"
    if strict and set(part.get("required", [])) != set(part["properties"]):
        yield path, "does not require every property"
    for key, value in part["properties"].items():
        if not NAME.fullmatch(key):
            yield f"{path}.{key}", "has a key with odd characters"
        yield from _walk(value, f"{path}.{key}", strict, closed)
