"""Checks what a model sent before a handler sees it. What the store checks is left to the store."""

from __future__ import annotations

from agentstore.core import errors, guards
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.codec import suggest
from agentstore.tools.jsonschema import options_of
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

    An object or list that came as JSON text is parsed, once, wherever the schema wants one and no
    text. A null for an argument that may be left out means "not given": many clients send all that
    there are. With ``strict`` it does inside of arguments too, since there a model has to send every
    key; but where a key has to be there, and null is one of its values, or in an open object, it is
    a value.

    Raises:
        ValidationFailed: something does not fit; ``errors`` has the path and what is expected.
    """
    given = _object(arguments)
    properties, required = tool.input_schema["properties"], tool.input_schema["required"]
    given = {
        key: value
        for key, value in given.items()
        if value is not None or not (strict or (key in properties and key not in required))
    }
    for key in given:
        if key not in properties:
            raise _refusal(tool, key, "There is no such argument.", suggest(key, properties))
    for key in required:
        if key not in given:
            raise _refusal(tool, key, "The argument is missing.", "")
    return {key: _checked(tool, key, value, properties[key], strict) for key, value in given.items()}


def _object(arguments: JSONValue) -> JSONObject:
    """Return the arguments as an object; blank text, which some vendors send for none, is an empty one."""
    if isinstance(arguments, str):
        given = _parsed(arguments, "arguments") if arguments.strip() else {}
    else:
        given, _ = guards.encode_json(arguments)
    if not isinstance(given, dict):
        guards.refuse("arguments", f"Expected an object, found {_kind_of(given)}.")
    return given


def _refusal(tool: Tool, key: str, problem: str, hint: str) -> errors.ValidationFailed:
    return errors.ValidationFailed(f"{tool.name}: {key[:100]}: {problem}", hint=hint, errors={key: [problem]})


def _parsed(value: JSONValue, key: str) -> JSONValue:
    """Return an object or list that came as JSON text as what it is; other text stays text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return guards.encode_json(guards.parse_json(value))[0]
        except errors.ValidationFailed as error:
            raise errors.ValidationFailed(
                f"{key}: {error.message}", hint="Send an object.", errors={key: [error.message]}
            ) from None
    return value


def _opened(value: JSONValue, schema: JSONObject, path: str, strict: bool) -> JSONValue:
    """Return a value in which the objects and lists that came as JSON text are what they are.

    With ``strict`` it has no nulls that mean "not given".
    """
    if isinstance(value, float):
        return _whole(value, schema)
    if isinstance(value, str):
        if not _wants_opened(schema, strict):
            return value
        parsed = _parsed(value, path)
        return value if parsed is value else _opened(parsed, schema, path, strict)
    if isinstance(value, dict):
        known, others = _properties(schema), _inside(schema, "additionalProperties")
        return {
            key: _opened(item, known.get(key, others), f"{path}.{key}", strict)
            for key, item in value.items()
            if item is not None or not (strict and _may_lack(schema, key))
        }
    if isinstance(value, list):
        items = _inside(schema, "items")
        return [_opened(item, items, f"{path}.{number}", strict) for number, item in enumerate(value)]
    return value


def _may_lack(schema: JSONObject, key: str) -> bool:
    """Tell whether a null at ``key`` of an object means that there is nothing."""
    closed = [option for option in options_of(schema) if "properties" in option]
    values = [option["properties"][key] for option in closed if key in option["required"]]
    return bool(closed) and not any(_takes_null(value) for value in values)


def _takes_null(schema: JSONObject) -> bool:
    return any(option.get("type") == "null" for option in options_of(schema))


def _inside(schema: JSONObject, word: str) -> JSONObject:
    """Return the schema that one of the options has under ``word``, for what is inside; {} if none has."""
    found = (option[word] for option in options_of(schema) if isinstance(option.get(word), dict))
    return next(found, {})


def _whole(value: float, schema: JSONObject) -> float | int:
    """Return 3.0 as 3 where only integers are allowed: to JSON Schema it is one, and vendors send it so."""
    kinds = {option.get("type") for option in options_of(schema)}
    return int(value) if "integer" in kinds and "number" not in kinds and value.is_integer() else value


def _properties(schema: JSONObject) -> JSONObject:
    """Return the properties of an object's schema, of all its options together."""
    found: JSONObject = {}
    for option in options_of(schema):
        found |= option.get("properties", {})
    return found


def _wants_opened(schema: JSONObject, strict: bool) -> bool:
    """Tell whether JSON text stands for what it holds: where no text is allowed.

    The strict variant asks for open objects as text, so there also where a text is allowed.
    """
    options = options_of(schema)
    kinds = {option.get("type") for option in options}
    if "string" in kinds:
        return strict and any("properties" not in o for o in options if o.get("type") == "object")
    return not kinds.isdisjoint(("object", "array"))


def _checked(tool: Tool, key: str, value: JSONValue, schema: JSONObject, strict: bool) -> JSONValue:
    """Return one argument, opened and of its type; what is inside of an object is the store's to check."""
    value = _opened(value, schema, key, strict)
    kind = schema.get("type", "")
    if kind in _KINDS and (
        not isinstance(value, _KINDS[kind]) or isinstance(value, bool) != (kind == "boolean")
    ):
        raise _refusal(tool, key, f"Expected {kind}, found {_kind_of(value)}.", "")
    return value


def _kind_of(value: JSONValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for name, kinds in _KINDS.items():
        if isinstance(value, kinds):
            return name
    return "number"
