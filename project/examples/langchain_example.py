"""An agent of LangChain with agentstore's tools. Needs the package ``langchain``."""

from __future__ import annotations

import json
from typing import Any

from django.db import close_old_connections
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import StructuredTool, ToolException

from agentstore.core.values import JSONObject
from agentstore.tools import Toolset

__all__ = ["agent", "structured_tools"]


def agent(model: BaseChatModel | str, tools: Toolset) -> Any:
    """Return an agent that has ``tools``, and knows the rules that they share."""
    return create_agent(model, tools=structured_tools(tools), system_prompt=tools.instructions())


def structured_tools(tools: Toolset) -> list[StructuredTool]:
    """Return ``tools`` in the framework's form.

    The framework tells such a tool no call id, so a create that is run again is a new row.
    """
    return [_tool(tools, definition) for definition in tools.definitions("mcp")]


def _tool(tools: Toolset, definition: JSONObject) -> StructuredTool:
    name = definition["name"]

    def call(**arguments: Any) -> str:
        # The framework runs this in threads of its own; their connections must not stay open.
        try:
            return _text(tools.call(name, arguments))
        finally:
            close_old_connections()

    async def acall(**arguments: Any) -> str:
        return _text(await tools.acall(name, arguments))

    return StructuredTool(
        name=name,
        description=definition["description"],
        args_schema=definition["inputSchema"],
        func=call,
        coroutine=acall,
        handle_tool_error=True,
    )


def _text(result: JSONObject) -> str:
    if "error" in result:
        raise ToolException(json.dumps(result["error"]))
    return json.dumps(result)
