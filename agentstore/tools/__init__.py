"""Tools for language models, derived from stores and schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentstore.core.lazy import names_of

if TYPE_CHECKING:
    from agentstore.tools.mcp import mcp_app, mcp_server
    from agentstore.tools.memory_sdk import amemory_tool, memory_tool
    from agentstore.tools.toolsets import Toolset, toolset

__all__ = ["Toolset", "amemory_tool", "mcp_app", "mcp_server", "memory_tool", "toolset"]

# Resolved on first use (PEP 562), so that the package imports before the apps are ready. No module may
# have the name of a function here: importing it would put the module in the function's place.
__getattr__ = names_of(
    __name__,
    {
        "Toolset": "toolsets",
        "amemory_tool": "memory_sdk",
        "mcp_app": "mcp",
        "mcp_server": "mcp",
        "memory_tool": "memory_sdk",
        "toolset": "toolsets",
    },
)
