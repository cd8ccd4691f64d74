"""``mcp_server``: a toolset as a server of the official SDK, to be run in process or over any transport.

The SDK speaks the protocol; what a call may do, and whether its arguments fit, the toolset decides.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from agentstore import __version__
from agentstore.core import errors
from agentstore.core.values import JSONObject
from agentstore.tools.mcp import resources
from agentstore.tools.mcp.threads import DEFAULT_THREADS, Threads
from agentstore.tools.toolsets import Toolset

__all__ = ["CALL_ID", "NAME", "mcp_server", "server_on"]

logger = logging.getLogger("agentstore")

#: The server's name, as clients show it.
NAME = "agentstore"
#: The key in a call's ``_meta`` whose value makes a create happen once.
CALL_ID = "agentstore/call_id"

Context: TypeAlias = ServerRequestContext[Threads, Any]
Paged: TypeAlias = types.PaginatedRequestParams | None
Lifespan: TypeAlias = Callable[[Server[Threads]], AbstractAsyncContextManager[Threads]]


def mcp_server(tools: Toolset, *, name: str = NAME, threads: int = DEFAULT_THREADS) -> Server[Threads]:
    """Return a server for ``tools``: give it to a client in process, or run it over two streams.

    ``threads`` bounds how many calls run at the same time, and so the database connections.
    """

    @asynccontextmanager
    async def lifespan(server: Server[Threads]) -> AsyncIterator[Threads]:
        pool = Threads(threads)
        try:
            yield pool
        finally:
            await pool.close()

    return server_on(tools, lifespan, name=name)


def server_on(tools: Toolset, lifespan: Lifespan, *, name: str = NAME) -> Server[Threads]:
    """Return a server for ``tools`` whose calls run in the threads that ``lifespan`` supplies."""
    answers = _Answers(tools)
    files: dict[str, Any] = {}
    if answers.has_files:
        files = {
            "on_list_resources": answers.list_resources,
            "on_list_resource_templates": answers.list_templates,
            "on_read_resource": answers.read_resource,
        }
    server = Server(
        name,
        version=__version__,
        instructions=tools.instructions(),
        lifespan=lifespan,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        **files,
    )
    server.get_tool_input_schema = _no_headers  # older SDKs do not ask
    return server


def _no_headers(name: str) -> None:
    """Say that no tool takes arguments from HTTP headers; else the SDK lists all tools at every call."""


class _Answers:
    """What a client is answered, from one set of tools."""

    def __init__(self, tools: Toolset) -> None:
        self.tools = tools
        self.has_files = any(tool.name == "file_list" for tool in tools)

    async def list_tools(self, context: Context, params: Paged) -> types.ListToolsResult:
        _only_page(params)
        return self._listed

    @functools.cached_property
    def _listed(self) -> types.ListToolsResult:
        tools = [types.Tool.model_validate(tool) for tool in self.tools.definitions("mcp")]
        return types.ListToolsResult(tools=tools)

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Carry out a call; whatever goes wrong is a result, since the model is to read it."""
        call_id: Any = (context.meta or {}).get(CALL_ID)
        arguments = params.arguments or {}
        try:
            run = context.lifespan_context.run
            return _result(await run(self.tools.run, params.name, arguments, call_id=call_id))
        except errors.AgentStoreError as error:
            return _failure(error.as_dict())
        except Exception:
            logger.exception("agentstore: the tool %.100r failed", params.name)
            detail = "The tool failed; the cause is in the server's log."
            return _failure({"code": "internal", "detail": detail, "hint": "Do not repeat the call."})

    async def list_resources(self, context: Context, params: Paged) -> types.ListResourcesResult:
        after = params.cursor if params is not None and params.cursor is not None else ""
        found = await self._tool(context, "resources/list", "file_list", {})
        rest = [facts for facts in found["files"] if facts["name"] > after]
        page = rest[: resources.PAGE]
        return types.ListResourcesResult(
            resources=[resources.resource(facts) for facts in page],
            next_cursor=page[-1]["name"] if len(rest) > len(page) else None,
        )

    async def list_templates(self, context: Context, params: Paged) -> types.ListResourceTemplatesResult:
        _only_page(params)
        return types.ListResourceTemplatesResult(resource_templates=[resources.TEMPLATE])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            wanted = resources.locate(params.uri)
        except errors.AgentStoreError as error:
            raise resources.refusal(error, params.uri) from None
        found = await self._tool(context, params.uri, "file_read", wanted)
        return types.ReadResourceResult(contents=[resources.contents(params.uri, found)])

    async def _tool(self, context: Context, uri: str, name: str, arguments: JSONObject) -> JSONObject:
        try:
            return await context.lifespan_context.run(self.tools.run, name, arguments)
        except errors.AgentStoreError as error:
            raise resources.refusal(error, uri) from None


def _only_page(params: Paged) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "There is one page: send no cursor.")


def _result(found: JSONObject) -> types.CallToolResult:
    text = _text(found)
    return types.CallToolResult(content=[text], structured_content=json.loads(text.text))


def _failure(error: JSONObject) -> types.CallToolResult:
    """Return an error as text alone: as structured content it would break the tool's output schema."""
    return types.CallToolResult(content=[_text({"error": error})], is_error=True)


def _text(value: JSONObject) -> types.TextContent:
    """Return JSON as text that can be sent: a lone surrogate, as a spoiled row may hold, becomes ``?``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return types.TextContent(text=text.encode("utf-8", "replace").decode())
