"""OpenAPI for the entities' viewsets. Imported only where drf-spectacular is an installed app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentstore.core.openapi import REASON, Operation, StoreAutoSchema, header, json_content
from agentstore.core.requests import CHANGED_HEADER
from agentstore.core.values import JSONObject
from agentstore.entities.base import EntityModel
from agentstore.entities.bodies import MAX_BULK
from agentstore.entities.components import components_of, page_of, prefix_of
from agentstore.entities.filter_schemas import filter_parameters, orderable, ref
from agentstore.entities.query import DEFAULT_LIMIT, MAX_LIMIT

__all__ = ["EntityAutoSchema", "IndexAutoSchema"]

_ENTRY: JSONObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "op": {"type": "string", "enum": ["create", "update", "delete", "undelete"]},
        "version": {"type": "integer", "minimum": 1},
        "patch": {
            "type": ["object", "null"],
            "additionalProperties": True,
            "description": 'The full row for a create; {"set": {...}, "unset": [...]} for an update.',
        },
        "actor": {"type": "string"},
        "reason": {"type": "string"},
        "context": {"type": "object", "additionalProperties": True},
        "at": {"type": "string", "format": "date-time"},
    },
    "required": ["id", "op", "version", "patch", "actor", "reason", "context", "at"],
}
_HISTORY = {"AgentstoreHistoryEntry": _ENTRY, "AgentstoreHistory": page_of("AgentstoreHistoryEntry")}
_IF_MATCH = header("If-Match", 'Write only if the row is at this version: "3", or * for any.')
_IF_NONE_MATCH = header(
    "If-None-Match", "Write only if the row is not at this version; * never writes over one."
)
_KEY = header(
    "Idempotency-Key",
    "Makes the request safe to repeat: the same key and body again give the same answer, for a day.",
    minLength=1,
    maxLength=255,
)
_CHANGED: JSONObject = {
    CHANGED_HEADER: {
        "schema": {"type": "string", "enum": ["true", "false"]},
        "required": True,
        "description": "Whether anything was written.",
    }
}
_ETAG: JSONObject = {
    "ETag": {"schema": {"type": "string"}, "required": True, "description": "The version, quoted."}
}
_LOCATION: JSONObject = {
    "Location": {"schema": {"type": "string"}, "required": True, "description": "Where the row is."}
}
_MADE = {**_ETAG, **_LOCATION, **_CHANGED}
_LIMIT: JSONObject = {
    "name": "limit",
    "in": "query",
    "description": f"How many rows at most; a number outside 1 to {MAX_LIMIT} is taken as the nearest.",
    "schema": {"type": "integer", "default": DEFAULT_LIMIT},
}
_DELETED: JSONObject = {
    "name": "deleted",
    "in": "query",
    "description": "Read a deleted row instead: what an undelete brings back.",
    "schema": {"type": "boolean", "default": False},
}
_COUNT = {"type": "object", "additionalProperties": False, "required": ["count"]}
_USAGE = {"type": "object", "additionalProperties": False, "required": ["used", "capacity", "remaining"]}
_NUMBER = {"type": "integer", "minimum": 0}
_NUMBERS = {
    "AgentstoreCount": {**_COUNT, "properties": {"count": _NUMBER}},
    "AgentstoreUsage": {**_USAGE, "properties": dict.fromkeys(("used", "capacity", "remaining"), _NUMBER)},
}
_LIST = """{summary}

{description}

