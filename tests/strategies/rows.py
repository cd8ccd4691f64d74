"""Rows for the tests of the pure rules, and lessons for those of stores."""

from __future__ import annotations

from datetime import UTC, datetime

from agentstore.strategies.merging import derive
from agentstore.strategies.values import Entry, StoredStrategy

__all__ = ["FAR", "NOW", "ids", "row", "save_some"]

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
#: A time that no clock shows.
FAR = datetime(2999, 1, 1, tzinfo=UTC)


def row(
    id="a", problem="extract tables", strategy="use pdfplumber", *, ts=NOW, confidence=2.0, **other
) -> StoredStrategy:
    """Return a strategy as a store would hand it to the rules."""
    return derive(Entry(id=id, problem=problem, strategy=strategy, ts=ts, confidence=confidence, **other))


def ids(rows):
    """Return the ids of ``rows``, in their order."""
    return [row.id for row in rows]


def save_some(store, confidences):
    """Save lessons that differ in their confidence alone."""
    for number, confidence in enumerate(confidences):
        store.save(id=f"id{number}", problem=f"problem {number}", strategy="s", confidence=confidence, ts=NOW)
