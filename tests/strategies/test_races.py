"""Writers and readers of one tenant at the same moment, each with a connection of its own."""

from __future__ import annotations

import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from agentstore.core.errors import AlreadyExists
from agentstore.core.models import Usage
from agentstore.strategies import StrategyStore
from agentstore.strategies import store as store_module
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.portable import COUNTER, PortableStrategies
from tests.parallel import run_parallel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["auto", "portable"], autouse=True)
def backend(request):
    with override_settings(AGENTSTORE={"BACKEND": request.param}):
        yield request.param


def counted(tenant):
    return Usage._base_manager.get(tenant=tenant, entity=COUNTER).used


def rows(tenant):
    return Strategy._base_manager.filter(tenant=tenant)


def test_an_id_that_eight_writers_want_for_other_contents_goes_to_one(tenant):
    def write(writer):
        return StrategyStore(tenant).save(id="wanted", problem=f"problem {writer}", strategy="s").status

    results = run_parallel(8, write)

    assert results.count("created") == 1
    assert sum(isinstance(result, AlreadyExists) for result in results) == 7
    assert rows(tenant).count() == counted(tenant) == 1


def test_readers_among_writers_are_given_whole_answers(tenant):
    """A find sees a state that some save left: never more than the cap, never trouble."""
    store = StrategyStore(tenant, capacity=20)
    for number in range(20):
        store.save(problem=f"problem {number}", strategy="s")

    def work(worker):
        own = StrategyStore(tenant, capacity=20)
        if worker % 2:
            return [len(own.find("problem", limit=100)) for _ in range(40)]
        for number in range(40):
            own.save(problem=f"problem {worker} {number}", strategy="s", confidence=2.5)
        return []

    results = run_parallel(8, work)

    assert {count for result in results for count in result} == {20}
    assert not Incident._base_manager.exists()
    assert rows(tenant).count() == counted(tenant) == 20


def test_writers_with_different_caps_leave_no_more_than_the_last_ones_cap(tenant):
    def write(writer):
        own = StrategyStore(tenant, capacity=10 + writer)
        for number in range(30):
            own.save(problem=f"problem {writer} {number}", strategy="s")

    assert run_parallel(8, write) == [None] * 8

    assert 10 <= rows(tenant).count() == counted(tenant) <= 17
    StrategyStore(tenant, capacity=10).save(problem="the last", strategy="s")
    assert rows(tenant).count() == counted(tenant) == 10


def test_a_seed_keeps_the_room_that_it_checked(tenant, monkeypatch):
    """What was checked holds until the last entry is written: other writers wait."""
    seeder, entered = StrategyStore(tenant, capacity=3), threading.Event()
    has, others = seeder.has, []

    def other():
        entered.wait(60)
        others.append(StrategyStore(tenant, capacity=3).save(problem="other", strategy="s", confidence=3))
        connections.close_all()

    def slow(**content):
        entered.set()
        thread.join(0.2)
        return has(**content)

    monkeypatch.setattr(seeder, "has", slow)
    thread = threading.Thread(target=other)
    thread.start()
    result = seeder.seed({"problem": f"problem {n}", "strategy": "s", "confidence": 1} for n in range(3))
    thread.join(60)

    assert (result.written, result.failed_at) == (3, None)
    assert len(others[0].evicted_ids) == 1  # there was no room left: the seed had come to its end
    assert rows(tenant).count() == counted(tenant) == 3


@pytest.mark.postgres_only
def test_a_save_that_waited_for_another_decides_by_what_that_one_left(tenant):
    """Its statement began with an older view of the rows: by that, there was room for one more."""
    for number in range(2):
        StrategyStore(tenant, capacity=3).save(id=f"id{number}", problem=f"problem {number}", strategy="s")

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        StrategyStore(tenant, capacity=3).save(id="best", problem="the first", strategy="s", confidence=3)
        waiting = pool.submit(late, tenant)
        wait_for_a_waiter()
    saved = waiting.result(60)

    assert saved.evicted_ids == ["id0"]
    assert sorted(row.strategy_id for row in rows(tenant)) == ["best", "id1", "late"]
    assert counted(tenant) == 3


