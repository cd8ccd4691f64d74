"""The signals: who cares is told after the commit, by id only, never with content."""

from __future__ import annotations

from django.dispatch import Signal

__all__ = ["file_changed", "row_changed"]

#: Sent with the entity's model as sender and ``tenant``, ``id``, ``op``, ``version``, ``actor``.
row_changed = Signal()
#: Sent with ``AgentFile`` as sender and ``tenant``, ``agent``, ``id``, ``name``, ``op``, ``version``, ``actor``.
file_changed = Signal()
