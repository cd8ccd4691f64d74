"""The signals: who cares is told after the commit, by id only, never with content."""

from __future__ import annotations

from django.dispatch import Signal

__all__ = ["file_changed", "row_changed", "strategy_changed", "strategy_incident"]

#: Sent with the entity's model as sender and ``tenant``, ``id``, ``op``, ``version``, ``actor``.
row_changed = Signal()
#: Sent with ``AgentFile`` as sender and ``tenant``, ``agent``, ``id``, ``name``, ``op``, ``version``,
#: ``actor``.
file_changed = Signal()
#: Sent with ``Strategy`` as sender and ``tenant``, ``id``, ``op``, ``actor``.
strategy_changed = Signal()
#: Sent at once, not on commit, with ``Incident`` as sender and ``tenant``, ``op``, ``error``, ``id``.
strategy_incident = Signal()