Every field takes `__ne`, `__lt`, `__lte`, `__gt`, `__gte`, `__in`, `__startswith`, `__contains`,
`__icontains` and `__isnull` where its type allows; those of the indexed fields are listed here. For the
next page follow `next` as it is: it repeats the parameters and adds `cursor`."""
_BODY_ERRORS = (413, 415)


class EntityAutoSchema(StoreAutoSchema):
    """Describes the operations on one entity."""

    view: Any

    @property
    def model(self) -> type[EntityModel]:
        """The entity."""
        found: type[EntityModel] = self.view.model
        return found

    def path_schema(self, name: str) -> JSONObject:
        return {"type": "string", "format": "uuid"} if name == "id" else super().path_schema(name)

    def operation(self) -> Operation:
        action: str = self.view.action
        describe: Callable[[], Operation] = getattr(self, f"_{action}")
        return describe()

    def _made(self, **details: object) -> Operation:
        name = self.model.entity.name
        action: str = self.view.action
        summary = (getattr(self.view, action).__doc__ or "").split("\n")[0]
        found: dict[str, object] = {
            "id": f"entities_{name}_{action}",
            "tag": name,
            "description": summary,
            "components": components_of(self.model),
        }
        return Operation(**{**found, **details})  # type: ignore[arg-type]

    def _ref(self, part: str) -> JSONObject:
        return ref(prefix_of(self.model.entity.name) + part)

    def _answer(self, part: str, description: str, **headers: JSONObject) -> JSONObject:
        found: JSONObject = {"description": description, "content": json_content(self._ref(part))}
        return {**found, "headers": headers} if headers else found

    def _list(self) -> Operation:
        order: JSONObject = {
            "name": "order_by",
            "in": "query",
            "description": "The field to sort by, descending with a minus. Default: last updated first.",
            "schema": {"type": "string", "enum": orderable(self.model)},
        }
        summary = self.view.list.__doc__.split("\n")[0]
        return self._made(
            description=_LIST.format(summary=summary, description=self.model.entity.description),
            parameters=[*filter_parameters(self.model), order, _LIMIT],
            answers={200: self._answer("Page", "A page of rows.")},
        )

    def _query(self) -> Operation:
        return self._made(
            body=self._ref("Query"),
            body_required=False,
            answers={200: self._answer("Found", "A page of rows.")},
            errors=_BODY_ERRORS,
        )

    def _count(self) -> Operation:
        return self._number("Count", "How many match.", parameters=[*filter_parameters(self.model)])

    def _count_matches(self) -> Operation:
        where = self._ref("Where")
        return self._number("Count", "How many match.", body=where, body_required=False, errors=_BODY_ERRORS)

    def _usage(self) -> Operation:
        return self._number("Usage", "The places.")

    def _number(self, name: str, description: str, **details: object) -> Operation:
        answer = {"description": description, "content": json_content(ref(f"Agentstore{name}"))}
        components = {**components_of(self.model), **_NUMBERS}
        return self._made(answers={200: answer}, components=components, **details)

    def _create(self) -> Operation:
        return self._made(
            parameters=[_KEY, REASON],
            body=self._ref("Write"),
            answers={201: {**self._answer("Row", "The new row.", **_MADE), "links": self._links()}},
            errors=(409, *_BODY_ERRORS),
        )

    def _links(self) -> JSONObject:
        """Say what can be done with a row that was just made."""
        name = self.model.entity.name
        return {
            action: {"operationId": f"entities_{name}_{action}", "parameters": {"id": "$response.body#/id"}}
            for action in ("retrieve", "update", "partial_update", "destroy", "history", "undelete")
        }

    def _bulk(self) -> Operation:
        return self._made(
            parameters=[_KEY, REASON],
            body={"type": "array", "items": self._ref("Write"), "maxItems": MAX_BULK},
            answers={201: self._answer("Rows", "The new rows, in the order given.", **_CHANGED)},
            errors=(409, *_BODY_ERRORS),
        )

    def _retrieve(self) -> Operation:
        version: JSONObject = {
            "name": "version",
            "in": "query",
            "description": "An earlier version to rebuild.",
            "schema": {"type": "integer"},
        }
        return self._made(
            parameters=[
                version,
                _DELETED,
                header("If-None-Match", "The version that you have; 304 if it is still that."),
            ],
            answers={
                200: self._answer("Row", "The row.", **_ETAG),
                304: {"description": "It is still at the version that you have.", "headers": _ETAG},
            },
            errors=(404,),
        )

    def _update(self) -> Operation:
        return self._write("Write")

    def _partial_update(self) -> Operation:
        return self._write("Update", body_required=False)

    def _write(self, part: str, *, body_required: bool = True) -> Operation:
        return self._made(
            body_required=body_required,
            parameters=[_IF_MATCH, _IF_NONE_MATCH, REASON],
            body=self._ref(part),
            answers={200: self._answer("Row", "The row as it is now.", **_ETAG, **_CHANGED)},
            errors=(404, 409, 412, *_BODY_ERRORS),
        )

    def _destroy(self) -> Operation:
        return self._made(
            parameters=[_IF_MATCH, _IF_NONE_MATCH, REASON],
            answers={204: {"description": "It is deleted."}},
            errors=(404, 412),
        )

    def _undelete(self) -> Operation:
        return self._made(
            parameters=[REASON],
            answers={200: self._answer("Row", "The row, live again.", **_ETAG, **_CHANGED)},
            errors=(404, 409, *_BODY_ERRORS),
        )

    def _history(self) -> Operation:
        cursor = {"name": "cursor", "in": "query", "schema": {"type": "string", "format": "uuid"}}
        content = json_content(ref("AgentstoreHistory"))
        return self._made(
            parameters=[_LIMIT, {**cursor, "description": "The next_cursor of the page before."}],
            answers={200: {"description": "A page of changes.", "content": content}},
            errors=(404,),
            components=_HISTORY,
        )


class IndexAutoSchema(StoreAutoSchema):
    """Describes the list of entities."""

    def operation(self) -> Operation:
        entity = {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: {"type": "string"} for name in ("name", "description", "url")},
            "required": ["name", "description", "url"],
        }
        results = {"type": "array", "items": ref("AgentstoreEntity")}
        index = {"type": "object", "additionalProperties": False, "properties": {"results": results}}
        return Operation(
            id="entities_index",
            tag="entities",
            description="List the entities that you may see.",
            answers={
                200: {"description": "The entities.", "content": json_content(ref("AgentstoreEntities"))}
            },
            components={"AgentstoreEntity": entity, "AgentstoreEntities": {**index, "required": ["results"]}},
        )
