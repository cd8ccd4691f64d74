"""Entities over REST: one viewset per entity, made from its declaration when the URLs are loaded."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.apps import apps
from django.http import HttpResponsePermanentRedirect
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import errors, guards
from agentstore.core.api import StoreView, StoreViewSet
from agentstore.core.preconditions import Preconditions, etag
from agentstore.core.requests import checked_keys, read_integer
from agentstore.core.values import EntityRow, HistoryEntry, JSONObject, JSONValue, utc_text
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import suggest
from agentstore.entities.query import DEFAULT_LIMIT, parse_limit
from agentstore.entities.querystring import read_list_request
from agentstore.entities.registry import all_entities
from agentstore.entities.store import EntityStore

__all__ = ["MAX_BULK", "EntityIndexView", "EntityViewSet", "NoSuchEntityView", "viewset_for"]

#: How many rows one bulk request makes.
MAX_BULK = 500
#: What a row shows beside its data; ignored when it comes back with the data.
ECHOED = ("id", "version", "created_at", "updated_at", "raw", "schema_errors")


def row_body(row: EntityRow[Any]) -> JSONObject:
    """Return a row as it is shown; one that no longer fits its schema shows what is stored, and why."""
    body: JSONObject = {
        "id": str(row.id),
        "version": row.version,
        "created_at": utc_text(row.created_at),
        "updated_at": utc_text(row.updated_at),
    }
    if row.data is None:
        return {**body, "data": None, "raw": row.raw, "schema_errors": dict(row.schema_errors)}
    data = row.data.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    return {**body, "data": data}


def entry_body(entry: HistoryEntry) -> JSONObject:
    """Return an audited change as it is shown."""
    return {
        "id": str(entry.id),
        "op": entry.op,
        "version": entry.version,
        "patch": entry.patch,
        "actor": entry.actor,
        "reason": entry.reason,
        "context": entry.context,
        "at": utc_text(entry.at),
    }


class EntityViewSet(StoreViewSet):
    """The rows of one entity and tenant; ``viewset_for`` makes a subclass for each entity."""

    model: ClassVar[type[EntityModel]]
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    access_actions = {
        "create": "add",
        "bulk": "add",
        "update": "change",
        "partial_update": "change",
        "destroy": "delete",
        "undelete": "undelete",
    }

    @functools.cached_property
    def store(self) -> EntityStore[Any]:
        """The store that carries out the request."""
        return self.model.store(self.tenant, actor=self.actor)

    def list(self, request: Request) -> Response:
        """List the rows that match the filter, last updated first unless ``order_by`` says otherwise."""
        asked = read_list_request(self.pairs, self.store.codec.fields)
        page = self.store.query(asked.filter, limit=asked.limit, order_by=asked.order_by, cursor=asked.cursor)
        return self._page([row_body(row) for row in page], page.next_cursor, page.limit)

    def create(self, request: Request) -> Response:
        """Store a new row. An ``Idempotency-Key`` makes the request safe to repeat."""
        place = request.build_absolute_uri(request.path)
        self.only_params()
        row = self.store.create(self._data(request), idempotency_key=_idempotency_key(request))
        response = self._row(row, status=201)
        response["Location"] = f"{place}{row.id}/"
        return response

    def retrieve(self, request: Request, id: str) -> Response:
        """Return a row, or with ``version`` an earlier state of it."""
        params = self.only_params("version")
        version = read_integer(params["version"], "version") if "version" in params else None
        row = self.store.get(id, version=version)
        if row is None:
            raise self._missing(id, version)
        if Preconditions.of(request.headers).unchanged(row.version):
            return Response(status=304, headers={"ETag": etag(row.version)})
        return self._row(row)

    def update(self, request: Request, id: str) -> Response:
        """Replace the whole document of a row; what is left out gets its default."""
        self.only_params()
        data = self._data(request)
        return self._row(self.store.replace(id, data, expected_version=self._expected(request, id)))

    def partial_update(self, request: Request, id: str) -> Response:
        """Replace the top-level fields given in ``data``; reset those in ``unset`` to their defaults."""
        self.only_params()
        body = self.read_body(request, known=["data", "unset"], ignored=ECHOED)
        patch, unset = body.get("data", {}), body.get("unset", [])
        if not isinstance(unset, list):
            guards.refuse("unset", f"Expected a list of field names, found {type(unset).__name__}.")
        expected = self._expected(request, id)
        return self._row(self.store.update(id, patch, unset=unset, expected_version=expected))

    def destroy(self, request: Request, id: str) -> Response:
        """Delete a row, softly: it frees its place, and ``undelete`` brings it back."""
        self.only_params()
        if not self.store.delete(id, expected_version=self._expected(request, id)):
            raise self.store.not_found(id)
        return Response(status=204)

    @action(detail=True, methods=["get"])
    def history(self, request: Request, id: str) -> Response:
        """List the audited changes of a row, deleted or not, newest first."""
        params = self.only_params("limit", "cursor")
        limit = parse_limit(read_integer(params["limit"], "limit") if "limit" in params else DEFAULT_LIMIT)
        before = _entry_id(params["cursor"]) if "cursor" in params else None
        entries = self.store.history(id, limit=limit + 1, before=before)
        if not entries and not self.store.history(id, limit=1):
            raise self.store.not_found(id)
        cursor = str(entries[limit - 1].id) if len(entries) > limit else None
        return self._page([entry_body(entry) for entry in entries[:limit]], cursor, limit)

    @action(detail=True, methods=["post"])
    def undelete(self, request: Request, id: str) -> Response:
        """Bring a deleted row back; a live row is returned as it is."""
        self.only_params()
        self.read_body(request, known=[])
        return self._row(self.store.undelete(id))

    @action(detail=False, methods=["post"])
    def bulk(self, request: Request) -> Response:
        """Store up to 500 new rows, all or none, in the order given."""
        self.only_params()
        rows = self.store.create_many(self._items(request), idempotency_key=_idempotency_key(request))
        return Response({"results": [row_body(row) for row in rows]}, status=201)

    # --- reading the request, showing the answer ------------------------------------------------

    def _data(self, request: Request) -> JSONValue:
        return _data_of(self.read_body(request, known=["data"], ignored=ECHOED), "data")

    def _items(self, request: Request) -> Sequence[JSONValue]:
        items = request.data
        if not isinstance(items, list):
            guards.refuse("", 'Expected a list of {"data": {...}} objects.')
        if len(items) > MAX_BULK:
            guards.refuse(
                "", f"One request takes up to {MAX_BULK} rows, found {len(items):,}.", "Send several."
            )
        for number, item in enumerate(items):
            if not isinstance(item, dict):
                guards.refuse(str(number), f"Expected an object, found {type(item).__name__}.")
            checked_keys(item, known=["data"], ignored=ECHOED, path=str(number))
        return [_data_of(item, f"{number}.data") for number, item in enumerate(items)]

    def _expected(self, request: Request, id: str) -> int | None:
        def current() -> int | None:
            row = self.store.get(id)
            return None if row is None else row.version

        return Preconditions.of(request.headers).expected(current)

    def _missing(self, id: str, version: int | None) -> errors.NotFound:
        row = None if version is None else self.store.get(id)
        if row is None:
            return self.store.not_found(id)
        return errors.NotFound(
            f"There is no version {version} of {self.store.name} row {row.id}.",
            hint=f"It is at version {row.version}.",
        )

    def _row(self, row: EntityRow[Any], *, status: int = 200) -> Response:
        return Response(row_body(row), status=status, headers={"ETag": etag(row.version)})

    def _page(self, results: Sequence[JSONObject], cursor: str | None, limit: int) -> Response:
        following = None
        if cursor is not None:
            kept = [(name, value) for name, value in self.pairs if name != "cursor"]
            following = self.request.build_absolute_uri("?" + urlencode([*kept, ("cursor", cursor)]))
        return Response({"results": results, "next": following, "next_cursor": cursor, "limit": limit})


def _data_of(body: JSONObject, path: str) -> JSONValue:
    if "data" not in body:
        guards.refuse(path, "The key is missing.", 'Send {"data": {...}}.')
    return body["data"]


def _idempotency_key(request: Request) -> str | None:
    key: str | None = request.headers.get("Idempotency-Key")
    return key


def _entry_id(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError:
        guards.refuse("cursor", "This is no cursor.", "Leave the cursor out to start anew.")


def _described(schema: str) -> dict[str, Any]:
    """Return the attribute that describes a view to drf-spectacular, where that is installed."""
    if not apps.is_installed("drf_spectacular"):
        return {}
    return {"schema": getattr(import_module("agentstore.entities.openapi"), schema)()}


@functools.cache
def index_view() -> type[EntityIndexView]:
    """Return the view of the list of entities; it is made once."""
    return type("EntityIndexView", (EntityIndexView,), _described("IndexAutoSchema"))


@functools.cache
def viewset_for(model: type[EntityModel]) -> type[EntityViewSet]:
    """Return the viewset of an entity; it is made once."""
    attributes = {
        "__doc__": model.entity.description,
        "__module__": __name__,
        "model": model,
        "capability": f"entities.{model.entity.name}",
        **_described("EntityAutoSchema"),
    }
    return type(f"{model.__name__}ViewSet", (EntityViewSet,), attributes)


class EntityIndexView(StoreView):
    """The entities that the user may see, with their addresses."""

    def check_access(self, request: Request) -> None:
        """Let the access class decide for each entity; refuse where it allows none."""
        self.visible: list[type[EntityModel]] = []
        refusal: errors.PermissionDenied | None = None
        for model in all_entities():
            self.capability = f"entities.{model.entity.name}"
            try:
                self.ask_access(request)
            except errors.PermissionDenied as error:
                refusal = error
            else:
                self.visible.append(model)
        if refusal is not None and not self.visible:
            self.refuse(request, refusal)

    def get(self, request: Request) -> Response:
        """List the entities that the user may see."""
        self.only_params()
        return Response({"results": [self._describe(request, model) for model in self.visible]})

    def _describe(self, request: Request, model: type[EntityModel]) -> JSONObject:
        name = model.entity.name
        url = request.build_absolute_uri(f"{request.path}{name}/")
        return {"name": name, "description": model.entity.description, "url": url}


class NoSuchEntityView(EntityIndexView):
    """What no other address below ``entities/`` matches: 404 in JSON, or the same with its last slash."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        rest = self.kwargs.get("rest") or ""
        if request.method in ("GET", "HEAD") and not request.path.endswith("/"):
            return
        name = rest.split("/")[0]
        if name and name not in {model.entity.name for model in all_entities()}:
            visible = [model.entity.name for model in self.visible]
            raise errors.NotFound(f"There is no entity {name[:100]!r}.", hint=suggest(name, visible))
        raise errors.NotFound("There is nothing at this address.", hint="Every address ends with a slash.")

    def get(self, request: Request, rest: str | None = None) -> HttpResponsePermanentRedirect:  # type: ignore[override]
        """Send a reader on to the address with its slash, as Django does."""
        return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))
