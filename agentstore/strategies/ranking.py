"""Which strategy comes first, which goes first, and how many: score, order, limits and caps.

Pure Python, and the only place that decides it. Confidence halves every 90 days; as every score
shrinks alike, the order does not change with time, and what survives a cap does not depend on the
order of the saves.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from agentstore.core.errors import ValidationFailed
from agentstore.strategies.values import StoredStrategy

__all__ = [
    "DEFAULT_CAPACITY",
    "DEFAULT_LIMIT",
    "EPOCH",
    "HALF_LIFE",
    "LOWEST_RANK",
    "Key",
    "clamp",
    "in_order",
    "key_of",
    "order_key",
    "rank",
    "resolve_capacity_cap",
    "resolve_find_limit",
    "score",
    "split",
]

#: How many strategies a tenant keeps unless its store or ``STRATEGY_CAPACITY`` says otherwise.
DEFAULT_CAPACITY = 1000
#: How many matches find gives unless it is told otherwise.
DEFAULT_LIMIT = 3
#: After this time a confidence counts half.
HALF_LIFE = timedelta(days=90)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The rank of confidence 0: below that of any other confidence at any time, and finite.
LOWEST_RANK = -1_000_000.0

#: What ``order_key`` gives; plain numbers and text, so that a cursor can carry it.
Key = tuple[float, int, int, str]


def score(confidence: float, ts: datetime, now: datetime) -> float:
    """Return confidence x 2^(-age / 90 days); a time in the future counts as ``now``."""
    age = max(now - ts, timedelta())
    return float(confidence * 2.0 ** -(age / HALF_LIFE))


def rank(confidence: float, ts: datetime) -> float:
    """Return the score as an order that holds at any time: log2(confidence) + ts / 90 days.

    Nine digits, so that every platform and database has the same number for the same row. A
    confidence below 0, which only a row spoiled by hand has, ranks as 0.
    """
    if not confidence > 0:
        return LOWEST_RANK
    return round(math.log2(confidence) + (ts - EPOCH) / HALF_LIFE, 9)


def clamp(ts: datetime, now: datetime) -> datetime:
    """Return ``ts``, or ``now`` where it lies in the future: no clock puts a row above the rest."""
    return min(ts, now)


def order_key(row: StoredStrategy, now: datetime) -> Key:
    """Return what sorts the best row first.

    Rank, then fewer significant terms in the problem (the closest match), the later time, and the
    smaller id by code point. No two rows of a tenant have the same key.
    """
    return key_of(row.confidence, clamp(row.ts, now), row.term_count, row.id)


def key_of(confidence: float, ts: datetime, term_count: int, id: str) -> Key:
    """Return the order key of these values; ``ts`` is clamped already."""
    return (-rank(confidence, ts), term_count, (EPOCH - ts) // timedelta(microseconds=1), id)


def in_order(rows: Iterable[StoredStrategy], now: datetime) -> list[StoredStrategy]:
    """Return ``rows``, the best first."""
    return sorted(rows, key=lambda row: order_key(row, now))


def split(
    rows: Iterable[StoredStrategy], cap: int, now: datetime
) -> tuple[list[StoredStrategy], list[StoredStrategy]]:
    """Return the rows that stay under ``cap``, and those that go; both the best first."""
    ordered = in_order(rows, now)
    return ordered[:cap], ordered[cap:]


def resolve_find_limit(limit: object) -> int | float:
    """Return ``limit`` if it is a non-negative int, or ``math.inf`` for every match.

    Raises:
        ValidationFailed: it is anything else; nothing is folded to something else.
    """
    if isinstance(limit, float) and limit == math.inf:
        return math.inf
    number = _integer(limit)
    if number is None or number < 0:
        _refuse("limit", f"limit must be a non-negative int or math.inf, found {_shown(limit)}.")
    return number


def resolve_capacity_cap(name: str, cap: object, *, least: int = 0) -> int:
    """Return ``cap`` if it is an int of at least ``least``; ``name`` is what a message calls it.

    Raises:
        ValidationFailed: it is anything else; a cap can be widened, never turned off.
    """
    if isinstance(cap, float) and cap == math.inf:
        _refuse(name, f"{name} must not be Infinity: a cap can be widened, never turned off.")
    number = _integer(cap)
    if number is None or number < least:
        _refuse(name, f"{name} must be an int of at least {least}, found {_shown(cap)}.")
    return number


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _shown(value: object) -> str:
    if isinstance(value, float | bool) or value is None:
        return str(value)
    try:
        text = repr(value)
    except Exception:  # a number too long to print, or an object of the caller's
        return type(value).__name__
    return text if len(text) <= 80 else type(value).__name__


def _refuse(name: str, problem: str) -> NoReturn:
    raise ValidationFailed(problem, errors={name: [problem]})
