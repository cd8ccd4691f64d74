"""The clients: one that waits, one that awaits; each gives stores, and sends what their plans ask."""

from __future__ import annotations

import itertools
from asyncio import sleep as async_sleep
from collections.abc import Mapping
from time import sleep
from types import TracebackType
from typing import Any, Self, TypeVar, overload

import httpx
from pydantic import BaseModel

from agentstore.core.values import JSONObject, JSONValue
from agentstore.remote.aio import AsyncRemoteStore
from agentstore.remote.answers import Answer, unrecognised
from agentstore.remote.connection import FAILURES, Connection
from agentstore.remote.keeping import LoopConnections, ProcessConnections
from agentstore.remote.retrying import Call, arrived
from agentstore.remote.store import RemoteStore

__all__ = ["AsyncEntityClient", "EntityClient"]

S = TypeVar("S", bound=BaseModel)


class EntityClient(Connection[httpx.Client]):
    """A connection to the entities of another server; ``url`` is where ``agentstore.urls`` is included.

    Connections are kept and used again, by all its stores and threads; a process that was forked opens
    others. ``token`` goes into the ``Authorization`` header behind ``scheme``, or as the server takes
    it, Bearer or Token; ``auth`` and ``headers`` are for every other way to say who the client is.
    ``timeout`` is in seconds for each step of a request. What may be repeated is, ``retries`` times,
    with growing waits of at most ``max_wait`` seconds; a ``Retry-After`` is honoured. ``client`` is an
    ``httpx.Client`` of your own, which you close.

    Raises:
        ValidationFailed: the address, the token or an option can't be used.
    """

    _kind = httpx.Client

    def _keep(self, client: httpx.Client | None) -> None:
        self._kept = ProcessConnections(client)

    @overload
    def store(
        self,
        name: str,
        *,
        tenant: str | None = None,
        schema: type[S],
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> RemoteStore[S]: ...
    @overload
    def store(
        self,
        name: str,
        *,
        tenant: str | None = None,
        schema: None = None,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> RemoteStore[JSONObject]: ...
    def store(
        self,
        name: str,
        *,
        tenant: str | None = None,
        schema: type[BaseModel] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> RemoteStore[Any]:
        """Return the store of one tenant's rows of an entity; without ``tenant`` the client's own.

        ``row.data`` is an instance of ``schema``, or without one a dict.

        Raises:
            ValidationFailed: the name, tenant, reason or context is not allowed, or there is an actor.
        """
        plans = self._plans(name, actor, tenant=tenant, schema=schema, reason=reason, context=context)
        return RemoteStore(plans, self._address.url, self._send)

    def _send(self, call: Call) -> Answer:
        doubtful = False
        for attempt in itertools.count():
            try:
                response = self._exchange(call)
            except FAILURES as error:
                doubtful = doubtful or arrived(error)
                wait = self._after_error(call, attempt, error, doubtful=doubtful)
            else:
                answer = self._read(call, response, doubtful=doubtful)
                pause = self._retrying.after_answer(call, attempt, answer)
                if pause is None:
                    return answer
                doubtful, wait = doubtful or answer.status != 429, pause
            sleep(wait)
        raise AssertionError("unreachable")  # pragma: no cover

    def _exchange(self, call: Call) -> httpx.Response:
        http = self._kept.here()
        for credentials in self._credentials():
            response = http.request(**self._request(call, credentials, closed=http.is_closed))
            if not unrecognised(response.status_code, response.content):
                break
        return response

    def close(self) -> None:
        """Close the connections, unless they are a client's of your own."""
        self._kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncEntityClient(Connection[httpx.AsyncClient]):
    """``EntityClient`` for async code: its stores have the twins (``aget``, ``acreate``), without threads.

    Each event loop has connections of its own, so the client may serve one after the other.

    Raises:
        ValidationFailed: the address, the token or an option can't be used.
    """

    _kind = httpx.AsyncClient

    def _keep(self, client: httpx.AsyncClient | None) -> None:
        self._kept = LoopConnections(client)

    @overload
    def store(
        self,
        name: str,
        *,
        tenant: str | None = None,
        schema: type[S],
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> AsyncRemoteStore[S]: ...
    @overload
    def store(
        self,
        name: str,
        *,
        tenant: str | None = None,
        schema: None = None,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> AsyncRemoteStore[JSONObject]: ...
    def store(
        self,
        name: str,
        *,
        tenant: str | None = None,
        schema: type[BaseModel] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> AsyncRemoteStore[Any]:
        """Return the store of one tenant's rows of an entity; without ``tenant`` the client's own.

        Raises:
            ValidationFailed: the name, tenant, reason or context is not allowed, or there is an actor.
        """
        plans = self._plans(name, actor, tenant=tenant, schema=schema, reason=reason, context=context)
        return AsyncRemoteStore(plans, self._address.url, self._send)

    async def _send(self, call: Call) -> Answer:
        doubtful = False
        for attempt in itertools.count():
            try:
                response = await self._exchange(call)
            except FAILURES as error:
                doubtful = doubtful or arrived(error)
                wait = self._after_error(call, attempt, error, doubtful=doubtful)
            else:
                answer = self._read(call, response, doubtful=doubtful)
                pause = self._retrying.after_answer(call, attempt, answer)
                if pause is None:
                    return answer
                doubtful, wait = doubtful or answer.status != 429, pause
            await async_sleep(wait)
        raise AssertionError("unreachable")  # pragma: no cover

    async def _exchange(self, call: Call) -> httpx.Response:
        http = await self._kept.here()
        for credentials in self._credentials():
            response = await http.request(**self._request(call, credentials, closed=http.is_closed))
            if not unrecognised(response.status_code, response.content):
                break
        return response

    async def aclose(self) -> None:
        """Close the connections, unless they are a client's of your own."""
        await self._kept.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
