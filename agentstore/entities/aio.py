"""The async twins of an entity's store: the same methods, one hop to a thread each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, cast
from uuid import UUID

from agentstore.core.aio import run
from agentstore.core.context import Who
from agentstore.core.values import EachOnce, EntityRow, HistoryEntry, JSONValue, Page, Usage
from agentstore.entities.query import DEFAULT_LIMIT, MAX_LIMIT
from agentstore.entities.schema import EntitySchema

if TYPE_CHECKING:
    from agentstore.entities.store import EntityStore

__all__ = ["AsyncTwins"]

S = TypeVar("S", bound=EntitySchema)


class AsyncTwins(Generic[S]):
    """``aget`` is ``get`` for async code, and so on; arguments, results and errors are the same."""

    @property
    def _sync(self) -> EntityStore[S]:
        return cast("EntityStore[S]", self)

    async def aget(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Do what ``get`` does."""
        return await run(self._sync.get, id, version=version)

    async def aget_deleted(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Do what ``get_deleted`` does."""
        return await run(self._sync.get_deleted, id, version=version)

    async def aquery(
        self,
        filter: Mapping[str, JSONValue] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        order_by: str | None = None,
        cursor: str | None = None,
    ) -> Page[S]:
        """Do what ``query`` does."""
        return await run(self._sync.query, filter, limit=limit, order_by=order_by, cursor=cursor)

    async def aiterate(
        self, filter: Mapping[str, JSONValue] | None = None, *, order_by: str | None = None
    ) -> AsyncIterator[EntityRow[S]]:
        """Do what ``iterate`` does, one hop a page."""
        once = EachOnce(order_by)
        cursor = None
        while True:
            page = await self.aquery(filter, limit=MAX_LIMIT, order_by=order_by, cursor=cursor)
            for row in once(page):
                yield row
            cursor = page.next_cursor
            if cursor is None:
                return

    async def acount(self, filter: Mapping[str, JSONValue] | None = None) -> int:
        """Do what ``count`` does."""
        return await run(self._sync.count, filter)

    async def ausage(self) -> Usage:
        """Do what ``usage`` does."""
        return await run(self._sync.usage)

    async def ahistory(
        self, id: UUID | str, *, limit: int | None = None, before: UUID | str | None = None
    ) -> list[HistoryEntry]:
        """Do what ``history`` does."""
        return await run(self._sync.history, id, limit=limit, before=before)

    async def acreate(
        self, data: object, *, idempotency_key: str | None = None, **who: Unpack[Who]
    ) -> EntityRow[S]:
        """Do what ``create`` does."""
        return await run(self._sync.create, data, idempotency_key=idempotency_key, **who)

    async def acreate_many(
        self, items: Iterable[object], *, idempotency_key: str | None = None, **who: Unpack[Who]
    ) -> list[EntityRow[S]]:
        """Do what ``create_many`` does."""
        return await run(self._sync.create_many, items, idempotency_key=idempotency_key, **who)

    async def aupdate(
        self,
        id: UUID | str,
        patch: Mapping[str, JSONValue] | None = None,
        *,
        unset: Iterable[str] = (),
        expected_version: int | None = None,
        **who: Unpack[Who],
    ) -> EntityRow[S]:
        """Do what ``update`` does."""
        options: dict[str, Any] = {"unset": unset, "expected_version": expected_version, **who}
        return await run(self._sync.update, id, patch, **options)

    async def areplace(
        self, id: UUID | str, data: object, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> EntityRow[S]:
        """Do what ``replace`` does."""
        return await run(self._sync.replace, id, data, expected_version=expected_version, **who)

    async def adelete(
        self, id: UUID | str, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> bool:
        """Do what ``delete`` does."""
        return await run(self._sync.delete, id, expected_version=expected_version, **who)

    async def aundelete(self, id: UUID | str, **who: Unpack[Who]) -> EntityRow[S]:
        """Do what ``undelete`` does."""
        return await run(self._sync.undelete, id, **who)
