"""What strategies cost: find among few and among many of other tenants, save into a full tenant."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from django.db import connections

from agentstore.core.values import new_id, now
from agentstore.strategies import StrategyStore, merging
from agentstore.strategies.entry import complete, validate_for_write
from agentstore.strategies.portable import COUNTER, values_of
from agentstore.strategies.terms import TOKENIZER_VERSION
from tests.benchmarks.database import ALIASES, Raw, on, set_sync
from tests.benchmarks.fill import warm_up
from tests.benchmarks.measure import Operation, Ratio, Report, micros, race
from tests.plans import explain

__all__ = ["run"]

#: How many strategies each tenant has; the same as the default cap, so that all are full.
PER_TENANT = 1000
#: How many there are in all in the small table, and how many tenants are asked in turn.
FEW = 10_000
ASKED = FEW // PER_TENANT
SCHEMA = "few"

# Problems of twelve words out of 600, as a lesson has them; about two in a hundred hold a given word. No
# two have one time, and so one rank, as a tenant's have not that were saved one after another.
ROWS = """
WITH texts AS MATERIALIZED (
  SELECT n, array_agg('word' || (hashint8(n * 31 + w) & 2147483647) %% 600 ORDER BY w) AS words
  FROM generate_series(1, %(rows)s::bigint) AS n, generate_series(1, 12) AS w GROUP BY n
), made AS (
  SELECT n, array_to_string(words, ' ') AS problem,
    'What worked: ' || repeat('a step, ', 20) || n AS strategy,
    (SELECT jsonb_agg(DISTINCT word ORDER BY word) FROM unnest(words) AS word) AS terms,
    (1 + n %% 20) * 0.15 AS confidence,
    timestamptz '2026-01-01' + n %% 250 * interval '1 day' + n * interval '1 second' AS ts
  FROM texts
)
INSERT INTO agentstore_strategy (id, tenant, strategy_id, problem, strategy, confidence, ts, origin, terms,
  term_count, dedup_key, rank, tokenizer_version)
SELECT gen_random_uuid(), 'tenant ' || n %% (%(rows)s::bigint / %(each)s), 'str_' || n, problem, strategy,
  confidence, ts, 'earned', terms, jsonb_array_length(terms),
  '1:' || encode(sha256(convert_to(problem || strategy, 'UTF8')), 'hex'),
  round((ln(confidence) / ln(2) + extract(epoch FROM ts) / 7776000)::numeric, 9)::float8, %(version)s
FROM made
"""
COUNTERS = """
INSERT INTO agentstore_usage (id, tenant, entity, used)
SELECT gen_random_uuid(), tenant, %s, count(*) FROM agentstore_strategy GROUP BY tenant
"""
INSERT = """
INSERT INTO agentstore_strategy (id, tenant, strategy_id, problem, strategy, confidence, ts, teacher_model,
  signature, origin, terms, term_count, dedup_key, rank, tokenizer_version)
VALUES (%(pk)s, 'plain', %(strategy_id)s, %(problem)s, %(strategy)s, %(confidence)s, %(ts)s,
  %(teacher_model)s, %(signature)s, %(origin)s, %(terms)s, %(term_count)s, %(dedup_key)s, %(rank)s,
  %(tokenizer_version)s)
