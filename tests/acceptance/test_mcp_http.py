"""The demo's ASGI application on a real server: several people at once, clients and servers that end."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress
from urllib.parse import urlsplit

import httpx2
import pytest
from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from agentstore.files import FileStore
from agentstore.tools import mcp_app
from project.asgi import application
from tests.testapp.models import Task
from tests.tools.mcp_clients import (
    LIST,
    MODES,
    Held,
    error_of,
    headers,
    other_sessions,
    over_http,
    serving,
    until,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(transactional_db):
    """Two users, each a tenant of their own, with their tokens."""
    users = [User.objects.create_user(name) for name in ("ann", "ben")]
    return [(user, Token.objects.create(user=user).key) for user in users]


@pytest.fixture
def held(people):
    """A tool that waits, and an application that serves it with two threads."""
    tools = Held()
    yield tools, mcp_app(tools=lambda user, wanted: tools, threads=2)
    tools.released.set()


@pytest.mark.parametrize("mode", MODES)
def test_two_people_at_once_never_see_each_others_rows(people, mode):
    async def work(address, user, token):
        """Write rows and read all there are, many at a time, while the other does the same."""
        url = f"{address}/mcp?agent=bia"
        async with over_http(None, token, url=url, mode=mode) as client:
            texts = [f"{user.username} {n}" for n in range(25)]
            rows = [client.call_tool("tasks_create", {"data": {"text": text}}) for text in texts]
            pages = [client.call_tool("tasks_query", {"limit": 100}) for _ in range(25)]
            await client.call_tool("file_write", {"name": "notes/me.md", "content": user.username})
            made, *found = await asyncio.gather(asyncio.gather(*rows), *pages)
            (listed,) = (await client.list_resources()).resources
            file = (await client.read_resource(listed.uri)).contents[0].text
        ids = {result.structured_content["row"]["id"] for result in made}
        seen = {row["id"] for page in found for row in page.structured_content["rows"]}
        return ids, seen, file

    async def both(address):
        return await asyncio.gather(*(work(address, *person) for person in people))

    with serving(application) as address:
        (ann, ann_saw, anns), (ben, ben_saw, bens) = asyncio.run(both(address))

    assert len(ann) == len(ben) == 25 and not ann & ben
    assert ann_saw <= ann and ben_saw <= ben
    assert (anns, bens) == ("ann", "ben")


def test_one_row_over_mcp_over_rest_and_in_python(people):
    (user, token), (_, stranger) = people
    rest = APIClient()
    rest.force_authenticate(user)

    async def work(address):
        url = f"{address}/mcp"
        async with over_http(None, token, url=url) as client, over_http(None, stranger, url=url) as nosy:
            row = (await client.call_tool("tasks_create", {"data": {"text": "call Tom"}})).structured_content
            id = row["row"]["id"]
            await Task.store(f"user:{user.pk}", actor="job").aupdate(id, {"priority": 3})
            stale = {"id": id, "set": {"done": True}, "expected_version": 1}
            told = error_of(await client.call_tool("tasks_update", stale))
            fresh = {**stale, "expected_version": told["current_version"]}
            changed = await client.call_tool("tasks_update", fresh)
            refused = await nosy.call_tool("tasks_update", fresh)
        return id, told, changed.structured_content, error_of(refused)

    with serving(application) as address:
        id, told, changed, refused = asyncio.run(work(address))

    shown = rest.get(f"/api/entities/tasks/{id}/").json()
    assert told["code"] == "conflict" and refused["code"] == "not_found"
    assert changed["row"]["data"] == shown["data"] and (shown["version"], shown["data"]["priority"]) == (3, 3)
    history = Task.store(f"user:{user.pk}").history(id)
    assert [entry.actor for entry in history] == ["user:ann", "job", "user:ann"]


def test_django_is_served_as_ever(people):
    async def work(address):
        async with httpx2.AsyncClient(base_url=address, timeout=120) as http:
            return await http.get("/admin/login/"), await http.post("/mcp")

    with serving(application) as address:
        login, mcp = asyncio.run(work(address))

    assert (login.status_code, mcp.status_code) == (200, 401)
    assert "csrfmiddlewaretoken" in login.text


@pytest.mark.postgres_only
@pytest.mark.parametrize("mode", MODES)
def test_a_hundred_calls_at_once_leave_no_connection_behind(people, mode):
    (user, token), _ = people
    count = other_sessions()

    async def work(address):
        async with over_http(None, token, url=f"{address}/mcp", mode=mode) as client:
            given = [{"data": {"text": str(n)}} for n in range(98)] + [{"data": {}}, {"data": {"text": 5}}]
            results = await asyncio.gather(*(client.call_tool("tasks_create", one) for one in given))
            return sum(result.is_error for result in results), await count()

    with serving(application) as address:
        assert asyncio.run(work(address)) == (2, 0)

    assert Task.store(f"user:{user.pk}").count() == 98


def test_a_cancelled_call_that_waits_for_a_thread_never_begins(people, held):
    (_, token), _ = people
    tools, app = held

    async def work(address):
        state = address.server.server_state
        async with over_http(None, token, url=f"{address}/mcp") as client:
            calls = [asyncio.create_task(client.call_tool("hold", {"n": n})) for n in range(2)]
            await until(lambda: len(tools.begun) == 2)
            third = asyncio.create_task(client.call_tool("hold", {"n": 2}))
            await until(lambda: len(state.tasks) == 3)
            connected = len(state.connections)
            third.cancel()
            with suppress(asyncio.CancelledError):
                await third
            await until(lambda: len(state.connections) < connected)
            tools.released.set()
            return [(await call).structured_content["n"] for call in calls]

    with serving(app) as address:
        done = asyncio.run(work(address))

    assert sorted(done) == sorted(tools.begun) == sorted(tools.ended) == [0, 1]


def hang_up(address, token, message, *, short=0):
    """Send a request, at its end so many bytes too few, to break the connection off without a word."""
    where = urlsplit(address)
    body = json.dumps(message).encode()
    lines = [f"{name}: {value}" for name, value in headers(token, Host=where.netloc).items()]
    head = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"Content-Length: {len(body)}", "", ""])
    client = socket.create_connection((where.hostname, where.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    client.sendall(head.encode() + body[: len(body) - short])
    return client


@pytest.mark.postgres_only
def test_clients_that_die_in_the_middle_leave_nothing_behind(people, held, caplog):
    (_, token), _ = people
    tools, app = held
    count = other_sessions()

    async def work(address):
        clients = [
            hang_up(address, token, {**LIST, "id": n, "method": "tools/call",
                                     "params": {"name": "hold", "arguments": {"n": n}}})
            for n in range(6)
        ]  # fmt: skip
        await until(lambda: len(tools.begun) == 2)
        for client in clients:
            client.close()
        await asyncio.sleep(0.5)
        tools.released.set()
        await until(lambda: len(tools.ended) == len(tools.begun))
        left = await count()
        async with over_http(None, token, url=f"{address}/mcp") as client:
            return left, (await client.call_tool("hold", {"n": 99})).structured_content

    with serving(app) as address:
        assert asyncio.run(work(address)) == (0, {"n": 99})

    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_client_that_hangs_up_while_it_sends_is_no_error(people, caplog):
    (_, token), _ = people

    async def work(address):
        clients = [hang_up(address, token, {**LIST, "id": n}, short=9) for n in range(3)]
        await asyncio.sleep(0.5)
        for client in clients:
            client.close()
        async with over_http(None, token, url=f"{address}/mcp") as client:
            return len((await client.list_tools()).tools)

    with serving(application) as address:
        assert asyncio.run(work(address))

    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_server_that_ends_lets_calls_come_to_their_end(people, held):
    (_, token), _ = people
    tools, app = held

    with serving(app) as address:
        client = hang_up(address, token, {**LIST, "method": "tools/call",
                                          "params": {"name": "hold", "arguments": {"n": 1}}})  # fmt: skip
        assert tools.one_began.wait(60)
        client.close()
        tools.released.set()

    assert tools.ended == [1]


def test_files_written_over_mcp_are_kept_as_versions(people):
    (user, token), _ = people

    async def work(address):
        async with over_http(None, token, url=f"{address}/mcp?agent=bia") as client:
            for text in ("one", "two"):
                await client.call_tool("file_write", {"name": "notes/day.md", "content": text})
            uri = "agentstore://files/notes/day.md?version=1"
            return (await client.read_resource(uri)).contents[0].text

    with serving(application) as address:
        assert asyncio.run(work(address)) == "one"

    info = FileStore(f"user:{user.pk}", "bia").info("notes/day.md")
    assert (info.version, info.source, info.actor) == (2, "tool", "user:ann")
