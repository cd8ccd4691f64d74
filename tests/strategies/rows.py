"""Rows for the tests of the pure rules."""

from __future__ import annotations

from datetime import UTC, datetime

from agentstore.strategies.merging import derive
from agentstore.strategies.values import Entry, StoredStrategy

__all__ = ["FAR", "NOW", "row"]

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
#: A time that no clock shows.
FAR = datetime(2999, 1, 1, tzinfo=UTC)


def row(
    id="a", problem="extract tables", strategy="use pdfplumber", *, ts=NOW, confidence=2.0, **other
) -> StoredStrategy:
    """Return a strategy as a store would hand it to the rules."""
    return derive(Entry(id=id, problem=problem, strategy=strategy, ts=ts, confidence=confidence, **other))
