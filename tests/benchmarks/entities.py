"""What entity operations cost, against bare psycopg doing the same work in the same run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.db import connections
from psycopg.types.json import Jsonb

from agentstore.core.values import new_id, now
from agentstore.entities import EntityModel
from tests.benchmarks import plans, writers, wsgi
from tests.benchmarks.database import ALIASES, Raw, on, set_sync
from tests.benchmarks.fill import fill, settle, warm_up
from tests.benchmarks.measure import Operation, Ratio, Report, Times, micros, race
from tests.benchmarks.models import FewReminders, ManyReminders, Reminder

__all__ = ["run"]

#: The declared field's value expression, as the index has it.
PROJECT = "(CASE WHEN jsonb_typeof(data -> 'project') = 'string' THEN data ->> 'project' END) COLLATE \"C\""
COLUMNS = "id, tenant, version, created_at, updated_at, deleted_at, data"
INSERT = f"""
INSERT INTO {Reminder._meta.db_table} (id, tenant, data, version, created_at, updated_at)
VALUES (%s, %s, %s, 1, %s, %s)
"""
GET = f"SELECT {COLUMNS} FROM {Reminder._meta.db_table} WHERE id = %s"
UPDATE = f"""
UPDATE {Reminder._meta.db_table} SET data = %s, version = version + 1, updated_at = %s WHERE id = %s
"""
NEWEST = f"""
SELECT {COLUMNS} FROM {{table}} WHERE tenant = %s AND deleted_at IS NULL AND {PROJECT} = %s
ORDER BY updated_at DESC, id DESC LIMIT 25
"""
_numbers = itertools.count()


def run(*, rows: int, rounds: int, only: str) -> str:
    """Run every part and return the table."""
    bench = Entities(rows, rounds)
    try:
        warm_up(bench.raw)
        for name, part in bench.parts().items():
            if only in name:
                part()
    finally:
        bench.raw.close()
    return bench.report.markdown()


def document() -> dict[str, Any]:
    """Return the data of a new reminder, each time another."""
    n = next(_numbers)
    return {
        "text": f"Call the supplier about order {n}",
        "due_at": f"2026-{n % 12 + 1:02d}-{n % 28 + 1:02d}T09:00:00.000000Z",
        "done": False,
        "project": f"project {n * 31 % 100}",
        "priority": n % 10,
        "tags": ["phone", f"tag {n % 11}"],
    }


def raw_insert(raw: Raw, tenant: str) -> None:
    """Insert one row, and nothing else: no quota, no audit, no validation."""
    at = now()
    raw.run(INSERT, (new_id(), tenant, Jsonb(document()), at, at))


def raw_select(raw: Raw, sql: str, params: Any) -> list[Any]:
    """Return the rows of one statement, JSON parsed."""
    return raw.run(sql, params).fetchall()


class Entities:
    """The parts of this benchmark, on one database."""

    def __init__(self, rows: int, rounds: int) -> None:
        self.rows, self.rounds = rows, rounds
        self.raw = Raw()
        self.report = Report(list(ALIASES.values()))

    def parts(self) -> dict[str, Callable[[], None]]:
        """Return the parts in order, by name."""
        return {
            "create": self.create,
            "create_grown": self.create_in_a_grown_tenant,
            "create_many": self.create_many,
            "get": self.get,
            "update": self.update,
            "query": self.query,
            "writers": self.writers,
            "rest": self.rest,
        }

    def contest(self, reference: Operation, operation: Operation, *, block: int = 25) -> Times:
        """Race an operation under each set of options, and the reference."""
        own = {column: on(alias, operation) for alias, column in ALIASES.items()}
        return race({**own, "raw": reference}, rounds=self.rounds, blocks=dict.fromkeys(own, block))

    def tell(self, operation: str, reference: str, bound: str, times: Times, *, per: int = 1) -> None:
        """Add the row of a contest against ``raw``."""
        ratios = {name: Ratio.of(own, times["raw"], per=per) for name, own in times.items() if name != "raw"}
        parts = {name: 1 if name == "raw" else per for name in times}
        note = " / ".join(micros([time / parts[name] for time in own]) for name, own in times.items())
        self.report.add(operation, reference, bound, ratios, note)

    def each_sync(self) -> Iterator[str]:
        """Yield ``on`` and ``off``, the sessions set accordingly."""
        for name in ("on", "off"):
            set_sync(self.raw, name == "on")
            yield name

    # --- the parts --------------------------------------------------------------------------

    def create(self) -> None:
        store = Reminder.store("create", actor="agent:bia")
        for sync in self.each_sync():
            times = self.contest(partial(raw_insert, self.raw, "create"), lambda: store.create(document()))
            bound = "<= 1.6" if sync == "on" else "<= 2.0"
            self.tell(f"create, sync {sync}", "raw single-row INSERT", bound, times)

    def create_in_a_grown_tenant(self) -> None:
        sizes = {"a hundred": 100, "a lot": 100_000}
        for tenant, size in sizes.items():
            fill(self.raw, Reminder, tenant, size)
        settle(self.raw, Reminder)
        few, many = (Reminder.store(tenant) for tenant in sizes)
        self.compare(
            "create with 100,000 rows of the tenant", "the same with 100", "<= 1.1",
            lambda: few.create(document()), lambda: many.create(document()),
        )  # fmt: skip

    def compare(self, operation: str, reference: str, bound: str, small: Operation, large: Operation) -> None:
        """Add the row of one operation in two circumstances, each set of options against itself."""
        ratios, notes = {}, []
        for alias, column in ALIASES.items():
            both = {"large": on(alias, large), "small": on(alias, small)}
            times = race(both, rounds=self.rounds)
            ratios[column] = Ratio.of(times["large"], times["small"])
            notes.append(f"{micros(times['large'])} against {micros(times['small'])}")
        self.report.add(operation, reference, bound, ratios, " / ".join(notes))

    def create_many(self) -> None:
        store = Reminder.store("many")
        for sync in self.each_sync():
            times = self.contest(
                partial(raw_insert, self.raw, "many"),
                lambda: store.create_many([document() for _ in range(500)]),
                block=1,
            )
            self.tell(
                f"create_many of 500, a row, sync {sync}", "raw single-row INSERT", "<= 0.15", times, per=500
            )

    def get(self) -> None:
        ids = itertools.cycle(self._some_ids("read", 1000))
        store = Reminder.store("read")
        times = self.contest(lambda: raw_select(self.raw, GET, (next(ids),)), lambda: store.get(next(ids)))
        self.tell("get", "raw SELECT by id", "<= 1.5", times)

    def _some_ids(self, tenant: str, rows: int) -> list[Any]:
        set_sync(self.raw, False)
        made = Reminder.store(tenant).create_many([document() for _ in range(rows)])
        settle(self.raw, Reminder)
        return [row.id for row in made]

    def update(self) -> None:
        ids, fresh = itertools.cycle(self._some_ids("write", 1000)), itertools.count()
        store = Reminder.store("write", actor="agent:bia")
        for sync in self.each_sync():
            times = self.contest(
                lambda: self.raw.run(UPDATE, (Jsonb(document()), now(), next(ids))),
                lambda: store.update(next(ids), {"text": f"Call again, {next(fresh)}", "done": True}),
            )
            bound = "<= 1.8" if sync == "on" else "<= 2.4"
            self.tell(f"update, sync {sync}", "raw UPDATE of the document", bound, times)

    def query(self) -> None:
        sizes: dict[type[EntityModel], int] = {FewReminders: 10_000, ManyReminders: self.rows}
        for model, size in sizes.items():
            fill(self.raw, model, "busy", size)
        settle(self.raw, *sizes)
        few, many = (model.store("busy") for model in sizes)
        shown, wanted = f"{self.rows:,} rows", {"project": "project 7"}
        self.compare(
            f"query, newest 25 of {shown}", "the same of 10,000 rows", "<= 1.3",
            lambda: few.query(wanted), lambda: many.query(wanted),
        )  # fmt: skip
        sql = NEWEST.format(table=ManyReminders._meta.db_table)
        times = self.contest(
            lambda: raw_select(self.raw, sql, ("busy", "project 7")), lambda: many.query(wanted)
        )
        self.tell(f"query, newest 25 of {shown}", "raw SQL of the same answer", "<= 2.0", times)
        for order in (None, "-due_at"):
            deep = self._cursor_of_page(many, 1000, order)
            self.compare(
                f"keyset page 1,000 of 25, by {order or '-updated_at'}", "page 1", "<= 1.3",
                lambda order=order: many.query(order_by=order),  # type: ignore[misc]
                lambda order=order, deep=deep: many.query(order_by=order, cursor=deep),  # type: ignore[misc]
            )  # fmt: skip
        print(plans.describe(many))

    @staticmethod
    def _cursor_of_page(store: Any, number: int, order: str | None) -> str:
        cursor = None
        for _ in range((number - 1) * 25 // 100):
            cursor = store.query(limit=100, order_by=order, cursor=cursor).next_cursor
        for _ in range((number - 1) * 25 % 100 // 25):
            cursor = store.query(order_by=order, cursor=cursor).next_cursor
        assert cursor, f"page {number} needs more rows"
        return str(cursor)

    def writers(self) -> None:
        for tenant in ("ours", "theirs"):
            fill(self.raw, Reminder, tenant, 10_000)
        settle(self.raw, Reminder)
        self.raw.close()
        connections.close_all()  # no connection may live through the fork
        ratios, note = writers.measure(rounds=3)
        self.raw = Raw()
        self.report.add(
            "creates a second of 8 writers in one tenant of 10,000 rows, sync on",
            "count, insert and audit in three commits, raw", ">= 5", ratios, note,
        )  # fmt: skip

    def rest(self) -> None:
        create = wsgi.poster(document)
        for sync in self.each_sync():
            times = self.contest(wsgi.raw_create(self.raw, document), create)
            self.tell(f"REST create through WSGI, sync {sync}", "raw one-statement create", "<= 4", times)
