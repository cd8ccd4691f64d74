"""The values that travel between the strategy stores, their rules and the surfaces. Pure Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, overload

__all__ = [
    "Arm",
    "EmptyBecause",
    "Entry",
    "Explanation",
    "FindResult",
    "Incident",
    "MatchRules",
    "NotFoundBecause",
    "Origin",
    "SaveResult",
    "SaveStatus",
    "SeedFailure",
    "SeedPlan",
    "SeedProblem",
    "SeedResult",
    "StoredStrategy",
    "StrategyMatch",
    "StrategyPage",
    "StrategyRow",
]

Arm = Literal["full", "alnum"]
EmptyBecause = Literal["no_terms", "no_match", "failed"]
NotFoundBecause = Literal["no_terms", "missing_terms", "min_terms", "min_overlap"]
Origin = Literal["earned", "seeded"]
SaveStatus = Literal["created", "merged", "not_kept"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What a save wants to store, complete and checked; ``ts`` is in UTC."""

    id: str
    problem: str
    strategy: str
    confidence: float
    ts: datetime
    teacher_model: str | None = None
    signature: str | None = None
    origin: Origin = "earned"


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredStrategy:
    """A strategy as the rules see it: what was saved, and what is derived from its text."""

    id: str
    problem: str
    strategy: str
    confidence: float
    ts: datetime
    teacher_model: str | None
    signature: str | None
    origin: Origin
    terms: frozenset[str]
    term_count: int
    dedup_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyRow:
    """A strategy as a store shows it; ``score`` is that of the moment it was read."""

    tenant: str
    id: str
    problem: str
    strategy: str
    confidence: float
    ts: datetime
    teacher_model: str | None
    signature: str | None
    origin: Origin
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyMatch(StrategyRow):
    """A strategy that was found.

    ``arm`` says how: ``full`` with every term of the query, ``alnum`` with its alphanumeric terms
    only. ``matched_terms`` are the query's terms that the problem had to hold, in query order.
    """

    arm: Arm
    matched_terms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FindResult(Sequence[StrategyMatch]):
    """What find gives: the matches, best first; iterate over it. It equals a list of the same matches.

    ``empty_because`` says why there is none: ``no_terms`` (the query has no significant term),
    ``no_match`` or ``failed``; it is None when there are matches, and when none was asked for.
    ``left_out`` counts the matches that were cut because the injection budget was used up.
    """

    matches: list[StrategyMatch] = field(default_factory=list)
    empty_because: EmptyBecause | None = None
    left_out: int = 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FindResult):
            told = self.empty_because, self.left_out
            return self.matches == other.matches and told == (other.empty_because, other.left_out)
        return self.matches == other if isinstance(other, list) else NotImplemented

    @property
    def truncated(self) -> bool:
        """Whether the injection budget left a match out."""
        return self.left_out > 0

    @overload
    def __getitem__(self, index: int) -> StrategyMatch: ...
    @overload
    def __getitem__(self, index: slice) -> list[StrategyMatch]: ...
    def __getitem__(self, index: int | slice) -> StrategyMatch | list[StrategyMatch]:
        return self.matches[index]

    def __iter__(self) -> Iterator[StrategyMatch]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a query finds a strategy, or why not.

    ``missing_terms`` are those for lack of which it is not found; ``ignored_terms`` the terms of
    unspaced scripts that it lacks but that do not count, since the query has words as well.
    ``because`` is None when it is found, else ``no_terms``, ``missing_terms``, ``min_terms`` or
    ``min_overlap``.
    """

    id: str
    arm: Arm | None
    because: NotFoundBecause | None
    present_terms: tuple[str, ...]
    missing_terms: tuple[str, ...]
    ignored_terms: tuple[str, ...]
    score: float

    @property
    def found(self) -> bool:
        """Whether the query matches; rank, limit and budget may still keep it out of a find."""
        return self.because is None


@dataclass(frozen=True, kw_only=True, slots=True)
class SaveResult:
    """What became of a save.

    ``id`` is the id under which the content is stored: with ``merged`` that of the row that was
    there. With ``not_kept`` it ranked too low for the cap and is not stored. ``evicted_ids`` are
    the other rows that had to go, best first.
    """

    status: SaveStatus
    id: str
    evicted_ids: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyPage:
    """One page of a tenant's strategies, best first; pass ``next_cursor`` on to get the next."""

    rows: list[StrategyRow]
    next_cursor: str | None
    limit: int

    def __iter__(self) -> Iterator[StrategyRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRules:
    """How strict a match is beyond "every term": both are off by default.

    ``min_terms`` is how many terms must have matched, ``min_overlap`` which share of the problem's
    significant terms they must be.
    """

    min_terms: int = 1
    min_overlap: float = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedProblem:
    """What is wrong with a seed: ``number`` counts its entries from 1; 0 stands for all of it."""

    number: int
    id: str | None
    field: str
    problem: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedPlan:
    """What a seed would do. ``entries`` are None where an entry is invalid, in the order given.

    ``new`` and ``existing`` hold the numbers (from 1) of the valid entries whose content is not
    stored yet, and is; ``undated`` those of the entries that give no ts; ``free`` is the room.
    """

    entries: list[Entry | None]
    problems: list[SeedProblem]
    new: list[int]
    existing: list[int]
    undated: list[int]
    free: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedFailure:
    """The entry at which a seed stopped: its number (from 1), its id and what happened."""

    number: int
    id: str
    error: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedResult:
    """How many entries of a seed were written, and where it stopped, if it did.

    The entries before a failure stay; the same seed again completes it.
    """

    written: int
    failed_at: SeedFailure | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """Trouble that a store survived: ``op`` is find, save, evict or parse; ``id`` the strategy's."""

    op: Literal["find", "save", "evict", "parse"]
    error: str
    id: str = ""
