"""The connections of a client: those of a caller's own, or a set for each process or event loop.

What was opened before a fork is the parent's too: answers would reach the wrong one of both. What was
opened in an event loop can't be used in another.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator

import httpx

__all__ = ["LoopConnections", "ProcessConnections"]

#: Seconds for each of: connect, send, wait for the answer, wait for a free connection.
DEFAULT_TIMEOUT = 10.0


class ProcessConnections:
    """The connections of a client that waits; a process that was forked opens others."""

    def __init__(self, given: httpx.Client | None) -> None:
        self._given = given
        self._http, self._pid = given or self._made(), os.getpid()
        #: Those of the processes before, which are not ours to close.
        self._inherited: list[httpx.Client] = []

    def _made(self) -> httpx.Client:
        return httpx.Client(timeout=DEFAULT_TIMEOUT)

    def here(self) -> httpx.Client:
        """Return those of this process."""
        if self._pid != os.getpid() and self._given is None and not self._http.is_closed:
            self._inherited.append(self._http)
            self._http, self._pid = self._made(), os.getpid()
        return self._http

    def close(self) -> None:
        """Close those of this process, for good."""
        if self._given is None:
            self.here().close()


class LoopConnections:
    """The connections of a client that awaits; each event loop has others, which end before it does."""

    def __init__(self, given: httpx.AsyncClient | None) -> None:
        self._given = given
        #: Made at once, so that what can't be made is told at once; the first loop takes it.
        self._spare = None if given else self._made()
        self._kept: dict[asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, AsyncGenerator[None]]] = {}
        self._closed: httpx.AsyncClient | None = None

    def _made(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=DEFAULT_TIMEOUT)

    async def here(self) -> httpx.AsyncClient:
        """Return those of the running loop."""
        fixed = self._given or self._closed
        if fixed is not None:
            return fixed
        loop = asyncio.get_running_loop()
        if loop not in self._kept:
            http, self._spare = self._spare or self._made(), None
            end = self._at_the_end_of(loop, http)
            self._kept[loop] = http, end
            await anext(end)
        return self._kept[loop][0]

    async def _at_the_end_of(
        self, loop: asyncio.AbstractEventLoop, http: httpx.AsyncClient
    ) -> AsyncGenerator[None]:
        """Close connections while the loop still runs: it ends generators before it does."""
        try:
            yield
        finally:
            self._kept.pop(loop, None)
            await http.aclose()

    async def close(self) -> None:
        """Close those of the running loop, and open no others; other loops close their own."""
        if self._given is not None:
            return
        http, end = self._kept.get(asyncio.get_running_loop(), (None, None))
        if self._closed is None:
            self._closed, self._spare = http or self._spare or self._made(), None
        if end is not None:
            await end.aclose()
        await self._closed.aclose()
