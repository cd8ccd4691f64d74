"""Seeding: a batch of strategies that is checked whole before the first one is written.

Works on any store that is a ``SeedTarget``; ``store.seed(entries)`` is the same call.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agentstore.core import guards, values
from agentstore.core.errors import AgentStoreError, ValidationFailed
from agentstore.core.values import JSONObject, JSONValue, Usage
from agentstore.strategies import entry as rules
from agentstore.strategies.terms import dedup_key
from agentstore.strategies.values import (
    Entry,
    Origin,
    SaveResult,
    SeedFailure,
    SeedPlan,
    SeedProblem,
    SeedResult,
)

__all__ = ["OLDEST", "SeedTarget", "exported", "plan_seed", "seed_strategies"]

logger = logging.getLogger(__name__)

#: The ts of an entry that gives none and whose content is stored already: no other is older, so that a
#: replay refreshes neither time nor text.
OLDEST = rules.EARLIEST_TS
_FIELDS = ("id", "problem", "strategy", "confidence", "ts", "teacher_model", "signature", "origin", "tenant")
_CONTENT = "problem, strategy"


def exported(
    *,
    id: str,
    problem: str,
    strategy: str,
    confidence: JSONValue,
    ts: datetime,
    teacher_model: str | None,
    signature: str | None,
) -> JSONObject:
    """Return a stored strategy as an entry that a seed takes; tenant, origin and score are the store's."""
    entry: JSONObject = {
        "id": id,
        "problem": problem,
        "strategy": strategy,
        "confidence": confidence,
        "ts": values.utc_text(ts),
    }
    optional = {"teacher_model": teacher_model, "signature": signature}
    return entry | {name: value for name, value in optional.items() if value is not None}


class SeedTarget(Protocol):
    """What seeding needs of a store: ``save``.

    What else a ``StrategyStore`` has is used if it is there. Without ``usage`` the room is not
    checked; without ``has`` every entry takes room; without ``hold`` other writers are not kept out
    between the check and the last save.
    """

    def save(
        self,
        *,
        problem: str,
        strategy: str,
        confidence: float,
        id: str | None,
        ts: datetime | str | None,
        teacher_model: str | None,
        signature: str | None,
        origin: Origin,
    ) -> SaveResult:
        """Store one strategy."""


@dataclass(kw_only=True, slots=True)
class _Batch:
    """The entries read so far, by what must be unique among them."""

    ids: dict[str, int] = field(default_factory=dict)
    contents: dict[str, int] = field(default_factory=dict)

    def repeats(self, number: int, entry: Mapping[str, Any], issues: Mapping[str, str]) -> dict[str, str]:
        """Return what of a complete entry occurred before, and remember what did not."""
        found: dict[str, str] = {}
        if "id" not in issues:
            first = self.ids.setdefault(entry["id"], number)
            if first != number:
                found["id"] = f"Same id as entry {first}."
        if not issues.keys() & {"problem", "strategy"}:
            key = dedup_key(entry["problem"], entry["strategy"])
            first = self.contents.setdefault(key, number)
            if first != number:
                found[_CONTENT] = f"Same content as entry {first}."
        return found


def seed_strategies(store: SeedTarget, entries: Iterable[object]) -> SeedResult:
    """Check all entries, then write them one by one with the origin ``seeded``.

    An entry is an object with problem and strategy; confidence, id, ts, teacher_model and
    signature are optional. What is stored already merges: its id, origin and, where the entry
    gives no ts, its time stay, so that the same seed can be run at every deployment. A failure
    while writing stops there and is in the result; running the seed again completes it.

    Raises:
        ValidationFailed: an entry is invalid, an id or a content occurs twice, or there is too
            little room. Nothing was written; ``errors`` has all that is wrong.
    """
    batch = _as_list(entries)
    with _held(store):
        plan = plan_seed(store, batch)
        if plan.problems:
            raise _refusal(plan)
        return _write(store, plan)


def plan_seed(store: SeedTarget, entries: Iterable[object]) -> SeedPlan:
    """Return what seeding would do and everything that is wrong; write nothing."""
    now, batch, given_entries = values.now(), _Batch(), _as_list(entries)
    free = _room(store, len(given_entries))
    plan = SeedPlan(entries=[], problems=[], new=[], existing=[], undated=[], free=free)
    for number, given in enumerate(given_entries, start=1):
        entry = _check(plan, batch, number, given, now)
        plan.entries.append(entry)
        if entry is not None:
            (plan.existing if _stored(store, entry) else plan.new).append(number)
    if len(plan.new) > plan.free:
        plan.problems.append(_no_room(plan))
    return plan