"""
_numbers = itertools.count()


def run(*, rows: int, rounds: int, only: str) -> str:
    """Run every part and return the table; ``rows`` is how many strategies the large table has."""
    bench = Strategies(rows, rounds)
    try:
        warm_up(bench.raw)
        bench.fill()
        for name, part in bench.parts().items():
            if only in name:
                part()
    finally:
        bench.raw.close()
    return bench.report.markdown()


def lesson() -> dict[str, Any]:
    """Return a new lesson that outranks those that are stored."""
    n = next(_numbers)
    words = " ".join(f"word{(n * 7919 + step * 104_729) % 600}" for step in range(12))
    return {"problem": f"{words} {n}", "strategy": f"What worked: {'a step, ' * 20}{n}", "confidence": 3.0}


class Strategies:
    """The parts of this benchmark; the small table is in a schema of its own."""

    def __init__(self, rows: int, rounds: int) -> None:
        self.rows, self.rounds = rows, rounds
        self.raw = Raw()
        self.report = Report(list(ALIASES.values()))

    def parts(self) -> dict[str, Callable[[], None]]:
        """Return the parts in order, by name."""
        return {"find": self.find, "save": self.save}

    # --- the two tables ---------------------------------------------------------------------------

    def fill(self) -> None:
        """Make the small table and the large one, and connections that see the small one."""
        self._fill(self.rows)
        self.raw.connection.execute(f"CREATE SCHEMA {SCHEMA}")
        for table in ("agentstore_strategy", "agentstore_usage", "agentstore_incident"):
            self.raw.connection.execute(f"CREATE TABLE {SCHEMA}.{table} (LIKE public.{table} INCLUDING ALL)")
        self.raw.connection.execute(f"SET search_path = {SCHEMA}, public")
        self._fill(FEW)
        self.raw.connection.execute("SET search_path = public")
        for alias in ALIASES:
            config = deepcopy(connections[alias].settings_dict)
            config["OPTIONS"]["options"] = f"-c search_path={SCHEMA},public"
            connections.databases[f"{alias}_{SCHEMA}"] = config

    def _fill(self, rows: int) -> None:
        execute = self.raw.connection.execute
        execute(ROWS, {"rows": rows, "each": PER_TENANT, "version": TOKENIZER_VERSION})
        execute(COUNTERS, [COUNTER])
        for table in ("agentstore_strategy", "agentstore_usage"):
            execute(f"VACUUM ANALYZE {table}")
        execute("CHECKPOINT")

    # --- the parts --------------------------------------------------------------------------------

    def find(self) -> None:
        stores = [StrategyStore(f"tenant {number}") for number in range(1, ASKED)]
        asked = itertools.cycle([(store, self._query(store)) for store in stores])

        def find() -> object:
            store, query = next(asked)
            return store.find(query)

        ratios, notes = {}, []
        for alias, column in ALIASES.items():
            both = {"many": on(alias, find), "few": on(f"{alias}_{SCHEMA}", find)}
            times = race(both, rounds=self.rounds)
            ratios[column] = Ratio.of(times["many"], times["few"])
            notes.append(f"{micros(times['many'])} against {micros(times['few'])}")
        self.report.add(
            f"find, {PER_TENANT:,} per tenant, {self.rows:,} in all",
            f"the same at {FEW:,} in all",
            "<= 2",
            ratios,
            " / ".join(notes),
        )
        print("\n\nPlan of find\n\n" + "\n;\n".join(explain(find)) + "\n")

    @staticmethod
    def _query(store: StrategyStore) -> str:
        """Return three words of a stored problem as somebody asks for them."""
        words = store.list(limit=1).rows[0].problem.split()
        query = f"how do I {words[2]} the {words[5]} of a {words[7]}"
        assert store.find(query), "the reads must find something"
        return query

    def save(self) -> None:
        full = StrategyStore("tenant 1", actor="agent:bia")
        rows = iter([_row() for _ in range(2 * (self.rounds + 1) * 27)])
        insert: Operation = lambda: self.raw.run(INSERT, next(rows))  # noqa: E731
        for sync in ("on", "off"):
            set_sync(self.raw, sync == "on")
            own = {column: on(alias, lambda: full.save(**lesson())) for alias, column in ALIASES.items()}
            times = race({**own, "raw": insert}, rounds=self.rounds)
            ratios = {column: Ratio.of(times[column], times["raw"]) for column in own}
            note = " / ".join(micros(times[name]) for name in times)
            assert full.usage().used == PER_TENANT, "the tenant must stay full"
            self.report.add(
                f"save into a full tenant, sync {sync}", "plain INSERT of the row", "<= 1.6", ratios, note
            )
        print("\n\nPlans of save\n\n" + "\n;\n".join(explain(lambda: full.save(**lesson()))) + "\n")


def _row() -> dict[str, Any]:
    """Return the columns of a new lesson: only writing them is what a plain INSERT is."""
    at = now()
    values = values_of(merging.derive(validate_for_write(complete(lesson(), now=at), now=at)))
    return {**values, "pk": new_id(), "terms": json.dumps(values["terms"])}
