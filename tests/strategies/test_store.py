"""What only the store in the database promises: isolation in SQL, spoiled rows, trouble, races."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import override_settings

from agentstore.core import storage
from agentstore.core.errors import BypassRefused, StorageFailed, ValidationFailed
from agentstore.core.models import Usage
from agentstore.core.values import now
from agentstore.signals import strategy_changed, strategy_incident
from agentstore.strategies import StrategyStore
from agentstore.strategies.entry import INJECTION_BUDGET_BYTES
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.portable import COUNTER, PortableStrategies
from tests.entities.test_tenancy_sql import TENANT, captured, complaints
from tests.parallel import run_parallel
from tests.strategies.rows import FAR

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["auto", "portable"], autouse=True)
def backend(request):
    with override_settings(AGENTSTORE={"BACKEND": request.param}):
        yield request.param


@pytest.fixture
def lessons(tenant):
    return StrategyStore(tenant)


def spoil(tenant, **values):
    Strategy._base_manager.filter(tenant=tenant).update(**values)


def counted(tenant):
    return Usage._base_manager.get(tenant=tenant, entity=COUNTER).used


@pytest.mark.parametrize(
    ("one", "other"), [("foo", "foobar"), ("user_1", "userX1"), ("a%", "ab"), ("acme", "ACME")]
)
def test_find_never_crosses_tenants(one, other):
    StrategyStore(one).save(problem="extract tables", strategy="s")

    assert len(StrategyStore(one).find("extract tables")) == 1
    assert StrategyStore(other).find("extract tables").empty_because == "no_match"


def test_every_statement_on_strategies_restricts_the_tenant():
    lessons = StrategyStore(TENANT, capacity=3)
    with captured() as found:
        saved = lessons.save(problem="extract tables", strategy="s")
        lessons.save(problem="extract tables", strategy="S", confidence=3)
        lessons.find("extract")
        lessons.explain("extract", saved.id)
        lessons.has(problem="a", strategy="b")
        lessons.usage()
        lessons.list()
        lessons.seed([{"problem": f"problem {number}", "strategy": "q"} for number in range(2)])
        lessons.save(problem="one too many", strategy="s")
        lessons.prune(1, dry_run=True)
        spoil(TENANT, confidence=7.0)
        lessons.find("many")
        lessons.prune(1)
        lessons.prune(0)
        lessons.delete(saved.id)

    touching = " ".join(sql for sql, _ in found)
    assert all(f"agentstore_{name}" in touching for name in ("strategy", "usage", "incident"))
    assert [complaint for sql, params in found for complaint in complaints(sql, params)] == []


def test_the_budget_ends_a_find_before_the_first_text_that_does_not_fit(lessons):
    for number in range(6):
        lessons.save(problem=f"extract tables {number}", strategy=f"{number}" + "x" * 4000)

    found = lessons.find("extract tables", limit=math.inf)

    assert found.truncated and found.left_out == 2
    assert sum(len(match.strategy) for match in found) <= INJECTION_BUDGET_BYTES


def test_a_row_with_a_time_in_2999_ranks_as_now_not_above_it(lessons, tenant):
    lessons.save(problem="extract tables far", strategy="from the future", confidence=1)
    spoil(tenant, ts=FAR, rank=9999.0)
    lessons.save(problem="extract tables near", strategy="surer", confidence=3)

    found = lessons.find("extract tables")

    assert [match.strategy for match in found] == ["surer", "from the future"]


def test_a_row_from_2999_is_evicted_in_its_turn(tenant):
    small = StrategyStore(tenant, capacity=2)
    future = small.save(problem="p one", strategy="from the future", confidence=1)
    spoil(tenant, ts=FAR, rank=9999.0)
    small.save(problem="p two", strategy="b", confidence=2)

    saved = small.save(problem="p three", strategy="c", confidence=3)

    assert saved.evicted_ids == [future.id]


@pytest.mark.parametrize(
    "values",
    [{"problem": ""}, {"confidence": 7.0}, {"strategy": " "}, {"strategy_id": "no id"}, {"origin": "stolen"}],
    ids=str,
)
def test_a_row_spoiled_by_hand_is_skipped_reported_and_stays(lessons, tenant, values):
    lessons.save(problem="extract tables", strategy="s")
    spoil(tenant, **values)
    lessons.save(problem="extract other tables", strategy="t")

    found = lessons.find("extract tables")

    assert [match.strategy for match in found] == ["t"]
    assert Strategy.objects.filter(tenant=tenant).count() == 2
    assert Incident.objects.get(tenant=tenant).op == "parse"
    assert len(lessons.list()) == 1


def test_an_incident_is_one_counted_row(lessons, tenant):
    lessons.save(problem="extract tables", strategy="s", id="spoiled")
    spoil(tenant, confidence=7.0)

    for _ in range(3):
        lessons.find("extract tables")

    incident = Incident.objects.get(tenant=tenant)
    assert (incident.op, incident.strategy_id, incident.count) == ("parse", "spoiled", 3)
    assert incident.first_at <= incident.last_at


def test_incidents_of_two_tenants_are_counted_apart(tenant, other_tenant):
    for name, times in ((tenant, 2), (other_tenant, 1)):
        StrategyStore(name).save(problem="extract tables", strategy="s", id="spoiled")
        spoil(name, confidence=7.0)
        for _ in range(times):
            StrategyStore(name).find("extract tables")

    counts = Incident.objects.values_list("tenant", "strategy_id", "count")
    assert set(counts) == {(tenant, "spoiled", 2), (other_tenant, "spoiled", 1)}


def test_a_failing_receiver_of_incidents_does_not_break_find(lessons, tenant):
    def broken(**kwargs):
        raise RuntimeError("broken receiver")

    lessons.save(problem="extract tables", strategy="s")
    spoil(tenant, confidence=7.0)
    strategy_incident.connect(broken)
    try:
        found = lessons.find("extract tables")
    finally:
        strategy_incident.disconnect(broken)

    assert found.empty_because == "no_match"


@pytest.fixture
def broken_reads(monkeypatch):
    """Make every read of strategies by terms end in an error of the database."""

    def fail(self, terms):
        with connection.cursor() as cursor:
            cursor.execute("SELECT no_such_column FROM agentstore_strategy")

    monkeypatch.setattr(PortableStrategies, "with_terms", storage.translate_errors(fail))


def test_a_database_error_in_find_gives_nothing_and_leaves_the_transaction_usable(
    lessons, tenant, broken_reads
):
    with transaction.atomic():
        found = lessons.find("extract tables")

        assert list(found) == [] and found.empty_because == "failed"
        assert Incident.objects.get(tenant=tenant).op == "find"


def test_an_error_in_save_is_raised_reported_and_writes_nothing(lessons, tenant, monkeypatch):
    def fail(self, row, *, pk, gone):
        raise DatabaseError("disk full")

    monkeypatch.setattr(PortableStrategies, "apply", storage.translate_errors(fail))
    monkeypatch.setattr(
        "agentstore.strategies.postgres.PostgresStrategies.apply", storage.translate_errors(fail)
    )

    with pytest.raises(StorageFailed) as caught:
        lessons.save(problem="extract tables", strategy="s")

    assert "disk" not in f"{caught.value} {caught.value.hint}"
    assert Incident.objects.get(tenant=tenant).op == "save"
    assert lessons.usage().used == Strategy.objects.filter(tenant=tenant).count() == 0


def test_a_row_of_an_older_tokenizer_is_tokenised_anew_on_reading(lessons, tenant):
    lessons.save(problem="extract tables", strategy="s")
    spoil(tenant, terms=["other"], term_count=9, tokenizer_version="0")

    assert [match.strategy for match in lessons.find("extract tables")] == ["s"]


@pytest.mark.parametrize(
    ("settings", "query", "count"),
    [
        ({}, "extract", 1),
        ({"STRATEGY_MIN_TERMS": 2}, "extract", 0),
        ({"STRATEGY_MIN_TERMS": 2}, "extract tables", 1),
        ({"STRATEGY_MIN_OVERLAP": 0.5}, "extract", 0),
        ({"STRATEGY_MIN_OVERLAP": 0.5}, "extract tables", 1),
    ],
)
def test_the_settings_tighten_a_match(lessons, backend, settings, query, count):
    lessons.save(problem="extract tables from reports", strategy="s")

    with override_settings(AGENTSTORE={"BACKEND": backend, **settings}):
        assert len(lessons.find(query)) == count


def test_the_setting_is_the_capacity_unless_the_store_has_its_own(tenant, backend):
    with override_settings(AGENTSTORE={"BACKEND": backend, "STRATEGY_CAPACITY": 7}):
        assert StrategyStore(tenant).usage().capacity == 7
        assert StrategyStore(tenant, capacity=3).usage().capacity == 3


@pytest.mark.parametrize("number", [-1, 2.5, True, math.inf])
def test_a_capacity_setting_that_is_none_is_refused_by_name(tenant, backend, number):
    settings = {"BACKEND": backend, "STRATEGY_CAPACITY": number}

    with override_settings(AGENTSTORE=settings), pytest.raises(ValidationFailed, match="STRATEGY_CAPACITY"):
        StrategyStore(tenant).save(problem="p q", strategy="s")


def test_host_code_that_writes_around_the_store_is_refused(lessons, tenant):
    lessons.save(problem="extract tables", strategy="s")
    row = Strategy.objects.get(tenant=tenant)

    for write in (row.save, row.delete, Strategy.objects.all().delete):
        with pytest.raises(BypassRefused) as caught:
            write()
        assert "StrategyStore(tenant)" in caught.value.hint


def test_receivers_hear_of_a_change_after_the_commit_by_id_only(tenant, django_capture_on_commit_callbacks):
    heard = []

    def listen(*, signal, sender, **news):
        heard.append(news)

    strategy_changed.connect(listen)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            saved = StrategyStore(tenant, actor="agent:bia").save(problem="p q", strategy="s")
    finally:
        strategy_changed.disconnect(listen)

    assert heard == [{"tenant": tenant, "id": saved.id, "op": "created", "actor": "agent:bia"}]


def test_a_failure_in_the_middle_of_a_seed_is_reported_and_a_replay_completes_it(
    lessons, tenant, monkeypatch
):
    entries = [{"id": f"s{n}", "problem": f"problem {n}", "strategy": "s"} for n in range(4)]
    usual = StrategyStore.save

    def fails_at_two(self, **fields):
        if fields["id"] == "s2":
            raise StorageFailed("The database did not carry out the operation.")
        return usual(self, **fields)

    monkeypatch.setattr(StrategyStore, "save", fails_at_two)
    stopped = lessons.seed(entries)
    monkeypatch.undo()
    completed = lessons.seed(entries)

    assert stopped.written == 2 and stopped.failed_at.id == "s2"
    assert completed.written == 4 and completed.failed_at is None
    assert lessons.usage().used == 4


def test_a_save_inside_a_block_that_is_rolled_back_leaves_nothing(lessons, tenant):
    lessons.save(problem="stays here", strategy="s")

    with pytest.raises(RuntimeError), transaction.atomic():
        lessons.save(problem="goes away", strategy="s")
        raise RuntimeError

    assert lessons.usage().used == counted(tenant) == 1


@pytest.mark.django_db(transaction=True)
def test_eight_writers_into_a_cap_of_fifty_leave_the_best_fifty(tenant):
    base = now() - timedelta(days=1)

    def write(writer):
        own = StrategyStore(tenant, capacity=50)
        for number in range(200):
            ts = base + timedelta(seconds=writer * 1000 + number * 7)
            own.save(problem=f"problem {writer} {number}", strategy="s", ts=ts, confidence=2)

    results = run_parallel(8, write, timeout=300)

    kept = Strategy.objects.filter(tenant=tenant)
    assert results == [None] * 8
    assert kept.count() == counted(tenant) == 50
    # The times of writer 7 are the latest: its last fifty are the best of all that was ever saved.
    assert {row.problem for row in kept} == {f"problem 7 {number}" for number in range(150, 200)}


@pytest.mark.django_db(transaction=True)
def test_the_same_content_from_eight_writers_is_one_row(tenant):
    def write(writer):
        return [
            StrategyStore(tenant).save(problem="same words", strategy="same", confidence=writer / 3).status
            for _ in range(10)
        ]

    results = run_parallel(8, write)

    statuses = [status for result in results for status in result]
    assert statuses.count("created") == 1 and statuses.count("merged") == 79
    assert Strategy.objects.get(tenant=tenant).confidence == pytest.approx(7 / 3)
    assert counted(tenant) == 1


@pytest.mark.django_db(transaction=True)
def test_saves_deletes_and_prunes_at_once_keep_the_counter_true(tenant):
    def work(worker):
        own = StrategyStore(tenant, capacity=30)
        for number in range(25):
            saved = own.save(problem=f"p {worker} {number}", strategy="s")
            if number % 3 == 0:
                own.delete(saved.id)
            if number % 10 == 9:
                own.prune(20)

    results = run_parallel(8, work)

    assert results == [None] * 8
    assert counted(tenant) == Strategy.objects.filter(tenant=tenant).count() <= 30
