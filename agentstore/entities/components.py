"""What OpenAPI says of one entity: its component schemas. No REST here.

Every name starts with the entity's own, so that two entities with a nested model of the same name
never share a component.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaValue, NoDefault
from pydantic_core import core_schema

from agentstore.core.values import JSONObject
from agentstore.entities.base import EntityModel
from agentstore.entities.fields import StoredJsonSchema, fields_of
from agentstore.entities.filter_schemas import ANY_JSON, DECIMAL, NO_NUL, filter_schema, orderable, ref
from agentstore.entities.query import MAX_LIMIT

__all__ = ["components_of", "page_of", "prefix_of"]

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_ANY: JSONObject = {"x-agentstore-any": True}
_TIME: JSONObject = {"type": "string", "format": "date-time"}


def prefix_of(name: str) -> str:
    """Return the start of an entity's component names; different names never give the same."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name[0].upper() + name[1:])


class _EntityJsonSchema(StoredJsonSchema):
    """JSON Schema as the store reads and writes: no NUL comes in, every field goes out."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        if self.mode == "serialization" and field["type"] != "typed-dict-field":
            return True
        return super().field_is_required(field, total)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        if self.mode == "serialization" and "serialization" in schema:  # its own may leave out keys
            found.pop("required", None)
        return found

    def model_fields_schema(self, schema: core_schema.ModelFieldsSchema) -> JsonSchemaValue:
        return super().model_fields_schema({**schema, "computed_fields": []})

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        found = super().str_schema(schema)
        return found if self.mode == "serialization" else {"pattern": NO_NUL, **found}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        found = super().dict_schema(schema)
        return found if self.mode == "serialization" else {"propertyNames": {"pattern": NO_NUL}, **found}

    def any_schema(self, schema: core_schema.AnySchema) -> JsonSchemaValue:
        return {} if self.mode == "serialization" else dict(_ANY)

    def get_default_value(self, schema: core_schema.WithDefaultSchema) -> Any:
        """Give a default in the form that is stored, which is the one that a body has."""
        value = super().get_default_value(schema)
        encode = _encoder(schema["schema"]) if self.mode == "validation" else None
        if encode is None or value is None or value is NoDefault:
            return value
        try:
            return encode(value)
        except Exception:  # a default that is no value before it is validated
            return value

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        if self.mode == "serialization":
            return {"type": "string"}
        number = {"type": "number"} | {
            word: float(schema[bound])  # type: ignore[literal-required]
            for bound, word in _BOUNDS.items()
            if schema.get(bound) is not None
        }
        return {"anyOf": [number, {"type": "string", "pattern": DECIMAL}]}


def _encoder(schema: Any) -> Callable[[Any], Any] | None:
    """Return what a field's own serializer does with a value, if it has one that needs nothing else."""
    while isinstance(schema, dict) and "serialization" not in schema:
        schema = schema.get("schema")
    how = schema["serialization"] if schema else {}
    plain = how.get("type") == "function-plain" and not how.get("info_arg")
    return how["function"] if plain else None


def components_of(model: type[EntityModel]) -> dict[str, JSONObject]:
    """Return the component schemas of an entity by name."""
    prefix = prefix_of(model.entity.name)
    given, parts = _schema(model.Schema, f"{prefix}.{{model}}", "validation")
    stored, stored_parts = _schema(model.Schema, f"{prefix}.{{model}}.Stored", "serialization")
    return {
        **parts,
        **stored_parts,
        f"{prefix}Data": {**given, "title": f"{prefix}Data"},
        f"{prefix}Stored": {**stored, "title": f"{prefix}Stored"},
        f"{prefix}Patch": _partial(given, parts, f"{prefix}Patch"),
        f"{prefix}Write": _write(prefix),
        f"{prefix}Update": _update(prefix, model.Schema),
        f"{prefix}Row": _row(prefix),
        f"{prefix}Page": page_of(f"{prefix}Row"),
        f"{prefix}Rows": _object({"results": {"type": "array", "items": ref(f"{prefix}Row")}}, "results"),
        f"{prefix}Filter": filter_schema(model),
        f"{prefix}Query": _query(model, prefix),
        f"{prefix}Found": _found(f"{prefix}Row"),
        f"{prefix}Where": _object({"filter": _filter(prefix)}),
        ANY_JSON: _any_json(),
    }


def _schema(
    schema: type[BaseModel], names: str, mode: Literal["validation", "serialization"]
) -> tuple[JSONObject, dict[str, JSONObject]]:
    template = f"#/components/schemas/{names}"
    found = schema.model_json_schema(
        by_alias=True, ref_template=template, schema_generator=_EntityJsonSchema, mode=mode
    )
    found = _with_any(found)
    parts = found.pop("$defs", {})
    return found, {names.format(model=name): part for name, part in parts.items()}


