"""An agent of OpenAI's Agents SDK with agentstore's tools. Needs the package ``openai-agents``."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from agents import Agent, FunctionTool, Model
from agents.tool_context import ToolContext

from agentstore.core.values import JSONObject
from agentstore.tools import Toolset

__all__ = ["agent", "function_tools"]


def agent(model: Model | str, tools: Toolset, *, run: str | None = None) -> Agent[None]:
    """Return an agent that has ``tools``, and knows the rules that they share."""
    return Agent(
        name="Desk", model=model, instructions=tools.instructions(), tools=[*function_tools(tools, run=run)]
    )


def function_tools(tools: Toolset, *, run: str | None = None) -> list[FunctionTool]:
    """Return ``tools`` in the framework's form, strict where the toolset is.

    Call ids are unique in a run only. When you resume one, give its ``run`` again: then no create
    happens twice.
    """
    scope = run or uuid4().hex
    return [_tool(tools, definition, scope) for definition in tools.definitions("openai")]


def _tool(tools: Toolset, definition: JSONObject, run: str) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        call_id = f"{run}:{context.tool_call_id}"
        return json.dumps(await tools.acall(definition["name"], arguments, call_id=call_id))

    return FunctionTool(
        name=definition["name"],
        description=definition["description"],
        params_json_schema=definition["parameters"],
        strict_json_schema=definition["strict"],
        on_invoke_tool=invoke,
    )
