"""The example for the Claude Agent SDK: its own loop, with a script where the CLI would be."""

from __future__ import annotations

import json

import anyio
import pytest
from asgiref.sync import async_to_sync
from claude_agent_sdk import ResultMessage, Transport, query
from mcp.client import Client

from agentstore.tools import toolset
from project.desk.models import Reminder
from project.examples.claude_agent_example import SERVER, options, sdk_server

pytestmark = pytest.mark.django_db

REMINDER = {"text": "Call Okafor back", "due_at": "2027-05-01T09:00:00Z"}
INITIALIZE = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "script", "version": "1"},
    },
}
RESULT = {
    "type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False,
    "num_turns": 1, "session_id": "s", "result": "done",
}  # fmt: skip


class Script(Transport):
    """Does what the CLI does: it asks the server in our process, and ends the run."""

    def __init__(self, *requests):
        self.requests = [INITIALIZE, *requests]
        self.answers = []
        self._send, self._receive = anyio.create_memory_object_stream(100)

    async def connect(self):
        pass

    async def write(self, data):
        message = json.loads(data)
        if message["type"] == "control_request":
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            await self._send.send({"type": "control_response", "response": answer})
        elif message["type"] == "user":
            await self._next()
        elif message["type"] == "control_response":
            self.answers.append(message["response"]["response"]["mcp_response"]["result"])
            await self._next()

    async def _next(self):
        if len(self.answers) == len(self.requests):
            await self._send.send(RESULT)
            return
        number = len(self.answers)
        message = {"jsonrpc": "2.0", "id": number, **self.requests[number]}
        request = {"subtype": "mcp_message", "server_name": SERVER, "message": message}
        await self._send.send({"type": "control_request", "request_id": str(number), "request": request})

    def read_messages(self):
        return self._receive.__aiter__()

    async def close(self):
        self._send.close()
        self._receive.close()

    def is_ready(self):
        return True

    async def end_input(self):
        self._send.close()


def called(name, arguments):
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def played(tools, *requests):
    """Run a query in which the model makes these requests; return what the server answered."""
    script = Script(*requests)

    async def run():
        return [
            message async for message in query(prompt="Remind me", options=options(tools), transport=script)
        ]

    assert isinstance(async_to_sync(run)()[-1], ResultMessage)
    return script.answers[1:]


@pytest.fixture
def tools(tenant):
    return toolset(tenant, entities=[Reminder], actor="agent:bia")


def test_a_run_writes_rows_by_the_agent(tenant, tools):
    before = json.dumps(tools.definitions("mcp"))

    (made,) = played(tools, called("reminders_create", {"data": REMINDER}))

    (row,) = Reminder.store(tenant).query()
    assert json.loads(made["content"][0]["text"])["row"]["id"] == str(row.id)
    assert Reminder.store(tenant).history(row.id)[0].actor == "agent:bia"
    assert json.dumps(tools.definitions("mcp")) == before


def test_an_error_goes_back_to_the_model_which_goes_on(tenant, tools):
    wrong, right = played(
        tools,
        called("reminders_create", {"data": {**REMINDER, "due_at": "tomorrow"}}),
        called("reminders_create", {"data": REMINDER}),
    )

    assert (wrong["isError"], right["isError"]) == (True, False)
    assert "due_at" in json.loads(wrong["content"][0]["text"])["errors"]
    assert Reminder.store(tenant).count() == 1


def test_a_model_can_not_choose_the_tenant(tenant, other_tenant, tools):
    (refused,) = played(tools, called("reminders_create", {"data": REMINDER, "tenant": other_tenant}))

    assert refused["isError"] and "'tenant' was unexpected" in refused["content"][0]["text"]
    assert Reminder.store(other_tenant).count() == Reminder.store(tenant).count() == 0


def test_the_model_sees_our_schemas_and_hints_and_may_call_every_tool(tools):
    (listed,) = played(tools, {"method": "tools/list"})

    shown = {tool["name"]: tool for tool in listed["tools"]}
    for definition in tools.definitions("mcp"):
        tool = shown[definition["name"]]
        assert tool["inputSchema"] == definition["inputSchema"]
        assert definition["annotations"].items() <= tool["annotations"].items()
    assert options(tools).allowed_tools == [f"mcp__{SERVER}__{name}" for name in shown]


def test_the_server_serves_any_mcp_client(tenant, tools):
    async def create():
        async with Client(sdk_server(tools)["instance"]) as client:
            return await client.call_tool("reminders_create", {"data": REMINDER})

    assert not async_to_sync(create)().is_error
    assert Reminder.store(tenant).count() == 1
