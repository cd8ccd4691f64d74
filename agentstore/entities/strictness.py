"""Strict JSON behind a host's own validators. No Django.

Strict pydantic takes a date as JSON writes it, as text. But what a ``before`` or ``wrap`` validator
hands on it takes for Python's, of which only a ``date`` is one, so that no JSON would fit a schema
with such a validator. Here each type that JSON has no form of is told what its JSON form is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import CoreConfig, SchemaValidator, core_schema, to_json

__all__ = ["json_validator", "validator_of"]

Node = dict[str, Any]

#: Where a core schema holds one schema, several, or several by name.
_ONE = ("schema", "keys_schema", "values_schema", "extras_schema", "extras_keys_schema", "json_schema",
        "python_schema", "lax_schema", "strict_schema", "arguments_schema")  # fmt: skip
_SEVERAL = ("items_schema", "choices", "fields", "definitions", "steps")
#: Validators that hand on a Python value.
_FUNCTIONS = ("function-before", "function-wrap")
#: What JSON writes as text or a number, and as an array.
_SCALARS = ("date", "datetime", "time", "timedelta", "decimal", "complex", "bytes")
_ARRAYS = ("tuple", "set", "frozenset", "deque")
_STRICT = CoreConfig(strict=True, allow_inf_nan=False)
#: The first releases of pydantic 2.12 have no such option, and there all stays as pydantic has it.
_CAN_REBUILD = "_use_prebuilt" in (SchemaValidator.__text_signature__ or "")


@functools.cache
def json_validator(schema: type[BaseModel]) -> SchemaValidator:
    """Return the validator of a complete schema for JSON: its own, unless a host's validators disturb it."""
    return validator_of(schema.__pydantic_core_schema__, schema.__pydantic_validator__)


def validator_of(core: Mapping[str, Any], usual: Any) -> SchemaValidator:
    """Return the validator of a core schema for JSON: ``usual``, unless a host's validators disturb it."""
    if not _is_disturbed(core):
        own: SchemaValidator = usual
        return own
    # Not prebuilt: else it would be made of the models' own validators, which know nothing of this.
    options = {"_use_prebuilt": False} if _CAN_REBUILD else {}
    return SchemaValidator(_told(core), _STRICT, **options)


def _is_ours(node: Mapping[str, Any]) -> bool:
    function = node.get("function")
    made = function.get("function") if isinstance(function, dict) else None
    return getattr(made, "__module__", None) == "agentstore.entities.schema"


def _is_disturbed(node: Mapping[str, Any]) -> bool:
    if _is_ours(node):
        return False
    return node.get("type") in _FUNCTIONS or any(map(_is_disturbed, _parts(node)))


def _parts(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in (*_ONE, *_SEVERAL):
        held = node.get(key)
        if isinstance(held, dict) and key in _SEVERAL and not isinstance(held.get("type"), str):
            held = list(held.values())
        for part in held if isinstance(held, list) else [held]:
            schema = part[0] if isinstance(part, tuple) else part  # a choice with its label
            if isinstance(schema, dict):
                yield schema


def _told(part: Any) -> Any:
    """Return a part of a core schema in which every type knows its JSON form."""
    if isinstance(part, tuple):
        return (_told(part[0]), *part[1:])
    if isinstance(part, list):
        return [_told(item) for item in part]
    if not isinstance(part, Mapping) or _is_ours(part):
        return part
    if not isinstance(part.get("type"), str):  # schemas by name
        return {name: _told(item) for name, item in part.items()}
    node = {key: _told(value) if key in (*_ONE, *_SEVERAL) else value for key, value in part.items()}
    if node["type"] in _ARRAYS:
        return {**node, "strict": False}
    return _reading(node) if node["type"] in _SCALARS else node


def _reading(node: Node) -> Any:
    """Return the schema of a type that reads its own JSON form, and leaves the rest to be judged by it."""
    name = {"ref": node.pop("ref")} if "ref" in node else {}  # by which others refer to it
    of_json = SchemaValidator(node, _STRICT)

    def read(value: Any, info: core_schema.ValidationInfo) -> Any:
        if info.mode != "json" or type(value) not in (str, int, float):
            return value
        try:
            return of_json.validate_json(to_json(value))
        except ValidationError:
            return value

    return {**core_schema.with_info_before_validator_function(read, node), **name}
