"""Lives of rows, told in the order in which they happened, every step through the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from django.utils import timezone

from agentstore import acting
from agentstore.core.values import JSONValue, clock_at
from agentstore.entities.store import EntityStore

__all__ = ["Life", "Step", "ago", "tell"]


def ago(now: datetime, **span: float) -> datetime:
    """Return the moment that was so long (a timedelta) before ``now``, also where clocks changed since."""
    return (now.astimezone(UTC) - timedelta(**span)).astimezone(now.tzinfo)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One change of a row: when, what, who and why."""

    at: datetime
    op: str
    actor: str
    reason: str = ""
    data: Mapping[str, JSONValue] = field(default_factory=dict)
    unset: tuple[str, ...] = ()


class Life:
    """Everything that happens to one row, from its creation on."""

    def __init__(self, store: EntityStore[Any]) -> None:
        self.store = store
        self.steps: list[Step] = []
        self.id: UUID | None = None

    def add(self, at: datetime, op: str, actor: str, *, reason: str = "", **details: Any) -> Life:
        """Let ``op`` (create, update, delete, undelete) happen at ``at``, or just after what came before."""
        at = at.astimezone(UTC)  # so that the nights of a clock change have an order, too
        if self.steps:
            at = max(at, self.steps[-1].at + timedelta(minutes=3))
        self.steps.append(Step(at=at, op=op, actor=actor, reason=reason, **details))
        return self

    def live(self, step: Step) -> None:
        """Carry out one step."""
        if step.op == "create":
            self.id = self.store.create(step.data).id
        elif step.op == "update" and self.id:
            self.store.update(self.id, step.data, unset=step.unset)
        elif self.id:
            getattr(self.store, step.op)(self.id)


def tell(lives: Iterable[Life], *, until: datetime, rng: Random) -> int:
    """Carry out every step up to ``until``, the earliest first; return how many there were."""
    steps = [(step, life) for life in lives for step in life.steps if step.at <= until]
    steps.sort(key=lambda pair: pair[0].at)
    for step, life in steps:
        context = {"run": _run(step.at, rng)} if step.actor.startswith("agent:") else {}
        with clock_at(step.at), acting(actor=step.actor, reason=step.reason, context=context):
            life.live(step)
    return len(steps)


def _run(at: datetime, rng: Random) -> str:
    """Return a name for an agent's run, such as ``8f2c-1140``."""
    return f"{rng.randrange(16**4):04x}-{timezone.localtime(at):%H%M}"
