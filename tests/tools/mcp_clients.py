"""What the tests of the MCP server share: clients of the SDK's own, servers to connect them to."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import quote

import httpx2
import uvicorn
from django.db import connection
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from agentstore.core.values import JSONObject
from agentstore.tools.jsonschema import object_schema
from agentstore.tools.spec import Tool
from agentstore.tools.toolsets import Toolset
from tests.isolated import ROOT
from tests.parallel import sessions

__all__ = [
    "HELLO", "JSON", "LIST", "MODES", "URL", "Held", "cancelled", "error_of", "headers", "other_sessions",
    "over_http", "post", "run", "server_environ", "serving", "stdio_server", "until",
]  # fmt: skip

#: The protocol without a handshake (2026-07-28) and with it.
MODES = ("auto", "legacy")


def run(server: Server[Any] | Any, work: Callable[[Client], Awaitable[Any]], *, mode: str = "auto") -> Any:
    """Connect a client, let it do its ``work``, and return what that returns."""

    async def connected() -> Any:
        async with Client(server, mode=mode) as client:
            return await work(client)

    return asyncio.run(connected())


#: What a client's request says of itself, and one that every server answers.
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
#: What a client says first that is made by hand, with the method ``initialize``.
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
#: Where an application is found that is not served on a port.
URL = "http://testserver/mcp"


def headers(token: str, **more: str) -> dict[str, str]:
    """Return the headers of a client's request."""
    return {**JSON, "Authorization": f"Bearer {token}", **more}


@asynccontextmanager
async def over_http(
    app: Any, token: str, *, url: str = URL, mode: str = "auto", headers: dict[str, str] | None = None
) -> AsyncIterator[Client]:
    """Connect a client with a bearer token to an ASGI application, or to a server if there is none."""
    async with (
        httpx2.AsyncClient(
            transport=None if app is None else httpx2.ASGITransport(app=app),
            headers={"Authorization": f"Bearer {token}", **(headers or {})},
            timeout=300,
        ) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def post(app: Any, *, method: str = "POST", url: str = URL, **options: Any) -> httpx2.Response:
    """Send one request to an ASGI application, as something that may be no MCP client would."""

    async def sent() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
            return await http.request(method, url, **options)

    return asyncio.run(sent())


class Address(str):
    """Where a server is found, and the server."""

    server: uvicorn.Server


@contextmanager
def serving(app: Any) -> Iterator[Address]:
    """Serve an ASGI application on a port of its own; yields its address."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.02)
            assert server.started
            address = Address(f"http://127.0.0.1:{listening.getsockname()[1]}")
            address.server = server
            yield address
        finally:
            server.should_exit = True
            thread.join(60)


def error_of(result: Any) -> JSONObject:
    """Return what a failed call tells the model."""
    assert result.is_error and result.structured_content is None
    (content,) = result.content
    error: JSONObject = json.loads(content.text)["error"]
    return error


class Held(Toolset):
    """One tool, ``hold``, which begins, waits to be released, and ends; a call's ``n`` is noted at each."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.one_began, self.released = threading.Event(), threading.Event()
        schema = object_schema({"n": {"type": "integer"}}, ["n"])
        tool = Tool(
            name="hold", title="Hold", description="Hold.", input_schema=schema, output_schema=schema,
            handler=self._hold,
        )  # fmt: skip
        super().__init__([tool], strict=False)

    def _hold(self, arguments: JSONObject, call_id: str | None) -> JSONObject:
        self.begun.append(arguments["n"])
        self.one_began.set()
        connection.ensure_connection()
        assert self.released.wait(60)
        self.ended.append(arguments["n"])
        return arguments


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process or thread brings about."""
    for _ in range(1200):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not happen")


async def cancelled(call: asyncio.Task[Any]) -> None:
    """Cancel a call that is under way, as a client does."""
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call


def other_sessions() -> Callable[..., Awaitable[int]]:
    """Return what counts the database's sessions beside those that are there now.

    A closed session takes a moment to leave the server's list: the count waits for ``most`` of them.
    """
    before = sessions()

    def count() -> int:
        found = len(sessions() - before) - 1  # its own
        connection.close()
        return found

    async def settled(*, most: int = 0) -> int:
        with ThreadPoolExecutor(1) as thread:
            for _ in range(600):
                found = await asyncio.get_running_loop().run_in_executor(thread, count)
                if found <= most:
                    break
                await asyncio.sleep(0.05)
        return found

    return settled


def server_environ(**more: str) -> dict[str, str]:
    """Return the environment of a process that works on this test's database."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{config['NAME']}"
    else:
        login = quote(config["USER"] or "", safe="")
        login += f":{quote(config['PASSWORD'], safe='')}" if config["PASSWORD"] else ""
        host = quote(config["HOST"] or "", safe="") + (f":{config['PORT']}" if config["PORT"] else "")
        url = f"postgresql://{login}@{host}/{quote(config['NAME'], safe='')}"
    own = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": url, "PYTHONPATH": str(ROOT)}
    # With Django's own connection options there is a hint about them on standard error.
    dropped = ("PYTHONUNBUFFERED", "AGENTSTORE_TEST_BINDING")
    inherited = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**inherited, **own, **more}


def stdio_server(*options: str, **environ: str) -> StdioServerParameters:
    """Return how a client starts ``manage.py agentstore_mcp``."""
    return StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "agentstore_mcp", *options],
        env=server_environ(**environ),
        cwd=str(ROOT),
    )
