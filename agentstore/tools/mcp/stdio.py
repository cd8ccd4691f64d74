"""Serves a toolset over standard input and output: what a desktop client starts as its own process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper

import anyio
from mcp.server.stdio import stdio_server

from agentstore.tools.mcp.draining import drained
from agentstore.tools.mcp.server import mcp_server
from agentstore.tools.toolsets import Toolset

__all__ = ["serve_stdio"]


def serve_stdio(tools: Toolset) -> None:
    """Serve until the client is gone; standard output belongs to the protocol from here on."""
    with _protocol_stream() as stream:
        try:
            anyio.run(_serve, tools, stream)
        except* (BrokenPipeError, ConnectionResetError):
            pass  # the client is gone, and nobody is there to be told


async def _serve(tools: Toolset, stream: TextIOWrapper) -> None:
    server = mcp_server(tools)
    async with stdio_server(stdout=anyio.wrap_file(stream)) as streams:
        incoming, outgoing = drained(*streams)
        await server.run(incoming, outgoing, server.create_initialization_options())


@contextmanager
def _protocol_stream() -> Iterator[TextIOWrapper]:
    """Yield what writes to standard output, and turn everything else that is printed to standard error.

    That goes for what has been printed but not sent yet, and for what libraries in C print.
    """
    wire = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    stream = TextIOWrapper(os.fdopen(wire, "wb"), encoding="utf-8", newline="\n")
    try:
        yield stream
    finally:
        with suppress(OSError):
            stream.close()