def _with_any(part: Any) -> Any:
    """Put the reference where the generator, which knows its own components only, left a mark."""
    if isinstance(part, list):
        return [_with_any(item) for item in part]
    if not isinstance(part, dict):
        return part
    marked = {key: value for key, value in part.items() if key not in _ANY}
    found = {key: _with_any(value) for key, value in marked.items()}
    return found if len(marked) == len(part) else {**ref(ANY_JSON), **found}


def _partial(given: JSONObject, parts: dict[str, JSONObject], title: str) -> JSONObject:
    """Return the schema with nothing required and no defaults: what is left out stays as it is."""
    if "$ref" in given:  # a schema that refers to itself
        given = parts[given["$ref"].rsplit("/", 1)[1]]
    properties = {
        key: {name: value for name, value in part.items() if name != "default"}
        for key, part in given.get("properties", {}).items()
    }
    kept = {name: value for name, value in given.items() if name != "required"}
    return {**kept, "title": title, "properties": properties}


_ECHOED: dict[str, JSONObject] = {
    "id": {"type": "string", "format": "uuid", "readOnly": True},
    "version": {"type": "integer", "minimum": 1, "readOnly": True},
    "created_at": {**_TIME, "readOnly": True},
    "updated_at": {**_TIME, "readOnly": True},
}
_DELETED_AT: JSONObject = {**_TIME, "readOnly": True, "description": "Only a deleted row has it."}
_RAW: JSONObject = {
    "type": "object",
    "additionalProperties": True,
    "readOnly": True,
    "description": "What is stored, where it no longer fits the schema.",
}
_SCHEMA_ERRORS: JSONObject = {
    "type": "object",
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
    "readOnly": True,
    "description": "Why it no longer fits: dotted path to messages. Absent on every row that fits.",
}


_SOMETIMES = {"deleted_at": _DELETED_AT, "raw": _RAW, "schema_errors": _SCHEMA_ERRORS}


def _object(properties: JSONObject, *required: str, description: str = "") -> JSONObject:
    found: JSONObject = {"type": "object", "additionalProperties": False, "properties": properties}
    if required:
        found["required"] = list(required)
    return {**found, "description": description} if description else found


def _row(prefix: str) -> JSONObject:
    data = {"anyOf": [ref(f"{prefix}Stored"), {"type": "null"}]}
    properties = {**_ECHOED, **_SOMETIMES, "data": data}
    about = "One row. Where it no longer fits the schema, data is null, and raw and schema_errors are there."
    return _object(properties, *_ECHOED, "data", description=about)


def _write(prefix: str) -> JSONObject:
    about = "The whole document. What a read shows beside it may be sent back, and is ignored."
    return _object({**_ECHOED, **_SOMETIMES, "data": ref(f"{prefix}Data")}, "data", description=about)


def _update(prefix: str, schema: type[BaseModel]) -> JSONObject:
    optional = [key for key, field in fields_of(schema).items() if not field.required]
    properties = {**_ECHOED, **_SOMETIMES, "data": ref(f"{prefix}Patch")}
    if not optional:
        return _object(properties, description="The fields to replace.")
    properties["unset"] = {
        "type": "array",
        "items": {"type": "string", "enum": optional},
        "description": "Fields to reset to their defaults; one that data sets as well ends as set.",
    }
    about = "The fields to reset to their defaults, and then those to replace, whole."
    return _object(properties, description=about)


def _filter(prefix: str) -> JSONObject:
    return {"anyOf": [ref(f"{prefix}Filter"), {"type": "null"}]}


def _query(model: type[EntityModel], prefix: str) -> JSONObject:
    order = {"type": ["string", "null"], "enum": [*orderable(model), None]}
    about = "A list's question. For the next page send it again with next_cursor as cursor."
    properties = {"filter": _filter(prefix), "order_by": order, "limit": {"type": "integer"}}
    return _object(properties, description=about)


def _found(row: str) -> JSONObject:
    page: JSONObject = page_of(row)["properties"]
    return _object({key: page[key] for key in page if key != "next"}, "results", "next_cursor", "limit")


def page_of(row: str) -> JSONObject:
    """Return the schema of a page of rows."""
    properties: JSONObject = {
        "results": {"type": "array", "items": ref(row)},
        "next": {
            "type": ["string", "null"],
            "description": "The address of the next page, to be followed as it is; null on the last one.",
        },
        "next_cursor": {
            "type": ["string", "null"],
            "description": "The cursor parameter of that address, for clients that build their own.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
    }
    return _object(properties, "results", "next", "next_cursor", "limit")


def _any_json() -> JSONObject:
    """Return the schema of any JSON value without NUL characters."""
    text = {"type": "string", "pattern": NO_NUL}
    objects = {"type": "object", "propertyNames": {"pattern": NO_NUL}, "additionalProperties": ref(ANY_JSON)}
    arrays = {"type": "array", "items": ref(ANY_JSON)}
    plain = [{"type": name} for name in ("null", "boolean", "number")]
    return {"anyOf": [*plain, text, arrays, objects], "description": "Any JSON value."}
