"""The store that waits: the local store's methods, each carrying out its plan over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, Unpack
from uuid import UUID

from agentstore.core.values import EachOnce, EntityRow, HistoryEntry, JSONValue, Page, Usage, Who
from agentstore.remote.aio import AsyncMethods
from agentstore.remote.answers import Answer
from agentstore.remote.plans import DEFAULT_LIMIT, PAGE, Plan, Plans
from agentstore.remote.retrying import Call

__all__ = ["RemoteStore"]

S = TypeVar("S")
T = TypeVar("T")


class RemoteStore(AsyncMethods[S]):
    """Reads and writes a tenant's rows on a server; get one from ``EntityClient(...).store(...)``.

    Methods, results and errors are those of the local store (``Model.store(tenant)``). Besides its
    errors every method raises ``RemoteFailed`` where there is no usable answer. Writes take
    ``reason`` and ``context``; who acts is whom the server knows the client as. Each method has an
    async twin, one hop to a thread each; ``AsyncEntityClient`` needs none.
    """

    def __init__(self, plans: Plans[S], address: str, send: Callable[[Call], Answer]) -> None:
        super().__init__(plans, address)
        self._send = send

    def _run(self, plan: Plan[T]) -> T:
        try:
            call = next(plan)
            while True:
                call = plan.send(self._send(call))
        except StopIteration as done:
            result: T = done.value
            return result

    async def _arun(self, plan: Plan[T]) -> T:
        return await asyncio.to_thread(self._run, plan)

    def get(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Return the live row of that id, or an earlier ``version`` of it; None when there is none.

        Raises:
            ValidationFailed: ``version`` is not an int.
        """
        return self._run(self._plans.get(id, version))

    def get_deleted(self, id: UUID | str, *, version: int | None = None) -> EntityRow[S] | None:
        """Return the deleted row of that id, or an earlier version of it: what an undelete brings back.

        Raises:
            ValidationFailed: ``version`` is not an int.
        """
        return self._run(self._plans.get(id, version, deleted=True))

    def query(
        self,
        filter: Mapping[str, JSONValue] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        order_by: str | None = None,
        cursor: str | None = None,
    ) -> Page[S]:
        """Return a page of the live rows that match: last updated first unless ``order_by`` says so.

        Raises:
            ValidationFailed: the filter, limit, order or cursor does not hold.
        """
        return self._run(self._plans.query(filter, limit, order_by, cursor))

    def iterate(
        self, filter: Mapping[str, JSONValue] | None = None, *, order_by: str | None = None
    ) -> Iterator[EntityRow[S]]:
        """Iterate over all live rows that match, page by page; the first page is asked for at once.

        Raises:
            ValidationFailed: the filter or the order does not hold.
        """
        return self._iterate(self.query(filter, limit=PAGE, order_by=order_by), filter, order_by)

    def _iterate(self, page: Page[S], filter: Any, order_by: str | None) -> Iterator[EntityRow[S]]:
        once = EachOnce(order_by)
        while True:
            yield from once(page)
            if page.next_cursor is None:
                return
            page = self.query(filter, limit=PAGE, order_by=order_by, cursor=page.next_cursor)

    def count(self, filter: Mapping[str, JSONValue] | None = None) -> int:
        """Count the live rows that match.

        Raises:
            ValidationFailed: the filter does not hold.
        """
        return self._run(self._plans.count(filter))

    def usage(self) -> Usage:
        """Return how many places the tenant uses and has."""
        return self._run(self._plans.usage())

    def history(
        self, id: UUID | str, *, limit: int | None = None, before: UUID | str | None = None
    ) -> list[HistoryEntry]:
        """Return the audited changes of a row, deleted or not, newest first; [] for an unknown id.

        Raises:
            ValidationFailed: ``limit`` is not an int.
        """
        return self._run(self._plans.history(id, limit, before))

    def create(self, data: object, *, idempotency_key: str | None = None, **who: Unpack[Who]) -> EntityRow[S]:
        """Store a new row, once, however often it has to be sent: without a key the call makes its own.

        Raises:
            ValidationFailed: the data does not fit the schema.
            TooLarge: the row is over the server's limit.
            QuotaExceeded: the tenant has no place left.
            Conflict: the key was used with other data.
        """
        return self._run(self._plans.create(data, idempotency_key, who))

    def create_many(
        self, items: Iterable[object], *, idempotency_key: str | None = None, **who: Unpack[Who]
    ) -> list[EntityRow[S]]:
        """Store up to 500 new rows, all or none; in the order given, once.

        Raises:
            ValidationFailed: some items do not fit, or there are more than one request takes.
            TooLarge: a row, or all of them together, are over the server's limit.
            QuotaExceeded: the tenant has too few places left.
            Conflict: the key was used with other data.
        """
        return self._run(self._plans.create_many(items, idempotency_key, who))

    def update(
        self,
        id: UUID | str,
        patch: Mapping[str, JSONValue] | None = None,
        *,
        unset: Iterable[str] = (),
        expected_version: int | None = None,
        **who: Unpack[Who],
    ) -> EntityRow[S]:
        """Replace the top-level fields in ``patch``; reset those in ``unset`` to their defaults.

        With ``expected_version`` it is sent again where an answer is lost: it cannot happen twice.

        Raises:
            ValidationFailed: the patch is not an object, or the row would not fit the schema.
            NotFound: there is no live row of that id.
            Conflict: the row is not at ``expected_version``.
            TooLarge: the row would be over the server's limit.
        """
        return self._run(self._plans.update(id, patch, unset, expected_version, who))

    def replace(
        self, id: UUID | str, data: object, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> EntityRow[S]:
        """Replace the whole document of a live row; what ``data`` leaves out gets its default.

        Raises:
            ValidationFailed: the data does not fit the schema.
            NotFound: there is no live row of that id.
            Conflict: the row is not at ``expected_version``.
            TooLarge: the row is over the server's limit.
        """
        return self._run(self._plans.replace(id, data, expected_version, who))

    def delete(self, id: UUID | str, *, expected_version: int | None = None, **who: Unpack[Who]) -> bool:
        """Delete a live row, softly: it frees its place and can be undeleted. False if there is none.

        Raises:
            ValidationFailed: ``expected_version`` is not an int.
            Conflict: the row is not at ``expected_version``.
        """
        return self._run(self._plans.delete(id, expected_version, who))

    def undelete(self, id: UUID | str, **who: Unpack[Who]) -> EntityRow[S]:
        """Bring a deleted row back, at the version it had; a live row is returned as it is.

        Raises:
            NotFound: there is no row of that id, deleted or live.
            QuotaExceeded: the tenant has no place left.
        """
        return self._run(self._plans.undelete(id, who))
