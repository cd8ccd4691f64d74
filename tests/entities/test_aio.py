"""The async twins: the same arguments, results and errors as the methods they stand for."""

from __future__ import annotations

import asyncio
import inspect
import threading

import pytest
from asgiref.sync import async_to_sync

from agentstore import acting
from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, ValidationFailed
from agentstore.core.models import AuditEntry
from agentstore.core.values import new_id
from agentstore.entities.aio import AsyncTwins
from agentstore.entities.reading import ReadingStore
from agentstore.entities.store import EntityStore
from tests.testapp.models import Small, Task

METHODS = [
    name
    for name, value in inspect.getmembers(EntityStore, inspect.isfunction)
    if not name.startswith("_") and not name.startswith("a") and name != "not_found"
]


def test_the_list_of_methods_is_the_documented_one():
    assert METHODS == [
        "count",
        "create",
        "create_many",
        "delete",
        "get",
        "get_deleted",
        "history",
        "iterate",
        "query",
        "replace",
        "undelete",
        "update",
        "usage",
    ]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_twin_of_the_same_signature(name):
    twin = getattr(AsyncTwins, f"a{name}")
    method = getattr(EntityStore, name)

    assert inspect.iscoroutinefunction(twin) or inspect.isasyncgenfunction(twin)
    left, right = inspect.signature(method), inspect.signature(twin)
    assert list(left.parameters.values()) == list(right.parameters.values())
    assert twin.__doc__ == f"Do what ``{name}`` does." or name == "iterate"
    assert issubclass(EntityStore, ReadingStore)


def test_each_twin_does_what_its_method_does(tasks):
    async def story():
        row = await tasks.acreate({"text": "a"}, idempotency_key="k", reason="why")
        assert (await tasks.acreate({"text": "a"}, idempotency_key="k", reason="why")).id == row.id
        many = await tasks.acreate_many([{"text": "b"}, {"text": "c"}])
        changed = await tasks.aupdate(row.id, {"priority": 1}, unset=["done"], expected_version=1)
        replaced = await tasks.areplace(row.id, {"text": "z"}, expected_version=2)
        assert await tasks.adelete(many[0].id, expected_version=1) is True
        assert (await tasks.aget_deleted(many[0].id)).data == many[0].data
        back = await tasks.aundelete(many[0].id)
        page = await tasks.aquery({"text__in": ["b", "c", "z"]}, limit=2, order_by="text")
        rest = await tasks.aquery(
            {"text__in": ["b", "c", "z"]}, limit=2, order_by="text", cursor=page.next_cursor
        )
        assert [found.data.text async for found in tasks.aiterate(order_by="-text")] == ["z", "c", "b"]
        assert (await tasks.aget(row.id)).data == replaced.data
        assert (await tasks.aget(row.id, version=1)).data == row.data
        assert await tasks.acount({"text": "b"}) == 1
        assert (await tasks.ausage()).used == 3
        entries = await tasks.ahistory(row.id, limit=2)
        assert [entry.op for entry in entries] == ["update", "update"]
        assert (await tasks.ahistory(row.id, before=entries[-1].id))[0].reason == "why"
        return changed, back, [found.data.text for found in (*page, *rest)]

    changed, back, texts = async_to_sync(story)()

    assert (changed.version, changed.data.priority) == (2, 1)
    assert back.changed
    assert texts == ["b", "c", "z"]


def test_errors_are_the_same(db, backend, tenant):
    store = Small.store(tenant)

    async def story():
        rows = await store.acreate_many([{}] * 5)
        with pytest.raises(QuotaExceeded):
            await store.acreate({})
        with pytest.raises(ValidationFailed):
            await store.acreate({"n": "x"})
        with pytest.raises(Conflict):
            await store.aupdate(rows[0].id, {"n": 1}, expected_version=7)
        with pytest.raises(NotFound):
            await store.areplace(new_id(), {})
        with pytest.raises(NotFound):
            await store.aundelete(new_id())
        with pytest.raises(ValidationFailed):
            await store.aquery(limit="x")
        with pytest.raises(ValidationFailed):
            async for _ in store.aiterate({"nope": 1}):
                pass
        assert await store.aget(new_id()) is None
        assert await store.adelete(new_id()) is False

    async_to_sync(story)()


