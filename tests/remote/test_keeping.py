"""Connections of a client's own: others in a process that was forked, others in each event loop."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import async_to_sync

from agentstore.remote import AsyncEntityClient, EntityClient, RemoteFailed
from tests.isolated import run_python
from tests.live import credentials
from tests.remote.faults import URL


@pytest.fixture
def apart(live, tenant):
    """An async client with connections of its own, and its tasks."""
    client = AsyncEntityClient(live.url, auth=credentials("agent:bia"), retries=0, timeout=60)
    return client, client.store("tasks", tenant=tenant)


FORKED = """
import os, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agentstore.remote import EntityClient

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"count": %d}' % self.client_address[1]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
reading, writing = os.pipe()
client = EntityClient(f"http://127.0.0.1:{server.server_port}/api/")
ours = os.fork()
if ours:
    # The server runs here, so that no thread of it is there when the process below forks.
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(int(os.read(reading, 100)))
    os.waitpid(ours, 0)
else:
    store = client.store("tasks")
    first = [store.count(), store.count()]
    child = os.fork()
    if not child:
        mine = [store.count(), store.count()]
        client.close()
        os._exit(0 if mine[0] == mine[1] and mine[0] not in first else 1)
    _, status = os.waitpid(child, 0)
    client_kept = first[0] == first[1] == store.count()
    os.write(writing, b"1" if status == 0 and client_kept else b"0")
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_process_that_was_forked_opens_its_own_connections_and_leaves_the_parents_alone():
    """On one connection of two processes, the answers would reach the wrong one."""
    assert run_python(FORKED).stdout == "1\n"


def test_a_client_that_is_closed_stays_so_in_a_process_that_was_forked(monkeypatch):
    client = EntityClient(URL)
    client.close()

    monkeypatch.setattr(os, "getpid", lambda: -1)

    with pytest.raises(RemoteFailed, match="the client is closed"):
        client.store("tasks").count()


def test_one_client_serves_one_event_loop_after_the_other(apart):
    _, tasks = apart

    asyncio.run(tasks.acreate({"text": "a"}))
    counts = [asyncio.run(tasks.acount()), async_to_sync(tasks.acount)()]

    assert counts == [1, 1]


def test_each_event_loop_keeps_one_connection_for_many_calls(apart, live):
    _, tasks = apart
    before = live.connected

    async def many():
        return [await tasks.acount() for _ in range(3)]

    assert [asyncio.run(many()), asyncio.run(many())] == [[0, 0, 0]] * 2
    assert live.connected == before + 2


def test_event_loops_in_several_threads_stay_apart(apart):
    _, tasks = apart

    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(lambda _: asyncio.run(tasks.acount()), range(8)))

    assert counts == [0] * 8


def test_what_was_closed_in_one_event_loop_is_closed_in_all(apart):
    client, tasks = apart

    async def story():
        async with client:
            return await tasks.acount()

    assert asyncio.run(story()) == 0
    asyncio.run(client.aclose())
    with pytest.raises(RemoteFailed, match="the client is closed"):
        asyncio.run(tasks.acount())
