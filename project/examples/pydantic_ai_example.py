"""An agent of Pydantic AI with agentstore's tools. Needs the package ``pydantic-ai-slim``."""

from __future__ import annotations

import json
from typing import Any

from pydantic_ai import Agent, FunctionToolset, RunContext, Tool, ToolFailed
from pydantic_ai.models import Model

from agentstore.core.values import JSONObject
from agentstore.tools import Toolset

__all__ = ["agent", "function_toolset"]


def agent(model: Model | str, tools: Toolset) -> Agent[None, str]:
    """Return an agent that has ``tools``, and knows the rules that they share."""
    return Agent(model, toolsets=[function_toolset(tools)], instructions=tools.instructions())


def function_toolset(tools: Toolset) -> FunctionToolset[None]:
    """Return ``tools`` in the framework's form."""
    return FunctionToolset([_tool(tools, definition) for definition in tools.definitions("mcp")])


def _tool(tools: Toolset, definition: JSONObject) -> Tool[None]:
    async def call(context: RunContext[None], /, **arguments: Any) -> JSONObject:
        # A provider's call ids may repeat from run to run; with the run's own id they don't.
        call_id = f"{context.run_id}:{context.tool_call_id}"
        result = await tools.acall(definition["name"], arguments, call_id=call_id)
        if "error" in result:
            raise ToolFailed(json.dumps(result["error"]))
        return result

    return Tool.from_schema(
        call,
        name=definition["name"],
        description=definition["description"],
        json_schema=definition["inputSchema"],
        takes_ctx=True,
    )
