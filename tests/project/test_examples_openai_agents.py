"""The example for OpenAI's Agents SDK, driven by a model that is a script."""

from __future__ import annotations

import copy
import json

import pytest
from agents import Model, ModelResponse, RunConfig, Runner, ToolCallOutputItem, Usage
from asgiref.sync import async_to_sync
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from agentstore.tools import toolset
from project.desk.models import Order, Reminder
from project.examples.openai_agents_example import agent, function_tools

pytestmark = pytest.mark.django_db

# In the strict variant a model sends every field; null means "not given".
REMINDER = {"text": "Call Okafor back", "due_at": "2027-05-01T09:00:00Z", "done": None, "channel": None}


class Script(Model):
    """Calls one tool a turn, and then says that it is done."""

    def __init__(self, *turns):
        self.turns = list(turns)

    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=[self.next()], usage=Usage(), response_id=None)

    def next(self):
        if self.turns:
            name, arguments, call_id = self.turns.pop(0)
            return ResponseFunctionToolCall(
                name=name, arguments=json.dumps(arguments), call_id=call_id, type="function_call"
            )
        text = ResponseOutputText(text="done", type="output_text", annotations=[])
        return ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def played(tools, *turns, run=None):
    """Return what the tools answered the model."""
    made = agent(Script(*turns), tools, run=run)
    result = async_to_sync(Runner.run)(made, "Remind me", run_config=RunConfig(tracing_disabled=True))
    outputs = [item.output for item in result.new_items if isinstance(item, ToolCallOutputItem)]
    return [json.loads(output) for output in outputs]


@pytest.fixture
def tools(tenant):
    return toolset(tenant, entities=[Reminder], actor="agent:bia", strict=True)


def test_a_run_writes_rows_by_the_agent(tenant, tools):
    (made,) = played(tools, ("reminders_create", {"data": REMINDER}, "call_1"))

    (row,) = Reminder.store(tenant).query()
    assert (row.data.text, str(row.id)) == ("Call Okafor back", made["row"]["id"])
    assert Reminder.store(tenant).history(row.id)[0].actor == "agent:bia"


def test_a_model_that_sends_nulls_for_the_rest_wipes_nothing(tenant, tools):
    row = Reminder.store(tenant).create({**REMINDER, "done": True, "channel": "call"})
    change = {**dict.fromkeys(REMINDER), "text": "Call Okafor"}

    played(
        tools,
        (
            "reminders_update",
            {"id": str(row.id), "set": change, "unset": None, "expected_version": None},
            "call_1",
        ),
    )

    changed = Reminder.store(tenant).get(row.id).data
    assert (changed.text, changed.done, changed.channel) == ("Call Okafor", True, "call")


def test_an_error_goes_back_to_the_model_which_goes_on(tenant, tools):
    wrong, right = played(
        tools,
        ("reminders_create", {"data": {**REMINDER, "due_at": "tomorrow"}}, "call_1"),
        ("reminders_create", {"data": REMINDER}, "call_2"),
    )

    assert wrong["error"]["code"] == "validation" and "due_at" in wrong["error"]["errors"]
    assert right["row"]["version"] == 1
    assert Reminder.store(tenant).count() == 1


def test_a_model_can_not_choose_the_tenant(tenant, other_tenant, tools):
    (refused,) = played(tools, ("reminders_create", {"data": REMINDER, "tenant": other_tenant}, "call_1"))

    assert refused["error"]["errors"] == {"tenant": ["There is no such argument."]}
    assert Reminder.store(other_tenant).count() == Reminder.store(tenant).count() == 0


def test_a_run_that_is_resumed_creates_nothing_twice(tenant, tools):
    for run in ("run-1", "run-1", "run-2", None, None):
        played(tools, ("reminders_create", {"data": REMINDER}, "call_1"), run=run)

    assert Reminder.store(tenant).count() == 4


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
def test_the_framework_takes_the_schemas_as_they_are(tenant, strict):
    """It rewrites a schema that is not strict enough, and refuses one that it can't."""
    tools = toolset(tenant, agent="bia", entities=None, writable=["*"], strict=strict)
    before = copy.deepcopy(tools.definitions("openai"))

    made = function_tools(tools)

    assert [tool.params_json_schema for tool in made] == [shown["parameters"] for shown in before]
    assert all(tool.strict_json_schema is strict for tool in made)
    assert {"orders_create", "file_write", "strategy_save"} <= {tool.name for tool in made}
    assert Order.entity.name == "orders"
