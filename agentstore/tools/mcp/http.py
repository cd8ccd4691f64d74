"""``mcp_app``: the tools of whoever sends a bearer token, as an ASGI application of streamable HTTP.

There are no sessions: every request is served on its own, by a server that is made for it from the tools
that the token's user may use. So any process can answer any request, and nothing can reach from one
user to another. The SDK speaks the protocol; who may come in is decided before it sees anything.
"""

from __future__ import annotations

import inspect
import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from io import BytesIO
from typing import Any, TypeAlias

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.asgi import ASGIRequest
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from agentstore.core import errors, guards
from agentstore.core.access import get_access, not_allowed
from agentstore.core.requests import TENANT_HEADER, checked_keys, query_pairs, wanted_tenant
from agentstore.core.values import JSONObject
from agentstore.tools.files import check_globs
from agentstore.tools.mcp.callers import (
    Authenticate,
    Refused,
    authenticator,
    bearer_token,
    check_addressee,
    known,
)
from agentstore.tools.mcp.mounting import App, Mounted, Receive, Scope, Send
from agentstore.tools.mcp.server import server_on
from agentstore.tools.mcp.threads import DEFAULT_THREADS, Threads
from agentstore.tools.permitted import PermittedToolset, Wanted, permitted_toolset
from agentstore.tools.toolsets import Toolset

__all__ = ["mcp_app"]

#: Makes the tools of a user; ``Wanted`` says what the application and the request ask for.
MakeTools: TypeAlias = Callable[[Any, Wanted], Toolset]

_STATUS = {errors.PermissionDenied: 403, errors.ValidationFailed: 400, errors.NotFound: 404}
_FLAGS = ("read_only", "generic")

_serving: ContextVar[bool] = ContextVar("agentstore_mcp_serving", default=False)


def _worth_telling(record: logging.LogRecord) -> bool:
    """Leave out what the SDK tells of each request's start and end, and of a client that hung up."""
    gone = record.exc_info is not None and isinstance(record.exc_info[1], ClientDisconnect)
    return not _serving.get() or (record.levelno > logging.INFO and not gone)


for _name in ("mcp.server.streamable_http_manager", "mcp.server.streamable_http"):
    logging.getLogger(_name).addFilter(_worth_telling)


def mcp_app(
    application: App | None = None,
    *,
    path: str = "/mcp",
    authenticate: Authenticate | str | None = None,
    tools: MakeTools = permitted_toolset,
    agent: str | None = None,
    writable: Sequence[str] = (),
    read_only: bool = False,
    generic: bool = False,
    allowed_origins: Sequence[str] = (),
    resource_metadata_url: str | None = None,
    threads: int = DEFAULT_THREADS,
) -> App:
    """Return an ASGI application that serves MCP at ``path``, and the rest by ``application``.

    ``authenticate`` takes a bearer token and returns its user, or None; it may be async, or a dotted
    path. Without it the tokens are those of ``rest_framework.authtoken``. What a user may use, and of
    which tenant, the access class decides, as over REST; ``X-Agentstore-Tenant`` names another tenant.

    ``agent``, ``writable``, ``read_only`` and ``generic`` are those of ``toolset``. A request's address
    may narrow them: ``?agent=bia`` where none is given here, ``?read_only=true``, ``?generic=true``.
    ``tools`` makes the tools of a user in another way.

    Requests must name one of ``ALLOWED_HOSTS``; pages of other origins may send some only if they are
    in ``allowed_origins``. ``resource_metadata_url`` goes into the challenge of a 401 (RFC 9728).
    ``threads`` bounds how many calls run at the same time, and so the database connections.

    Raises:
        ImproperlyConfigured: there is no way to find the user of a token, or a list is a text.
        ValidationFailed: the agent's id is none.
    """
    for name, value in {"writable": writable, "allowed_origins": allowed_origins}.items():
        if isinstance(value, str):
            raise ImproperlyConfigured(f"mcp_app(): {name} must be a list, found {value!r:.100}.")
    check_globs(writable)
    endpoint = _Endpoint(
        authenticator(authenticate),
        tools,
        Wanted(agent=agent, read_only=read_only, generic=generic),
        writable=writable,
        origins=frozenset(allowed_origins),
        metadata=resource_metadata_url,
        threads=Threads(threads),
    )
    answering: App = endpoint
    if allowed_origins:
        answering = CORSMiddleware(
            endpoint, allow_origins=allowed_origins, allow_methods=["POST"], allow_headers=["*"],
            expose_headers=["WWW-Authenticate"],
        )  # fmt: skip
    return Mounted(answering, application, path=path, close=endpoint.threads.close)