def _held(store: SeedTarget) -> AbstractContextManager[object]:
    hold: Callable[[], AbstractContextManager[object]] = getattr(store, "hold", nullcontext)
    return hold()


def _room(store: SeedTarget, wanted: int) -> int:
    usage: Callable[[], Usage] | None = getattr(store, "usage", None)
    return wanted if usage is None else usage().remaining


def _stored(store: SeedTarget, entry: Entry) -> bool:
    has: Callable[..., bool] | None = getattr(store, "has", None)
    return has is not None and has(problem=entry.problem, strategy=entry.strategy)


def _as_list(entries: Iterable[object]) -> list[object]:
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        guards.refuse("", f"Expected a list of objects, found {type(entries).__name__}.")
    return list(entries)


def _check(plan: SeedPlan, batch: _Batch, number: int, given: object, now: datetime) -> Entry | None:
    """Return the entry, or None after reporting all that is wrong with it."""
    issues: dict[str, str] = {}
    hints = dict(rules.HINTS)
    complete: object = given
    if isinstance(given, Mapping):
        complete = rules.complete({**given, "origin": "seeded", "tenant": None}, now=now)
        for name in (str(name)[:80] for name in given if name not in _FIELDS):
            issues[name] = "There is no such field."
            hints[name] = f"The fields are {', '.join(_FIELDS)}."
        if given.get("ts") is None:
            plan.undated.append(number)
    issues |= rules.issues_for_write(complete, now=now)
    if isinstance(complete, dict):
        repeats = batch.repeats(number, complete, issues)
        issues |= repeats
        hints |= dict.fromkeys(repeats, "Leave one of the two out.")
    id_ = _shown_id(given)
    for name, issue in issues.items():
        plan.problems.append(SeedProblem(number=number, id=id_, field=name, problem=issue, hint=hints[name]))
    return None if issues else rules.validate_for_write(complete, now=now)


def _shown_id(given: object) -> str | None:
    id_ = given.get("id") if isinstance(given, Mapping) else None
    return id_[:80] if isinstance(id_, str) else None


def _no_room(plan: SeedPlan) -> SeedProblem:
    lacking = len(plan.new) - plan.free
    return SeedProblem(
        number=0,
        id=None,
        field="",
        problem=f"{len(plan.new):,} new strategies, room for {plan.free:,}.",
        hint=f"Prune {lacking:,} first, or leave {lacking:,} out.",
    )


def _refusal(plan: SeedPlan) -> ValidationFailed:
    found: dict[str, list[str]] = {}
    for problem in plan.problems:
        entry = str(problem.number - 1) if problem.number else ""
        path = entry if problem.field in ("", _CONTENT) else f"{entry}.{problem.field}"
        found.setdefault(path, []).append(problem.problem)
    first = plan.problems[0]
    where = f"Entry {first.number}: " if first.number else ""
    more = f" ({len(plan.problems) - 1:,} more)" if len(plan.problems) > 1 else ""
    message = f"The seed was refused. {where}{first.field}{': ' if first.field else ''}{first.problem}{more}"
    return ValidationFailed(message, hint=f"Nothing was written. {first.hint}", errors=found)


def _write(store: SeedTarget, plan: SeedPlan) -> SeedResult:
    written, replayed = 0, set(plan.existing) & set(plan.undated)
    for number, entry in enumerate(filter(None, plan.entries), start=1):  # no problems: all are there
        try:
            _save(store, entry, OLDEST if number in replayed else entry.ts)
        except Exception as error:
            logger.exception("agentstore: the seed stopped at entry %s (%s)", number, entry.id)
            failure = SeedFailure(number=number, id=entry.id, error=_text_of(error))
            return SeedResult(written=written, failed_at=failure)
        written += 1
    return SeedResult(written=written)


def _save(store: SeedTarget, entry: Entry, ts: datetime) -> SaveResult:
    return store.save(
        problem=entry.problem,
        strategy=entry.strategy,
        confidence=entry.confidence,
        id=entry.id,
        ts=ts,
        teacher_model=entry.teacher_model,
        signature=entry.signature,
        origin="seeded",
    )


def _text_of(error: Exception) -> str:
    if isinstance(error, AgentStoreError):
        return error.message
    return f"{type(error).__name__}: {error}"
