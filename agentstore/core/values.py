"""The values that travel between stores and surfaces, and how ids and times are made.

Pure Python: this module imports without Django. Every value is a frozen, keyword-only dataclass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeAlias, TypedDict, TypeVar
from uuid import UUID

from uuid_utils import compat

__all__ = [
    "NOBODY",
    "Acting",
    "EachOnce",
    "EntityRow",
    "HistoryEntry",
    "JSONObject",
    "JSONValue",
    "Page",
    "Usage",
    "Who",
    "ambient",
    "clock_at",
    "new_id",
    "now",
    "utc_text",
]

#: A JSON value as ``json.loads`` gives it.
JSONValue: TypeAlias = Any
#: A JSON object as ``json.loads`` gives it.
JSONObject: TypeAlias = dict[str, JSONValue]

S = TypeVar("S")


def new_id() -> UUID:
    """Return a new UUIDv7 (RFC 9562): ids made later sort later, so inserts stay local."""
    return compat.uuid7()


_clock: ContextVar[datetime | None] = ContextVar("agentstore_clock", default=None)


def now() -> datetime:
    """Return the present time, aware, in UTC, with microseconds."""
    return _clock.get() or datetime.now(UTC)


@contextmanager
def clock_at(moment: datetime) -> Iterator[None]:
    """Let every store call inside the block happen at ``moment``, an aware datetime.

    For records that are older than their row here (a move from another system, sample data) and
    for tests; ids are still made from the real time.
    """
    if moment.tzinfo is None:
        raise ValueError(f"clock_at() needs an aware datetime, found {moment!r}.")
    token = _clock.set(moment.astimezone(UTC))
    try:
        yield
    finally:
        _clock.reset(token)


def utc_text(at: datetime) -> str:
    """Return a time as surfaces show it: UTC, fixed width, such as ``2026-01-31T09:00:00.000000Z``."""
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return at.isoformat(timespec="microseconds")[:-6] + "Z"  # instead of +00:00


@dataclass(frozen=True, kw_only=True, slots=True)
class Acting:
    """Who acts, why, and a small JSON object that names the run or trace."""

    actor: str = ""
    reason: str = ""
    context: JSONObject = field(default_factory=dict)


class Who(TypedDict, total=False):
    """What a store call may say of itself; it beats what the store and the block around it say."""

    actor: str | None
    reason: str | None
    context: Mapping[str, JSONValue] | None


NOBODY = Acting()
#: Who is acting around the present call; ``agentstore.core.context.acting`` sets it.
ambient: ContextVar[Acting] = ContextVar("agentstore_acting", default=NOBODY)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRow(Generic[S]):
    """One row of an entity as a store returns it.

    ``data`` is the decoded ``Schema`` instance, or None where the stored row no longer fits the
    schema; then ``schema_errors`` says why (dotted path -> messages). ``raw`` is always what is
    stored, in JSON form. ``changed`` is False when a write found nothing to do.
    """

    id: UUID
    tenant: str
    version: int
    created_at: datetime
    updated_at: datetime
    data: S
    raw: JSONObject
    changed: bool = False
    deleted_at: datetime | None = None
    schema_errors: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[S]):
    """One page of rows; iterate over it, or pass ``next_cursor`` on to get the next one."""

    rows: list[EntityRow[S]]
    next_cursor: str | None
    limit: int

    def __iter__(self) -> Iterator[EntityRow[S]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class EachOnce:
    """Lets each row of an iteration through once, though a write moves it behind the others again.

    A write changes when a row was last updated, by which rows with equal values go, or the very value
    that they are ordered by: a loop that writes each row would never end. Where that can happen the
    rows' ids are remembered, about 100 bytes each.
    """

    #: Orders in which a write moves a row nowhere, or to the front.
    SAFE = ("id", "-id", "-created_at", "-updated_at")

    def __init__(self, order_by: str | None) -> None:
        self._seen: set[bytes] | None = None if order_by is None or order_by in self.SAFE else set()

    def __call__(self, rows: Iterable[EntityRow[S]]) -> Iterator[EntityRow[S]]:
        """Yield the rows of the next page that did not come before."""
        for row in rows:
            if self._seen is None:
                yield row
            elif row.id.bytes not in self._seen:
                self._seen.add(row.id.bytes)
                yield row


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How many places a tenant uses, and how many it has."""

    used: int
    capacity: int

    @property
    def remaining(self) -> int:
        """The places left; 0 when a lowered capacity is overdrawn."""
        return max(0, self.capacity - self.used)


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryEntry:
    """One audited change of a row.

    ``op`` is create, update, delete or undelete. ``patch`` is the full row for a create,
    ``{"set": {...}, "unset": [...]}`` for an update (unset first, then set), None otherwise.
    """

    id: UUID
    op: str
    version: int
    patch: JSONObject | None
    actor: str
    reason: str
    context: JSONObject
    at: datetime
