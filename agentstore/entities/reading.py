"""The reading half of an entity's store, and what both halves share: codec, back end, rows."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from uuid import UUID

from django.db import router

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import checked
from agentstore.core.storage import single_statements
from agentstore.core.tenancy import check_tenant
from agentstore.core.values import EachOnce, EntityRow, HistoryEntry, JSONObject, JSONValue, Page, Usage
from agentstore.entities.backend import PageRequest, RawRow, RowBackend
from agentstore.entities.changes import apply_patch
from agentstore.entities.codec import Codec, Document, exact_value
from agentstore.entities.cursor import Position, binding_of, read_cursor, refused_cursor, write_cursor
from agentstore.entities.portable import PortableRows
from agentstore.entities.postgres import PostgresRows
from agentstore.entities.query import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    Clause,
    Order,
    parse_filter,
    parse_limit,
    parse_order,
)
from agentstore.entities.schema import EntitySchema

if TYPE_CHECKING:
    from agentstore.entities.base import EntityModel

__all__ = ["ReadingStore", "codec_of", "parse_id", "parse_version", "position_of", "to_row"]

S = TypeVar("S", bound=EntitySchema)

_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


@functools.cache
def codec_of(model: type[EntityModel]) -> Codec[Any]:
    """Return the codec of an entity; it is made once."""
    options = model.entity
    return Codec(model.Schema, options.name, {*options.indexes, *options.sweep_indexes})


def parse_id(id: object) -> UUID | None:
    """Return ``id`` as a UUID; anything that is none is None, and so as unknown as a strange id."""
    if isinstance(id, UUID):
        return id
    # ``UUID`` itself takes much more: braces, a prefix, and whatever ``int`` takes for hexadecimal.
    return UUID(id) if isinstance(id, str) and _ID.fullmatch(id) else None


def parse_version(version: object, name: str) -> int | None:
    """Return ``version``, an int that a version column can hold, or None.

    Raises:
        ValidationFailed: it is something else.
    """
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        guards.refuse(name, f"Expected a whole number, found {version!r:.100}.")
    return None if version is None else max(-1, min(version, 2**31 - 1))  # beyond it, no row has it


def to_row(codec: Codec[Any], raw: RawRow, *, changed: bool = False) -> EntityRow[Any]:
    """Return a stored row as callers see it: decoded, or with the reasons why it can't be."""
    data, plain, problems = codec.decode(raw.text)
    return EntityRow(
        id=raw.id,
        tenant=raw.tenant,
        version=raw.version,
        created_at=raw.created_at,
        updated_at=raw.updated_at,
        deleted_at=raw.deleted_at,
        data=data,
        raw=plain,
        changed=changed,
        schema_errors=problems,
    )


