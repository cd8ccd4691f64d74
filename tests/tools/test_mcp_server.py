"""The server in process, driven by the SDK's own client in both forms of the protocol."""

import asyncio
import json

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import JSONField, Value
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp import Client, MCPError

from agentstore.core.errors import StorageFailed
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.tools import toolset
from agentstore.tools.mcp import mcp_server
from agentstore.tools.mcp.server import CALL_ID
from tests.testapp.models import Odd, Plain, Task
from tests.tools.mcp_clients import MODES, error_of, run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("mode", MODES),
]


@pytest.fixture
def tasks(tenant):
    return mcp_server(toolset(tenant, entities=[Task], actor="agent:bia"))


def call(server, mode, name, arguments=None, **options):
    return run(server, lambda client: client.call_tool(name, arguments, **options), mode=mode)


# --- what is listed -----------------------------------------------------------------------------


def test_the_tools_are_listed_as_the_dialect_defines_them(tenant, mode):
    tools = toolset(tenant, agent="bia", writable=["*"])

    found = run(mcp_server(tools), lambda client: client.list_tools(), mode=mode)

    shown = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in found.tools]
    assert shown == tools.definitions("mcp")
    assert found.next_cursor is None


def test_the_client_learns_who_the_server_is_and_what_the_tools_are_for(tenant, mode):
    tools = toolset(tenant, entities=[Task])

    async def work(client):
        return client.server_info.name, client.instructions, client.server_capabilities

    name, instructions, capabilities = run(mcp_server(tools), work, mode=mode)

    assert name == "agentstore" and instructions == tools.instructions()
    assert capabilities.tools is not None and capabilities.resources is None


HINTS = {  # read only, destructive, idempotent
    "tasks_query": (True, False, True),
    "tasks_get": (True, False, True),
    "tasks_create": (False, False, False),
    "tasks_update": (False, True, True),
    "tasks_delete": (False, True, True),
    "entity_describe": (True, False, True),
    "entity_query": (True, False, True),
    "entity_get": (True, False, True),
    "entity_create": (False, False, False),
    "entity_update": (False, True, True),
    "entity_delete": (False, True, True),
    "file_list": (True, False, True),
    "file_read": (True, False, True),
    "file_versions": (True, False, True),
    "file_write": (False, True, True),
    "file_replace": (False, True, False),
    "strategy_find": (True, False, True),
    "strategy_save": (False, False, True),
}


@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
def test_every_tool_carries_all_four_hints(tenant, mode, generic):
    tools = toolset(
        entities=[Task.store(tenant)],
        files=FileStore(tenant, "bia"),
        strategies=StrategyStore(tenant),
        writable=["*"],
        generic=generic,
    )

    found = run(mcp_server(tools), lambda client: client.list_tools(), mode=mode)

    assert len(found.tools) == len(tools)
    for tool in found.tools:
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == HINTS[tool.name]
        assert hints.open_world_hint is False


def test_a_list_that_has_one_page_takes_no_cursor(tasks, mode):
    async def work(client):
        with pytest.raises(MCPError) as caught:
            await client.list_tools(cursor="2")
        return caught.value

    assert run(tasks, work, mode=mode).code == -32602


# --- results ------------------------------------------------------------------------------------

ROW = {"text": "call Tom", "tags": ["a"], "address": {"street": "Elm"}, "lines": [{"sku": "x"}]}


ODD = {"code": "7", "meta": {"a": [1]}, "madeBy": "x"}


def calls(data):
    """Return calls of all acts on an entity, in an order in which each succeeds."""
    return [
        ("create", {"data": data}),
        ("query", {}),
        ("query", {"filter": {}, "limit": 1}),
        ("get", {"id": "ID"}),
        ("update", {"id": "ID", "set": {}}),
        ("delete", {"id": "ID"}),
    ]


