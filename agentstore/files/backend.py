"""The seam between the file store, which decides, and the back ends, which persist."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from agentstore.core.values import JSONObject

__all__ = ["Limits", "Refused", "Refusal", "Stored", "Text", "Write"]


class Refusal(enum.Enum):
    """Why a decided write was not done. Refusals are outcomes, not database errors."""

    STALE = "stale"  # the file is not what the write was decided on
    TAKEN = "taken"  # a live file has the name
    FULL = "full"  # the agent has no room left
    LOST = "lost"  # the version that the text is from is gone or blanked out


class Refused(Exception):
    """Undoes a block whose outcome is a refusal."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a write may leave behind, and what the trim keeps."""

    files: int
    agent_bytes: int
    versions_kept: int
    daily_kept: int
    deleted_kept: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """One decided write of one file; ``seen`` is the version it was decided on (None: any).

    ``restored_from`` and ``source_id`` are the version that the text is from, and of which file.
    """

    id: UUID
    history_id: UUID
    name: str
    key: str
    content: str
    sha256: str
    size: int
    at: datetime
    actor: str
    source: str
    reason: str
    context: JSONObject
    limits: Limits
    seen: int | None = None
    restored_from: int | None = None
    source_id: UUID | None = None


class Text(NamedTuple):
    """A live file's content, and what tells which one it is."""

    id: UUID
    name: str
    version: int
    content: str


class Stored(NamedTuple):
    """A stored file without its content."""

    id: UUID
    name: str
    version: int
    sha256: str
    size: int
    at: datetime
    actor: str
    source: str
    reason: str
    context: JSONObject
    restored_from: int | None
    created_at: datetime
    deleted_at: datetime | None
