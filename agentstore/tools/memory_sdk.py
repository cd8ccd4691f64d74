"""The memory tool for Anthropic's SDK: ``memory_tool`` and its async form. Needs the package anthropic."""

from __future__ import annotations

from typing import Any

from agentstore.core.aio import run
from agentstore.files.store import FileStore
from agentstore.tools.memory import MemoryCommands, MemoryFailed

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:  # pragma: no cover - the tests' own environment has it
    raise ImportError("memory_tool needs the package anthropic: pip install anthropic") from error

__all__ = ["AsyncMemoryTool", "MemoryTool", "amemory_tool", "memory_tool"]


def _answer(commands: MemoryCommands, command: Any) -> str:
    try:
        return commands.run(command if isinstance(command, dict) else command.to_dict())
    except MemoryFailed as error:
        raise ToolError(error.message) from None


class MemoryTool(BetaAbstractMemoryTool):
    """The SDK's memory tool over one agent's files."""

    def __init__(self, commands: MemoryCommands, **options: Any) -> None:
        super().__init__(**options)
        self.commands = commands

    def call(self, input: object) -> str:
        """Carry out a call as the model sent it: what it left out is told as a tool error."""
        return _answer(self.commands, dict(input) if isinstance(input, dict) else {})

    def view(self, command: Any) -> str:
        return _answer(self.commands, command)

    create = str_replace = insert = delete = rename = view

    def clear_all_memory(self) -> str:
        return self.commands.clear()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The SDK's memory tool for async code, over one agent's files."""

    def __init__(self, commands: MemoryCommands, **options: Any) -> None:
        super().__init__(**options)
        self.commands = commands

    async def call(self, input: object) -> str:
        """Carry out a call as the model sent it: what it left out is told as a tool error."""
        return await run(_answer, self.commands, dict(input) if isinstance(input, dict) else {})

    async def view(self, command: Any) -> str:
        return await run(_answer, self.commands, command)

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        return await run(self.commands.clear)


def memory_tool(tenant: str, agent: str, *, root: str = "memories/", actor: str | None = None) -> MemoryTool:
    """Return the memory tool of one agent; pass it to the SDK's tool runner.

    Raises:
        ValidationFailed: the tenant, agent, root or actor is not allowed.
    """
    return MemoryTool(MemoryCommands(FileStore(tenant, agent, actor=actor), root=root))


def amemory_tool(
    tenant: str, agent: str, *, root: str = "memories/", actor: str | None = None
) -> AsyncMemoryTool:
    """Return what ``memory_tool`` returns, for async code.

    Raises:
        ValidationFailed: the tenant, agent, root or actor is not allowed.
    """
    return AsyncMemoryTool(MemoryCommands(FileStore(tenant, agent, actor=actor), root=root))
