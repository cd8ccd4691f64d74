"""Maintenance next to writers: counters are recounted and rows purged while others write."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from django.db import OperationalError, connection, transaction

from agentstore.core.errors import Conflict, NotFound, StorageFailed
from agentstore.core.models import AuditEntry, IdempotencyKey, Usage
from agentstore.core.values import clock_at, now
from agentstore.entities import maintenance
from agentstore.entities.maintenance import Counter, purge, purge_keys, recount, wrong_counters
from tests.entities.test_tenancy_sql import captured
from tests.parallel import run_parallel
from tests.referring import referring_to
from tests.testapp.models import Plain, Task

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
A_MONTH_AGO = now() - timedelta(days=30)


def wrong(tenant=None, model=Task):
    return sorted(wrong_counters(model, tenant), key=lambda counter: counter.tenant)


def sweep_up(model=Task, *, tenant=None, dry_run=False):
    """Purge everything that was deleted long ago; return the rows and audit entries that went."""
    found = list(purge(model, A_MONTH_AGO, tenant=tenant, dry_run=dry_run))
    return sum(batch.rows for batch in found), sum(batch.entries for batch in found)


def delete_long_ago(store, *rows):
    with clock_at(LONG_AGO):
        for row in rows:
            store.delete(row.id)


# --- counters -----------------------------------------------------------------------------------


def test_counters_that_tell_the_live_rows_are_right(tasks, other_tenant):
    first, _ = tasks.create_many([{"text": "a"}, {"text": "b"}])
    tasks.delete(first.id)
    Task.store(other_tenant).create({"text": "c"})
    Plain.store("another").create({})

    assert wrong() == []


def test_counters_that_are_wrong_are_found_also_where_there_is_none(tasks, tenant, other_tenant, spoil):
    tasks.create_many([{"text": "a"}, {"text": "b"}])
    Task.store(other_tenant).create({"text": "c"})
    Task.store("third").delete(Task.store("third").create({"text": "d"}).id)
    Usage._base_manager.filter(tenant=tenant).update(used=7)
    Usage._base_manager.filter(tenant=other_tenant).delete()
    Usage._base_manager.filter(tenant="third").update(used=1)

    expected = [Counter("acme", 7, 2), Counter("globex", 0, 1), Counter("third", 1, 0)]
    assert wrong() == expected
    assert wrong(tenant) == expected[:1]
    assert wrong(other_tenant) == expected[1:2]
    assert wrong("unknown") == wrong(model=Plain) == []


def test_many_tenants_are_gone_through_in_batches(db, monkeypatch):
    monkeypatch.setattr(maintenance, "BATCH", 3)
    for number in range(8):
        Task.store(f"t{number}").create({"text": "a"})
    Usage._base_manager.filter(tenant__in=["t0", "t3", "t7"]).update(used=9)
    Usage._base_manager.filter(tenant__in=["t2", "t4", "t5", "t6"]).delete()

    assert [(found.tenant, found.used) for found in wrong()] == [
        ("t0", 9), ("t2", 0), ("t3", 9), ("t4", 0), ("t5", 0), ("t6", 0), ("t7", 9),
    ]  # fmt: skip


@pytest.mark.parametrize("missing", [False, True])
def test_a_recount_sets_the_counter_to_the_live_rows(tasks, tenant, other_tenant, missing):
    Task.store(other_tenant).create({"text": "c"})
    tasks.delete(tasks.create_many([{"text": "a"}, {"text": "b"}])[0].id)
    counters = Usage._base_manager.filter(tenant=tenant)
    counters.delete() if missing else counters.update(used=9)

    assert recount(Task, tenant) == 1

    assert tasks.usage().used == Task.store(other_tenant).usage().used == 1
    assert wrong() == []


def test_a_recount_among_writers_is_right_in_the_end(transactional_db, backend, tenant):
    store = Plain.store(tenant)
    rows = store.create_many([{"text": str(number)} for number in range(20)])

    def work(number):
        rng = random.Random(number)
        if number == 0:
            return [recount(Plain, tenant) for _ in range(40)]
        for _ in range(15):
            id = rng.choice(rows).id
            rng.choice([lambda id: store.create({}), store.delete, store.undelete])(id)
        return None

    results = run_parallel(5, work)

    assert [result for result in results if isinstance(result, Exception)] == []
    assert store.usage().used == store.count()
    assert wrong(model=Plain) == []


@pytest.mark.postgres_only
@pytest.mark.parametrize("moment", ["before it begins", "before it counts"])
def test_a_recount_waits_for_a_writer_that_has_not_committed(transactional_db, backend, tenant, moment):
    """The writer's row is not seen yet, and its place is taken already: counting now would lose one."""
    store = Plain.store(tenant)
    store.create({})
    begun, written, counted = Event(), Event(), Event()

    def hold(execute, sql, *rest):
        if sql.startswith("SELECT"):
            begun.set()
            written.wait(60)
        return execute(sql, *rest)

    def work(number):
        if number == 0:
            begun.wait(60)
            with transaction.atomic():
                store.create({})
                written.set()
                return "counted meanwhile" if counted.wait(1) else "waited"
        if moment == "before it begins":
            begun.set()
            written.wait(60)
        with connection.execute_wrapper(hold):
            live = recount(Plain, tenant)
        counted.set()
        return live

    assert run_parallel(2, work) == ["waited", 2]
    assert store.usage().used == 2


