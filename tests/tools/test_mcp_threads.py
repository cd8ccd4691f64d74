"""Calls run in a bounded number of threads, can be cancelled, and leave no connection behind."""

import asyncio

import pytest
from django.db import connection
from mcp import Client

from agentstore.tools import toolset
from agentstore.tools.mcp import mcp_server
from agentstore.tools.mcp.threads import Threads
from tests.testapp.models import Task
from tests.tools.mcp_clients import MODES, Held, cancelled, other_sessions, run, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_that_waits_for_a_thread_never_begins(mode):
    tools = Held()

    async def work(client):
        first = asyncio.create_task(client.call_tool("hold", {"n": 1}))
        await until(tools.one_began.is_set)
        second = asyncio.create_task(client.call_tool("hold", {"n": 2}))
        await asyncio.sleep(0.2)
        await cancelled(second)
        await client.list_tools()  # is answered after the server was told
        third = asyncio.create_task(client.call_tool("hold", {"n": 3}))
        tools.released.set()
        return await first, await third

    results = run(mcp_server(tools, threads=1), work, mode=mode)

    assert [result.structured_content["n"] for result in results] == [1, 3]
    assert tools.begun == tools.ended == [1, 3]


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_that_runs_is_not_waited_for_and_comes_to_its_end(mode):
    tools = Held()

    async def work(client):
        call = asyncio.create_task(client.call_tool("hold", {"n": 1}))
        await until(tools.one_began.is_set)
        await cancelled(call)
        ended_by_then = list(tools.ended)
        listed = await client.list_tools()
        tools.released.set()
        await client.call_tool("hold", {"n": 2})
        return ended_by_then, len(listed.tools)

    assert run(mcp_server(tools, threads=1), work, mode=mode) == ([], 1)
    assert tools.ended == [1, 2]


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(monkeypatch):
    tools, close = Held(), Threads.close

    def release_and_close(threads):
        """What waited has been cancelled by then, so that it is not this that lets it begin."""
        tools.released.set()
        return close(threads)

    monkeypatch.setattr(Threads, "close", release_and_close)

    async def work():
        async with Client(mcp_server(tools, threads=2), mode="legacy") as client:
            calls = [asyncio.create_task(client.call_tool("hold", {"n": n})) for n in range(5)]
            await until(lambda: len(tools.begun) == 2)
        return await asyncio.gather(*calls, return_exceptions=True)

    found = asyncio.run(work())

    assert all(isinstance(error, BaseException) for error in found)
    assert sorted(tools.begun) == sorted(tools.ended) and len(tools.begun) == 2


def test_no_more_calls_run_at_once_than_there_are_threads():
    tools = Held()

    async def work(client):
        calls = [asyncio.create_task(client.call_tool("hold", {"n": n})) for n in range(20)]
        await until(lambda: len(tools.begun) == 3)
        await asyncio.sleep(0.3)
        running = len(tools.begun)
        tools.released.set()
        await asyncio.gather(*calls)
        return running

    assert run(mcp_server(tools, threads=3), work) == 3
    assert sorted(tools.ended) == list(range(20))


def hundred(client):
    rows = [client.call_tool("tasks_create", {"data": {"text": str(n)}}) for n in range(100)]
    return asyncio.gather(*rows, client.call_tool("tasks_get", {"id": 5}), client.call_tool("nope"))


@pytest.mark.postgres_only
def test_connections_are_given_back_after_each_call(tenant):
    count = other_sessions()

    async def work(client):
        await hundred(client)
        return await count()

    assert run(mcp_server(toolset(tenant, entities=[Task])), work) == 0


@pytest.fixture
def kept_connections(settings):
    """Let connections be kept, as ``CONN_MAX_AGE`` says, in threads that are made from now on."""
    before = connection.settings_dict["CONN_MAX_AGE"]
    connection.settings_dict["CONN_MAX_AGE"] = 600
    yield
    connection.settings_dict["CONN_MAX_AGE"] = before


@pytest.mark.postgres_only
def test_connections_that_are_kept_are_as_many_as_the_threads_and_go_when_the_server_ends(
    tenant, kept_connections
):
    count = other_sessions()
    server = mcp_server(toolset(tenant, entities=[Task]), threads=3)

    async def work():
        async with Client(server) as client:
            await hundred(client)
            during = await count(most=3)
        return during, await count()

    during, after = asyncio.run(work())

    assert 1 <= during <= 3
    assert after == 0


def test_threads_that_were_never_used_end_as_well():
    asyncio.run(Threads(2).close())


def test_errors_and_results_pass():
    async def work():
        threads = Threads(2)
        assert await threads.run(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            await threads.run(divmod, 1, 0)
        await threads.close()

    asyncio.run(work())
