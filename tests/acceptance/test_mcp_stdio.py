"""Clients that start the server, work with it, and are killed: it ends, and lets go of everything."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from mcp import StdioServerParameters

from agentstore.tools import toolset
from agentstore.tools.mcp.threads import DEFAULT_THREADS
from tests.isolated import ROOT
from tests.testapp.models import Task
from tests.tools.mcp_clients import (
    HELLO,
    MODES,
    cancelled,
    error_of,
    other_sessions,
    run,
    server_environ,
    stdio_server,
    until,
)

pytestmark = pytest.mark.django_db(transaction=True)

#: A client that starts the server as clients do, sends calls, and is gone before most are answered.
DYING = """
import json, os, signal, subprocess, sys
server = subprocess.Popen([sys.executable, "manage.py", "agentstore_mcp", "--tenant", sys.argv[1]],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(method, params, **more):
    message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
    server.stdin.write(json.dumps(message).encode() + b"\\n")
    server.stdin.flush()
send("initialize", json.loads(sys.argv[2]), id=0)
send("notifications/initialized", {})
server.stdout.readline()
for n in range(200):
    send("tools/call", {"name": "tasks_create", "arguments": {"data": {"text": str(n)}}}, id=n + 1)
server.stdout.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


#: A server whose one tool waits: it makes a file when every thread has a call, and goes on at another.
HELD = """
import json, sys, threading, time
from pathlib import Path
import django
django.setup()
from agentstore.tools.mcp import serve_stdio
from agentstore.tools.mcp.threads import DEFAULT_THREADS
from tests.tools.mcp_clients import Held

tools, folder = Held(), Path(sys.argv[1])

def watch():
    while len(tools.begun) < DEFAULT_THREADS:
        time.sleep(0.02)
    (folder / "full").touch()
    while not (folder / "release").exists():
        time.sleep(0.02)
    tools.released.set()
    while len(tools.ended) < DEFAULT_THREADS + 1:
        time.sleep(0.02)
    (folder / "written").write_text(json.dumps([sorted(tools.begun), sorted(tools.ended)]))
    (folder / "written").rename(folder / "told")

threading.Thread(target=watch, daemon=True).start()
serve_stdio(tools)
"""


@pytest.mark.parametrize("mode", MODES)
def test_calls_are_cancelled_over_standard_input_too(tmp_path, mode):
    """One that runs is not waited for and comes to its end; one that waits for a thread never begins."""
    process = StdioServerParameters(
        command=sys.executable, args=["-c", HELD, str(tmp_path)], env=server_environ(), cwd=str(ROOT)
    )

    async def work(client):
        calls = [asyncio.create_task(client.call_tool("hold", {"n": n})) for n in range(DEFAULT_THREADS)]
        await until((tmp_path / "full").exists)
        waiting = asyncio.create_task(client.call_tool("hold", {"n": 99}))
        await asyncio.sleep(0.2)
        await cancelled(waiting)
        await cancelled(calls.pop())
        listed = await client.list_tools()  # is answered after the server was told
        (tmp_path / "release").touch()
        done = [(await call).structured_content["n"] for call in calls]
        last = await client.call_tool("hold", {"n": 100})
        await until((tmp_path / "told").exists)
        return len(listed.tools), done, last.structured_content["n"]

    found = run(process, work, mode=mode)

    every = [*range(DEFAULT_THREADS), 100]
    assert found == (1, every[:-2], 100)
    assert json.loads((tmp_path / "told").read_text()) == [every, every]


def test_a_client_that_is_killed_takes_the_server_with_it(tenant):
    """The server has the client's standard error, which ends when both are gone."""
    with subprocess.Popen(
        [sys.executable, "-c", DYING, tenant, json.dumps(HELLO)],
        cwd=ROOT,
        env=server_environ(),
        stderr=subprocess.PIPE,
    ) as client:
        _, logged = client.communicate(timeout=300)

    texts = [row.data.text for row in Task.store(tenant).iterate()]
    assert client.returncode == -9 and logged == b""
    assert texts and len(texts) == len(set(texts))


@pytest.mark.postgres_only
def test_a_client_that_is_killed_leaves_no_connection_open(tenant):
    count = other_sessions()

    subprocess.run(
        [sys.executable, "-c", DYING, tenant, json.dumps(HELLO)],
        cwd=ROOT,
        env=server_environ(),
        capture_output=True,
    )

    assert asyncio.run(count()) == 0


@pytest.mark.postgres_only
@pytest.mark.parametrize("mode", MODES)
def test_a_session_of_many_calls_leaves_no_connection_behind(tenant, other_tenant, mode):
    count = other_sessions()
    Task.store(other_tenant).create({"text": "theirs"})

    async def work(client):
        rows = [client.call_tool("tasks_create", {"data": {"text": str(n)}}) for n in range(98)]
        wrong = [client.call_tool("tasks_get", {"id": "x"}), client.call_tool("no_tool", {})]
        results = await asyncio.gather(*rows, *wrong)
        return results, await count()

    results, left = run(stdio_server("--tenant", tenant), work, mode=mode)

    assert [error_of(result)["code"] for result in results[98:]] == ["not_found", "not_found"]
    assert left == 0 and Task.store(tenant).count() == 98 and Task.store(other_tenant).count() == 1


def test_what_a_client_is_told_is_what_the_toolset_says(tenant):
    tools = toolset(tenant, agent="bia", writable=["notes/*"])

    async def work(client):
        return client.instructions, (await client.list_tools()).tools

    options = ("--tenant", tenant, "--agent", "bia", "--writable", "notes/*")
    instructions, listed = run(stdio_server(*options), work)

    shown = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed]
    assert instructions == tools.instructions() and shown == tools.definitions("mcp")
