"""The tools of an entity, derived from its store and schema: query, get, create, update, delete."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from agentstore.core import guards
from agentstore.core.values import EntityRow, JSONObject, utc_text
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import Codec
from agentstore.entities.fields import SchemaField, schema_json
from agentstore.entities.query import MAX_LIMIT, operators_of
from agentstore.entities.reading import codec_of
from agentstore.entities.store import EntityStore
from agentstore.tools.jsonschema import KEY_RE, object_schema, plain, unbounded
from agentstore.tools.spec import Tool

__all__ = ["entity_tools", "row_result", "row_schema"]

_ID: JSONObject = {"type": "string", "description": "The row's id, as a query or a create returned it."}
_VERSION: JSONObject = {
    "type": "integer",
    "description": "The version that you read. If the row was changed since, nothing is written.",
}
_WORDS = {
    "ne": "is not", "lt": "is below", "lte": "is at most", "gt": "is above", "gte": "is at least",
    "in": "is one of", "startswith": "starts with", "contains": "contains",
    "icontains": "contains, capitals aside,", "isnull": "has no value: is",
}  # fmt: skip


def row_result(row: EntityRow[Any]) -> JSONObject:
    """Return a row as tools show it; one that no longer fits shows what is stored, and why."""
    shown: JSONObject = {
        "id": str(row.id),
        "version": row.version,
        "created_at": utc_text(row.created_at),
        "updated_at": utc_text(row.updated_at),
    }
    if row.data is None:
        return {**shown, "data": row.raw, "schema_errors": dict(row.schema_errors)}
    return {**shown, "data": row.data.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)}


def row_schema() -> JSONObject:
    """Return the schema of ``row_result``; the data's own shape is open, since a row may have drifted.

    Not even an object can be promised: a row that was spoiled by hand shows whatever is stored.
    """
    properties: JSONObject = {
        "id": {"type": "string"},
        "version": {"type": "integer"},
        "created_at": {"type": "string", "format": "date-time"},
        "updated_at": {"type": "string", "format": "date-time"},
        "data": {"description": "The fields of the row; with schema_errors, what is stored instead."},
        "schema_errors": {"type": "object", "additionalProperties": True},
    }
    return object_schema(properties, [name for name in properties if name != "schema_errors"])


class EntitySchemas:
    """The schemas of one entity's arguments; they depend on the declaration alone and are made once."""

    def __init__(self, codec: Codec[Any], indexed: Sequence[str]) -> None:
        self.fields: dict[str, SchemaField] = {
            key: field for key, field in codec.fields.items() if KEY_RE.fullmatch(key)
        }
        self.indexed = indexed
        schema: type[BaseModel] = codec.schema
        self.root = schema_json(schema, mode="validation")
        self.properties: JSONObject = {
            key: plain(self.root["properties"][key], self.root) for key in self.fields
        }

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
    def filter(self) -> JSONObject:
        """Equality for every field, operators for the indexed ones and for arrays."""
        return self._filter(indexed_only=False)

    @functools.cached_property
    def strict_filter(self) -> JSONObject:
        """The same for the indexed fields and the arrays alone."""
        return self._filter(indexed_only=True)

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
        names = [*(key for key in self.indexed if key in self.fields), "created_at", "updated_at"]
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


@functools.cache
def _schemas(model: type[EntityModel]) -> EntitySchemas:
    return EntitySchemas(codec_of(model), model.entity.indexes)


def entity_tools(store: EntityStore[Any], *, read_only: bool) -> Iterable[Tool]:
    """Return the tools of one entity for the tenant that the store is bound to."""
    schemas, name = _schemas(store.model), store.name
    text = " ".join(store.model.entity.description.split())
    yield _query(store, schemas, name, text)
    yield _get(store, name, text)
    if not read_only:
        yield _create(store, schemas, name, text)
        yield _update(store, schemas, name, text)
        yield _delete(store, name)


