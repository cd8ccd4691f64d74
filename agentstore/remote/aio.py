"""The async methods of remote stores, and the store that has only them: no threads, one event loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Generic, NoReturn, TypeVar, Unpack
from uuid import UUID

from agentstore.core.values import EachOnce, EntityRow, HistoryEntry, JSONValue, Page, Usage, Who
from agentstore.remote.answers import Answer
from agentstore.remote.failures import LocalOnly
from agentstore.remote.plans import DEFAULT_LIMIT, PAGE, Plan, Plans
from agentstore.remote.retrying import Call

__all__ = ["AsyncMethods", "AsyncRemoteStore"]

S = TypeVar("S")
T = TypeVar("T")


class _Store(Generic[S]):
    """What both stores are: the rows of one entity and tenant on a server."""

    def __init__(self, plans: Plans[S], address: str) -> None:
        self._plans = plans
        self._address = address
        self.name = plans.name
        self.tenant = plans.tenant
        self.schema = plans.schema

    def __repr__(self) -> str:
        whose = "its user" if self.tenant is None else repr(self.tenant)
        return f"<{type(self).__name__} {self.name} of {whose} at {self._address}>"

    def sweep(self, *args: object, **options: object) -> NoReturn:
        """Refuse: nothing over REST reads across tenants.

        Raises:
            LocalOnly: always.
        """
        raise LocalOnly(
            f"{self.name}: rows of all tenants can't be read over REST.",
            hint="Call sweep() on the entity's model, in the Django project.",
        )

    def purge(self, *args: object, **options: object) -> NoReturn:
        """Refuse: nothing over REST removes rows for good.

        Raises:
            LocalOnly: always.
        """
        raise LocalOnly(
            f"{self.name}: rows can't be removed for good over REST; delete() hides them.",
            hint="Run manage.py agentstore_purge in the Django project.",
        )


class AsyncMethods(_Store[S], ABC):
    """``aget`` is ``get`` for async code, and so on; arguments, results and errors are the same."""

    @abstractmethod
    async def _arun(self, plan: Plan[T]) -> T:
        """Carry out a plan."""

    async def aget(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Do what ``get`` does."""
        return await self._arun(self._plans.get(id, version))

    async def aget_deleted(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Do what ``get_deleted`` does."""
        return await self._arun(self._plans.get(id, version, deleted=True))

    async def aquery(
        self,
        filter: Mapping[str, JSONValue] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        order_by: str | None = None,
        cursor: str | None = None,
    ) -> Page[S]:
        """Do what ``query`` does."""
        return await self._arun(self._plans.query(filter, limit, order_by, cursor))

    async def aiterate(
        self, filter: Mapping[str, JSONValue] | None = None, *, order_by: str | None = None
    ) -> AsyncIterator[EntityRow[S]]:
        """Do what ``iterate`` does, one request a page."""
        once = EachOnce(order_by)
        cursor = None
        while True:
            page = await self.aquery(filter, limit=PAGE, order_by=order_by, cursor=cursor)
            for row in once(page):
                yield row
            cursor = page.next_cursor
            if cursor is None:
                return

    async def acount(self, filter: Mapping[str, JSONValue] | None = None) -> int:
        """Do what ``count`` does."""
        return await self._arun(self._plans.count(filter))

    async def ausage(self) -> Usage:
        """Do what ``usage`` does."""
        return await self._arun(self._plans.usage())

    async def ahistory(
        self, id: UUID | str, *, limit: int | None = None, before: UUID | str | None = None
    ) -> list[HistoryEntry]:
        """Do what ``history`` does."""
        return await self._arun(self._plans.history(id, limit, before))

    async def acreate(
        self, data: object, *, idempotency_key: str | None = None, **who: Unpack[Who]
    ) -> EntityRow[S]:
        """Do what ``create`` does."""
        return await self._arun(self._plans.create(data, idempotency_key, who))

    async def acreate_many(
        self, items: Iterable[object], *, idempotency_key: str | None = None, **who: Unpack[Who]
    ) -> list[EntityRow[S]]:
        """Do what ``create_many`` does."""
        return await self._arun(self._plans.create_many(items, idempotency_key, who))

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
        return await self._arun(self._plans.update(id, patch, unset, expected_version, who))

    async def areplace(
        self, id: UUID | str, data: object, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> EntityRow[S]:
        """Do what ``replace`` does."""
        return await self._arun(self._plans.replace(id, data, expected_version, who))

    async def adelete(
        self, id: UUID | str, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> bool:
        """Do what ``delete`` does."""
        return await self._arun(self._plans.delete(id, expected_version, who))

    async def aundelete(self, id: UUID | str, **who: Unpack[Who]) -> EntityRow[S]:
        """Do what ``undelete`` does."""
        return await self._arun(self._plans.undelete(id, who))


class AsyncRemoteStore(AsyncMethods[S]):
    """Reads and writes a tenant's rows on a server, for async code; get one from ``AsyncEntityClient``."""

    def __init__(self, plans: Plans[S], address: str, send: Callable[[Call], Awaitable[Answer]]) -> None:
        super().__init__(plans, address)
        self._send = send

    async def _arun(self, plan: Plan[T]) -> T:
        try:
            call = next(plan)
            while True:
                call = plan.send(await self._send(call))
        except StopIteration as done:
            result: T = done.value
            return result
