"""Makes the views of the entities: a viewset for each from its declaration, and the list of them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from django.apps import apps

from agentstore.entities.api.index import EntityIndexView
from agentstore.entities.api.rows import EntityViewSet
from agentstore.entities.base import EntityModel

__all__ = ["index_view", "viewset_for"]


@cache
def index_view() -> type[EntityIndexView]:
    """Return the view of the list of entities; it is made once."""
    return type("EntityIndexView", (EntityIndexView,), _described("IndexAutoSchema"))


@cache
def viewset_for(model: type[EntityModel]) -> type[EntityViewSet]:
    """Return the viewset of an entity; it is made once."""
    attributes = {
        "__doc__": model.entity.description,
        "__module__": __name__,
        "model": model,
        "capability": f"entities.{model.entity.name}",
        **_described("EntityAutoSchema"),
    }
    return type(f"{model.__name__}ViewSet", (EntityViewSet,), attributes)


def _described(schema: str) -> dict[str, Any]:
    """Return the attribute that describes a view to drf-spectacular, where that is installed."""
    if not apps.is_installed("drf_spectacular"):
        return {}
    return {"schema": getattr(import_module("agentstore.entities.openapi"), schema)()}