def _query(store: EntityStore[Any], schemas: EntitySchemas, name: str, text: str) -> Tool:
    rest: JSONObject = {
        "order_by": schemas.order,
        "limit": {"type": "integer", "description": f"How many rows, 1 to {MAX_LIMIT}; 25 if left out."},
        "cursor": {"type": "string", "description": "next_cursor of the page before, for the next one."},
    }

    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        given = {key: arguments[key] for key in ("limit", "order_by", "cursor") if key in arguments}
        page = store.query(arguments.get("filter"), **given)
        return {"rows": [row_result(row) for row in page], "next_cursor": page.next_cursor}

    return Tool(
        name=f"{name}_query",
        title=f"Query {name}",
        description=(
            f"Find {name}: {text} Only those of the current user; last updated first unless order_by says "
            f"otherwise; at most {MAX_LIMIT} rows a call: pass next_cursor on as cursor for more."
        ),
        input_schema=object_schema({"filter": schemas.filter, **rest}),
        strict_schema=object_schema({"filter": schemas.strict_filter, **rest}),
        output_schema=object_schema(
            {
                "rows": {"type": "array", "items": row_schema()},
                "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            ["rows", "next_cursor"],
        ),
        handler=handle,
        declared=("filter",),
        read_only=True,
        idempotent=True,
    )


def _get(store: EntityStore[Any], name: str, text: str) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        row = store.get(arguments["id"])
        if row is None:
            raise store.not_found(arguments["id"])
        return {"row": row_result(row)}

    return Tool(
        name=f"{name}_get",
        title=f"Get one of {name}",
        description=f"Read one row of {name} by its id. {text} Only the current user's.",
        input_schema=object_schema({"id": _ID}, ["id"]),
        output_schema=object_schema({"row": row_schema()}, ["row"]),
        handler=handle,
        read_only=True,
        idempotent=True,
    )


def _create(store: EntityStore[Any], schemas: EntitySchemas, name: str, text: str) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        return {"row": row_result(store.create(arguments["data"], idempotency_key=_call_key(call_id)))}

    return Tool(
        name=f"{name}_create",
        title=f"Create one of {name}",
        description=f"Store a new row of {name} for the current user. {text}",
        input_schema=object_schema({"data": schemas.data}, ["data"]),
        output_schema=object_schema({"row": row_schema()}, ["row"]),
        handler=handle,
        declared=("data",),
    )


def _call_key(call_id: str | None) -> str | None:
    """Return the idempotency key of a call; a digest, since ids may be longer than keys."""
    if call_id is None:
        return None
    return f"tool:{hashlib.sha256(guards.check_text(call_id, 'call_id').encode()).hexdigest()}"


def _update(store: EntityStore[Any], schemas: EntitySchemas, name: str, text: str) -> Tool:
    resettable = [key for key, field in schemas.fields.items() if not field.required]
    properties: JSONObject = {"id": _ID, "set": schemas.patch}
    if resettable:
        properties["unset"] = {
            "type": "array",
            "items": {"type": "string", "enum": resettable},
            "description": "Fields to reset to their defaults.",
        }
    properties["expected_version"] = _VERSION

    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        row = store.update(
            arguments["id"],
            arguments.get("set", {}),
            unset=arguments.get("unset", ()),
            expected_version=arguments.get("expected_version"),
        )
        return {"row": row_result(row), "changed": row.changed}

    return Tool(
        name=f"{name}_update",
        title=f"Update one of {name}",
        description=(
            f"Change fields of one row of {name} by its id; fields that are left out stay as they are. "
            "With expected_version the row is written only if it is still at that version; on a conflict, "
            f"read it again and reapply your change. {text}"
        ),
        input_schema=object_schema(properties, ["id"]),
        output_schema=object_schema(
            {"row": row_schema(), "changed": {"type": "boolean"}}, ["row", "changed"]
        ),
        handler=handle,
        declared=("set",),
        destructive=True,
        idempotent=True,
    )


def _delete(store: EntityStore[Any], name: str) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        if not store.delete(arguments["id"], expected_version=arguments.get("expected_version")):
            raise store.not_found(arguments["id"])
        return {"deleted": True}

    return Tool(
        name=f"{name}_delete",
        title=f"Delete one of {name}",
        description=f"Delete one row of {name} by its id. It is a soft delete: an operator can undo it.",
        input_schema=object_schema({"id": _ID, "expected_version": _VERSION}, ["id"]),
        output_schema=object_schema({"deleted": {"type": "boolean"}}, ["deleted"]),
        handler=handle,
        destructive=True,
        idempotent=True,
    )