def test_who_acts_is_known_in_the_thread_too(tasks):
    async def story():
        with acting(reason="ambient", context={"run": 7}):
            row = await tasks.acreate({"text": "a"})
        return await tasks.ahistory(row.id)

    (entry,) = async_to_sync(story)()

    assert (entry.actor, entry.reason, entry.context) == ("agent:bia", "ambient", {"run": 7})


def test_aiterate_goes_from_page_to_page(tasks, django_assert_num_queries):
    tasks.create_many({"text": str(number)} for number in range(230))

    async def story():
        return {row.id async for row in tasks.aiterate()}

    with django_assert_num_queries(3):
        assert len(async_to_sync(story)()) == 230


def test_aiterate_gives_each_row_once_though_the_loop_writes_it(tasks):
    tasks.create_many({"text": str(number)} for number in range(103))

    async def story():
        found = []
        async for row in tasks.aiterate(order_by="priority"):
            found.append(row.id)
            await tasks.aupdate(row.id, {"text": "seen"})
            if len(found) == 300:
                break
        return found

    found = async_to_sync(story)()

    assert len(found) == len(set(found)) == 103


def test_outside_a_request_one_slow_call_does_not_hold_up_the_others(
    transactional_db, backend, tenant, monkeypatch
):
    """The first create ends only after the second has: in one shared thread neither ever would."""
    store = Task.store(tenant)
    second_is_done = threading.Event()
    insert = type(store._rows).insert

    def slow(self, changes, limit, claim=None):
        if changes[0].data.value["text"] == "first":
            assert second_is_done.wait(timeout=60)
        outcome = insert(self, changes, limit, claim)
        if changes[0].data.value["text"] == "second":
            second_is_done.set()
        return outcome

    monkeypatch.setattr(type(store._rows), "insert", slow)

    async def story():
        await asyncio.gather(store.acreate({"text": "first"}), store.acreate({"text": "second"}))

    asyncio.run(story())

    assert store.count() == 2


@pytest.mark.parametrize("call", ["create", "update", "delete"])
def test_a_write_whose_task_is_cancelled_is_done_whole_or_not_at_all(
    transactional_db, backend, tenant, monkeypatch, call
):
    """The thread can't be stopped: what it had begun is carried through, audit and counter included."""
    store = Small.store(tenant)
    row = store.create({"n": 1})
    begun, cancelled, done = threading.Event(), threading.Event(), threading.Event()
    name = {"create": "insert"}.get(call, call)
    write = getattr(type(store._rows), name)

    def slow(self, *arguments):
        begun.set()
        assert cancelled.wait(timeout=60)
        outcome = write(self, *arguments)
        done.set()
        return outcome

    monkeypatch.setattr(type(store._rows), name, slow)
    calls = {
        "create": lambda: store.acreate({"n": 2}),
        "update": lambda: store.aupdate(row.id, {"n": 2}),
        "delete": lambda: store.adelete(row.id),
    }

    async def story():
        task = asyncio.ensure_future(calls[call]())
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(done.wait, 60)

    asyncio.run(story())

    ops = AuditEntry.objects.values_list("op", flat=True)
    assert sorted(ops) == sorted(["create", call])
    assert store.count() == store.usage().used == {"create": 2, "update": 1, "delete": 0}[call]


def test_many_at_once_keep_the_limit(transactional_db, backend, tenant):
    store = Small.store(tenant)

    async def story():
        return await asyncio.gather(*(store.acreate({"n": n}) for n in range(20)), return_exceptions=True)

    results = asyncio.run(story())

    assert sum(isinstance(result, QuotaExceeded) for result in results) == 15
    assert store.count() == store.usage().used == 5
