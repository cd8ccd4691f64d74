"""Checks what a model sent before a handler sees it. What the store checks is left to the store."""

from __future__ import annotations

from agentstore.core import errors, guards
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.codec import suggest
from agentstore.tools.spec import Tool

__all__ = ["check_arguments"]

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def check_arguments(tool: Tool, arguments: JSONValue, *, strict: bool) -> JSONObject:
    """Return the arguments of a call: an object with known keys of the right types, nothing missing.

    An object that came as JSON text is parsed, once. With ``strict`` a null means "not given", since
    there a model has to send every key.

    Raises:
        ValidationFailed: something does not fit; ``errors`` has the path and what is expected.
    """
    given = _parsed(arguments, "arguments")
    if not isinstance(given, dict):
        guards.refuse("arguments", f"Expected an object, found {type(given).__name__}.")
    given = guards.to_json(given)
    properties, required = tool.input_schema["properties"], tool.input_schema["required"]
    found = {key: _parsed(value, key) if key in tool.parsed else value for key, value in given.items()}
    if strict:
        shaped = (tool.strict_schema or tool.input_schema)["properties"]
        found = {
            key: _reopened(_without_nulls(value), shaped.get(key, {}))
            for key, value in found.items()
            if value is not None
        }
    for key in found:
        if key not in properties:
            raise _refusal(tool, key, "There is no such argument.", suggest(key, properties))
    for key in required:
        if key not in found:
            raise _refusal(tool, key, "The argument is missing.", "")
    for key, value in found.items():
        _check_type(tool, key, value, properties[key])
    return found


def _refusal(tool: Tool, key: str, problem: str, hint: str) -> errors.ValidationFailed:
    return errors.ValidationFailed(f"{tool.name}: {key[:100]}: {problem}", hint=hint, errors={key: [problem]})


def _parsed(value: JSONValue, key: str) -> JSONValue:
    """Return an object or list that came as JSON text as what it is; other text stays text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return guards.parse_json(value)
        except errors.ValidationFailed as error:
            raise errors.ValidationFailed(
                f"{key}: {error.message}", hint="Send an object.", errors={key: [error.message]}
            ) from None
    return value


def _without_nulls(value: JSONValue) -> JSONValue:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _reopened(value: JSONValue, schema: JSONObject) -> JSONValue:
    """Parse what the strict variant asked for as JSON text: the values of open objects."""
    options = schema.get("anyOf", [schema])
    if isinstance(value, str):
        return _parsed(value, "arguments") if any(map(_is_open, options)) else value
    for option in options:
        if isinstance(value, dict) and "properties" in option:
            known = option["properties"]
            return {key: _reopened(item, known.get(key, {})) for key, item in value.items()}
        if isinstance(value, list) and "items" in option:
            return [_reopened(item, option["items"]) for item in value]
    return value


def _is_open(schema: JSONObject) -> bool:
    return schema.get("type") == "object" and "properties" not in schema


def _check_type(tool: Tool, key: str, value: JSONValue, schema: JSONObject) -> None:
    kind = schema.get("type", "")
    if kind not in _KINDS:
        return
    fits = isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not fits:
        raise _refusal(tool, key, f"Expected {kind}, found {_kind_of(value)}.", "")


def _kind_of(value: JSONValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for name, kinds in _KINDS.items():
        if isinstance(value, kinds):
            return name
    return "number"
