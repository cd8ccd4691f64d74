"""Races on a real database: threads with connections of their own, on both back ends.

Each test loops long enough to fail when the guard it is about is taken away. ``block`` says whether
each write stands alone or inside a caller's ``atomic()``, which a refusal must leave usable.
"""

from __future__ import annotations

import random
import threading
from contextlib import nullcontext

import pytest
from django.db import connection, transaction

from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, StorageFailed
from agentstore.core.models import AuditEntry, Usage
from tests.parallel import run_parallel
from tests.testapp.models import Plain, Small, Task

pytestmark = pytest.mark.usefixtures("transactional_db", "backend")


@pytest.fixture(params=[False, True], ids=["alone", "in a block"])
def block(request):
    """Return the context manager that each write of a test is made in."""
    return transaction.atomic if request.param else nullcontext


def names(results):
    """Count results by the name of their type."""
    found = [type(result).__name__ for result in results]
    return {name: found.count(name) for name in found}


def still_usable():
    """Fail if the surrounding block was broken by what happened in it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def ops(store, id):
    return [entry.op for entry in store.history(id)]


@pytest.mark.parametrize("round", range(2))
def test_thirty_parallel_creates_at_a_limit_of_five_leave_five_rows(tenant, block, round):
    store = Small.store(tenant)

    def create(number):
        with block():
            try:
                return store.create({"n": number})
            except QuotaExceeded as refusal:
                still_usable()
                return refusal

    results = run_parallel(30, create)

    assert names(results) == {"EntityRow": 5, "QuotaExceeded": 25}
    assert store.count() == store.usage().used == Small.objects.count() == 5
    assert AuditEntry.objects.filter(op="create").count() == 5
    assert Usage.objects.count() == 1


def test_parallel_creates_of_many_rows_are_all_or_nothing(tenant, block):
    store = Small.store(tenant)

    def create(number):
        with block():
            try:
                return len(store.create_many([{"n": number}] * 2))
            except QuotaExceeded as refusal:
                still_usable()
                return refusal

    results = run_parallel(12, create)

    assert names(results) == {"int": 2, "QuotaExceeded": 10}
    assert store.count() == store.usage().used == 4


def test_tenants_do_not_wait_for_each_other_and_share_nothing(tenant):
    results = run_parallel(24, lambda i: Small.store(f"tenant-{i % 4}").create({"n": i}))

    assert names(results) == {"EntityRow": 20, "QuotaExceeded": 4}
    assert all(Small.store(f"tenant-{i}").usage().used == 5 for i in range(4))


def test_parallel_undeletes_at_the_limit_take_no_place_that_is_not_there(tenant, block):
    store = Small.store(tenant)
    gone = [store.create({"n": number}) for number in range(5)]
    for row in gone:
        store.delete(row.id)
    store.create_many([{}] * 3)

    def undelete(number):
        with block():
            try:
                return store.undelete(gone[number % 5].id).changed
            except QuotaExceeded as refusal:
                still_usable()
                return refusal

    results = run_parallel(10, undelete)

    assert results.count(True) == 2
    assert store.count() == store.usage().used == 5


def test_counters_equal_live_rows_after_a_storm_of_eight_writers(tenant, block):
    store = Small.store(tenant)
    shared = [row.id for row in store.create_many([{}] * 4)]

    def storm(seed):
        rng, done = random.Random(seed), 0
        for _ in range(40):
            with block():
                done += step(rng)
        return done

    def step(rng):
        try:
            action = rng.choice(["create", "create", "delete", "delete", "undelete", "update"])
            if action == "create":
                shared.append(store.create({"n": 1}).id)
            elif action == "delete":
                return store.delete(rng.choice(shared))
            elif action == "undelete":
                return store.undelete(rng.choice(shared)).changed
            else:
                store.update(rng.choice(shared), {"n": rng.random() < 0.5 and 2 or 3})
        except (QuotaExceeded, NotFound):
            still_usable()
            return False
        return True

    results = run_parallel(8, storm)

    assert names(results) == {"int": 8}
    live = Small.objects.filter(tenant=tenant, deleted_at=None).count()
    assert live == store.count() == store.usage().used <= 5
    for id in shared:
        told = ops(store, id)
        assert told.count("delete") - told.count("undelete") == (store.get(id) is None)


def test_deletes_and_undeletes_of_many_rows_at_once_are_all_counted(tenant, block):
    store = Task.store(tenant)
    rows = store.create_many({"text": str(number)} for number in range(160))

    def go_and_come(i):
        for row in rows[i::8]:
            with block():
                store.delete(row.id)
        for row in rows[i::16]:
            with block():
                store.undelete(row.id)

    assert run_parallel(8, go_and_come) == [None] * 8
    assert store.count() == store.usage().used == 80


def test_twenty_pairs_of_patches_of_different_fields_lose_none(tenant, block):
    store = Small.store(tenant)
    row = store.create({})

    for number in range(1, 21):

        def patch(i, number=number):
            with block():
                store.update(row.id, {"ab"[i]: number})
                still_usable()

        assert run_parallel(2, patch) == [None, None]
        found = store.get(row.id)
        assert (found.data.a, found.data.b, found.version) == (number, number, 2 * number + 1)

    assert ops(store, row.id) == ["update"] * 40 + ["create"]


def test_increments_under_a_version_lose_none(tenant, block):
    """Read, add one, write with the version read, and again on a conflict: the classic counter."""
    store = Small.store(tenant)
    row = store.create({})

    def count(_):
        for _ in range(10):
            while True:
                with block():
                    now = store.get(row.id)
                    try:
                        store.update(row.id, {"n": now.data.n + 1}, expected_version=now.version)
                        break
                    except Conflict:
                        still_usable()

    results = run_parallel(4, count)

    assert results == [None] * 4
    assert (store.get(row.id).data.n, store.get(row.id).version) == (40, 41)


@pytest.mark.parametrize("write", ["update", "replace", "delete"])
def test_of_eight_writers_with_one_version_exactly_one_wins(tenant, block, write):
    store = Task.store(tenant)

    for _ in range(6):
        row = store.create({"text": "before"})

        def change(i, row=row):
            with block():
                try:
                    if write == "delete":
                        return store.delete(row.id, expected_version=1)
                    return getattr(store, write)(row.id, {"text": f"writer {i}"}, expected_version=1)
                except Conflict as refusal:
                    still_usable()
                    return refusal

        results = run_parallel(8, change)

        if write == "delete":
            assert sorted(results) == [False] * 7 + [True]
            assert ops(store, row.id) == ["delete", "create"]
            continue
        assert names(results) == {"EntityRow": 1, "Conflict": 7}
        (winner,) = [result for result in results if not isinstance(result, Conflict)]
        assert {result.current_version for result in results if isinstance(result, Conflict)} == {2}
        assert (store.get(row.id).data, store.get(row.id).version) == (winner.data, 2)
        assert ops(store, row.id) == ["update", "create"]


def test_deletes_and_undeletes_of_one_row_are_told_once_each(tenant, block):
    store = Small.store(tenant)
    row = store.create({})

    def toggle(i):
        with block():
            return store.delete(row.id) if i % 2 else store.undelete(row.id).changed

    for _ in range(6):
        results = run_parallel(8, toggle)
        assert not [result for result in results if isinstance(result, Exception)]

    told = ops(store, row.id)
    assert told.count("delete") - told.count("undelete") == (store.get(row.id) is None)
    assert store.usage().used == store.count() == (store.get(row.id) is not None)


def test_a_delete_and_a_patch_at_once_leave_no_half(tenant, block):
    store = Task.store(tenant)

    for _ in range(10):
        row = store.create({"text": "a"})

        def write(i, row=row):
            with block():
                try:
                    return store.delete(row.id) if i else store.update(row.id, {"text": "b"}).version
                except NotFound as refusal:
                    still_usable()
                    return refusal

        patched, deleted = run_parallel(2, write)

        assert deleted is True
        assert store.get(row.id) is None
        expected = ["delete", "create"] if isinstance(patched, NotFound) else ["delete", "update", "create"]
        assert ops(store, row.id) == expected
        assert store.history(row.id)[0].version == (1 if isinstance(patched, NotFound) else 2)


def test_the_first_creates_of_a_tenant_make_one_counter(block):
    for number in range(8):
        store = Task.store(f"tenant-{number}")

        def create(_, store=store):
            with block():
                store.create({"text": "a"})

        assert run_parallel(6, create) == [None] * 6
        assert store.usage().used == 6

    assert Usage.objects.count() == 8


def test_a_write_waits_for_the_callers_block_of_another(tenant):
    """What a block has not committed yet is not lost, nor seen: the second writer decides on it anew."""
    store = Task.store(tenant)
    row = store.create({"text": "a"})

    def write(i):
        with transaction.atomic():
            changed = store.update(row.id, {"priority": 1} if i else {"done": True})
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("SELECT pg_sleep(0.05)")
            return changed.version

    assert sorted(run_parallel(2, write)) == [2, 3]
    found = store.get(row.id)
    assert (found.data.priority, found.data.done) == (1, True)


@pytest.mark.postgres_only
def test_a_deadlock_is_a_storage_error_that_may_be_tried_again(tenant):
    """Two blocks that create in two entities in opposite order: PostgreSQL ends one of them."""
    both_have_begun = threading.Barrier(2, timeout=60)
    stores = [Task.store(tenant), Plain.store(tenant)]
    for store in stores:
        store.create({"text": "the counters are there"})

    def cross(i):
        with transaction.atomic():
            stores[i].create({"text": "first"})
            both_have_begun.wait()
            stores[1 - i].create({"text": "second"})

    results = run_parallel(2, cross)

    assert sorted(map(str, results)) == ["None", "The database did not carry out the operation."]
    (refusal,) = [result for result in results if result is not None]
    assert isinstance(refusal, StorageFailed)
    assert refusal.retryable
    assert [store.usage().used for store in stores] == [store.count() for store in stores] == [2, 2]
