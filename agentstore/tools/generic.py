"""One set of tools for all entities, for projects with more entities than a model can hold tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from agentstore.core import errors
from agentstore.core.values import JSONObject
from agentstore.entities.codec import suggest
from agentstore.entities.query import MAX_LIMIT
from agentstore.entities.store import EntityStore
from agentstore.tools.arguments import check_arguments
from agentstore.tools.entities import entity_tools, row_schema
from agentstore.tools.jsonschema import object_schema
from agentstore.tools.spec import Tool
from agentstore.tools.variants import plain_variant

__all__ = ["generic_tools"]

_OPEN: JSONObject = {"type": "object", "additionalProperties": True}
_TEXTS = {
    "query": "Find rows of an entity. The filter's fields are what entity_describe lists. The last updated "
    f"first unless order_by says otherwise; at most {MAX_LIMIT} rows a call: pass next_cursor on for more.",
    "get": "Read one row of an entity by its id.",
    "create": "Store a new row of an entity. The data's fields are what entity_describe lists.",
    "update": "Change fields of one row; with expected_version only if it is still at that version: on a "
    "conflict, read it again and reapply your change.",
    "delete": "Delete one row by its id. It is a soft delete: an operator can undo it.",
}


def generic_tools(
    stores: Sequence[EntityStore[Any]], *, read_only: bool, strict: bool = False
) -> Iterable[Tool]:
    """Return entity_describe, entity_query and so on, for the entities of ``stores``.

    With ``strict``, a null means "not given" inside of what they take, too.
    """
    by_entity = {
        store.name: {
            tool.name.removeprefix(f"{store.name}_"): tool
            for tool in entity_tools(store, read_only=read_only)
        }
        for store in stores
    }
    if not by_entity:
        return
    texts = {store.name: " ".join(store.model.entity.description.split()) for store in stores}
    entity: JSONObject = {
        "type": "string",
        "enum": list(by_entity),
        "description": " ".join(f"{name}: {text}" for name, text in texts.items()),
    }
    yield _describe(by_entity, entity)
    for act, sample in next(iter(by_entity.values())).items():
        yield _act(act, sample, by_entity, entity, strict=strict)


def _pick(by_entity: dict[str, dict[str, Tool]], name: str) -> dict[str, Tool]:
    if name not in by_entity:
        raise errors.ValidationFailed(
            f"There is no entity {name[:100]!r}.",
            hint=suggest(name, by_entity),
            errors={"entity": ["There is no such entity."]},
        )
    return by_entity[name]


def _describe(by_entity: dict[str, dict[str, Tool]], entity: JSONObject) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        tools = _pick(by_entity, arguments["entity"])
        return {
            "entity": arguments["entity"],
            "arguments": {act: plain_variant(tool.input_schema) for act, tool in tools.items()},
        }

    return Tool(
        name="entity_describe",
        title="Describe an entity",
        description="Say what the rows of an entity hold: the arguments of query, create and update for it.",
        input_schema=object_schema({"entity": entity}, ["entity"]),
        output_schema=object_schema(
            {"entity": {"type": "string"}, "arguments": _OPEN}, ["entity", "arguments"]
        ),
        handler=handle,
        read_only=True,
        idempotent=True,
    )


def _run(
    by_entity: dict[str, dict[str, Tool]],
    act: str,
    strict: bool,
    arguments: JSONObject,
    call_id: str | None,
) -> JSONObject:
    tool = _pick(by_entity, arguments["entity"])[act]
    own = {key: value for key, value in arguments.items() if key != "entity"}
    return tool.handler(check_arguments(tool, own, strict=strict), call_id)


def _act(
    act: str, sample: Tool, by_entity: dict[str, dict[str, Tool]], entity: JSONObject, *, strict: bool
) -> Tool:
    """Return the generic form of one act; what depends on the entity is an open object in it."""
    properties: JSONObject = {"entity": entity}
    for key, schema in sample.input_schema["properties"].items():
        properties[key] = schema if key not in sample.declared else _OPEN
    if "order_by" in properties:
        properties["order_by"] = {"type": "string", "description": "A field, or -field for descending order."}
    if act == "update":
        properties["unset"] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "Fields to reset to their defaults.",
        }
    output = (
        object_schema({"row": row_schema()}, ["row"]) if act in ("get", "create") else sample.output_schema
    )
    return Tool(
        name=f"entity_{act}",
        title=f"{act.capitalize()} rows" if act == "query" else f"{act.capitalize()} a row",
        description=f"{_TEXTS[act]} Only the current user's rows.",
        input_schema=object_schema(properties, ["entity", *sample.input_schema["required"]]),
        output_schema=output,
        handler=partial(_run, by_entity, act, strict),
        declared=sample.declared,
        read_only=sample.read_only,
        destructive=sample.destructive,
        idempotent=sample.idempotent,
    )