# --- purge --------------------------------------------------------------------------------------


def test_rows_are_purged_in_batches_with_all_their_audit(tasks, tenant, other_tenant, monkeypatch):
    monkeypatch.setattr(maintenance, "BATCH", 3)
    rows = tasks.create_many([{"text": str(number)} for number in range(10)])
    for row in rows:
        tasks.update(row.id, {"done": True})
    theirs = Task.store(other_tenant).create({"text": "b"})
    delete_long_ago(tasks, *rows[:8])
    delete_long_ago(Task.store(other_tenant), theirs)

    assert sweep_up(dry_run=True) == sweep_up() == (9, 26)
    assert sweep_up() == (0, 0)

    assert set(Task.objects.values_list("id", flat=True)) == {row.id for row in rows[8:]}
    assert AuditEntry.objects.count() == 4
    assert tasks.usage().used == 2


@pytest.mark.postgres_only
@pytest.mark.parametrize("dry_run", [True, False])
def test_no_batch_is_looked_for_by_a_plan_made_for_a_tenant_of_average_size(tasks, monkeypatch, dry_run):
    """From the sixth batch on PostgreSQL would keep one: minutes instead of moments for a large tenant."""
    monkeypatch.setattr(maintenance, "BATCH", 1)
    for number in range(9):
        tasks.delete(tasks.create({"text": str(number)}, idempotency_key=str(number)).id)

    assert sum(found.rows for found in purge(Task, now(), tenant=None, dry_run=dry_run)) == 9
    assert purge_keys("default", now(), tenant=None, dry_run=dry_run) == 9

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT statement FROM pg_prepared_statements WHERE generic_plans > 0"
            " AND statement NOT LIKE '%INSERT%' AND statement LIKE '%tenant%'"
            " AND (statement LIKE '% IN (%' OR statement LIKE '%ORDER BY%LIMIT%')"
        )
        assert cursor.fetchall() == []


def test_one_tenants_purge_leaves_the_others_alone(tasks, tenant, other_tenant):
    mine, theirs = tasks.create({"text": "a"}), Task.store(other_tenant).create({"text": "b"})
    delete_long_ago(tasks, mine)
    delete_long_ago(Task.store(other_tenant), theirs)

    assert sweep_up(tenant=tenant) == (1, 2)
    assert sweep_up(tenant="unknown") == (0, 0)

    assert Task.store(other_tenant).undelete(theirs.id).data.text == "b"
    with pytest.raises(NotFound):
        tasks.undelete(mine.id)


