"""The tools of an entity, derived from its store and schema: query, get, create, update, delete."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Set
from functools import partial
from typing import Any

from agentstore.core import errors, guards
from agentstore.core.values import EntityRow, JSONObject, utc_text
from agentstore.entities.base import EntityModel
from agentstore.entities.query import DEFAULT_LIMIT, MAX_LIMIT
from agentstore.entities.reading import codec_of
from agentstore.entities.store import EntityStore
from agentstore.tools.entity_schemas import EntitySchemas
from agentstore.tools.jsonschema import object_schema
from agentstore.tools.spec import Tool, describing

__all__ = ["entity_tools", "row_result", "row_schema"]

#: Carries out a call on a store.
Handle = Callable[[EntityStore[Any], JSONObject, str | None], JSONObject]

_ID: JSONObject = {"type": "string", "description": "The row's id, as a query or a create returned it."}
_VERSION: JSONObject = {
    "type": "integer",
    "description": "The version that you read. If the row was changed since, nothing is written.",
}


def row_result(row: EntityRow[Any], keys: Set[str] | None = None) -> JSONObject:
    """Return a row as tools show it; one that no longer fits shows what is stored, and why.

    ``keys`` are the fields of a schema without nested ones: a row that fits and has just these is
    shown as it is stored, since writing it anew would give the same, and takes half of the time.
    """
    created = utc_text(row.created_at)
    shown: JSONObject = {
        "id": str(row.id),
        "version": row.version,
        "created_at": created,
        "updated_at": created if row.updated_at == row.created_at else utc_text(row.updated_at),
        "data": row.raw,
    }
    if row.data is None:
        shown["schema_errors"] = dict(row.schema_errors)
    elif row.raw.keys() != keys:
        shown["data"] = row.data.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    return shown


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


@functools.cache
def _schemas(model: type[EntityModel]) -> EntitySchemas:
    return EntitySchemas(codec_of(model), model.entity.indexes)


@functools.cache
def _templates(model: type[EntityModel]) -> tuple[tuple[Tool, Handle], ...]:
    """Return the tools of an entity and what carries them out, in order, the reading ones first.

    They depend on the declaration alone and are made once; ``entity_tools`` binds them to a store.
    """
    options, schemas = model.entity, _schemas(model)
    text = " ".join(options.description.split())
    return (
        (_query(schemas, options.name, text), _do_query),
        (_get(options.name, text), _do_get),
        (_create(schemas, options.name, text), _do_create),
        (_update(schemas, options.name, text), _do_update),
        (_delete(options.name), _do_delete),
    )


def entity_tools(store: EntityStore[Any], *, read_only: bool) -> Iterable[Tool]:
    """Return the tools of one entity for the tenant that the store is bound to."""
    for tool, handle in _templates(store.model):
        if tool.read_only or not read_only:
            yield tool.bound(partial(handle, store))


# --- what they do ---------------------------------------------------------------------------------


def _shown(store: EntityStore[Any], row: EntityRow[Any]) -> JSONObject:
    return row_result(row, _schemas(store.model).flat_keys)


def _do_query(store: EntityStore[Any], arguments: JSONObject, call_id: str | None) -> JSONObject:
    given = {key: arguments[key] for key in ("limit", "order_by", "cursor") if key in arguments}
    _schemas(store.model).check_filter(arguments.get("filter", {}))
    page = store.query(arguments.get("filter"), **given)
    keys = _schemas(store.model).flat_keys
    return {"rows": [row_result(row, keys) for row in page], "next_cursor": page.next_cursor}


def _do_get(store: EntityStore[Any], arguments: JSONObject, call_id: str | None) -> JSONObject:
    row = store.get(arguments["id"])
    if row is None:
        raise store.not_found(arguments["id"])
    return {"row": _shown(store, row)}


def _do_create(store: EntityStore[Any], arguments: JSONObject, call_id: str | None) -> JSONObject:
    try:
        row = store.create(arguments["data"], idempotency_key=_call_key(call_id, store.name))
    except errors.Conflict:  # of the key, which says nothing to who made the call
        raise errors.Conflict(
            f"The call id {call_id!r:.100} was used before, with other data.",
            hint="Make a new call for a new row.",
        ) from None
    return {"row": _shown(store, row)}


def _call_key(call_id: str | None, entity: str) -> str | None:
    """Return the idempotency key of a call; a digest, since ids may be longer than keys.

    Another entity's call of the same id is another call: there are models whose ids repeat.
    """
    if call_id is None:
        return None
    call = f"{entity} {guards.check_text(call_id, 'call_id')}"
    return f"tool:{hashlib.sha256(call.encode()).hexdigest()}"


def _do_update(store: EntityStore[Any], arguments: JSONObject, call_id: str | None) -> JSONObject:
    row = store.update(
        arguments["id"],
        arguments.get("set", {}),
        unset=arguments.get("unset", ()),
        expected_version=arguments.get("expected_version"),
    )
    return {"row": _shown(store, row), "changed": row.changed}


def _do_delete(store: EntityStore[Any], arguments: JSONObject, call_id: str | None) -> JSONObject:
    if not store.delete(arguments["id"], expected_version=arguments.get("expected_version")):
        raise store.not_found(arguments["id"])
    return {"deleted": True}


# --- what a model reads of them -------------------------------------------------------------------


def _told(schema: JSONObject, text: str, description: str) -> JSONObject:
    """Return ``schema``, with the entity's whole text where the tool's description holds a part of it."""
    if text in description:
        return schema
    return {**schema, "description": " ".join(filter(None, [schema.get("description"), text]))}


def _query(schemas: EntitySchemas, name: str, text: str) -> Tool:
    rest: JSONObject = {
        "order_by": schemas.order,
        "limit": {
            "type": "integer",
            "description": f"How many rows, 1 to {MAX_LIMIT}; {DEFAULT_LIMIT} if left out.",
        },
        "cursor": {"type": "string", "description": "next_cursor of the page before, for the next one."},
    }
    description = describing(
        f"Find {name}: ",
        text,
        " Only those of the current user; last updated first unless order_by says otherwise; "
        f"at most {MAX_LIMIT} rows a call: pass next_cursor on as cursor for more.",
    )

    return Tool(
        name=f"{name}_query",
        title=f"Query {name}",
        description=description,
        input_schema=object_schema({"filter": _told(schemas.filter, text, description), **rest}),
        strict_schema=object_schema({"filter": _told(schemas.strict_filter, text, description), **rest}),
        output_schema=object_schema(
            {
                "rows": {"type": "array", "items": row_schema()},
                "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            ["rows", "next_cursor"],
        ),
        declared=("filter",),
        read_only=True,
        idempotent=True,
    )


def _get(name: str, text: str) -> Tool:
    return Tool(
        name=f"{name}_get",
        title=f"Get one of {name}",
        description=describing(f"Read one row of {name} by its id. ", text, " Only the current user's."),
        input_schema=object_schema({"id": _ID}, ["id"]),
        output_schema=object_schema({"row": row_schema()}, ["row"]),
        read_only=True,
        idempotent=True,
    )


def _create(schemas: EntitySchemas, name: str, text: str) -> Tool:
    description = describing(f"Store a new row of {name} for the current user. ", text, "")
    return Tool(
        name=f"{name}_create",
        title=f"Create one of {name}",
        description=description,
        input_schema=object_schema({"data": _told(schemas.data, text, description)}, ["data"]),
        output_schema=object_schema({"row": row_schema()}, ["row"]),
        declared=("data",),
    )


def _update(schemas: EntitySchemas, name: str, text: str) -> Tool:
    resettable = [key for key, field in schemas.fields.items() if not field.required]
    properties: JSONObject = {"id": _ID, "set": schemas.patch}
    if resettable:
        properties["unset"] = {
            "type": "array",
            "items": {"type": "string", "enum": resettable},
            "description": "Fields to reset to their defaults.",
        }
    properties["expected_version"] = _VERSION

    return Tool(
        name=f"{name}_update",
        title=f"Update one of {name}",
        description=describing(
            f"Change fields of one row of {name} by its id; fields that are left out stay as they are. "
            "With expected_version the row is written only if it is still at that version; on a conflict, "
            "read it again and reapply your change. ",
            text,
            "",
        ),
        input_schema=object_schema(properties, ["id"]),
        strict_schema=object_schema({**properties, "set": schemas.strict_patch}, ["id"]),
        output_schema=object_schema(
            {"row": row_schema(), "changed": {"type": "boolean"}}, ["row", "changed"]
        ),
        declared=("set",),
        destructive=True,
        idempotent=True,
    )


def _delete(name: str) -> Tool:
    return Tool(
        name=f"{name}_delete",
        title=f"Delete one of {name}",
        description=f"Delete one row of {name} by its id. It is a soft delete: an operator can undo it.",
        input_schema=object_schema({"id": _ID, "expected_version": _VERSION}, ["id"]),
        output_schema=object_schema({"deleted": {"type": "boolean"}}, ["deleted"]),
        destructive=True,
        idempotent=True,
    )
