"""Ways to the server that fail on purpose, and servers that answer as told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx

from agentstore.remote import AsyncEntityClient, EntityClient

__all__ = ["ID", "URL", "Faulty", "answering", "async_answering", "refusing", "row"]

URL = "https://host.example/api/"
ID = "01a22bce-2930-70ad-9ae0-22bf66b66735"
Answering = Callable[[httpx.Request], httpx.Response]
Fault = Callable[[httpx.Request, Callable[[httpx.Request], httpx.Response]], httpx.Response]


class Faulty(httpx.BaseTransport):
    """Hands requests on, but for the first ones, which meet the faults given, one each."""

    def __init__(self, inner: httpx.BaseTransport, faults: Iterable[Fault]) -> None:
        self.inner, self.faults = inner, list(faults)
        self.seen: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if self.faults:
            return self.faults.pop(0)(request, self._pass)
        return self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()

    def _pass(self, request: httpx.Request) -> httpx.Response:
        response = self.inner.handle_request(request)
        response.read()
        return response

    @staticmethod
    def never_sent(kind: type[httpx.TransportError] = httpx.ConnectError) -> Fault:
        """The server is not reached."""

        def fault(request, passed):
            raise kind("no way to the server", request=request)

        return fault

    @staticmethod
    def answer_lost(kind: type[httpx.TransportError] = httpx.ReadError) -> Fault:
        """The server does what it is asked, and the connection dies before its answer comes."""

        def fault(request, passed):
            passed(request)
            raise kind("the connection died", request=request)

        return fault

    @staticmethod
    def answer(status: int, body: Any = None, **headers: str) -> Fault:
        """Somebody before the server answers."""

        def fault(request, passed):
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return httpx.Response(status, json=body, headers=named, request=request)

        return fault

    @staticmethod
    def meanwhile(act: Callable[[], object], then: Fault) -> Fault:
        """Somebody else acts after the server did what it was asked."""

        def fault(request, passed):
            try:
                return then(request, passed)
            finally:
                act()

        return fault


def row(**changes: Any) -> dict[str, Any]:
    """Return a row as REST shows it."""
    at = "2026-01-31T09:00:00.000000Z"
    return {"id": ID, "version": 1, "created_at": at, "updated_at": at, "data": {"text": "a"}, **changes}


def answering(
    answer: Callable[[httpx.Request], httpx.Response], url: str = URL, **options: Any
) -> EntityClient:
    """Return a client of a server that exists only as a function."""
    return EntityClient(url, client=httpx.Client(transport=httpx.MockTransport(answer)), **options)


def async_answering(answer: Answering, **options: Any) -> AsyncEntityClient:
    """The same for async code."""
    return AsyncEntityClient(URL, client=httpx.AsyncClient(transport=httpx.MockTransport(answer)), **options)


def refusing(status: int, body: Any, **headers: str) -> EntityClient:
    """Return a client of a server that refuses everything."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = body if isinstance(body, str) else json.dumps(body)
    return answering(lambda request: httpx.Response(status, text=content, headers=named), retries=0)