def test_a_row_that_is_undeleted_meanwhile_stays_with_its_audit(tasks, monkeypatch):
    back, gone = tasks.create_many([{"text": "a"}, {"text": "b"}])
    delete_long_ago(tasks, back, gone)
    remove = maintenance._remove

    def later(*args):
        tasks.undelete(back.id)
        return remove(*args)

    monkeypatch.setattr(maintenance, "_remove", later)

    assert sweep_up() == (1, 2)
    assert [entry.op for entry in tasks.history(back.id)] == ["undelete", "delete", "create"]
    assert tasks.get(back.id).data.text == "a"
    assert tasks.history(gone.id) == []


def test_purging_among_those_who_undelete_keeps_row_and_audit_together(transactional_db, backend, tenant):
    store = Plain.store(tenant)
    rows = store.create_many([{"text": str(number)} for number in range(60)])
    delete_long_ago(store, *rows)

    def work(number):
        if number == 0:
            return sweep_up(Plain)
        found = []
        for row in rows[number - 1 :: 2]:
            try:
                found.append(store.undelete(row.id))
            except NotFound:
                continue
        return found

    (purged, _), *undeleted = run_parallel(3, work)

    alive = {row.id for some in undeleted for row in some}
    assert purged + len(alive) == 60
    assert set(Plain.objects.values_list("id", flat=True)) == alive
    assert set(AuditEntry.objects.values_list("row_id", flat=True)) == alive
    assert store.usage().used == len(alive)


def test_a_row_that_a_table_of_the_hosts_refers_to_stays_and_that_is_told(tasks):
    one, other = tasks.create_many([{"text": "a"}, {"text": "b"}])
    delete_long_ago(tasks, one, other)
    with referring_to(Task, one.id), pytest.raises(Conflict) as caught:
        sweep_up()

    assert "still referred to by another table" in caught.value.message
    assert Task.objects.count() == 2
    assert sweep_up() == (2, 4)


def test_expired_keys_are_purged_by_tenant_and_in_batches(db, tenant, other_tenant, monkeypatch):
    monkeypatch.setattr(maintenance, "BATCH", 2)
    for owner in (tenant, other_tenant):
        for number in range(5):
            Plain.store(owner).create({}, idempotency_key=str(number))
    IdempotencyKey._base_manager.exclude(key="4").update(created_at=LONG_AGO)
    how = {"dry_run": False}

    assert purge_keys("default", A_MONTH_AGO, tenant=None, dry_run=True) == 8
    assert purge_keys("default", A_MONTH_AGO, tenant=tenant, **how) == 4
    assert purge_keys("default", A_MONTH_AGO, tenant=None, **how) == 4
    assert purge_keys("default", A_MONTH_AGO, tenant=None, **how) == 0

    assert set(IdempotencyKey.objects.values_list("key", flat=True)) == {"4"}


def test_every_change_of_maintenance_names_its_tenant(tasks, tenant, other_tenant):
    for owner in (tenant, other_tenant):
        store = Task.store(owner)
        delete_long_ago(store, store.create({"text": "a"}, idempotency_key="k"))
        Usage._base_manager.filter(tenant=owner).update(used=3)
    IdempotencyKey._base_manager.update(created_at=LONG_AGO)

    with captured() as statements:
        assert sweep_up() == (2, 4)
        assert purge_keys("default", A_MONTH_AGO, tenant=None, dry_run=False) == 2
        for counter in wrong():
            recount(Task, counter.tenant)

    changes = [sql for sql, _ in statements if re.match("DELETE|UPDATE", sql)]
    assert len(changes) == 8
    assert all(re.search(r'"tenant" = ', sql) for sql in changes)


def test_a_failing_database_is_a_storage_error(tasks, monkeypatch, caplog):
    def fail(*args, **kwargs):
        raise OperationalError("lost")

    tasks.create({"text": "a"})
    with connection.execute_wrapper(fail):
        for call in (lambda: wrong(), lambda: recount(Task, "acme"), lambda: sweep_up()):
            with pytest.raises(StorageFailed):
                call()