FILE_CALLS = [
    ("file_write", {"name": "notes/day.md", "content": "one two\n", "reason": "a note"}),
    ("file_write", {"name": "notes/day.md", "content": "one three\n", "expected_version": 1}),
    ("file_replace", {"name": "notes/day.md", "old": "three", "new": "four"}),
    ("file_list", {}),
    ("file_list", {"prefix": "none"}),
    ("file_read", {"name": "notes/day.md"}),
    ("file_read", {"name": "notes/day.md", "version": 1}),
    ("file_versions", {"name": "notes/day.md"}),
]
STRATEGY_CALLS = [
    ("strategy_save", {"problem": "Extract tables", "strategy": "use pdfplumber", "confidence": 1.5}),
    ("strategy_save", {"problem": "Extract tables", "strategy": "use pdfplumber"}),
    ("strategy_find", {"objective": "extract the tables"}),
    ("strategy_find", {"objective": "the"}),
]
SCRIPTS = {
    "tasks": [(f"tasks_{act}", given) for act, given in calls(ROW)],
    "odds": [
        (f"odds_{act}", given) for act, given in calls({"code": "7", "meta": {"a": [1]}, "madeBy": "x"})
    ],
    "plains": [(f"plains_{act}", given) for act, given in calls({"value": [None], "number": 1e300})],
    "files": FILE_CALLS,
    "strategies": STRATEGY_CALLS,
    "generic": [
        ("entity_describe", {"entity": "tasks"}),
        *((f"entity_{act}", {"entity": "tasks", **given}) for act, given in calls(ROW)),
    ],
}


async def follow(client, script):
    """Carry out a script; ``ID`` stands for the row that its first call made."""
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    row_id, found = "", []
    for name, arguments in script:
        given = {key: row_id if value == "ID" else value for key, value in arguments.items()}
        result = await client.call_tool(name, given)
        assert not result.is_error, result
        found.append((schemas[name], result))
        row_id = row_id or (result.structured_content.get("row") or {}).get("id", "")
    return found


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_result_conforms_to_its_output_schema(tenant, mode, script):
    tools = toolset(
        entities=[model.store(tenant) for model in (Task, Odd, Plain)],
        files=FileStore(tenant, "bia"),
        strategies=StrategyStore(tenant, capacity=1),
        writable=["*"],
        generic=script == "generic",
    )

    found = run(mcp_server(tools), lambda client: follow(client, SCRIPTS[script]), mode=mode)

    for schema, result in found:
        Draft202012Validator(schema).validate(result.structured_content)
        assert json.loads(result.content[0].text) == result.structured_content


def test_the_scripts_call_every_tool(tenant, mode):
    tools = [
        *toolset(tenant, entities=[Task, Odd, Plain]),
        *toolset(tenant, entities=[Task], generic=True),
        *toolset(files=FileStore(tenant, "bia"), strategies=StrategyStore(tenant), writable=["*"]),
    ]

    called = {name for script in SCRIPTS.values() for name, _ in script}
    assert {tool.name for tool in tools} == called


@pytest.mark.parametrize("spoiled", [{"text": 5}, [], "x", None, 7], ids=str)
def test_a_row_that_was_spoiled_by_hand_conforms_too(tenant, tasks, mode, spoiled):
    row = Task.store(tenant).create({"text": "x"})
    Task._base_manager.filter(pk=row.id).update(data=Value(spoiled, JSONField()))

    async def work(client):
        schema = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}["tasks_query"]
        return schema, await client.call_tool("tasks_query", {})

    schema, result = run(tasks, work, mode=mode)

    Draft202012Validator(schema).validate(result.structured_content)
    assert result.structured_content["rows"][0]["schema_errors"]


def test_arguments_may_be_left_out_where_none_is_needed(tasks, mode):
    assert call(tasks, mode, "tasks_query").structured_content == {"rows": [], "next_cursor": None}


def test_the_same_call_id_creates_once(tasks, mode):
    async def work(client):
        given = {"data": {"text": "x"}}
        made = [await client.call_tool("tasks_create", given, meta={CALL_ID: "c1"}) for _ in range(2)]
        return {result.structured_content["row"]["id"] for result in made}

    assert len(run(tasks, work, mode=mode)) == 1


def test_calls_without_an_id_are_calls_of_their_own(tasks, mode):
    """A client numbers its requests from the same start in every session: that number is no call id."""

    def made():
        return call(tasks, mode, "tasks_create", {"data": {"text": "x"}}).structured_content["row"]["id"]

    assert made() != made()


def test_who_acts_is_in_the_history(tenant, tasks, mode):
    row = call(tasks, mode, "tasks_create", {"data": {"text": "x"}}).structured_content["row"]

    assert Task.store(tenant).history(row["id"])[0].actor == "agent:bia"


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "code", "path"),
    [
        ("tasks_updat", {}, "not_found", None),
        ("tasks_get", None, "validation", "id"),
        ("tasks_get", {"id": 5}, "validation", "id"),
        ("tasks_get", {"id": "no-id"}, "not_found", None),
        ("tasks_get", {"id": "x", "tenant": "other"}, "validation", "tenant"),
        ("tasks_query", {"limit": "many"}, "validation", "limit"),
        ("tasks_query", {"filter": {"txt": "x"}}, "validation", "txt"),
        ("tasks_create", {"data": {"text": 5}}, "validation", "text"),
        ("tasks_create", {"data": {"text": "x", "zz": 1}}, "validation", "zz"),
        ("tasks_create", {"data": "{broken"}, "validation", "data"),
    ],
)
def test_what_is_wrong_is_a_result_that_a_model_can_act_on(tasks, mode, name, arguments, code, path):
    error = error_of(call(tasks, mode, name, arguments))

    assert error["code"] == code and error["detail"]
    assert path is None or path in error["errors"]


