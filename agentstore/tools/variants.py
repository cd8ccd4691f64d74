"""What vendors want of a schema besides: all of them, the strict modes, and Gemini's subset. Pure Python.

What a variant can't express is told in the description; the store checks it all the same. An open
object is asked for as JSON text, which ``arguments`` reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agentstore.core.values import JSONObject, JSONValue
from agentstore.tools.jsonschema import flat, only

__all__ = ["choices_in", "gemini_variant", "plain_variant", "strict_variant"]

#: The formats that the strict modes of both OpenAI and Anthropic know.
_STRICT_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
#: How many values all lists of a strict schema have at most, to OpenAI; and how many one has whose values
#: are longer than that together.
MAX_LISTED, MAX_LONG_LIST, MAX_LIST_LENGTH = 1000, 250, 15_000
#: OpenAPI's words that Gemini takes; patterns are left out, since it knows fewer of them.
_GEMINI = (
    "type", "required", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
)  # fmt: skip
_STRUCTURE = ("type", "description", "required", "properties", "items", "anyOf", "additionalProperties")
#: The patterns that every client can read: what JSON Schema recommends, which is the same to ECMAScript with
#: its flag u, to RE2 and to Python. One other pattern, and some clients show none of a server's tools.
_PORTABLE = re.compile(
    r"""(?: [^\\()\[\]{}*+?] | \\[dDwWsSbBnrtfv^$\\.*+?()\[\]{}|/]
    | \((?!\?) | \(\?: | \)
    | \[\^?(?: [^\\\[\]] | \\[dDwWsS](?!-[^\]]) | \\[nrtfv^$\\.*+?()\[\]{}|/-] )+\]
    | [*+?]\?? | \{[0-9]+(?:,[0-9]*)?\}\?? )*""",
    re.ASCII | re.VERBOSE,
)


def plain_variant(schema: JSONObject) -> JSONObject:
    """Return the variant for everybody else: a copy without the patterns that some clients can't read.

    A copy, because frameworks change what they are given, and calls are checked by the schema.
    """
    out: JSONObject = {key: [*value] if isinstance(value, list) else value for key, value in schema.items()}
    if "pattern" in out and not _PORTABLE.fullmatch(out["pattern"]):
        del out["pattern"]
        out |= _described(schema, tuple(out))
    for word in ("items", "additionalProperties"):
        if isinstance(out.get(word), dict):
            out[word] = plain_variant(out[word])
    if "properties" in out:
        out["properties"] = {key: plain_variant(value) for key, value in out["properties"].items()}
    if "anyOf" in out:
        out["anyOf"] = [plain_variant(option) for option in out["anyOf"]]
    return out


def strict_variant(schema: JSONObject) -> JSONObject:
    """Return the variant for strict modes: every property required, the optional ones widened to null.

    Where lists have more values than those take, the longest ones are told in words.
    """
    lists = sorted(map(len, _lists(schema)))
    while lists and sum(lists) > MAX_LISTED:
        longest = lists[-1]
        lists = [length for length in lists if length < longest]
    return _strict(schema, longest=lists[-1] if lists else 0)


def _lists(schema: JSONObject) -> Iterator[list[JSONValue]]:
    """Yield the lists of a schema's values that are not too long by themselves."""
    if _is_listed(schema):
        yield schema["enum"]
    for part in _inside(schema):
        yield from _lists(part)


def _is_listed(schema: JSONObject) -> bool:
    values = schema.get("enum", ())
    return 0 < len(values) <= MAX_LONG_LIST or (
        0 < len(values) <= MAX_LISTED and sum(len(str(value)) for value in values) <= MAX_LIST_LENGTH
    )


def _inside(schema: JSONObject) -> list[JSONObject]:
    """Return the parts that a schema consists of."""
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("anyOf", ()), *schema.get("properties", {}).values(), *items]


def _strict(schema: JSONObject, *, longest: int) -> JSONObject:
    if "anyOf" in schema:
        options = [_strict(_tagged(option), longest=longest) for option in schema["anyOf"]]
        return {**only(schema, "description"), "anyOf": _apart(flat(options))}
    if _is_open(schema):
        return _as_text(schema)
    kept: tuple[str, ...] = ("type", "required")
    if _is_listed(schema) and len(schema["enum"]) <= longest:
        kept += ("enum",)
    if schema.get("format") in _STRICT_FORMATS:
        kept += ("format",)
    out = {**_described(schema, kept), **only(schema, *kept)}
    if "properties" in schema:
        given = schema.get("required", [])
        out["properties"] = {
            key: part if key in given else _nullable(part)
            for key, value in schema["properties"].items()
            for part in [_strict(value, longest=longest)]
        }
        out["required"], out["additionalProperties"] = list(schema["properties"]), False
    if "items" in schema:
        out["items"] = _strict(schema["items"], longest=longest)
    return out


