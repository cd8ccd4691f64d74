"""Eight processes that write into one tenant at once: ours, and the three commits of hand-written code.

A third kind runs our one statement on bare psycopg: what a strict quota allows at all, since the
writers of one tenant wait for each other's commits.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from django.db import connections
from psycopg.types.json import Jsonb

from agentstore.core.values import new_id, now
from tests.benchmarks import entities, wsgi
from tests.benchmarks.database import ALIASES, Raw, using
from tests.benchmarks.measure import Ratio
from tests.benchmarks.models import Reminder

__all__ = ["measure"]

WRITERS = 8
SECONDS = 1.5
COUNT = f"SELECT count(*) FROM {Reminder._meta.db_table} WHERE tenant = %s AND deleted_at IS NULL"
AUDIT = """
INSERT INTO agentstore_auditentry (id, tenant, entity, row_id, op, version, patch, actor, reason, context, at)
VALUES (%s, %s, 'measured_reminders', %s, 'create', 1, %s, 'agent:bia', '', '{}', %s)
"""


def measure(*, rounds: int) -> tuple[dict[str, Ratio], str]:
    """Return the ratios of creates a second by column, and a note with the creates themselves."""
    kinds = [*ALIASES, "bare", "three"]
    counts: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            counts[kind].append(_storm(kind) / SECONDS)
    ratios = {column: Ratio.of(counts[alias], counts["three"]) for alias, column in ALIASES.items()}
    shown = {kind: f"{median(counts[kind]):,.0f}" for kind in kinds}
    own = " / ".join(shown[alias] for alias in ALIASES)
    return ratios, f"{own} / {shown['three']} a second; our statement on psycopg {shown['bare']}"


def _storm(kind: str) -> float:
    context = multiprocessing.get_context("fork")
    ready, queue = context.Barrier(WRITERS), context.SimpleQueue()
    workers = [context.Process(target=_write, args=(kind, ready, queue)) for _ in range(WRITERS)]
    for worker in workers:
        worker.start()
    total = float(sum(queue.get() for _ in workers))
    for worker in workers:
        worker.join()
    return total


def _write(kind: str, ready: Any, queue: Any) -> None:
    operation = _operation(kind)
    for _ in range(6):
        operation()
    ready.wait()
    made, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        operation()
        made += 1
    queue.put(made)
    connections.close_all()


def _operation(kind: str) -> Callable[[], object]:
    if kind == "three":
        return _three_commits()
    return wsgi.raw_create(Raw(), entities.document) if kind == "bare" else _creates(kind)


def _creates(alias: str) -> Callable[[], object]:
    store = Reminder.store("ours", actor="agent:bia")

    def create() -> None:
        with using(alias):
            store.create(entities.document())

    return create


def _three_commits() -> Callable[[], object]:
    raw = Raw()

    def create() -> None:
        raw.run(COUNT, ("theirs",)).fetchone()
        id, at, data = new_id(), now(), Jsonb(entities.document())
        raw.run(entities.INSERT, (id, "theirs", data, at, at))
        raw.run(AUDIT, (new_id(), "theirs", id, data, at))

    return create
