"""The tools that a user may use, as the access class says: the same for REST and for MCP over HTTP.

Each capability is asked for by its own name, so a tool reaches the tenant, and takes the right, that
the REST views of that capability do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentstore.core import errors
from agentstore.core.access import Access, get_access, not_allowed
from agentstore.core.tenancy import check_agent
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.base import EntityModel
from agentstore.entities.registry import all_entities
from agentstore.entities.store import EntityStore
from agentstore.files.store import FileStore
from agentstore.strategies.store import StrategyStore
from agentstore.tools.entities import entity_tools
from agentstore.tools.files import file_tools
from agentstore.tools.generic import generic_tools
from agentstore.tools.spec import Tool
from agentstore.tools.strategies import strategy_tools
from agentstore.tools.toolsets import Toolset

__all__ = ["PermittedToolset", "Wanted", "permitted_toolset"]

#: What each tool does, as the access class knows it.
_ENTITY = {"query": "view", "get": "view", "create": "add", "update": "change", "delete": "delete"}
_FILES = {
    "file_list": "view", "file_read": "view", "file_versions": "view",
    "file_write": "change", "file_replace": "change",
}  # fmt: skip
_STRATEGIES = {"strategy_find": "view", "strategy_save": "add"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which tools somebody asks for; the words are those of ``toolset``.

    Raises:
        ValidationFailed: the agent's id is none.
    """

    tenant: str | None = None
    agent: str | None = None
    writable: Sequence[str] = ()
    read_only: bool = False
    strict: bool = False
    generic: bool = False

    def __post_init__(self) -> None:
        if self.agent is not None:
            check_agent(self.agent)


class PermittedToolset(Toolset):
    """The tools that a user may use; the ``withheld`` ones are known by name and say why not."""

    def __init__(
        self, tools: Iterable[Tool], *, strict: bool, withheld: Mapping[str, errors.AgentStoreError]
    ) -> None:
        super().__init__(tools, strict=strict)
        self.withheld = withheld

    def run(self, name: str, arguments: JSONValue, *, call_id: str | None = None) -> JSONObject:
        if name in self.withheld:
            raise self.withheld[name].with_traceback(None)
        return super().run(name, arguments, call_id=call_id)


def permitted_toolset(user: Any, wanted: Wanted, *, only: str | None = None) -> PermittedToolset:
    """Return the tools of ``wanted`` that ``user`` may use.

    With ``only``, the name of a tool, what that tool does not need is neither asked for nor made.
    Where there is no tool of that name, all are made, so that the error can suggest one.
    """
    rights = _Rights(user, wanted.tenant)
    parts = _parts(rights, wanted)
    needed = [part for part in parts if only in part.names] or parts
    tools = [tool for part in needed for tool in part.make()]
    withheld = {**_not_asked_for(wanted), **rights.withheld}
    kept = [tool for tool in tools if tool.name not in withheld]
    return PermittedToolset(kept, strict=wanted.strict, withheld=withheld)


class _Rights:
    """What the access class lets a user do, and by their names the tools that it does not."""

    def __init__(self, user: Any, wanted: str | None) -> None:
        self.access: Access = get_access()
        self.user, self.wanted = user, wanted
        self.actor = self.access.actor(user)
        self.withheld: dict[str, errors.AgentStoreError] = {}

    def tenant(self, capability: str, actions: Mapping[str, str]) -> str | None:
        """Return the tenant to work on, and withhold what is not allowed there; None: nothing is."""
        try:
            tenant = self.access.tenant(self.user, capability, self.wanted)
        except errors.PermissionDenied as error:
            self.withheld |= dict.fromkeys(actions, error)
            return None
        refused = {
            name: not_allowed(capability, action)
            for name, action in actions.items()
            if not self.access.allows(self.user, tenant, capability, action)
        }
        self.withheld |= refused
        return tenant if len(refused) < len(actions) else None


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Tools that are made together, and the names that they have."""

    names: Collection[str]
    make: Callable[[], Iterable[Tool]]


def _parts(rights: _Rights, wanted: Wanted) -> list[_Part]:
    if wanted.generic:
        found = [_Part(names=["entity_describe", *_of_entity("entity")], make=partial(_any, rights, wanted))]
    else:
        found = [
            _Part(names=_of_entity(model.entity.name), make=partial(_one, rights, wanted, model))
            for model in all_entities()
        ]
    if wanted.agent is not None:
        found.append(_Part(names=_FILES, make=partial(_files, rights, wanted, wanted.agent)))
    return [*found, _Part(names=_STRATEGIES, make=partial(_strategies, rights, wanted))]


def _of_entity(name: str) -> dict[str, str]:
    return {f"{name}_{act}": action for act, action in _ENTITY.items()}


def _store(rights: _Rights, model: type[EntityModel]) -> EntityStore[Any] | None:
    name = model.entity.name
    tenant = rights.tenant(f"entities.{name}", _of_entity(name))
    return None if tenant is None else model.store(tenant, actor=rights.actor)


def _one(rights: _Rights, wanted: Wanted, model: type[EntityModel]) -> Iterable[Tool]:
    store = _store(rights, model)
    return [] if store is None else entity_tools(store, read_only=wanted.read_only)


def _any(rights: _Rights, wanted: Wanted) -> Iterable[Tool]:
    """Make the generic set; an act that is allowed on some entities only is refused on the others."""
    names = [model.entity.name for model in all_entities()]
    found = [_store(rights, model) for model in all_entities()]
    for act in _ENTITY:
        refused = [rights.withheld[f"{name}_{act}"] for name in names if f"{name}_{act}" in rights.withheld]
        if refused and len(refused) == len(names):
            rights.withheld[f"entity_{act}"] = refused[0]
    stores = [store for store in found if store is not None]
    for tool in generic_tools(stores, read_only=wanted.read_only, strict=wanted.strict):
        act = tool.name.removeprefix("entity_")
        yield replace(tool, handler=partial(_checked, rights.withheld, act, tool.handler))


def _checked(
    withheld: Mapping[str, errors.AgentStoreError],
    act: str,
    handler: Callable[[JSONObject, str | None], JSONObject],
    arguments: JSONObject,
    call_id: str | None,
) -> JSONObject:
    refusal = withheld.get(f"{arguments['entity']}_{act}")
    if refusal is not None:
        raise refusal.with_traceback(None)
    return handler(arguments, call_id)


def _files(rights: _Rights, wanted: Wanted, agent: str) -> Iterable[Tool]:
    tenant = rights.tenant("files", _FILES)
    if tenant is None:
        return []
    store = FileStore(tenant, agent, actor=rights.actor, source="tool")
    return file_tools(store, writable=wanted.writable, read_only=wanted.read_only)


def _strategies(rights: _Rights, wanted: Wanted) -> Iterable[Tool]:
    tenant = rights.tenant("strategies", _STRATEGIES)
    if tenant is None:
        return []
    return strategy_tools(StrategyStore(tenant, actor=rights.actor), read_only=wanted.read_only)


def _not_asked_for(wanted: Wanted) -> dict[str, errors.AgentStoreError]:
    """Return why there are no tools on files, or none that write."""
    if wanted.agent is None:
        why = errors.NotFound("There are no files here.", hint="Name the agent whose files they are.")
        return dict.fromkeys(_FILES, why)
    if not wanted.writable:
        why = errors.NotFound("No file may be written here.", hint="Name writable files.")
        return {name: why for name, action in _FILES.items() if action != "view"}
    return {}
