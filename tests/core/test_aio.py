"""The hop to a thread: inside a request its own thread, elsewhere one that nobody else waits for."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest
from asgiref.sync import ThreadSensitiveContext, async_to_sync
from django.db import connection, transaction

from agentstore.core.aio import run
from agentstore.core.errors import NotFound
from agentstore.core.values import new_id
from tests.parallel import sessions
from tests.testapp.models import Task

LABEL = ContextVar("label", default="")


def test_results_errors_and_arguments_pass():
    async def work():
        assert await run(divmod, 7, 2) == (3, 1)
        assert await run(int, "ff", base=16) == 255
        with pytest.raises(ZeroDivisionError):
            await run(divmod, 1, 0)

    asyncio.run(work())


def test_context_variables_go_along():
    async def work():
        LABEL.set("here")
        return await run(LABEL.get)

    assert asyncio.run(work()) == "here"


def test_outside_a_request_runs_do_not_queue_behind_each_other():
    """Each waits for the other: were there one thread for both, neither would ever end."""
    both = threading.Barrier(2, timeout=60)

    async def work():
        return await asyncio.gather(run(both.wait), run(both.wait))

    assert sorted(asyncio.run(work())) == [0, 1]


def test_inside_a_request_every_call_has_the_same_thread():
    async def work():
        async with ThreadSensitiveContext():
            return {await run(threading.get_ident) for _ in range(5)}

    assert len(asyncio.run(work())) == 1


def test_two_requests_do_not_queue_behind_each_other():
    both = threading.Barrier(2, timeout=60)

    async def request():
        async with ThreadSensitiveContext():
            return await run(both.wait)

    async def work():
        return await asyncio.gather(request(), request())

    assert sorted(asyncio.run(work())) == [0, 1]


def test_under_async_to_sync_the_callers_transaction_is_seen(db):
    """As in Django's async tests and in sync views that call async code."""
    store = Task.store("acme")
    with transaction.atomic():
        row = store.create({"text": "uncommitted"})

        found = async_to_sync(store.aget)(row.id)

    assert found is not None
    assert found.id == row.id


@pytest.fixture
def other_sessions(transactional_db):
    """Count the database's sessions beside the asking thread's own and those that were there before."""
    if connection.vendor != "postgresql":
        pytest.skip("says something about PostgreSQL")
    before = sessions()

    def count():
        found = len(sessions() - before) - 1  # its own
        connection.close()
        return found

    async def settled():
        for _ in range(600):  # a closed session takes a moment to leave the list
            found = await asyncio.get_running_loop().run_in_executor(own, count)
            if not found:
                break
            await asyncio.sleep(0.05)
        return found

    with ThreadPoolExecutor(1) as own:  # the threads that are counted are left alone
        yield settled


def test_connections_are_given_back(other_sessions):
    store = Task.store("acme")

    async def work():
        await asyncio.gather(*(store.acreate({"text": str(i)}) for i in range(20)))
        return await other_sessions()

    assert asyncio.run(work()) == 0
    assert store.count() == 20


def test_connections_are_given_back_after_errors_too(other_sessions):
    store = Task.store("acme")

    async def work():
        calls = [store.aupdate(str(i), {}, expected_version=1) for i in range(10)]
        calls += [store.aundelete(new_id()) for _ in range(10)]
        found = await asyncio.gather(*calls, return_exceptions=True)
        return {type(error) for error in found}, await other_sessions()

    assert asyncio.run(work()) == ({NotFound}, 0)
