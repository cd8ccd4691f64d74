"""An ASGI application beside another: whose requests are whose, and who hears of the server's end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

__all__ = ["App", "Mounted", "Receive", "Scope", "Send"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
#: An ASGI application; others type its arguments in ways of their own.
App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]


class Mounted:
    """Gives an endpoint the requests at its path, and everything else to the application beside it.

    Without an application beside it the endpoint has every path, to be mounted by a router. ``close``
    is called when the server ends, if the server says so: not all of them do.
    """

    def __init__(
        self, endpoint: App, application: App | None, *, path: str, close: Callable[[], Awaitable[None]]
    ) -> None:
        self.endpoint, self.application, self.close = endpoint, application, close
        self.path = path.strip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] == "http" and (self.application is None or self._is_ours(scope)):
            await self.endpoint(scope, receive, send)
        elif self.application is not None:
            await self.application(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    def _is_ours(self, scope: Scope) -> bool:
        path: str = scope["path"]
        below = path.removeprefix(scope.get("root_path", ""))
        return (below if below.startswith("/") else path).strip("/") == self.path

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the server's start and end on, and answer for an application that knows of neither.

        Django's own is such: it raises, as the specification wants it.
        """
        heard: list[Message] = []
        told: list[Message] = []

        async def hear() -> Message:
            heard.append(await receive())
            return heard[-1]

        async def tell(message: Message) -> None:
            told.append(message)
            if message["type"].startswith("lifespan.shutdown."):
                await self.close()
            await send(message)

        if self.application is not None:
            try:
                await self.application(scope, hear, tell)
                return
            except Exception:
                if told:
                    raise
        if not heard:
            await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await tell({"type": "lifespan.shutdown.complete"})
