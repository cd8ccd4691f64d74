"""What OpenAPI says of an entity's filters: as query parameters, and as an object in a body. No REST here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from agentstore.core.values import JSONObject
from agentstore.entities.base import EntityModel
from agentstore.entities.fields import SchemaField, fields_of, schema_json
from agentstore.entities.query import MAX_IN, SYSTEM_FIELDS, operators_of

__all__ = ["ANY_JSON", "DECIMAL", "NO_NUL", "filter_parameters", "filter_schema", "orderable", "ref"]

#: Text that a database can hold; stated, so that nobody has to find out.
NO_NUL = r"^[^\u0000]*$"
#: What a decimal number looks like as text.
DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
ANY_JSON = "AgentstoreJSON"
_TEXT: JSONObject = {"type": "string", "pattern": NO_NUL}
_TIME: JSONObject = {"type": "string", "format": "date-time"}
_ID: JSONObject = {"type": "string", "format": "uuid"}
_SYSTEM_OPERANDS: dict[str, JSONObject] = {"id": _ID, "time": _TIME, "integer": {"type": "integer"}}
#: The keys of a field's own JSON Schema that hold for a value to compare with, too.
_OF_TYPE = ("type", "format", "enum", "const")
_TEXT_OPERATORS = ("startswith", "contains", "icontains")


def ref(name: str) -> JSONObject:
    """Return a reference to a component schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def orderable(model: type[EntityModel]) -> list[str]:
    """Return every value that ``order_by`` takes."""
    names = [key for key, field in fields_of(model.Schema).items() if field.orderable]
    columns = ("created_at", "updated_at", "id")
    return [sign + name for name in dict.fromkeys([*names, *columns]) for sign in ("", "-")]


def filter_parameters(model: type[EntityModel]) -> Iterator[JSONObject]:
    """Yield the filters worth telling of: equality for every field, all operators for the indexed ones.

    The rest work as well; the description of the list says so.
    """
    for key, field in fields_of(model.Schema).items():
        operand = _operand(field, schema_json(model.Schema, mode="serialization"))
        for op in operators_of(field):
            if op == "isnull":
                yield _parameter(f"{key}__isnull", {"type": "boolean"}, field.description)
            elif operand and (op == "eq" or key in model.entity.indexes):
                yield _clause(key, op, operand, field.description)
    for key, kind in SYSTEM_FIELDS.items():
        operand = _SYSTEM_OPERANDS[kind]
        for op in ("eq", "in") if kind == "id" else ("eq", "lt", "lte", "gt", "gte"):
            yield _clause(key, op, operand, "")


def _clause(key: str, op: str, operand: JSONObject, description: str) -> JSONObject:
    name = key if op == "eq" and key not in ("limit", "cursor", "order_by") else f"{key}__{op}"
    if op in _TEXT_OPERATORS:
        operand = _TEXT
    if op == "in":
        operand = {"type": "array", "items": operand, "minItems": 1, "maxItems": MAX_IN}
    return _parameter(name, operand, description)


def _parameter(name: str, schema: JSONObject, description: str) -> JSONObject:
    found: JSONObject = {"name": name, "in": "query", "schema": schema}
    return {**found, "description": description} if description else found


def _operand(field: SchemaField, root: JSONObject) -> JSONObject:
    """Return the schema of a scalar to compare a field with; empty where one schema can't say it."""
    if not field.scalar or field.base is None:
        return {}
    part = field.json_schema
    options = [option for option in part.get("anyOf", [part]) if option.get("type") != "null"]
    if len(options) != 1:
        return {}
    option = options[0]
    if "$ref" in option:
        option = root["$defs"][option["$ref"].rsplit("/", 1)[1]]
    found = {key: option[key] for key in _OF_TYPE if key in option}
    if field.base is Decimal:
        found["pattern"] = DECIMAL
    if field.nullable and field.kind != "text" and "type" in found:
        found["type"] = [found["type"], "null"]
    return (
        {**found, "pattern": NO_NUL} if field.base is str and not found.keys() & {"enum", "const"} else found
    )


# --- the same as an object ------------------------------------------------------------------

#: Whatever the type of a field: null, and objects and arrays, which are matched by containment.
_CONTAINED: list[JSONObject] = [
    {"type": "null"},
    {"type": "array", "items": ref(ANY_JSON)},
    {"type": "object", "propertyNames": {"pattern": NO_NUL}, "additionalProperties": ref(ANY_JSON)},
]
#: Types whose values one schema describes exactly.
_EXACT = (str, bool, int, float, date)


def filter_schema(model: type[EntityModel]) -> JSONObject:
    """Return the schema of a filter in a body: all operators of the fields whose values it can describe."""
    properties: dict[str, JSONObject] = {}
    for key, field in fields_of(model.Schema).items():
        scalar = _exact(field, schema_json(model.Schema, mode="serialization"))
        for op in operators_of(field):
            operand = _in_body(op, field, scalar)
            if operand:
                properties[key if op == "eq" else f"{key}__{op}"] = operand
    for key, kind in SYSTEM_FIELDS.items():
        for op in ("eq", "in") if kind == "id" else ("eq", "lt", "lte", "gt", "gte"):
            operand = _SYSTEM_OPERANDS[kind]
            properties[key if op == "eq" else f"{key}__{op}"] = _several(operand) if op == "in" else operand
    about = "field or field__operator; further fields and operators work as in the query string of a list."
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "description": about,
    }


def _exact(field: SchemaField, root: JSONObject) -> JSONObject:
    exact = isinstance(field.base, type) and issubclass(field.base, _EXACT)
    found = _operand(field, root) if exact else {}
    kind = found.get("type")
    return {**found, "type": kind[0]} if isinstance(kind, list) else found


def _in_body(op: str, field: SchemaField, scalar: JSONObject) -> JSONObject:
    """Return the schema of an operand; empty where it can't be said."""
    if op == "isnull":
        return {"type": "boolean"}
    if op in _TEXT_OPERATORS:
        return ref(ANY_JSON) if field.kind == "array" else _TEXT
    if op == "eq" and field.kind in ("array", "object"):
        return {"anyOf": _CONTAINED}
    if not scalar:
        return {}
    if op == "eq":
        return {"anyOf": [scalar, *_CONTAINED]}
    if op == "in":
        return _several({"anyOf": [scalar, *_CONTAINED]})
    return {"anyOf": [scalar, {"type": "null"}]} if op == "ne" else scalar


def _several(operand: JSONObject) -> JSONObject:
    return {"type": "array", "items": operand, "maxItems": MAX_IN}
