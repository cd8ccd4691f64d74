"""Async: the same methods over one event loop, and as threads behind a store that waits."""

from __future__ import annotations

import asyncio
import inspect

import httpx
import pytest

from agentstore import acting
from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, ValidationFailed
from agentstore.core.values import new_id
from agentstore.entities.aio import AsyncTwins
from agentstore.remote import AsyncEntityClient, AsyncRemoteStore, LocalOnly, RemoteFailed
from tests.live import credentials
from tests.remote.faults import ID, async_answering, row
from tests.testapp.models import Small, Task, TaskData

TWINS = [
    name for name, value in inspect.getmembers(AsyncTwins, inspect.isfunction) if not name.startswith("_")
]


@pytest.fixture(params=["async", "threads"])
def run(request, live, connect, tenant):
    """Return a function that runs a story with an async store of tasks."""
    auth, waiting = credentials("agent:bia"), connect("agent:bia")

    async def with_client(story, name, schema):
        if request.param == "threads":
            return await story(waiting.store(name, tenant=tenant, schema=schema))
        async with AsyncEntityClient(live.url, auth=auth, timeout=120) as client:
            return await story(client.store(name, tenant=tenant, schema=schema))

    return lambda story, name="tasks", schema=TaskData: asyncio.run(with_client(story, name, schema))


@pytest.mark.parametrize("name", TWINS)
def test_every_twin_of_a_local_store_is_there_with_its_signature(name):
    local, remote = getattr(AsyncTwins, name), getattr(AsyncRemoteStore, name)

    assert inspect.signature(remote) == inspect.signature(local)
    assert inspect.iscoroutinefunction(remote) == inspect.iscoroutinefunction(local)
    assert inspect.isasyncgenfunction(remote) == inspect.isasyncgenfunction(local)


def test_each_twin_does_what_its_method_does(run, tenant):
    async def story(tasks):
        row = await tasks.acreate({"text": "a"}, idempotency_key="k", reason="why")
        assert (await tasks.acreate({"text": "a"}, idempotency_key="k", reason="why")).id == row.id
        many = await tasks.acreate_many([{"text": "b"}, {"text": "c"}])
        changed = await tasks.aupdate(row.id, {"priority": 1}, unset=["done"], expected_version=1)
        assert (changed.version, changed.data.priority, changed.changed) == (2, 1, True)
        replaced = await tasks.areplace(row.id, {"text": "z"}, expected_version=2)
        assert await tasks.adelete(many[0].id, expected_version=1) is True
        assert (await tasks.aget_deleted(many[0].id)).data == many[0].data
        assert (await tasks.aundelete(many[0].id)).changed
        page = await tasks.aquery({"text__in": ["b", "c", "z"]}, limit=2, order_by="text")
        rest = await tasks.aquery(
            {"text__in": ["b", "c", "z"]}, limit=2, order_by="text", cursor=page.next_cursor
        )
        assert [found.data.text for found in (*page, *rest)] == ["b", "c", "z"]
        assert [found.data.text async for found in tasks.aiterate(order_by="-text")] == ["z", "c", "b"]
        assert (await tasks.aget(row.id)).data == replaced.data
        assert (await tasks.aget(row.id, version=1)).data == row.data
        assert await tasks.acount({"text": "b"}) == 1
        assert (await tasks.ausage()).used == 3
        entries = await tasks.ahistory(row.id, limit=2)
        assert [entry.op for entry in entries] == ["update", "update"]
        assert (await tasks.ahistory(row.id, before=entries[-1].id))[0].reason == "why"
        return row

    row = run(story)

    assert Task.store(tenant).get(row.id).data.text == "z"


def test_errors_are_the_same(run):
    async def story(store):
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
        with pytest.raises(LocalOnly):
            store.sweep(reason="x")

    run(story, "smalls", Small.Schema)


def test_why_is_known_in_other_threads_too(run):
    async def story(tasks):
        with acting(reason="ambient", context={"run": 7}):
            row = await tasks.acreate({"text": "a"})
        return await tasks.ahistory(row.id)

    (entry,) = run(story)

    assert (entry.actor, entry.reason, entry.context) == ("agent:bia", "ambient", {"run": 7})


def test_aiterate_goes_from_page_to_page(run, live):
    async def story(tasks):
        await tasks.acreate_many([{"text": str(number)} for number in range(230)])
        live.requests.clear()
        return {found.id async for found in tasks.aiterate()}

    assert len(run(story)) == 230
    assert len(live.requests) == 3


def test_aiterate_gives_each_row_once_though_the_loop_writes_it(run):
    async def story(tasks):
        await tasks.acreate_many([{"text": str(number)} for number in range(103)])
        found = []
        async for each in tasks.aiterate(order_by="priority"):
            found.append(each.id)
            await tasks.aupdate(each.id, {"text": "seen"})
            if len(found) == 300:
                break
        return found

    found = run(story)

    assert len(found) == len(set(found)) == 103


def test_many_calls_at_once_share_the_connections(run):
    async def story(tasks):
        await asyncio.gather(*(tasks.acreate({"text": str(number)}) for number in range(20)))
        return await tasks.acount()

    assert run(story) == 20


# --- when the way fails ---------------------------------------------------------------------


def test_a_lost_answer_is_asked_for_again_with_the_same_key(waits):
    seen = []

    def answer(request):
        seen.append(request.headers["Idempotency-Key"])
        if len(seen) < 3:
            raise httpx.ReadError("died", request=request)
        return httpx.Response(201, json=row())

    made = asyncio.run(async_answering(answer).store("tasks").acreate({"text": "a"}))

    assert made.changed
    assert (len(seen), len(set(seen)), len(waits)) == (3, 1, 2)


def test_a_write_that_may_have_happened_is_not_sent_again(waits):
    seen = []

    def answer(request):
        seen.append(request)
        raise httpx.ReadTimeout("timed out", request=request)

    with pytest.raises(RemoteFailed) as info:
        asyncio.run(async_answering(answer).store("tasks").aupdate(ID, {"text": "b"}))

    assert info.value.maybe_done
    assert (len(seen), waits) == (1, [])


def test_retry_after_is_honoured(waits):
    answers = [httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, json={"count": 3})]

    assert asyncio.run(async_answering(lambda request: answers.pop(0)).store("tasks").acount()) == 3
    assert 7 <= waits[0] < 8


def test_a_call_can_be_given_up():
    """Cancelling ends the wait, is no failure that is tried again, and the client goes on working."""
    seen = []

    async def answer(request):
        seen.append(request)
        if len(seen) == 1:
            await asyncio.Event().wait()
        return httpx.Response(200, json={"count": 3})

    async def story():
        store = async_answering(answer).store("tasks")
        call = asyncio.ensure_future(store.acount())
        while not seen:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await store.acount()

    assert asyncio.run(story()) == 3
    assert len(seen) == 2


def test_a_closed_client_says_so():
    async def story():
        client = AsyncEntityClient("https://host/api/")
        await client.aclose()
        with pytest.raises(RemoteFailed, match="the client is closed"):
            await client.store("tasks").acount()
        assert repr(client) == "<AsyncEntityClient https://host/api/>"
        assert repr(client.store("tasks")) == "<AsyncRemoteStore tasks of its user at https://host/api/>"

    asyncio.run(story())