def test_an_unknown_tool_names_the_closest(tasks, mode):
    assert "'tasks_update'" in error_of(call(tasks, mode, "tasks_updat", {}))["hint"]


def test_a_conflict_tells_the_current_version_and_what_to_do(tenant, tasks, mode):
    row = Task.store(tenant).create({"text": "x"})
    stale = {"id": str(row.id), "set": {"done": True}, "expected_version": 7}

    error = error_of(call(tasks, mode, "tasks_update", stale))

    assert error["code"] == "conflict" and error["current_version"] == 1 and error["hint"]


@pytest.mark.parametrize("call_id", [5, "a\0b"], ids=["number", "nul"])
def test_a_call_id_that_can_be_none_is_refused(tasks, mode, call_id):
    result = call(tasks, mode, "tasks_create", {"data": {"text": "x"}}, meta={CALL_ID: call_id})

    assert error_of(result)["code"] == "validation"


def test_trouble_in_the_database_says_whether_to_try_again(tenant, mode, monkeypatch):
    def fail(*args, **options):
        raise StorageFailed("The database did not carry out the operation.", hint="Try again later.")

    tools = toolset(tenant, entities=[Task])
    monkeypatch.setattr(tools, "run", fail)

    error = error_of(call(mcp_server(tools), mode, "tasks_query", {}))

    assert error["code"] == "storage" and error["hint"] == "Try again later."


def test_a_bug_is_logged_and_not_shown(tenant, mode, monkeypatch, caplog):
    def fail(*args, **options):
        raise KeyError("secret")

    tools = toolset(tenant, entities=[Task])
    monkeypatch.setattr(tools, "run", fail)

    async def work(client):
        return await client.call_tool("tasks_query", {}), await client.list_tools()

    result, listed = run(mcp_server(tools), work, mode=mode)

    assert error_of(result)["code"] == "internal" and "secret" not in result.content[0].text
    assert "secret" in caplog.text and "tasks_query" in caplog.text
    assert len(listed.tools) == 5


def test_what_is_no_text_is_answered_and_does_not_end_the_session(tasks, mode):
    async def work(client):
        try:
            result = await client.call_tool("tasks_get", {"\ud800": 1})
        except Exception as error:
            result = error
        return result, await client.call_tool("tasks_query", {})

    _, after = run(tasks, work, mode=mode)

    assert not after.is_error


# --- the surroundings ---------------------------------------------------------------------------


def test_two_servers_of_two_tenants_stay_apart(tenant, other_tenant, mode):
    servers = [mcp_server(toolset(name, entities=[Task])) for name in (tenant, other_tenant)]
    row = call(servers[0], mode, "tasks_create", {"data": {"text": "mine"}}).structured_content["row"]

    theirs = call(servers[1], mode, "tasks_query", {}).structured_content["rows"]

    assert theirs == []
    assert error_of(call(servers[1], mode, "tasks_get", {"id": row["id"]}))["code"] == "not_found"


def test_under_async_to_sync_the_callers_transaction_is_seen(tenant, tasks, mode):
    """As in Django's own async tests."""

    async def work():
        async with Client(tasks, mode=mode) as client:
            return await client.call_tool("tasks_query", {})

    with transaction.atomic():
        Task.store(tenant).create({"text": "uncommitted"})
        found = async_to_sync(work)()

    assert [row["data"]["text"] for row in found.structured_content["rows"]] == ["uncommitted"]


def test_a_hundred_calls_at_once_are_all_carried_out(tenant, tasks, mode):
    async def work(client):
        rows = [client.call_tool("tasks_create", {"data": {"text": str(n)}}) for n in range(100)]
        return await asyncio.gather(*rows)

    results = run(tasks, work, mode=mode)

    texts = {result.structured_content["row"]["data"]["text"] for result in results}
    assert len(texts) == 100 and Task.store(tenant).count() == 100
