"""The example for Pydantic AI, driven by the framework's own function and test models."""

from __future__ import annotations

import json

import pytest
from asgiref.sync import async_to_sync
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from agentstore.tools import toolset
from project.desk.models import Note, Reminder
from project.examples.pydantic_ai_example import agent

pytestmark = pytest.mark.django_db

REMINDER = {"text": "Call Okafor back", "due_at": "2027-05-01T09:00:00Z"}


def played(tools, *turns):
    """Run an agent whose model calls one tool a turn; return what the tools answered."""
    left = list(turns)

    def model(messages, info):
        return ModelResponse(parts=[ToolCallPart(*left.pop(0)) if left else TextPart("done")])

    result = async_to_sync(agent(FunctionModel(model), tools).run)("Remind me")
    parts = [part for message in result.all_messages() for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


def test_a_run_writes_rows_by_the_agent(tenant):
    tools = toolset(tenant, entities=[Reminder], actor="agent:bia")

    (made,) = played(tools, ("reminders_create", {"data": REMINDER}))

    (row,) = Reminder.store(tenant).query()
    assert (row.data.text, str(row.id)) == ("Call Okafor back", made.content["row"]["id"])
    assert Reminder.store(tenant).history(row.id)[0].actor == "agent:bia"


def test_an_error_goes_back_to_the_model_which_goes_on(tenant):
    tools = toolset(tenant, entities=[Reminder])

    wrong, right = played(
        tools,
        ("reminders_create", {"data": {"text": "Call", "due": "tomorrow"}}),
        ("reminders_create", {"data": REMINDER}),
    )

    assert wrong.outcome == "failed" and right.outcome == "success"
    assert "due_at" in json.loads(wrong.content)["hint"]
    assert Reminder.store(tenant).count() == 1


def test_a_model_can_not_choose_the_tenant(tenant, other_tenant):
    tools = toolset(tenant, entities=[Reminder])

    (refused,) = played(tools, ("reminders_create", {"data": REMINDER, "tenant": other_tenant}))

    assert refused.outcome == "failed"
    assert json.loads(refused.content)["errors"] == {"tenant": ["There is no such argument."]}
    assert Reminder.store(other_tenant).count() == Reminder.store(tenant).count() == 0


def test_the_same_call_ids_in_another_run_create_another_row(tenant):
    tools = toolset(tenant, entities=[Reminder])

    for _ in range(2):
        played(tools, ("reminders_create", {"data": REMINDER}, "call_1"))

    assert Reminder.store(tenant).count() == 2


def test_the_frameworks_test_model_fills_the_schemas(tenant):
    """It calls every tool with arguments that it makes up from the schemas alone."""
    tools = toolset(tenant, entities=[Note])
    model = TestModel()

    before = json.dumps(tools.definitions("mcp"))

    async_to_sync(agent(model, tools).run)("Try all tools")

    shown = model.last_model_request_parameters.function_tools
    assert [tool.name for tool in shown] == [tool.name for tool in tools]
    assert all("tenant" not in json.dumps(tool.parameters_json_schema) for tool in shown)
    assert Note.store(tenant).count() == 1
    assert json.dumps(tools.definitions("mcp")) == before
