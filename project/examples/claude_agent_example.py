"""Agentstore's tools in a server inside the process, for the Claude Agent SDK.

Needs the package ``claude-agent-sdk``.
"""

from __future__ import annotations

import json
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    McpSdkServerConfig,
    SdkMcpTool,
    ToolAnnotations,
    create_sdk_mcp_server,
)

from agentstore.core.values import JSONObject
from agentstore.tools import Toolset

__all__ = ["options", "sdk_server"]

SERVER = "agentstore"


def options(tools: Toolset) -> ClaudeAgentOptions:
    """Return options for ``query`` or ``ClaudeSDKClient``: ``tools``, allowed, and nothing else."""
    return ClaudeAgentOptions(
        mcp_servers={SERVER: sdk_server(tools)},
        tools=[],
        allowed_tools=[f"mcp__{SERVER}__{tool['name']}" for tool in tools.definitions("mcp")],
        system_prompt=tools.instructions(),
    )


def sdk_server(tools: Toolset) -> McpSdkServerConfig:
    """Return a server of ``tools`` that runs in this process.

    The framework tells a tool no call id, so a create that is run again is a new row.
    """
    made = [_tool(tools, definition) for definition in tools.definitions("mcp")]
    return create_sdk_mcp_server(SERVER, tools=made)


def _tool(tools: Toolset, definition: JSONObject) -> SdkMcpTool[Any]:
    async def handle(arguments: JSONObject) -> dict[str, Any]:
        result = await tools.acall(definition["name"], arguments)
        text = json.dumps(result.get("error", result))
        return {"content": [{"type": "text", "text": text}], "is_error": "error" in result}

    return SdkMcpTool(
        name=definition["name"],
        description=definition["description"],
        input_schema=definition["inputSchema"],
        handler=handle,
        annotations=ToolAnnotations(**definition["annotations"]),
    )