def late(tenant):
    try:
        return StrategyStore(tenant, capacity=3).save(
            id="late", problem="the second", strategy="s", confidence=3
        )
    finally:
        connections.close_all()


def wait_for_a_waiter():
    """Return when some session waits for a lock that another has."""
    waiting = "datname = current_database() AND wait_event_type = 'Lock'"
    for _ in range(1200):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction is shown what it saw first
            cursor.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)
    raise AssertionError("nobody waits")


@pytest.mark.postgres_only
@pytest.mark.parametrize("stored", [1, 3], ids=["room", "full"])
def test_a_plain_save_is_one_statement(tenant, backend, stored):
    store = StrategyStore(tenant, capacity=3)
    for number in range(stored):
        store.save(problem=f"problem {number}", strategy="s", confidence=1)

    with CaptureQueriesContext(connection) as captured:
        saved = store.save(problem="another", strategy="s", confidence=2)

    assert (saved.status, len(saved.evicted_ids)) == ("created", stored // 3)
    assert (len(captured) == 1) is (backend == "auto")


@pytest.mark.postgres_only
def test_a_counter_that_is_made_and_erased_while_it_is_taken_is_made_anew(tenant):
    """Between looking for the counter, making it and taking it others may make one, and erase it."""
    acts = [
        lambda: None,
        lambda: StrategyStore(tenant).save(problem="theirs", strategy="s").status,
        lambda: call_command("agentstore_erase", "--tenant", tenant, "--no-input", stdout=io.StringIO()),
    ]
    done = []

    def meanwhile(execute, *statement):
        if acts:
            done.extend(run_parallel(1, lambda _: acts.pop(0)()))
        return execute(*statement)

    with transaction.atomic(), connection.execute_wrapper(meanwhile):
        used = PortableStrategies("default", tenant).lock()

    assert (done, used) == ([None, "created", None], 0)
    assert counted(tenant) == rows(tenant).count() == 0


@pytest.fixture
def waiting(monkeypatch):
    """Return a function that has others act while a write of this thread waits for its turn."""

    def arrange(act):
        begin, acts = store_module.atomic, [act]

        def waited(alias):
            if acts and threading.current_thread() is threading.main_thread():
                assert run_parallel(1, lambda _: acts.pop()()) == [None]
            return begin(alias)

        monkeypatch.setattr(store_module, "atomic", waited)

    return arrange


def test_a_save_that_waited_ranks_by_the_time_at_which_it_acts(tenant, waiting):
    """By the time of its call, what others saved meanwhile would be as old as its own."""

    def other():
        time.sleep(0.05)  # so much later, it ranks higher, though it has more terms
        StrategyStore(tenant, capacity=1).save(id="later", problem="more words than one", strategy="s")

    waiting(other)

    saved = StrategyStore(tenant, capacity=1).save(id="early", problem="one", strategy="s")

    assert saved.status == "not_kept"
    assert [row.strategy_id for row in rows(tenant)] == ["later"]


def test_a_prune_that_waited_ranks_by_the_time_at_which_it_acts(tenant, waiting):
    def other():
        StrategyStore(tenant).save(id="early", problem="one", strategy="s")
        time.sleep(0.05)
        StrategyStore(tenant).save(id="later", problem="more words than one", strategy="s")

    waiting(other)

    assert [row.id for row in StrategyStore(tenant).prune(1)] == ["early"]


def test_tenants_do_not_wait_for_each_other(tenant, other_tenant):
    if connections["default"].vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    StrategyStore(tenant).save(problem="a b", strategy="s")
    StrategyStore(other_tenant).save(problem="a b", strategy="s")
    with StrategyStore(tenant).hold():
        (result,) = run_parallel(
            1, lambda _: StrategyStore(other_tenant).save(problem="c d", strategy="s").status, timeout=60
        )

    assert result == "created"