def kind_of(value: object) -> str:
    """Return the kind of an exact JSON value: text, boolean, number or other."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "other" if value is None or isinstance(value, dict | list) else "number"


def position_of(order: Order, raw: RawRow) -> Position:
    """Return the place of a row in an order."""
    value = exact_value(raw.text, order.field) if order.kind else None
    return Position(
        value=value if order.kind and kind_of(value) == order.kind else None,
        created_at=raw.created_at,
        updated_at=raw.updated_at,
        id=raw.id,
    )


class ReadingStore(Generic[S]):
    """Reads one tenant's rows of one entity."""

    def __init__(
        self,
        model: type[EntityModel],
        tenant: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> None:
        self.model = model
        self.tenant = check_tenant(tenant)
        self.name = model.entity.name
        #: The entity's codec.
        self.codec = cast("Codec[S]", codec_of(model))
        self._who = checked(actor=actor, reason=reason, context=context)

    def __repr__(self) -> str:
        return f"<EntityStore {self.name} of {self.tenant!r}>"

    @property
    def alias(self) -> str:
        """The database of every statement: reads go where the writes go, so they see them."""
        return router.db_for_write(self.model)

    @property
    def _rows(self) -> RowBackend:
        alias = self.alias
        rows = PostgresRows if single_statements(alias) else PortableRows
        return rows(self.model, self.name, alias, self.tenant)

    @property
    def _limits(self) -> dict[str, int]:
        return {"max_bytes": settings.MAX_ROW_BYTES, "max_depth": min(settings.MAX_DEPTH, guards.MAX_DEPTH)}

    def get(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Return the live row of that id, or an earlier ``version`` of it rebuilt from the audit.

        None when there is none, or when the audit of that version is gone.

        Raises:
            ValidationFailed: ``version`` is not an int.
        """
        return self._get(id, version, deleted=False)

    def get_deleted(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Return the deleted row of that id, or an earlier version of it: what an undelete brings back.

        Raises:
            ValidationFailed: ``version`` is not an int.
        """
        return self._get(id, version, deleted=True)

    def _get(self, id: UUID | str, version: int | None, *, deleted: bool) -> EntityRow[S] | None:
        wanted, key = parse_version(version, "version"), parse_id(id)
        raw = None if key is None else self._rows.get(key, deleted=deleted)
        if raw is None or wanted is None or wanted == raw.version:
            return None if raw is None else to_row(self.codec, raw)
        earlier = self._rebuild(raw, wanted)
        return None if earlier is None else to_row(self.codec, earlier)

    def _rebuild(self, current: RawRow, version: int) -> RawRow | None:
        """Apply the audited changes up to ``version``, from the last full row on."""
        if not 1 <= version < current.version:
            return None
        data: JSONObject | None = None
        last, at = 0, current.created_at
        for number, patch, full, at in self._rows.replay(current.id, version):  # noqa: B007 - the last one's
            if full is not None or number == 1:
                data = full or patch
            elif data is not None and patch is not None and number == last + 1:
                data = apply_patch(data, patch)
            else:  # an entry is gone: what follows can't be known until the next full row
                data = None
            last = number
        if data is None or last != version:
            return None
        return current._replace(version=version, updated_at=at, text=guards.dump_json(data))

    def query(
        self,
        filter: Mapping[str, JSONValue] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        order_by: str | None = None,
        cursor: str | None = None,
    ) -> Page[S]:
        """Return a page of the live rows that match: last updated first unless ``order_by`` says so.

        ``limit`` is clamped to 1..100. Pass ``next_cursor`` back as ``cursor`` for the next page.

        Raises:
            ValidationFailed: the filter, limit, order or cursor does not hold.
        """
        size = parse_limit(limit)
        clauses, order = self._parse(filter, order_by)
        return self._page(clauses, order, size, cursor)

    def _parse(self, filter: object, order_by: object) -> tuple[tuple[Clause, ...], Order]:
        return parse_filter(filter, self.codec.fields), parse_order(order_by, self.codec.fields)

    def _page(self, clauses: tuple[Clause, ...], order: Order, size: int, cursor: str | None) -> Page[S]:
        binding = binding_of(self.name, self.tenant, clauses, order) if cursor is not None else ""
        position = self._behind(read_cursor(binding, cursor), order) if cursor is not None else None
        found = self._rows.page(PageRequest(clauses=clauses, order=order, size=size + 1, position=position))
        rows = [to_row(self.codec, raw) for raw in found[:size]]
        if len(found) <= size:
            return Page(rows=rows, next_cursor=None, limit=size)
        binding = binding or binding_of(self.name, self.tenant, clauses, order)
        last = found[size - 1]
        next_cursor = write_cursor(binding, position_of(order, last), version=last.version)
        return Page(rows=rows, next_cursor=next_cursor, limit=size)

    def _behind(self, position: Position, order: Order) -> Position:
        """Return a position with its value, which is looked up where it was too long for the cursor."""
        if position.version is None:
            return position
        row = self._rows.get(position.id, deleted=None)
        if row is not None and row.version != position.version:
            row = self._rebuild(row, position.version)
        value = None if row is None else position_of(order, row).value
        if value is None:
            raise refused_cursor("The row at which the page ended is gone for good.")
        return replace(position, value=value)

    def iterate(
        self, filter: Mapping[str, JSONValue] | None = None, *, order_by: str | None = None
    ) -> Iterator[EntityRow[S]]:
        """Iterate over all live rows that match, page by page.

        Raises:
            ValidationFailed: the filter or the order does not hold.
        """
        return self._iterate(*self._parse(filter, order_by))

    def _iterate(self, clauses: tuple[Clause, ...], order: Order) -> Iterator[EntityRow[S]]:
        once = EachOnce(str(order))
        cursor = None
        while True:
            page = self._page(clauses, order, MAX_LIMIT, cursor)
            yield from once(page)
            cursor = page.next_cursor
            if cursor is None:
                return

    def count(self, filter: Mapping[str, JSONValue] | None = None) -> int:
        """Count the live rows that match.

        Raises:
            ValidationFailed: the filter does not hold.
        """
        return self._rows.count(parse_filter(filter, self.codec.fields))

    def usage(self) -> Usage:
        """Return how many places the tenant uses and has; read from the counter, not counted."""
        return Usage(used=self._rows.used(), capacity=self.model.entity.capacity(self.tenant))

    def history(
        self, id: UUID | str, *, limit: int | None = None, before: UUID | str | None = None
    ) -> list[HistoryEntry]:
        """Return the audited changes of a row, deleted or not, newest first; [] for an unknown id.

        ``limit`` is at least 1; ``before`` is the ``id`` of the last entry of the page before.

        Raises:
            ValidationFailed: ``limit`` is not an int.
        """
        key, last = parse_id(id), parse_id(before)
        if limit is not None:
            limit = max(parse_version(limit, "limit") or 0, 1)
        if key is None or (before is not None and last is None):
            return []
        return self._rows.history(key, limit=limit, before=last)

    def not_found(self, id: object) -> errors.NotFound:
        """Return the error for an id that the tenant does not have, whoever else may have it."""
        return errors.NotFound(
            f"There is no {self.name} row {str(id)[:100]}.", hint="It may have been deleted."
        )

    def _made(self, document: Document, instance: S, **columns: Any) -> EntityRow[S]:
        return EntityRow(tenant=self.tenant, data=instance, raw=document.value, changed=True, **columns)
