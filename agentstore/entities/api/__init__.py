"""Entities over REST: one viewset per entity, made from its declaration when the URLs are loaded."""

from __future__ import annotations

from agentstore.entities.api.index import EntityIndexView, NoSuchEntityView
from agentstore.entities.api.making import index_view, viewset_for
from agentstore.entities.api.rows import EntityViewSet

__all__ = ["EntityIndexView", "EntityViewSet", "NoSuchEntityView", "index_view", "viewset_for"]