def choices_in(schema: JSONObject, *, most: int) -> int:
    """Count the places of a schema that have options to choose from; beyond ``most`` it may stop."""
    found = int("anyOf" in schema)
    for part in _inside(schema):
        if found > most:
            break
        found += choices_in(part, most=most - found)
    return found


def _tagged(option: JSONObject) -> JSONObject:
    """Return an object among options with its tags required: a null there would not say which it is."""
    tags = [key for key, value in option.get("properties", {}).items() if len(value.get("enum", ())) == 1]
    return {**option, "required": [*option.get("required", []), *tags]} if tags else option


def _apart(options: list[JSONObject]) -> list[JSONObject]:
    """Return options of which the objects begin with what tells them apart: OpenAI reads the first key.

    That is a key with another listed value in each, or else another key in each.
    """
    objects = [option["properties"] for option in options if option.get("properties")]
    if len(objects) < 2:
        return options
    marks = [key for key in objects[0] if _marks(key, objects)]
    firsts = marks[:1] * len(objects) if marks else _first_keys(objects)
    heads = iter(firsts)
    return [
        _beginning(option, next(heads)) if firsts and option.get("properties") else option
        for option in options
    ]


def _marks(key: str, objects: list[JSONObject]) -> bool:
    """Tell whether ``key`` has listed values in every object, and no value in two of them."""
    listed = [json.dumps(value) for each in objects for value in each.get(key, {}).get("enum", [None])]
    return "null" not in listed and len(listed) == len(set(listed))


def _first_keys(objects: list[JSONObject]) -> list[str]:
    """Return a key of each object, all different, early ones; nothing where there are none such."""
    owner: dict[str, int] = {}

    def give(number: int, seen: set[str]) -> bool:
        for key in objects[number]:
            if key not in seen:
                seen.add(key)
                if key not in owner or give(owner[key], seen):
                    owner[key] = number
                    return True
        return False

    found = all(give(number, set()) for number in range(len(objects)))
    return sorted(owner, key=owner.__getitem__) if found else []


def _beginning(option: JSONObject, key: str) -> JSONObject:
    properties = {key: option["properties"][key], **option["properties"]}
    return {**option, "properties": properties, "required": list(properties)}


def gemini_variant(schema: JSONObject) -> JSONObject:
    """Return the variant for Gemini: the subset of OpenAPI's schemas that all its endpoints take."""
    if "anyOf" in schema:
        return _gemini_options(schema)
    if _is_open(schema) or not schema.get("properties", True):
        return _as_text(schema)
    kept = _GEMINI
    if schema.get("type") == "string":
        listed = "" not in schema.get("enum", ())  # an empty text in a list fails the whole request
        kept += (
            *(("enum",) if listed else ()),
            *(("format",) if schema.get("format") == "date-time" else ()),
        )
    out = {**_described(schema, kept), **only(schema, *kept)}
    if "properties" in schema:
        out["properties"] = {key: gemini_variant(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        out["items"] = gemini_variant(schema["items"])
    return out


def _gemini_options(schema: JSONObject) -> JSONObject:
    """Return options without null, which is a mark there.

    Beside options some of Gemini's endpoints take nothing: what there is to say stands in the first.
    """
    kept = [option for option in schema["anyOf"] if option.get("type") != "null"]
    first, *others = flat([gemini_variant(option) for option in kept])
    texts = [part["description"] for part in (schema, first) if "description" in part]
    first = {**first, **({"description": " ".join(texts)} if texts else {})}
    if len(kept) < len(schema["anyOf"]):
        first["nullable"] = True
    return {"anyOf": [first, *others]} if others else first


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
    return value if value and isinstance(value, str) else json.dumps(value)


def _nullable(schema: JSONObject) -> JSONObject:
    """Return ``schema`` or null."""
    options = schema.get("anyOf", [schema])
    if any(option.get("type") == "null" for option in options):
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [*options, {"type": "null"}]}
    description = {"description": schema["description"]} if "description" in schema else {}
    bare = {key: value for key, value in schema.items() if key != "description"}
    return {**description, "anyOf": [bare, {"type": "null"}]}
