"""What PostgreSQL reads for a save once the statement is prepared: an index for each question."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from psycopg import ClientCursor

from agentstore.core.values import now
from agentstore.strategies import StrategyStore, postgres
from tests.plans import explain
from tests.strategies.rows import row

pytestmark = [pytest.mark.postgres_only, pytest.mark.django_db]

FILL = """
INSERT INTO agentstore_strategy (id, tenant, strategy_id, problem, strategy, confidence, ts, origin, terms,
  term_count, dedup_key, rank, tokenizer_version)
SELECT gen_random_uuid(), %s, 'str_' || n, 'problem ' || n, 's', 1,
  timestamptz '2026-01-01' + n * interval '1 hour', 'earned', '[]', 2, '1:' || n, n, 'old'
FROM generate_series(1, 1000) AS n
"""


def prepared_plan(sql, params):
    """Return the plan that PostgreSQL keeps for a statement: the one for any values."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", sql)))
    for number, name in enumerate(names, 1):
        sql = sql.replace(f"%({name})s", f"${number}")
    with ClientCursor(connection.connection) as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE asked AS {sql}")
        values = ", ".join(f"%({name})s" for name in names)
        cursor.execute(f"EXPLAIN (COSTS OFF) EXECUTE asked ({values})", params)
        lines = [line for (line,) in cursor.fetchall()]
        cursor.execute("DEALLOCATE asked")
    return "\n".join(lines)


def test_a_prepared_save_asks_each_question_of_an_index_of_its_own(tenant):
    """As one question it would read every row of a tenant, as many times a row may be dated ahead."""
    with connection.cursor() as cursor:
        cursor.execute(FILL, [tenant])
        cursor.execute("ANALYZE agentstore_strategy")
    rows = StrategyStore(tenant)._rows
    params = {**rows._params_of(row()), "capacity": 1000, "now": now(), "clamped": 1.0}

    plan = prepared_plan(postgres.SAVE, params)

    for name in ("dedup_uniq", "id_uniq", "ts_idx", "rank_idx"):
        assert f"using agentstore_strategy_{name}" in plan
    assert "Seq Scan on agentstore_strategy" not in plan
    assert not re.search(r"Filter: .*(dedup_key|strategy_id|ts >)", plan)


def test_the_benchmark_tells_the_plans_of_a_save(tenant):
    lessons = StrategyStore(tenant)

    plans = explain(lambda: lessons.save(problem="extract tables", strategy="by hand"))

    assert any("Insert on agentstore_strategy" in plan for plan in plans)
