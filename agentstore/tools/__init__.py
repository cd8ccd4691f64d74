"""Tools for language models, derived from stores and schemas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentstore.tools.mcp import mcp_app, mcp_server
    from agentstore.tools.memory_sdk import amemory_tool, memory_tool
    from agentstore.tools.toolsets import Toolset, toolset

__all__ = ["Toolset", "amemory_tool", "mcp_app", "mcp_server", "memory_tool", "toolset"]

# Resolved on first use (PEP 562), so that the package imports before the apps are ready. No module may
# have the name of a function here: importing it would put the module in the function's place.
_HOMES = {
    "Toolset": "toolsets",
    "amemory_tool": "memory_sdk",
    "mcp_app": "mcp",
    "mcp_server": "mcp",
    "memory_tool": "memory_sdk",
    "toolset": "toolsets",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
