"""Idempotency keys: the same create again is no second row; per tenant and actor, for a day."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, ValidationFailed
from agentstore.core.models import AuditEntry, IdempotencyKey
from agentstore.core.values import clock_at
from tests.parallel import run_parallel
from tests.testapp.models import Plain, Small, Task, TaskData

START = datetime(2026, 1, 1, 9, tzinfo=UTC)


def test_the_same_create_again_returns_what_the_first_made(tasks):
    first = tasks.create({"text": "a"}, idempotency_key="k")

    again = tasks.create({"text": "a"}, idempotency_key="k")

    assert (again.id, again.version, again.data, again.raw) == (first.id, 1, first.data, first.raw)
    assert (again.created_at, again.updated_at) == (first.created_at, first.updated_at)
    assert (first.changed, again.changed) == (True, False)
    assert tasks.count() == tasks.usage().used == AuditEntry.objects.count() == 1


def test_the_same_create_again_is_answered_whatever_became_of_the_row(tasks):
    first = tasks.create({"text": "a"}, idempotency_key="k")
    tasks.update(first.id, {"text": "b"})
    tasks.delete(first.id)

    again = tasks.create({"text": "a"}, idempotency_key="k")

    assert (again.id, again.version, again.data) == (first.id, 1, TaskData(text="a"))
    assert tasks.count() == 0


def test_the_same_create_many_again_returns_its_rows_in_order(tasks):
    items = [{"text": str(number)} for number in range(7)]
    first = tasks.create_many(items, idempotency_key="k")

    again = tasks.create_many(iter(items), idempotency_key="k")

    assert [row.id for row in again] == [row.id for row in first]
    assert [row.data for row in again] == [row.data for row in first]
    assert tasks.count() == 7


def test_key_order_and_python_values_make_no_difference(tasks):
    first = tasks.create({"text": "a", "due_at": START, "priority": 1}, idempotency_key="k")

    again = tasks.create({"priority": 1, "due_at": "2026-01-01T09:00:00Z", "text": "a"}, idempotency_key="k")

    assert again.id == first.id


@pytest.mark.parametrize("data", [{"text": "b"}, {"text": "a", "done": True}], ids=str)
def test_other_data_with_the_key_is_a_conflict(tasks, data):
    tasks.create({"text": "a"}, idempotency_key="k")

    with pytest.raises(Conflict, match="'k' was used before, with other data") as info:
        tasks.create(data, idempotency_key="k")

    assert info.value.hint
    assert tasks.count() == 1


def test_another_call_or_entity_with_the_key_is_a_conflict(tasks, store_of, tenant, actor):
    tasks.create({"text": "a"}, idempotency_key="k")

    with pytest.raises(Conflict):
        tasks.create_many([{"text": "a"}], idempotency_key="k")
    with pytest.raises(Conflict):
        store_of(Plain, tenant, actor=actor).create({"text": "a"}, idempotency_key="k")


@pytest.mark.local_only
def test_a_key_belongs_to_its_tenant_and_actor(tasks, tenant, other_tenant):
    stores = [
        tasks,
        Task.store(other_tenant, actor="agent:bia"),
        Task.store(tenant, actor="agent:tom"),
        Task.store(tenant),
    ]
    first = [store.create({"text": str(n)}, idempotency_key="k") for n, store in enumerate(stores)]
    tasks.create({"text": "e"}, idempotency_key="k", actor="agent:eva")

    again = [store.create({"text": str(n)}, idempotency_key="k") for n, store in enumerate(stores)]

    assert [row.id for row in again] == [row.id for row in first]
    assert Task.objects.count() == 5


@pytest.mark.local_only
def test_a_key_is_remembered_for_24_hours(tasks):
    with clock_at(START):
        first = tasks.create({"text": "a"}, idempotency_key="k")
    with clock_at(START + timedelta(hours=24)):
        assert tasks.create({"text": "a"}, idempotency_key="k").id == first.id
    with clock_at(START + timedelta(hours=24, microseconds=1)):
        second = tasks.create({"text": "b"}, idempotency_key="k")
        assert tasks.create({"text": "b"}, idempotency_key="k").id == second.id

    assert tasks.count() == 2
    assert IdempotencyKey.objects.count() == 1


@pytest.mark.local_only
def test_the_time_can_be_set(tasks, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "IDEMPOTENCY_HOURS": 1}
    with clock_at(START):
        tasks.create({"text": "a"}, idempotency_key="k")

    with clock_at(START + timedelta(hours=2)):
        tasks.create({"text": "b"}, idempotency_key="k")

    assert tasks.count() == 2


@pytest.mark.local_only
def test_an_expired_key_of_others_stays(tasks, other_tenant):
    with clock_at(START):
        Task.store(other_tenant, actor="agent:bia").create({"text": "a"}, idempotency_key="k")
        tasks.create({"text": "a"}, idempotency_key="other")
        tasks.create({"text": "a"}, idempotency_key="k", actor="agent:tom")
    with clock_at(START + timedelta(days=2)):
        tasks.create({"text": "b"}, idempotency_key="k")

    assert IdempotencyKey.objects.count() == 4


@pytest.mark.parametrize("refusal", ["quota", "validation"])
def test_a_refusal_leaves_the_key_unused(store_of, tenant, refusal):
    store = store_of(Small, tenant)
    rows = store.create_many([{}] * 5)

    with pytest.raises(QuotaExceeded if refusal == "quota" else ValidationFailed):
        store.create({} if refusal == "quota" else {"n": "x"}, idempotency_key="k")
    assert not IdempotencyKey.objects.filter(key="k").exists()
    store.delete(rows[0].id)

    assert store.create({"n": 7}, idempotency_key="k").data.n == 7


@pytest.mark.local_only
@pytest.mark.parametrize("limit", [5, 2, 0])
def test_the_same_create_again_is_answered_though_there_is_no_place_left(
    store_of, tenant, monkeypatch, limit
):
    store = store_of(Small, tenant)
    first = store.create_many([{"n": 1}] * 5, idempotency_key="k")
    monkeypatch.setattr(type(Small.entity), "capacity", lambda self, tenant: limit)

    again = store.create_many([{"n": 1}] * 5, idempotency_key="k")

    assert [row.id for row in again] == [row.id for row in first]
    with pytest.raises(Conflict):
        store.create_many([{"n": 2}] * 5, idempotency_key="k")
    with pytest.raises(QuotaExceeded):
        store.create_many([{"n": 1}] * 5, idempotency_key="other")
    assert IdempotencyKey.objects.count() == 1


@pytest.mark.local_only
def test_a_conflict_and_a_quota_with_a_key_leave_the_callers_block_usable(tasks):
    with transaction.atomic():
        tasks.create({"text": "a"}, idempotency_key="k")
        with pytest.raises(Conflict):
            tasks.create({"text": "b"}, idempotency_key="k")
        assert tasks.create({"text": "a"}, idempotency_key="k").changed is False
        tasks.create({"text": "c"})

    assert tasks.count() == 2


@pytest.mark.local_only
def test_a_block_that_is_undone_takes_the_key_along(tasks):
    with pytest.raises(RuntimeError), transaction.atomic():
        tasks.create({"text": "a"}, idempotency_key="k")
        raise RuntimeError

    assert tasks.create({"text": "b"}, idempotency_key="k").changed


@pytest.mark.parametrize(
    "key", ["", 5, True, "x" * 256, "\0", "\ud800", b"k", ["k"]], ids=lambda key: repr(key)[:12]
)
def test_what_is_no_key_is_refused(tasks, key):
    with pytest.raises(ValidationFailed) as info:
        tasks.create({"text": "a"}, idempotency_key=key)

    assert list(info.value.errors) == ["idempotency_key"]
    assert tasks.count() == 0


@pytest.mark.parametrize("key", [" ", "x" * 255, "é", "a/b%_"])
def test_any_text_is_a_key(tasks, key):
    assert (
        tasks.create({"text": "a"}, idempotency_key=key).id
        == tasks.create({"text": "a"}, idempotency_key=key).id
    )


def long_text(seed):
    """Return the longest label there may be, of characters that no database can compress."""
    pick = random.Random(seed)
    return "".join(chr(pick.randrange(0x20000, 0x2FA00)) for _ in range(255))


@pytest.mark.local_only
def test_the_longest_names_have_their_place_in_every_index(db, backend):
    """A row of an index holds 2,704 bytes, and each of these has 1,020."""
    store = Task.store(long_text(1), actor=long_text(2))
    key = long_text(3)

    row = store.create({"text": long_text(4)[:250]}, idempotency_key=key)

    assert store.create({"text": long_text(4)[:250]}, idempotency_key=key).id == row.id
    assert store.create({"text": long_text(4)[:250]}, idempotency_key=f"{key[:-1]}x").changed
    with pytest.raises(Conflict, match=f"The idempotency key '{key[:9]}"):
        store.create({"text": "other"}, idempotency_key=key)
    assert [found.id for found in store.query({"text": row.data.text}, order_by="created_at")][0] == row.id


def test_a_row_whose_audit_was_purged_is_not_made_up(tasks):
    row = tasks.create({"text": "a"}, idempotency_key="k")
    AuditEntry._base_manager.filter(row_id=row.id).delete()

    with pytest.raises(NotFound):
        tasks.create({"text": "a"}, idempotency_key="k")


def test_the_deepest_rows_may_be_made_with_a_key(store_of, tenant):
    deep = 0
    for _ in range(63):
        deep = [deep]
    store = store_of(Plain, tenant)

    store.create({"value": deep}, idempotency_key="one")
    store.create_many([{"value": deep}], idempotency_key="many")

    assert store.count() == 2


@pytest.mark.local_only
@pytest.mark.parametrize("many", [False, True])
def test_of_concurrent_creates_with_one_key_one_makes_the_row(transactional_db, backend, tenant, many):
    store = Task.store(tenant)

    def create(_):
        if many:
            return [row.id for row in store.create_many([{"text": "a"}, {"text": "b"}], idempotency_key="k")]
        return [store.create({"text": "a"}, idempotency_key="k").id]

    for _ in range(5):
        results = run_parallel(8, create)

        assert [result for result in results if isinstance(result, Exception)] == []
        assert len({tuple(ids) for ids in results}) == 1
        assert store.count() == store.usage().used == (2 if many else 1)
        store.delete(results[0][0])
        for id in results[0][1:]:
            store.delete(id)
        IdempotencyKey._base_manager.all().delete()


@pytest.mark.local_only
def test_of_concurrent_creates_with_one_key_and_other_data_all_but_one_are_conflicts(
    transactional_db, backend, tenant
):
    store = Task.store(tenant)

    results = run_parallel(8, lambda i: store.create({"text": str(i)}, idempotency_key="k").id)

    assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 7 + ["UUID"]
    assert store.count() == 1
