"""The lessons of the companies' agents: read from files, saved through the store over three months."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agentstore.core.values import clock_at, new_id
from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Incident
from project.companies import KESTERLY, TANNHOLLOW

__all__ = ["Lesson", "lessons", "tell_lessons"]

FOLDER = Path(__file__).with_name("lessons")
#: When the seed was sown, and how old the other lessons are, in days.
SOWN = 90
AGES = {"earned": (3.0, 86.0), "fresh": (0.1, 9.0)}
CONFIDENCES = {"earned": (0.4, 2.4), "fresh": (2.3, 3.0)}
TEACHERS = (None, None, None, "tutor-large-2", "tutor-large-3")
#: Trouble that the companies' stores had: tenant, days ago, operation, lesson, how often, what it was.
TROUBLE = (
    (TANNHOLLOW, 16, "find", "", 4, "The database did not carry out the operation. Nothing was found."),
    (KESTERLY, 5, "parse", "str_0041", 2, "Skipped: confidence: 30.0 is not between 0 and 3."),
)


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One line of a company's file; ``kind`` is the section that it stands in."""

    id: str
    kind: str
    problem: str
    strategy: str


def lessons(tenant: str) -> list[Lesson]:
    """Return a company's lessons as its file has them."""
    found: list[Lesson] = []
    kind = ""
    for line in (FOLDER / f"{tenant}.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            kind = line.removeprefix("# ").split(":")[0]
        elif line:
            problem, strategy = line.split(" | ")
            found.append(Lesson(id=f"str_{len(found) + 1:04}", kind=kind, problem=problem, strategy=strategy))
    return found


@dataclass(frozen=True, kw_only=True)
class _Save:
    at: datetime
    lesson: Lesson
    confidence: float
    teacher_model: str | None


def tell_lessons(tenant: str, agents: tuple[str, ...], *, now: datetime) -> int:
    """Sow a company's seed, let its agents save what they learned since; return how many saves that was."""
    rng = random.Random(f"{tenant} lessons")  # noqa: S311 - invents data, guards nothing
    told = lessons(tenant)
    seed = [lesson for lesson in told if lesson.kind == "seeded"]
    with clock_at(now - timedelta(days=SOWN)):
        StrategyStore(tenant, actor="import:first-lessons").seed(
            {"id": lesson.id, "problem": lesson.problem, "strategy": lesson.strategy} for lesson in seed
        )
    learned = sorted(_learn(told, now, rng), key=lambda save: (save.at, save.lesson.id))
    for save in learned:
        _carry_out(StrategyStore(tenant, actor=f"agent:{rng.choice(agents)}"), save)
    _report_trouble(tenant, now)
    return len(seed) + len(learned)


def _learn(told: list[Lesson], now: datetime, rng: random.Random) -> Iterator[_Save]:
    """Yield the saves of what was learned; every eighth lesson was learned a second time, and better."""
    for lesson in told:
        if lesson.kind == "seeded":
            continue
        age = rng.uniform(*AGES[lesson.kind])
        confidence = round(rng.uniform(*CONFIDENCES[lesson.kind]), 1)
        teacher = rng.choice(TEACHERS)
        if lesson.kind == "earned" and rng.random() < 0.125:
            before = now - timedelta(days=age + rng.uniform(4, 30))
            yield _Save(at=before, lesson=lesson, confidence=confidence / 2, teacher_model=None)
        yield _Save(at=now - timedelta(days=age), lesson=lesson, confidence=confidence, teacher_model=teacher)


def _carry_out(store: StrategyStore, save: _Save) -> None:
    with clock_at(save.at):
        store.save(
            id=save.lesson.id,
            problem=save.lesson.problem,
            strategy=save.lesson.strategy,
            confidence=save.confidence,
            teacher_model=save.teacher_model,
        )


def _report_trouble(tenant: str, now: datetime) -> None:
    for where, days, op, id, count, error in TROUBLE:
        if where == tenant:
            last = now - timedelta(days=days)
            row = Incident(
                id=new_id(), tenant=tenant, op=op, strategy_id=id, error=error, count=count,
                first_at=last - timedelta(minutes=7), last_at=last,
            )  # fmt: skip
            Incident._base_manager.bulk_create([row])
