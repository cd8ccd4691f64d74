"""The store in memory: what it does differently on purpose, and that threads may share it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta

import pytest

from agentstore.strategies.memory import InMemoryStrategyStore
from agentstore.strategies.ranking import EPOCH
from agentstore.strategies.values import MatchRules
from tests.strategies.rows import NOW


@pytest.fixture
def memory(tenant):
    return InMemoryStrategyStore(tenant)


def test_size_is_how_many_there_are(memory):
    memory.save(problem="p", strategy="s")
    memory.save(problem="p", strategy="t")

    assert memory.size == 2


def test_stores_share_nothing(tenant, memory):
    memory.save(problem="p", strategy="s")

    assert InMemoryStrategyStore(tenant).size == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"problem": "tables " * 2000},
        {"strategy": "s" * 5000},
        {"id": "an id with blanks"},
        {"id": "x" * 100},
        {"ts": "2999-01-01T00:00:00Z"},
        {"ts": "yesterday"},
        {"ts": datetime(2026, 1, 1)},
        {"teacher_model": "m" * 600},
        {"signature": "x" * 5000},
    ],
    ids=lambda fields: str(fields)[:30],
)
def test_entries_of_older_shapes_are_taken_and_found(memory, fields):
    memory.save(**{"problem": "tables", "strategy": "s", **fields})

    assert len(memory.find("tables")) == 1


def test_a_time_that_can_not_be_read_is_the_oldest(memory, now):
    memory.save(id="odd", problem="tables", strategy="1", ts="yesterday", confidence=3)
    memory.save(id="old", problem="tables", strategy="2", ts=NOW - timedelta(days=900), confidence=1)

    assert [match.id for match in memory.find("tables")] == ["old", "odd"]
    assert memory.get("odd").ts == EPOCH


def test_a_time_in_the_future_ranks_as_now(memory, now):
    memory.save(id="z", problem="tables", strategy="1", ts=datetime(2999, 1, 1, tzinfo=UTC), confidence=2)
    memory.save(id="a", problem="tables", strategy="2", confidence=2)
    memory.save(id="best", problem="tables", strategy="3", confidence=2.1)

    found = memory.find("tables")
    assert [match.id for match in found] == ["best", "a", "z"]
    assert found[2].score == 2


def test_find_has_no_budget_here(memory):
    for number in range(5):
        memory.save(problem="tables", strategy=f"{number}" * 4096)

    found = memory.find("tables", limit=10)

    assert (len(found), found.truncated) == (5, False)


def test_matching_can_be_tightened(tenant):
    memory = InMemoryStrategyStore(tenant, rules=MatchRules(min_terms=2))
    memory.save(id="a", problem="extract tables", strategy="s")

    assert memory.find("tables").empty_because == "no_match"
    assert memory.explain("tables", "a").because == "min_terms"
    assert len(memory.find("extract tables")) == 1


def test_threads_never_overfill_it_and_never_store_a_content_twice(tenant):
    memory = InMemoryStrategyStore(tenant, capacity=20)

    def write(writer):
        for number in range(40):
            memory.save(problem=f"problem {number}", strategy=f"strategy {number % 7}", confidence=writer % 3)
            assert memory.size <= 20

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))

    rows = memory.list(limit=100).rows
    assert len(rows) == 20
    assert len({(row.problem, row.strategy) for row in rows}) == 20


def test_nobody_sees_a_save_that_has_not_dropped_what_it_drives_out(tenant, monkeypatch):
    memory = InMemoryStrategyStore(tenant, capacity=1)
    memory.save(id="best", problem="p", strategy="s", confidence=3)
    drop_over, seen = memory._drop_over, []

    def look(*args):
        looks = [lambda: memory.size, lambda: memory.usage().used, lambda: memory.get("poor")]
        seen.extend(pool.submit(look) for look in looks)
        wait(seen, timeout=0.2)  # whoever does not wait for the save has looked by then
        return drop_over(*args)

    monkeypatch.setattr(memory, "_drop_over", look)
    with ThreadPoolExecutor(3) as pool:
        memory.save(id="poor", problem="p", strategy="t", confidence=1)

    assert [look.result() for look in seen] == [1, 1, None]


def test_a_seed_keeps_other_writers_out(tenant, monkeypatch):
    """Else the room that was checked could be gone when the entries are written."""
    memory = InMemoryStrategyStore(tenant, capacity=1)
    has, others = memory.has, []

    def let_another_writer_try(**content):
        others.append(pool.submit(memory.save, problem="other", strategy="s", confidence=3))
        with pytest.raises(TimeoutError):
            others[0].result(timeout=0.2)
        return has(**content)

    monkeypatch.setattr(memory, "has", let_another_writer_try)
    with ThreadPoolExecutor(1) as pool:
        result = memory.seed([{"id": "seed", "problem": "p", "strategy": "s", "confidence": 1}])

    assert (result.written, result.failed_at) == (1, None)
    assert others[0].result().evicted_ids == ["seed"]


@pytest.fixture
def waiting(monkeypatch):
    """Return a function that has others act while a write waits for the store's lock."""

    class Lock:
        def __init__(self, lock, act):
            self.lock, self.acts = lock, [act]

        def __enter__(self):
            if self.acts:
                self.acts.pop()()
            return self.lock.__enter__()

        def __exit__(self, *error):
            return self.lock.__exit__(*error)

    return lambda memory, act: monkeypatch.setattr(memory, "_lock", Lock(memory._lock, act))


def test_a_save_that_waited_ranks_by_the_time_at_which_it_acts(tenant, waiting):
    """By the time of its call, what others saved meanwhile would be as old as its own."""
    memory = InMemoryStrategyStore(tenant, capacity=1)

    def other():
        time.sleep(0.05)  # so much later, it ranks higher, though it has more terms
        memory.save(id="later", problem="more words than one", strategy="s")

    waiting(memory, other)

    assert memory.save(id="early", problem="one", strategy="s").status == "not_kept"
    assert memory.get("later") is not None


def test_a_prune_that_waited_ranks_by_the_time_at_which_it_acts(memory, waiting):
    def other():
        memory.save(id="early", problem="one", strategy="s")
        time.sleep(0.05)
        memory.save(id="later", problem="more words than one", strategy="s")

    waiting(memory, other)

    assert [row.id for row in memory.prune(1)] == ["early"]
