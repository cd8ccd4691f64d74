"""Entities: typed, tenant-scoped JSON rows declared as model classes in the host project."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentstore.entities.base import EntityModel
    from agentstore.entities.registry import entity_db
    from agentstore.entities.schema import EntitySchema, UTCDateTime
    from agentstore.entities.store import EntityStore

__all__ = ["EntityModel", "EntitySchema", "EntityStore", "UTCDateTime", "entity_db"]

# Resolved on first use (PEP 562), so that the pure modules import without configured settings.
_HOMES = {
    "EntityModel": "base",
    "EntitySchema": "schema",
    "EntityStore": "store",
    "UTCDateTime": "schema",
    "entity_db": "registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
