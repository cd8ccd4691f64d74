"""Lets a client's last calls be answered though it has closed its end, as whoever pipes lines in does."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

__all__ = ["drained"]

#: Seconds that a client which closed its end is waited for; what is not answered then is broken off.
PATIENCE = 10.0


def drained(incoming: Any, outgoing: Any) -> tuple[Reading, Writing]:
    """Return two streams of the SDK's, of which the first ends once the second has brought all answers."""
    calls = _Calls()
    return Reading(incoming, calls), Writing(outgoing, calls)


class _Calls:
    """The requests that were read and have no answer yet."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._answered = anyio.Event()

    def note(self, message: types.JSONRPCMessage) -> None:
        """Count a request until it is answered or taken back."""
        if isinstance(message, types.JSONRPCRequest):
            self._open.add(str(message.id))
        elif isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._end(message.id)
        elif message.method == "notifications/cancelled":
            self._end((message.params or {}).get("requestId"))

    def _end(self, id: object) -> None:
        self._open.discard(str(id))
        if not self._open:
            self._answered.set()

    async def ended(self) -> None:
        """Wait until there are none, but not for ever."""
        if self._open:
            self._answered = anyio.Event()
            with anyio.move_on_after(PATIENCE):
                await self._answered.wait()


class _Stream:
    """A stream of the SDK's that tells of what passes."""

    def __init__(self, stream: Any, calls: _Calls) -> None:
        self.stream, self.calls = stream, calls

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Reading(_Stream):
    """What the client sends; its end comes after the answers."""

    @property
    def last_context(self) -> Any:
        return self.stream.last_context

    async def receive(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self.stream.receive()
        except anyio.EndOfStream:
            await self.calls.ended()
            raise
        if isinstance(item, SessionMessage):
            self.calls.note(item.message)
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Writing(_Stream):
    """What the client is sent."""

    async def send(self, item: SessionMessage, /) -> None:
        await self.stream.send(item)
        self.calls.note(item.message)
