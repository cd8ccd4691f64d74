"""The rows of an entity over REST: each request is one call of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import errors
from agentstore.core.api import StoreViewSet
from agentstore.core.preconditions import NEVER, Preconditions, etag
from agentstore.core.requests import (
    CHANGED_HEADER,
    TENANT_HEADER,
    encoded,
    idempotency_key,
    read_integer,
    said,
)
from agentstore.core.values import EntityRow, JSONObject, JSONValue
from agentstore.entities.base import EntityModel
from agentstore.entities.bodies import (
    ECHOED,
    data_of,
    entry_body,
    entry_id,
    items_of,
    patch_of,
    row_body,
    unset_of,
)
from agentstore.entities.query import DEFAULT_LIMIT, parse_limit
from agentstore.entities.querystring import read_filter, read_list_request
from agentstore.entities.store import EntityStore

__all__ = ["EntityViewSet"]

R = TypeVar("R")


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

    @cached_property
    def store(self) -> EntityStore[Any]:
        """The store that carries out the request."""
        return self.model.store(self.tenant, actor=self.actor, **said(self.request.headers))

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Say which tenant the answer is about, once that is known."""
        response = super().finalize_response(request, response, *args, **kwargs)
        tenant = getattr(self, "tenant", None)
        if tenant is not None:
            response[TENANT_HEADER] = encoded(tenant)
        return response

    def list(self, request: Request) -> Response:
        """List the rows that match the filter, last updated first unless ``order_by`` says otherwise."""
        asked = read_list_request(self.pairs, self.store.codec.fields)
        page = self.store.query(asked.filter, limit=asked.limit, order_by=asked.order_by, cursor=asked.cursor)
        return self._page([row_body(row) for row in page], page.next_cursor, page.limit)

    @action(detail=False, methods=["post"])
    def query(self, request: Request) -> Response:
        """List the rows that match a filter of any length, given in the body."""
        self.only_params()
        body = self.read_body(request, known=["filter", "limit", "order_by", "cursor"])
        page = self.store.query(body.pop("filter", None), **body)
        results = [row_body(row) for row in page]
        return Response({"results": results, "next_cursor": page.next_cursor, "limit": page.limit})

    @action(detail=False, methods=["get"])
    def count(self, request: Request) -> Response:
        """Count the rows that match the filter."""
        return self._counted(read_filter(self.pairs, self.store.codec.fields))

    @count.mapping.post
    def count_matches(self, request: Request) -> Response:
        """Count the rows that match a filter of any length, given in the body."""
        self.only_params()
        return self._counted(self.read_body(request, known=["filter"]).get("filter"))

    @action(detail=False, methods=["get"])
    def usage(self, request: Request) -> Response:
        """Tell how many places the tenant uses, and how many it has."""
        self.only_params()
        usage = self.store.usage()
        return Response({"used": usage.used, "capacity": usage.capacity, "remaining": usage.remaining})

    def create(self, request: Request) -> Response:
        """Store a new row. An ``Idempotency-Key`` makes the request safe to repeat."""
        place = request.build_absolute_uri(request.path)
        self.only_params()
        row = self.store.create(self._data(request), idempotency_key=idempotency_key(request.headers))
        response = self._written(row, status=201)
        response["Location"] = f"{place}{row.id}/"
        return response

    def retrieve(self, request: Request, id: str) -> Response:
        """Return a row, or with ``version`` an earlier state of it; with ``deleted=true`` a deleted one."""
        params = self.only_params("version", "deleted")
        version = read_integer(params["version"], "version") if "version" in params else None
        read = self.store.get_deleted if self.flag("deleted") else self.store.get
        row = read(id, version=version)
        if row is None:
            raise self._missing(id, version, read)
        if Preconditions.of(request.headers).unchanged(row.version):
            return Response(status=304, headers={"ETag": etag(row.version)})
        return self._row(row)

    def update(self, request: Request, id: str) -> Response:
        """Replace the whole document of a row; what is left out gets its default."""
        self.only_params()
        data = self._data(request)
        return self._written(self._conditional(request, id, partial(self.store.replace, id, data)))

    def partial_update(self, request: Request, id: str) -> Response:
        """Reset the fields in ``unset`` to their defaults, then replace those in ``data``, whole."""
        self.only_params()
        body = self.read_body(request, known=["data", "unset"], ignored=ECHOED)
        patch = patch_of(body)
        write = partial(self.store.update, id, patch, unset=unset_of(body, self.store.codec.fields))
        return self._written(self._conditional(request, id, write))

    def destroy(self, request: Request, id: str) -> Response:
        """Delete a row, softly: it frees its place, and ``undelete`` brings it back."""
        self.only_params()
        if not self._conditional(request, id, partial(self.store.delete, id)):
            raise self.store.not_found(id)
        return Response(status=204)

    @action(detail=True, methods=["get"])
    def history(self, request: Request, id: str) -> Response:
        """List the audited changes of a row, deleted or not, newest first."""
        params = self.only_params("limit", "cursor")
        limit = parse_limit(read_integer(params["limit"], "limit") if "limit" in params else DEFAULT_LIMIT)
        before = entry_id(params["cursor"]) if "cursor" in params else None
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
        return self._written(self.store.undelete(id))

    @action(detail=False, methods=["post"])
    def bulk(self, request: Request) -> Response:
        """Store up to 500 new rows, all or none, in the order given."""
        self.only_params()
        rows = self.store.create_many(
            items_of(request.data), idempotency_key=idempotency_key(request.headers)
        )
        response = Response({"results": [row_body(row) for row in rows]}, status=201)
        return _with_changed(response, any(row.changed for row in rows))

    # --- reading the request, showing the answer ------------------------------------------------

    def _data(self, request: Request) -> JSONValue:
        return data_of(self.read_body(request, known=["data"], ignored=ECHOED))

    def _conditional(self, request: Request, id: str, write: Callable[..., R]) -> R:
        """Write under the request's conditions."""

        def current() -> int | None:
            row = self.store.get(id)
            return None if row is None else row.version

        conditions = Preconditions.of(request.headers)
        expected = conditions.expected(current)
        try:
            return write(expected_version=expected)
        except errors.Conflict as error:
            if expected == NEVER and error.current_version is not None:
                raise conditions.refusal(error.current_version) from None
            raise

    def _missing(
        self, id: str, version: int | None, read: Callable[[str], EntityRow[Any] | None]
    ) -> errors.NotFound:
        row = None if version is None else read(id)
        if row is None:
            return self.store.not_found(id)
        return errors.NotFound(
            f"There is no version {version} of {self.store.name} row {row.id}.",
            hint=f"It is at version {row.version}.",
        )

    def _row(self, row: EntityRow[Any], *, status: int = 200) -> Response:
        return Response(row_body(row), status=status, headers={"ETag": etag(row.version)})

    def _written(self, row: EntityRow[Any], *, status: int = 200) -> Response:
        return _with_changed(self._row(row, status=status), row.changed)

    def _counted(self, filter: JSONValue) -> Response:
        return Response({"count": self.store.count(filter)})

    def _page(self, results: Sequence[JSONObject], cursor: str | None, limit: int) -> Response:
        following = None
        if cursor is not None:
            kept = [(name, value) for name, value in self.pairs if name != "cursor"]
            following = self.request.build_absolute_uri("?" + urlencode([*kept, ("cursor", cursor)]))
        return Response({"results": results, "next": following, "next_cursor": cursor, "limit": limit})


def _with_changed(response: Response, changed: bool) -> Response:
    response[CHANGED_HEADER] = "true" if changed else "false"
    return response
