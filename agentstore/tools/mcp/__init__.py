"""The Model Context Protocol: a toolset served to any client of it, in process, over stdio or over HTTP.

Needs the extra ``[mcp]``; without it the package imports, and its functions say what is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentstore.tools.mcp.http import mcp_app
    from agentstore.tools.mcp.server import mcp_server
    from agentstore.tools.mcp.stdio import serve_stdio

__all__ = ["mcp_app", "mcp_server", "serve_stdio"]

_HOMES = {"mcp_app": "http", "mcp_server": "server", "serve_stdio": "stdio"}
#: What the extra brings: the SDK and the packages that it stands on.
_SDK = ("mcp", "mcp_types", "anyio", "starlette")


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        raise ImportError(
            f'{name} needs the official MCP SDK: pip install "django-agentstore[mcp]"', name=error.name
        ) from error
    return getattr(home, name)
