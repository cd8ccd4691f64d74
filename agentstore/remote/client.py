"""The clients: where the server is, who the client is to it, and how calls are sent and sent again."""

from __future__ import annotations

import itertools
from asyncio import sleep as async_sleep
from collections.abc import Mapping
from time import sleep
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

import httpx
from pydantic import BaseModel

from agentstore.core.values import JSONObject, JSONValue
from agentstore.remote.address import read_address
from agentstore.remote.aio import AsyncRemoteStore
from agentstore.remote.answers import Answer
from agentstore.remote.encoding import dump_body, refuse
from agentstore.remote.failures import RemoteFailed
from agentstore.remote.plans import Plans
from agentstore.remote.retrying import Call, Retrying, arrived
from agentstore.remote.saying import check_actor
from agentstore.remote.store import RemoteStore

__all__ = ["AsyncEntityClient", "EntityClient"]

S = TypeVar("S", bound=BaseModel)
C = TypeVar("C", httpx.Client, httpx.AsyncClient)
Auth = httpx.Auth | tuple[str, str]
Timeout = float | httpx.Timeout

#: Seconds for each of: connect, send, wait for the answer, wait for a free connection.
DEFAULT_TIMEOUT = 10.0
_FAILURES = (httpx.HTTPError, httpx.InvalidURL)


class _Client(Generic[C]):
    """What both clients share: address, identity, retries; the connections are the subclass's."""

    def __init__(
        self,
        http: C,
        url: str,
        token: str | None,
        *,
        scheme: str,
        auth: Auth | None,
        headers: Mapping[str, str] | None,
        timeout: Timeout | None,
        retries: int,
        max_wait: float,
        own: bool,
    ) -> None:
        self._address = read_address(url, token, scheme=scheme, auth=auth, headers=headers)
        self._retrying = Retrying(retries=_whole(retries, "retries"), max_wait=_seconds(max_wait, "max_wait"))
        self._http: C = http
        self._own = own
        self._options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        if token is not None or self._address.auth is not None:
            self._options["auth"] = self._address.auth

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._address.url}>"

    def _plans(self, name: str, actor: str | None, **options: Any) -> Plans[Any]:
        check_actor(actor)
        return Plans(name, **options)

    def _request(self, call: Call) -> dict[str, Any]:
        if self._http.is_closed:
            raise RemoteFailed(f"{self._where(call)}: the client is closed.", hint="Make a new one.")
        headers = {"Accept": "application/json", **self._address.headers, **call.headers}
        request = {**self._options, "method": call.method, "url": self._address.url + call.path}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            request["content"] = dump_body(call.body)
        return {**request, "headers": headers, "params": call.params or None, "follow_redirects": False}

    def _where(self, call: Call) -> str:
        return f"{call.method} {self._address.url}{call.path}"

    def _read(self, call: Call, response: httpx.Response, *, doubtful: bool) -> Answer:
        return Answer(
            where=self._where(call),
            status=response.status_code,
            headers=response.headers,
            content=response.content,
            writes=call.writes,
            doubtful=doubtful,
        )

    def _after_error(self, call: Call, attempt: int, error: Exception, *, doubtful: bool) -> float:
        return self._retrying.after_error(call, attempt, error, self._where(call), doubtful=doubtful)


class EntityClient(_Client[httpx.Client]):
    """A connection to the entities of another server; ``url`` is where ``agentstore.urls`` is included.

    Connections are kept and used again, by all its stores and threads. ``token`` goes into the
    ``Authorization`` header behind ``scheme``; ``auth`` and ``headers`` are for every other way to
    say who the client is. ``timeout`` is in seconds for each step of a request. What may be
    repeated is, ``retries`` times, with growing waits of at most ``max_wait`` seconds; a
    ``Retry-After`` is honoured. ``client`` is an ``httpx.Client`` of your own, which you close.

    Raises:
        ValidationFailed: the address, the token or an option can't be used.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        scheme: str = "Bearer",
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: Timeout | None = None,
        retries: int = 2,
        max_wait: float = 20.0,
        client: httpx.Client | None = None,
    ) -> None:
        super().__init__(
            client or httpx.Client(timeout=DEFAULT_TIMEOUT), url, token, scheme=scheme, auth=auth,
            headers=headers, timeout=timeout, retries=retries, max_wait=max_wait, own=client is None,
        )  # fmt: skip

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
            request = self._request(call)
            try:
                response = self._http.request(**request)
            except _FAILURES as error:
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

    def close(self) -> None:
        """Close the connections, unless they are a client's of your own."""
        if self._own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncEntityClient(_Client[httpx.AsyncClient]):
    """``EntityClient`` for async code: its stores have the twins (``aget``, ``acreate``), without threads.

    Raises:
        ValidationFailed: the address, the token or an option can't be used.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        scheme: str = "Bearer",
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: Timeout | None = None,
        retries: int = 2,
        max_wait: float = 20.0,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(
            client or httpx.AsyncClient(timeout=DEFAULT_TIMEOUT), url, token, scheme=scheme, auth=auth,
            headers=headers, timeout=timeout, retries=retries, max_wait=max_wait, own=client is None,
        )  # fmt: skip

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
            request = self._request(call)
            try:
                response = await self._http.request(**request)
            except _FAILURES as error:
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

    async def aclose(self) -> None:
        """Close the connections, unless they are a client's of your own."""
        if self._own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        refuse(name, f"Expected a whole number, 0 or more, found {value!r:.100}.")
    return value


def _seconds(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        refuse(name, f"Expected seconds, 0 or more, found {value!r:.100}.")
    return value
