"""A client that closes its end still gets its answers; one that took a call back is not waited for."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from agentstore.tools.mcp import draining
from agentstore.tools.mcp.draining import drained
from tests.isolated import ROOT
from tests.testapp.models import Task
from tests.tools.mcp_clients import server_environ

INITIALIZE = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"},
}  # fmt: skip


def line(method, params, **more):
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more})


def test_all_calls_of_a_pipe_are_answered(transactional_db, tenant):
    """``printf '...' | manage.py agentstore_mcp`` closes its end at once."""
    calls = [
        line("tools/call", {"name": "tasks_create", "arguments": {"data": {"text": str(number)}}}, id=number)
        for number in range(1, 11)
    ]
    lines = [
        line("initialize", INITIALIZE, id=0), line("notifications/initialized", {}), *calls,
    ]  # fmt: skip

    done = subprocess.run(
        [sys.executable, "manage.py", "agentstore_mcp", "--tenant", tenant],
        cwd=ROOT, env=server_environ(), input="\n".join(lines), capture_output=True, text=True, timeout=300,
    )  # fmt: skip

    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    rows = [answers[number]["result"]["structuredContent"]["row"] for number in range(1, 11)]
    assert sorted(answers) == [*range(11)] and (done.returncode, done.stderr) == (0, "")
    assert [row["data"]["text"] for row in rows] == [str(number) for number in range(1, 11)]
    assert Task.store(tenant).count() == 10


def request(id):
    return types.JSONRPCRequest(jsonrpc="2.0", id=id, method="tools/list")


def cancelled(**params):
    return types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params)


def answer(id):
    return types.JSONRPCResponse(jsonrpc="2.0", id=id, result={})


def failed(id):
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=1, message="x"))


def ended_with(read, *written):
    """Return how many messages were written before a client's end was told, which sent ``read``."""

    async def story():
        sending, incoming = anyio.create_memory_object_stream(20)
        outgoing, _arrived = anyio.create_memory_object_stream(20)
        reading, writing = drained(incoming, outgoing)
        for message in read:
            await sending.send(message if isinstance(message, Exception) else SessionMessage(message))
        sending.close()
        sent, all_read = [], anyio.Event()

        async def answering():
            await all_read.wait()
            for message in written:
                await anyio.lowlevel.checkpoint()
                sent.append(message)
                await writing.send(SessionMessage(message))

        with anyio.fail_after(60):
            async with _arrived, writing, reading, anyio.create_task_group() as group:
                group.start_soon(answering)
                for _ in read:
                    await reading.receive()
                all_read.set()
                async for _ in reading:
                    pass
                return len(sent)

    return anyio.run(story)


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ([request(1), request("a")], [answer("a"), answer(1)]),
        ([request(1)], [failed(1)]),
        ([request(0), request(1), cancelled(requestId=1)], [answer(0)]),
        ([cancelled(), cancelled(requestId=[1]), ValueError("no message"), request(1)], [answer(1)]),
    ],
    ids=["answers", "an-error", "a-call-taken-back", "what-is-none"],
)
def test_the_end_is_told_after_the_last_answer(read, written):
    assert ended_with(read, *written) == len(written)


@pytest.mark.parametrize(
    "read",
    [[], [cancelled(requestId=1)], [request(1), cancelled(requestId=1)]],
    ids=["nothing", "what-was-never-asked", "taken-back"],
)
def test_where_nothing_is_to_be_answered_the_end_is_told_at_once(monkeypatch, read):
    monkeypatch.setattr(draining, "PATIENCE", math.inf)

    assert ended_with(read) == 0


def test_what_is_never_answered_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(draining, "PATIENCE", 0.01)

    assert ended_with([request(1)], answer(2)) == 1
