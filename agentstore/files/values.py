"""The values that a file store returns: frozen, keyword-only. Pure Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from agentstore.core.values import JSONObject

__all__ = ["DeletedFile", "FileChange", "FileInfo", "FileVersion", "Part", "Planned", "Prompt"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileInfo:
    """A live file without its content. ``size`` is in bytes of UTF-8, ``sha256`` in hexadecimal."""

    name: str
    version: int
    sha256: str
    size: int
    at: datetime
    actor: str
    source: str
    reason: str
    context: JSONObject = field(default_factory=dict)
    restored_from: int | None = None
    created_at: datetime | None = None
    changed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class FileVersion:
    """An older version of a file, without its content; a redacted one has size 0 and no digest."""

    version: int
    name: str
    at: datetime
    actor: str
    source: str
    reason: str
    size: int
    sha256: str
    redacted: bool
    context: JSONObject = field(default_factory=dict)
    restored_from: int | None = None
    redacted_by: str = ""
    redacted_reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletedFile:
    """A deleted file that can be undeleted: its last version, and who deleted it when and why."""

    name: str
    version: int
    size: int
    deleted_at: datetime
    actor: str
    reason: str
    name_taken: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """One change among all files of an agent.

    ``op`` is created, changed, restored, renamed, deleted or undeleted; ``previous`` is the version
    before it, as far as that is kept. ``size`` and ``previous_size`` are in bytes.
    """

    name: str
    op: str
    version: int
    previous: int | None
    at: datetime
    actor: str
    source: str
    reason: str
    size: int
    previous_size: int | None
    restored_from: int | None = None
    old_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """What going back to a time does to one file.

    ``action`` is restore (its text of then comes back), undelete (it was deleted since), same,
    born (it did not exist then; left alone), delete (the same, and it was named), or lost (its
    text of then is gone; ``why`` is trimmed or redacted). ``version`` is the one of then.
    """

    name: str
    action: str
    version: int | None = None
    current_version: int | None = None
    why: str = ""
    changed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One file of an assembled prompt; ``length`` is in characters."""

    name: str
    tenant: str
    agent: str
    version: int
    sha256: str
    length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """An assembled prompt, what it is made of, and the SHA-256 of its text."""

    text: str
    parts: list[Part]
    digest: str
