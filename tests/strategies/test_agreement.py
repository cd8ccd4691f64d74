"""The store in memory and the store in the database answer alike, whatever is done to them."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.errors import AlreadyExists, ValidationFailed
from agentstore.core.values import clock_at
from agentstore.strategies.memory import InMemoryStrategyStore
from agentstore.strategies.store import StrategyStore
from tests.strategies.rows import NOW

PROBLEMS = [
    "Extract tables",
    "extract  TABLES",
    "Extract the tables from PDF",
    "提取表格",
    "用 pdf 提取表格",
    "how to",
]
SAVE = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "B", "_", "c-1", "Z9"]),
        "problem": st.sampled_from(PROBLEMS),
        "strategy": st.sampled_from(["rm -r", "rm -R", "use camelot"]),
        "confidence": st.sampled_from([0, 0.7, 1, 2, 3]),
        "ts": st.sampled_from([0, 1, 45, 90, 400, 9000]).map(lambda days: NOW - timedelta(days=days))
        | st.just(NOW + timedelta(minutes=4)),
        "teacher_model": st.sampled_from([None, "", "m"]),
        "origin": st.sampled_from(["earned", "seeded"]),
    }
)
STEPS = st.lists(
    st.tuples(st.just("save"), SAVE)
    | st.tuples(st.just("find"), st.sampled_from([*PROBLEMS, "tables", "表"]))
    | st.tuples(st.just("prune"), st.integers(0, 4))
    | st.tuples(st.just("delete"), st.sampled_from(["a", "B", "none"]))
    | st.tuples(st.just("seed"), st.lists(SAVE.map(lambda entry: entry | {"ts": None}), max_size=2)),
    max_size=12,
)


def act(store, step, operand):
    """Return what a step gives, in a form that two stores can be compared by."""
    try:
        if step == "save":
            return store.save(**operand)
        if step == "find":
            return store.find(operand, limit=math.inf)
        return getattr(store, step)(operand)
    except (AlreadyExists, ValidationFailed) as error:
        return error.as_dict()


@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(STEPS, st.integers(1, 5))
def test_both_stores_answer_alike(tenant, steps, capacity):
    memory = InMemoryStrategyStore(tenant, capacity=capacity)
    database = StrategyStore(tenant, capacity=capacity)
    database.prune(0)

    with clock_at(NOW):
        for step, operand in steps:
            assert act(database, step, operand) == act(memory, step, operand)
            assert database.list() == memory.list()
            assert database.usage() == memory.usage()
