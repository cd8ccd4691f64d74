"""The entities of the project: a view over Django's own list of models, not a second one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.apps import apps

from agentstore.core.errors import NotFound
from agentstore.core.tenancy import check_tenant
from agentstore.core.values import JSONValue
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import suggest
from agentstore.entities.store import EntityStore

__all__ = ["EntityDb", "all_entities", "entity_db", "get_entity"]


def all_entities() -> list[type[EntityModel]]:
    """Return every concrete entity of the installed apps, sorted by its public name."""
    found = [model for model in apps.get_models() if issubclass(model, EntityModel) and not model._meta.proxy]
    return sorted(found, key=lambda model: model.entity.name)


def get_entity(name: str) -> type[EntityModel]:
    """Return the entity of that public name.

    Raises:
        NotFound: there is none; the hint names the closest.
    """
    for model in all_entities():
        if model.entity.name == name:
            return model
    known = [model.entity.name for model in all_entities()]
    raise NotFound(f"There is no entity {name!r}.", hint=suggest(name, known))


class EntityDb:
    """One tenant's stores as attributes: ``entity_db(tenant).reminders``."""

    def __init__(self, tenant: str, **who: Any) -> None:
        self._tenant, self._who = check_tenant(tenant), who

    def __getattr__(self, name: str) -> EntityStore[Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return get_entity(name).store(self._tenant, **self._who)
        except NotFound as error:
            raise AttributeError(error.full_message) from None

    def __dir__(self) -> list[str]:
        return [model.entity.name for model in all_entities()]


def entity_db(
    tenant: str,
    *,
    actor: str | None = None,
    reason: str | None = None,
    context: Mapping[str, JSONValue] | None = None,
) -> EntityDb:
    """Return the stores of every entity for one tenant, by public name.

    Raises:
        ValidationFailed: the tenant is not allowed.
    """
    return EntityDb(tenant, actor=actor, reason=reason, context=context)
