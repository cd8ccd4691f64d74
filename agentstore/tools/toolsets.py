"""``toolset``: what a run of an agent may do with its tenant's state, as tools for a language model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from agentstore.core import aio, errors
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import suggest
from agentstore.entities.registry import all_entities
from agentstore.entities.store import EntityStore
from agentstore.files.store import FileStore
from agentstore.strategies.store import StrategyStore
from agentstore.tools.arguments import check_arguments
from agentstore.tools.entities import entity_tools
from agentstore.tools.files import check_globs, file_tools
from agentstore.tools.generic import generic_tools
from agentstore.tools.spec import Tool, check_dialect, render, within_limits
from agentstore.tools.strategies import strategy_tools

__all__ = ["Toolset", "toolset"]


class Toolset:
    """The tools of one run. No tenant or agent is ever an argument of one."""

    def __init__(self, tools: Iterable[Tool], *, strict: bool) -> None:
        self.strict = bool(strict)  # it stands in definitions that all toolsets share
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ImproperlyConfigured(f"Two tools are named {tool.name!r}: list each store once.")
            self._tools[tool.name] = tool

    def __iter__(self) -> Any:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    @functools.cached_property
    def _rendered(self) -> dict[str, list[JSONObject]]:
        return {}

    def definitions(self, dialect: str) -> list[JSONObject]:
        """Return the tools in a vendor's form: openai, openai_chat, anthropic, gemini or mcp.

        They are made once: treat what is in them as read-only. A definition itself is yours, as for a
        ``cache_control``.

        Raises:
            ValidationFailed: there is no such dialect.
        """
        check_dialect(dialect)
        if dialect not in self._rendered:
            made = [render(tool, dialect, strict=self.strict) for tool in self]
            self._rendered[dialect] = (
                [*within_limits(made)] if dialect == "anthropic" and self.strict else made
            )
        return [{**definition} for definition in self._rendered[dialect]]

    def call(self, name: str, arguments: JSONValue, *, call_id: str | None = None) -> JSONObject:
        """Carry out a model's call and return its result; what went wrong is under ``error``.

        ``arguments`` is an object, or its JSON text. The same ``call_id`` makes a create happen once.
        """
        try:
            return self.run(name, arguments, call_id=call_id)
        except errors.AgentStoreError as error:
            return {"error": error.as_dict()}

    def run(self, name: str, arguments: JSONValue, *, call_id: str | None = None) -> JSONObject:
        """Do what ``call`` does, for surfaces that show errors in their own way.

        Raises:
            NotFound: there is no such tool.
            AgentStoreError: the arguments do not fit, or the store refused.
        """
        if not isinstance(name, str):
            raise errors.NotFound(
                f"A tool's name is a text, found {type(name).__name__}.", hint=suggest("", self._tools)
            )
        tool = self._tools.get(name)
        if tool is None:
            raise errors.NotFound(f"There is no tool {name[:100]!r}.", hint=suggest(name, self._tools))
        return tool.handler(check_arguments(tool, arguments, strict=self.strict), call_id)

    async def acall(self, name: str, arguments: JSONValue, *, call_id: str | None = None) -> JSONObject:
        """Do what ``call`` does."""
        return await aio.run(self.call, name, arguments, call_id=call_id)

    def instructions(self) -> str:
        """Return a few sentences for the system prompt: what there is, and the rules all tools share."""
        names = ", ".join(self._tools)
        nulls = " Send null for what you do not give: it changes nothing." if self.strict else ""
        return (
            f"You have durable state through these tools: {names}. They see only the current user's data. "
            "Rows and files have versions: pass the version you read as expected_version when you change "
            "something that others may change too, and on a conflict read it again. A result with `error` "
            "says what to correct: act on its `hint` instead of repeating the call unchanged."
            f"{nulls}"
        )


def toolset(
    tenant: str | None = None,
    *,
    actor: str | None = None,
    agent: str | None = None,
    entities: Sequence[type[EntityModel] | EntityStore[Any]] | None = None,
    files: FileStore | None = None,
    strategies: StrategyStore | None = None,
    writable: Sequence[str] = (),
    read_only: bool = False,
    strict: bool = False,
    generic: bool = False,
) -> Toolset:
    """Return the tools of a run.

    With a ``tenant`` alone: every registered entity and the tenant's strategies. Or what is listed:
    bare model classes use ``tenant``, bound stores keep their own, so that one run can span several
    tenants. An ``agent`` adds its files, and ``writable`` are globs of those that may be written
    (default: none). ``generic`` gives one set for all entities instead of five tools for each.

    Raises:
        ImproperlyConfigured: nothing to make tools of, two tools of one name, or globs that are not a list.
        ValidationFailed: the tenant, actor or agent is not allowed.
    """
    listed = not (entities is None and files is None and strategies is None)
    chosen = list(entities or ()) if listed else all_entities()
    stores = [_bound(item, tenant, actor) for item in chosen]
    check_globs(writable)
    if files is None and agent is not None:
        files = FileStore(_need(tenant), agent, actor=actor)
    if not listed:
        strategies = StrategyStore(_need(tenant), actor=actor)
    tools: list[Tool] = []
    if generic:
        tools += generic_tools(stores, read_only=read_only, strict=strict)
    else:
        tools += [tool for store in stores for tool in entity_tools(store, read_only=read_only)]
    if files is not None:
        tools += file_tools(files.with_source("tool"), writable=writable, read_only=read_only)
    if strategies is not None:
        tools += strategy_tools(strategies, read_only=read_only)
    return Toolset(tools, strict=strict)


def _need(tenant: str | None) -> str:
    if tenant is None:
        raise ImproperlyConfigured("toolset() needs a tenant, or stores that are bound to one.")
    return tenant


def _bound(item: Any, tenant: str | None, actor: str | None) -> EntityStore[Any]:
    return item if isinstance(item, EntityStore) else item.store(_need(tenant), actor=actor)