class _Endpoint:
    """Answers a request: who sends it, what they may use, then the protocol."""

    def __init__(
        self,
        authenticate: Authenticate,
        make: MakeTools,
        wanted: Wanted,
        *,
        writable: Sequence[str],
        origins: frozenset[str],
        metadata: str | None,
        threads: Threads,
    ) -> None:
        self.authenticate, self.make, self.wanted, self.threads = authenticate, make, wanted, threads
        self.writable, self.origins, self.metadata = tuple(writable), origins, metadata

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            tools = await self._admitted(ASGIRequest(scope, BytesIO()))
        except Refused as refusal:
            body = {"error": refusal.error or "unauthorized", "error_description": refusal.detail}
            await _answer(send, refusal.status, body, self._headers(refusal))
        except errors.AgentStoreError as error:
            await _answer(send, _STATUS.get(type(error), 503), error.as_dict())
        else:
            await self._serve(tools, scope, receive, send)

    async def _admitted(self, request: ASGIRequest) -> Toolset:
        """Return the tools of whoever sent the request.

        Raises:
            Refused: nobody we know, or not meant for us.
            AgentStoreError: they may use nothing here, or the request asks for what can't be.
        """
        check_addressee(request, self.origins)
        token = bearer_token(request)
        wanted = self._wanted(request)
        tools = await self.threads.run(self._tools_of, token, wanted)
        if request.method != "POST":
            raise Refused(405, "method_not_allowed", "There is no stream to listen to: send a POST.")
        return tools

    def _tools_of(self, token: str, wanted: Wanted) -> Toolset:
        user = self.authenticate(token)
        if inspect.isawaitable(user):  # what it asks the database, it asks in this thread
            user = async_to_sync(_awaited)(user)
        _check_door(known(user), wanted)
        tools = self.make(user, wanted)
        if not len(tools):
            raise _nothing(tools)
        return tools

    def _wanted(self, request: ASGIRequest) -> Wanted:
        """Return what the application and the address ask for; the address can only narrow it."""
        pairs = query_pairs(request.META.get("QUERY_STRING", ""))
        asked: JSONObject = checked_keys(dict(pairs), known=["agent", *_FLAGS])
        for name in _FLAGS:
            if asked.get(name, "true") not in ("true", "false"):
                guards.refuse(name, f"Expected true or false, found {asked[name][:50]!r}.")
        if self.wanted.agent is not None and asked.get("agent", self.wanted.agent) != self.wanted.agent:
            guards.refuse("agent", "Only one agent's files are served here.", "Leave it out.")
        agent = asked.get("agent", self.wanted.agent)
        return replace(
            self.wanted,
            tenant=wanted_tenant(request.headers.get(TENANT_HEADER)),
            agent=agent,
            writable=() if agent is None else self.writable,
            **{name: getattr(self.wanted, name) or asked.get(name) == "true" for name in _FLAGS},
        )

    async def _serve(self, tools: Toolset, scope: Scope, receive: Receive, send: Send) -> None:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or sys.maxsize
        manager = StreamableHTTPSessionManager(
            server_on(tools, self._lifespan), stateless=True, max_request_body_size=limit
        )
        reset = _serving.set(True)
        try:
            async with manager.run():
                await manager.handle_request(scope, receive, send)
        finally:
            _serving.reset(reset)

    @asynccontextmanager
    async def _lifespan(self, server: Server[Threads]) -> AsyncIterator[Threads]:
        yield self.threads

    def _headers(self, refusal: Refused) -> list[tuple[bytes, bytes]]:
        """Return what tells a client how to do better (RFC 6750, RFC 9728, RFC 9110)."""
        if refusal.status == 405:
            return [(b"allow", b"POST")]
        if refusal.status != 401:
            return []
        parts = {"realm": "agentstore"}
        if refusal.error:
            parts |= {"error": refusal.error, "error_description": refusal.detail}
        if self.metadata:
            parts["resource_metadata"] = self.metadata
        value = ", ".join(f'{name}="{text}"' for name, text in parts.items())
        return [(b"www-authenticate", f"Bearer {value}".encode())]


def _check_door(user: Any, wanted: Wanted) -> None:
    """Ask for the capability that the address as a whole is, as REST does.

    Raises:
        PermissionDenied: the user may not use tools here.
    """
    access = get_access()
    tenant = access.tenant(user, "tools", wanted.tenant)
    if not access.allows(user, tenant, "tools", "view"):
        raise not_allowed("tools", "view")


def _nothing(tools: Toolset) -> errors.PermissionDenied:
    """Return why a user may use no tool at all: what the access class said of the first, if it did."""
    withheld = tools.withheld.values() if isinstance(tools, PermittedToolset) else ()
    said = next((error for error in withheld if isinstance(error, errors.PermissionDenied)), None)
    return said or errors.PermissionDenied("There is no tool here that you may use.")


async def _awaited(found: Awaitable[Any]) -> Any:
    return await found


async def _answer(
    send: Send, status: int, body: JSONObject, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    content = json.dumps(body).encode()
    kind, size = (b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [kind, size, *headers]})
    await send({"type": "http.response.body", "body": content})
