"""Entities: typed, tenant-scoped JSON rows declared as model classes in the host project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentstore.core.lazy import names_of

if TYPE_CHECKING:
    from agentstore.entities.base import EntityModel
    from agentstore.entities.registry import entity_db
    from agentstore.entities.schema import EntitySchema, UTCDateTime
    from agentstore.entities.store import EntityStore

__all__ = ["EntityModel", "EntitySchema", "EntityStore", "UTCDateTime", "entity_db"]

# Resolved on first use (PEP 562), so that the pure modules import without configured settings.
__getattr__ = names_of(
    __name__,
    {
        "EntityModel": "base",
        "EntitySchema": "schema",
        "EntityStore": "store",
        "UTCDateTime": "schema",
        "entity_db": "registry",
    },
)
