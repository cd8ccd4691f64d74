"""The schemas of the arguments of an entity's tools, made from its declaration."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.codec import Codec
from agentstore.entities.fields import SchemaField
from agentstore.entities.query import operators_of
from agentstore.tools.jsonschema import KEY_RE, object_schema, options_of, plain, unbounded

__all__ = ["EntitySchemas"]

_WORDS = {
    "ne": "is not", "lt": "is below", "lte": "is at most", "gt": "is above", "gte": "is at least",
    "in": "is one of", "startswith": "starts with", "contains": "contains",
    "icontains": "contains, capitals aside,", "isnull": "has no value: is",
}  # fmt: skip


class EntitySchemas:
    """The schemas of one entity's arguments; they depend on the declaration alone and are made once."""

    def __init__(self, codec: Codec[Any], indexed: Sequence[str]) -> None:
        self.fields: dict[str, SchemaField] = {
            key: field for key, field in codec.fields.items() if KEY_RE.fullmatch(key)
        }
        self.every = tuple(codec.fields)
        self.indexed = indexed
        self.root = _generated(codec.schema)
        self.properties: JSONObject = {
            key: plain(self.root["properties"][key], self.root) for key in self.fields
        }

    @functools.cached_property
    def flat_keys(self) -> Set[str] | None:
        """The keys of all fields; None where a nested schema may have other fields by now."""
        nested = any("properties" in part for part in self.root.get("$defs", {}).values())
        return None if nested else frozenset(self.every)

    @functools.cached_property
    def data(self) -> JSONObject:
        """The whole document of a new row."""
        required = [key for key in self.fields if key in self.root.get("required", ())]
        return object_schema(self.properties, required)

    @functools.cached_property
    def patch(self) -> JSONObject:
        """Some fields of a row."""
        return {
            **object_schema(self.properties),
            "description": "The fields to change. A nested object or a list is replaced as a whole.",
        }

    @functools.cached_property
    def strict_patch(self) -> JSONObject:
        """The same where every field has to be sent."""
        text = f"{self.patch['description']} Null leaves a field as it is; to clear one, name it in unset."
        return {**self.patch, "description": text}

    @functools.cached_property
    def filter(self) -> JSONObject:
        """Equality for every field, operators for the indexed ones and for arrays."""
        return self._filter(indexed_only=False)

    @functools.cached_property
    def strict_filter(self) -> JSONObject:
        """The same for the indexed fields and the arrays alone."""
        return self._filter(indexed_only=True)

    def check_filter(self, given: Mapping[str, JSONValue]) -> None:
        """Refuse an object or list where a field holds neither: it would find nothing, and say nothing.

        Raises:
            ValidationFailed: there is one; ``errors`` has its key and the expected type.
        """
        for key, value in given.items():
            options = options_of(self.filter["properties"].get(key, {}))
            kinds = [option.get("type", "") for option in options]
            if isinstance(value, dict | list) and {"object", "array", ""}.isdisjoint(kinds):
                found = "object" if isinstance(value, dict) else "array"
                problem = f"Expected {' or '.join(kinds)}, found {found}."
                raise ValidationFailed(
                    f"Filter {key!r}: {problem}",
                    hint=f"An operator is a part of the key, as in {key.partition('__')[0]}__in.",
                    errors={key: [problem]},
                )

    def _filter(self, *, indexed_only: bool) -> JSONObject:
        properties: JSONObject = {}
        for key, field in self.fields.items():
            if indexed_only and key not in self.indexed and field.kind != "array":
                continue
            for op in operators_of(field):
                name = key if op == "eq" else f"{key}__{op}"
                wanted = op == "eq" or key in self.indexed or (field.kind == "array" and op == "contains")
                if wanted and KEY_RE.fullmatch(name):
                    properties[name] = self._operand(key, field, op)
        return {**object_schema(properties), "description": "Only rows that match all of these."}

    def _operand(self, key: str, field: SchemaField, op: str) -> JSONObject:
        own: JSONObject = unbounded(self.properties[key])
        if op == "eq":
            return own
        schema: JSONObject = {"type": "string"} if op in ("startswith", "icontains") else _not_null(own)
        if op == "isnull":
            schema = {"type": "boolean"}
        elif op == "in":
            schema = {"type": "array", "items": own}
        elif op == "contains":
            schema = own["items"] if own.get("type") == "array" else {"type": "string"}
        return {**schema, "description": f"{key} {_WORDS[op]} this."}

    @functools.cached_property
    def order(self) -> JSONObject:
        """The fields to order by, up and down."""
        indexed = (key for key in self.indexed if key in self.fields)
        names = dict.fromkeys([*indexed, "created_at", "updated_at"])
        described = (
            "Default: last updated first. A leading - means descending; rows without a value come last."
        )
        return {"type": "string", "enum": [f"{sign}{name}" for name in names for sign in ("", "-")],
                "description": described}  # fmt: skip


def _not_null(schema: JSONObject) -> JSONObject:
    """Return a schema without its null option, for operators that never match null."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if not options:
        return {key: value for key, value in schema.items() if key != "description"}
    return options[0] if len(options) == 1 else {"anyOf": options}


class _Bare(GenerateJsonSchema):
    """Leaves out what no tool shows, which is half of the work: defaults, titles and sorted keys."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _generated(schema: type[BaseModel]) -> JSONObject:
    """Return the JSON Schema of what a schema takes, an object at its root."""
    found = schema.model_json_schema(by_alias=True, mode="validation", schema_generator=_Bare)
    if "$ref" in found:  # a schema that refers to itself stands among its own definitions
        found = {**found["$defs"][found["$ref"].rsplit("/", 1)[1]], "$defs": found["$defs"]}
    return found
