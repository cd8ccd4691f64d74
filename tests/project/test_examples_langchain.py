"""The example for LangChain, driven by a model that is a script, and by LangChain's own tests."""

from __future__ import annotations

import json

import pytest
from asgiref.sync import async_to_sync
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from agentstore.tools import toolset
from project.desk.models import Reminder
from project.examples.langchain_example import agent, structured_tools

REMINDER = {"text": "Call Okafor back", "due_at": "2027-05-01T09:00:00Z"}


class Script(GenericFakeChatModel):
    """Says what it was given, whatever tools it has."""

    def bind_tools(self, tools, **kwargs):
        return self


def played(tools, *turns, run_async=False):
    """Run an agent whose model calls one tool a turn; return what the tools answered."""
    calls = [
        {"name": name, "args": arguments, "id": f"call_{n}"} for n, (name, arguments) in enumerate(turns)
    ]
    messages = [AIMessage("", tool_calls=[call]) for call in calls]
    made = agent(Script(messages=iter([*messages, AIMessage("done")])), tools)
    given = {"messages": [("user", "Remind me")]}
    state = async_to_sync(made.ainvoke)(given) if run_async else made.invoke(given)
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


@pytest.fixture
def tools(tenant):
    return toolset(tenant, entities=[Reminder], actor="agent:bia")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("run_async", [False, True], ids=["sync", "async"])
def test_a_run_writes_rows_by_the_agent(tenant, tools, run_async):
    before = json.dumps(tools.definitions("mcp"))

    (made,) = played(tools, ("reminders_create", {"data": REMINDER}), run_async=run_async)

    (row,) = Reminder.store(tenant).query()
    assert (row.data.text, str(row.id)) == ("Call Okafor back", json.loads(made.content)["row"]["id"])
    assert Reminder.store(tenant).history(row.id)[0].actor == "agent:bia"
    assert json.dumps(tools.definitions("mcp")) == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("run_async", [False, True], ids=["sync", "async"])
def test_an_error_goes_back_to_the_model_which_goes_on(tenant, tools, run_async):
    wrong, right = played(
        tools,
        ("reminders_create", {"data": {**REMINDER, "due_at": "tomorrow"}}),
        ("reminders_create", {"data": REMINDER}),
        run_async=run_async,
    )

    assert (wrong.status, right.status) == ("error", "success")
    assert "due_at" in json.loads(wrong.content)["errors"]
    assert Reminder.store(tenant).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_model_can_not_choose_the_tenant(tenant, other_tenant, tools):
    (refused,) = played(tools, ("reminders_create", {"data": REMINDER, "tenant": other_tenant}))

    assert refused.status == "error"
    assert json.loads(refused.content)["errors"] == {"tenant": ["There is no such argument."]}
    assert Reminder.store(other_tenant).count() == Reminder.store(tenant).count() == 0


def tool_named(name, tenant="acme"):
    return next(tool for tool in structured_tools(toolset(tenant, entities=[Reminder])) if tool.name == name)


class CreateTool:
    """What LangChain's own tests ask for."""

    @property
    def tool_constructor(self):
        return tool_named("reminders_create")

    @property
    def tool_invoke_params_example(self):
        return {"data": REMINDER}


class QueryTool:
    @property
    def tool_constructor(self):
        return tool_named("reminders_query")

    @property
    def tool_invoke_params_example(self):
        return {"filter": {"done": False}, "limit": 5}


@pytest.fixture
def anyio_backend():
    return "asyncio"


class TestCreateUnit(CreateTool, ToolsUnitTests):
    pass


class TestQueryUnit(QueryTool, ToolsUnitTests):
    pass


@pytest.mark.anyio
@pytest.mark.django_db(transaction=True)
class TestCreateIntegration(CreateTool, ToolsIntegrationTests):
    pass


@pytest.mark.anyio
@pytest.mark.django_db(transaction=True)
class TestQueryIntegration(QueryTool, ToolsIntegrationTests):
    pass
