"""The seam between the store, which decides, and the two back ends, which persist what was decided."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from agentstore.core.values import HistoryEntry, JSONObject
from agentstore.entities.codec import Document
from agentstore.entities.cursor import Position
from agentstore.entities.query import Clause, Order

__all__ = ["FULL_EVERY", "Change", "Claim", "Outcome", "PageRequest", "RawRow", "RowBackend"]

#: Every how many versions the audit keeps the full row, so that rebuilding one reads no more entries.
FULL_EVERY = 50


class Outcome(enum.Enum):
    """What became of a decided write. Refusals are outcomes, not database errors."""

    DONE = "done"
    FULL = "full"  # the quota has no place
    STALE = "stale"  # the row is not at the version it was decided on
    SEEN = "seen"  # the idempotency key was used before


class RawRow(NamedTuple):
    """One stored row; ``text`` is its ``data`` as JSON text."""

    id: UUID
    tenant: str
    version: int
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    text: str


class Change(NamedTuple):
    """One decided write of one row; nothing is left to decide. Made by keyword, hundreds at a time.

    ``version`` is the one after the write, ``seen`` the one it was decided on (None: any, for a
    delete); ``deleted_at`` is when the row was deleted that an undelete was decided on, as deleting
    leaves the version. ``data`` is set by create and update. Every change is audited under ``audit_id``.
    """

    op: str
    id: UUID
    audit_id: UUID
    version: int
    at: datetime
    actor: str
    reason: str
    context: JSONObject
    seen: int | None = None
    deleted_at: datetime | None = None
    data: Document | None = None
    patch: Document | None = None
    full: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """An idempotency key, to be stored with the rows that a create makes."""

    id: UUID
    actor: str
    key: str
    fingerprint: str
    at: datetime
    expired_before: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRequest:
    """Which rows to read: checked clauses, an order, a size, and where to go on."""

    clauses: Sequence[Clause]
    order: Order
    size: int
    position: Position | None = None


class RowBackend(Protocol):
    """Persists the rows of one entity and tenant on one database alias. Holds no rules."""

    def get(self, id: UUID, *, deleted: bool | None = False) -> RawRow | None:
        """Return the live (True: the deleted, None: the live or deleted) row of that id."""

    def page(self, request: PageRequest) -> list[RawRow]:
        """Return up to ``size`` live rows in order."""

    def count(self, clauses: Sequence[Clause]) -> int:
        """Count the live rows that match."""

    def insert(self, changes: Sequence[Change], limit: int, claim: Claim | None = None) -> Outcome:
        """Insert rows with counter, audit and key: all of them, or none."""

    def update(self, change: Change) -> Outcome:
        """Replace the data of a live row that is still at ``seen``."""

    def delete(self, change: Change) -> int:
        """Mark a live row as deleted, if it is at ``seen`` (None: any); return its version, or 0."""

    def undelete(self, change: Change, limit: int) -> Outcome:
        """Bring a deleted row back, if there is a place for it."""

    def claimed(self, claim: Claim) -> tuple[str, list[UUID]] | None:
        """Return the fingerprint and the row ids stored under a key; None when it is not used, or no more."""

    def history(self, id: UUID, *, limit: int | None, before: UUID | None) -> list[HistoryEntry]:
        """Return the audited changes of a row, newest first."""

    def replay(
        self, id: UUID, version: int
    ) -> list[tuple[int, JSONObject | None, JSONObject | None, datetime]]:
        """Return (version, patch, full row, at) of the changes that lead to a version, in order."""

    def used(self) -> int:
        """Return the tenant's counter."""
