import asyncio
import json
from types import MappingProxyType

import pytest
from django.core.exceptions import ImproperlyConfigured

import agentstore.tools
from agentstore.core.errors import ValidationFailed
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.tools import toolset
from agentstore.tools.spec import Tool
from tests.testapp.models import Odd, Plain, Task

pytestmark = pytest.mark.django_db


@pytest.fixture
def tasks(tenant):
    return toolset(tenant, entities=[Task], actor="agent:bia")


def created(tools, **data):
    return tools.call("tasks_create", {"data": {"text": "x", **data}})["row"]


def test_a_row_goes_through_its_life_by_tools_alone(tasks):
    row = created(tasks, tags=["a"])

    changed = tasks.call("tasks_update", {"id": row["id"], "set": {"done": True}, "expected_version": 1})
    found = tasks.call("tasks_query", {"filter": {"done": True, "tags__contains": "a"}})
    gone = tasks.call("tasks_delete", {"id": row["id"]})

    assert changed["changed"] and changed["row"]["version"] == 2
    assert [item["id"] for item in found["rows"]] == [row["id"]] and found["next_cursor"] is None
    assert gone == {"deleted": True}
    assert tasks.call("tasks_get", {"id": row["id"]})["error"]["code"] == "not_found"


def test_who_acts_is_in_the_history(tenant, tasks):
    row = created(tasks)

    assert Task.store(tenant).history(row["id"])[0].actor == "agent:bia"


@pytest.mark.parametrize(
    ("name", "arguments", "code", "path"),
    [
        ("tasks_updat", {}, "not_found", None),
        ("tasks_get", {}, "validation", "id"),
        ("tasks_get", {"id": 5}, "validation", "id"),
        ("tasks_get", {"id": "no-id"}, "not_found", None),
        ("tasks_get", {"id": "x", "tenant": "other"}, "validation", "tenant"),
        ("tasks_query", {"limit": "many"}, "validation", "limit"),
        ("tasks_query", {"limit": True}, "validation", "limit"),
        ("tasks_query", {"filter": {"txt": "x"}}, "validation", "txt"),
        ("tasks_create", {"data": {"text": 5}}, "validation", "text"),
        ("tasks_create", {"data": {"text": "x", "zz": 1}}, "validation", "zz"),
        ("tasks_create", {"data": {"text": "x", "lines": [{"sku": 5}]}}, "validation", "lines.0.sku"),
        ("tasks_create", {"data": {"text": "x", "lines": ["{"]}}, "validation", "data.lines.0"),
        ("tasks_update", {"id": "no-id", "set": {"done": True}}, "not_found", None),
        ("tasks_update", {"id": "x", "unset": ["texd"]}, "validation", "texd"),
        ("tasks_delete", {"id": ""}, "not_found", None),
        ("tasks_query", {"order_by": "txt"}, "validation", "order_by"),
        ("tasks_query", {"cursor": "x"}, "validation", "cursor"),
        ("tasks_create", {"data": "{broken"}, "validation", "data"),
        ("tasks_create", {"data": {"text": "a\0b"}}, "validation", "data.text"),
        ("tasks_create", [], "validation", "arguments"),
        ("tasks_create", "{broken", "validation", "arguments"),
        ("tasks_create", None, "validation", "arguments"),
    ],
)
def test_what_is_wrong_comes_back_with_code_and_path(tasks, name, arguments, code, path):
    error = tasks.call(name, arguments)["error"]

    assert error["code"] == code and error["detail"]
    assert path is None or path in error["errors"]


def test_an_unknown_tool_names_the_closest(tasks):
    assert "'tasks_update'" in tasks.call("tasks_updat", {})["error"]["hint"]


def test_a_conflict_tells_the_current_version(tasks):
    row = created(tasks)

    error = tasks.call("tasks_update", {"id": row["id"], "set": {"done": True}, "expected_version": 7})[
        "error"
    ]

    assert error["code"] == "conflict" and error["current_version"] == 1


def test_json_text_is_parsed_once(tasks):
    row = tasks.call("tasks_create", json.dumps({"data": json.dumps({"text": '{"a": 1}'})}))["row"]

    assert row["data"]["text"] == '{"a": 1}'


@pytest.mark.parametrize("arguments", ["", " ", "{}", {}])
def test_blank_arguments_are_none(tasks, arguments):
    assert tasks.call("tasks_query", arguments) == {"rows": [], "next_cursor": None}
    assert tasks.call("tasks_get", arguments)["error"]["errors"] == {"id": ["The argument is missing."]}


@pytest.mark.parametrize("name", [None, 5, [], {}, ["tasks_get"], object()], ids=type)
def test_a_name_that_is_no_text_is_the_name_of_no_tool(tasks, name):
    assert tasks.call(name, {})["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [(None, "null"), (5, "integer"), ([], "array"), (set(), "array"), (b"{}", "string"), ("null", "string")],
    ids=str,
)
def test_arguments_that_are_no_object_say_what_they_are(tasks, arguments, found):
    detail = tasks.call("tasks_query", arguments)["error"]["detail"]

    assert detail == f"arguments: Expected an object, found {found}."


def test_any_mapping_is_an_object(tasks):
    made = tasks.call("tasks_create", MappingProxyType({"data": MappingProxyType({"text": "x"})}))

    assert made["row"]["data"]["text"] == "x"


def test_the_same_call_id_creates_once(tasks):
    first = tasks.call("tasks_create", {"data": {"text": "x"}}, call_id="call-1")

    second = tasks.call("tasks_create", {"data": {"text": "x"}}, call_id="call-1")

    assert first["row"]["id"] == second["row"]["id"]
    assert len(tasks.call("tasks_query", {})["rows"]) == 1


def test_a_call_id_that_comes_again_with_other_data_is_told_as_such(tasks):
    tasks.call("tasks_create", {"data": {"text": "x"}}, call_id="call-1")

    error = tasks.call("tasks_create", {"data": {"text": "y"}}, call_id="call-1")["error"]

    assert error["code"] == "conflict" and "call id 'call-1'" in error["detail"]
    assert "key" not in error["detail"] + error["hint"]


def test_the_same_call_id_at_another_tool_is_another_call(tenant):
    tools = toolset(tenant, entities=[Task, Odd])

    task = tools.call("tasks_create", {"data": {"text": "x"}}, call_id="call_0")
    odd = tools.call("odds_create", {"data": {}}, call_id="call_0")

    assert task["row"]["id"] != odd["row"]["id"]
    generic = toolset(tenant, entities=[Task, Odd], generic=True)
    again = generic.call("entity_create", {"entity": "odds", "data": {}}, call_id="call_0")
    assert again["row"] == odd["row"]


@pytest.mark.parametrize("length", [10, 255, 4000])
def test_call_ids_of_any_length_stay_apart(tasks, length):
    one, two = ("x" * length + end for end in "ab")

    first = tasks.call("tasks_create", {"data": {"text": "x"}}, call_id=one)
    second = tasks.call("tasks_create", {"data": {"text": "x"}}, call_id=two)

    assert first["row"]["id"] != second["row"]["id"]


def test_in_the_strict_variant_null_means_not_given(tenant):
    tools = toolset(tenant, entities=[Task], strict=True)
    every = dict.fromkeys(Task.Schema.model_fields)
    row = tools.call("tasks_create", {"data": {**every, "text": "x", "priority": 3}})["row"]

    changed = tools.call(
        "tasks_update",
        {"id": row["id"], "set": {**every, "done": True}, "unset": None, "expected_version": None},
    )

    assert changed["row"]["data"] == {**row["data"], "done": True}
    assert row["data"]["priority"] == 3


def test_in_the_strict_variant_a_model_sending_only_nulls_changes_nothing(tenant):
    tools = toolset(tenant, entities=[Task], strict=True)
    row = tools.call("tasks_create", {"data": {"text": "x"}})["row"]

    result = tools.call("tasks_update", {"id": row["id"], "set": dict.fromkeys(Task.Schema.model_fields)})

    assert result["changed"] is False and result["row"]["version"] == 1


@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
@pytest.mark.parametrize("dump", [dict, json.dumps], ids=["object", "text"])
def test_in_the_strict_variant_nulls_in_json_text_wipe_nothing(tenant, dump, generic):
    row = Task.store(tenant).create({"text": "x", "score": 1.5, "address": {"street": "Quay 1"}})
    tools = toolset(tenant, entities=[Task], strict=True, generic=generic)
    name, given = ("entity_update", {"entity": "tasks"}) if generic else ("tasks_update", {})
    nulls = dict.fromkeys(Task.Schema.model_fields) | {"address": {"street": "Quay 2", "city": None}}

    result = tools.call(name, {**given, "id": str(row.id), "set": dump(nulls)})

    assert result["row"]["data"] == {**row.raw, "address": {"street": "Quay 2", "city": ""}}


def test_in_the_strict_variant_a_model_is_told_what_null_does(tenant):
    tools = toolset(tenant, entities=[Task], strict=True)

    patch = tools.definitions("openai")[3]["parameters"]["properties"]["set"]

    assert "Null leaves a field as it is" in patch["description"]
    assert "Send null for what you do not give" in tools.instructions()
    assert "null" not in toolset(tenant, entities=[Task]).instructions()


def test_outside_the_strict_variant_null_is_a_value(tasks):
    row = created(tasks, score=1.5)

    changed = tasks.call("tasks_update", {"id": row["id"], "set": {"score": None}})

    assert changed["row"]["data"]["score"] is None


def test_in_the_strict_variant_open_objects_come_as_json_text(tenant):
    tools = toolset(tenant, entities=[Odd], strict=True)

    row = tools.call("odds_create", {"data": {"meta": '{"a": [1]}', "code": "7"}})["row"]

    assert row["data"]["meta"] == {"a": [1]}


def test_one_run_can_span_tenants_and_no_argument_reaches_another(tenant, other_tenant):
    other_row = Task.store(other_tenant).create({"text": "theirs"})
    tools = toolset(entities=[Task.store(tenant), Plain.store(other_tenant)])

    tools.call("plains_create", {"data": {"text": "p"}})

    assert tools.call("tasks_get", {"id": str(other_row.id)})["error"]["code"] == "not_found"
    assert Plain.store(other_tenant).count() == 1 and Plain.store(tenant).count() == 0


def test_files_are_written_only_where_a_glob_allows_it(tenant):
    FileStore(tenant, "bia").write("SOUL.md", "me")
    tools = toolset(tenant, agent="bia", entities=None, writable=["notes/*"])

    refused = tools.call("file_write", {"name": "SOUL.md", "content": "you"})
    written = tools.call("file_write", {"name": "notes/day.md", "content": "one two"})
    replaced = tools.call("file_replace", {"name": "notes/day.md", "old": "two", "new": "three"})

    assert refused["error"]["code"] == "permission" and "notes/*" in refused["error"]["hint"]
    assert written["changed"] and replaced["file"]["version"] == 2
    assert tools.call("file_read", {"name": "notes/day.md"})["content"] == "one three"
    assert tools.call("file_read", {"name": "notes/day.md", "version": 1})["content"] == "one two"
    versions = tools.call("file_versions", {"name": "notes/day.md"})
    assert [item["version"] for item in versions["versions"]] == [1]
    assert FileStore(tenant, "bia").info("notes/day.md").source == "tool"
    assert [item["name"] for item in tools.call("file_list", {})["files"]] == ["SOUL.md", "notes/day.md"]


def test_an_agent_brings_its_files_also_beside_what_is_listed(tenant):
    tools = toolset(tenant, agent="bia", entities=[Task])

    names = {tool["name"] for tool in tools.definitions("openai")}

    assert {"file_list", "file_read", "tasks_query"} <= names
    assert "strategy_find" not in names


def test_a_single_text_is_no_list_of_globs(tenant):
    with pytest.raises(ImproperlyConfigured, match=r"writable is a list of globs, found the text 'notes/\*'"):
        toolset(tenant, agent="bia", writable="notes/*")


@pytest.mark.parametrize("writable", [None, 5, b"notes/*", [None], ["notes/*", 5], {1}], ids=repr)
def test_what_is_no_list_of_globs_is_refused_at_once(tenant, writable):
    with pytest.raises(ImproperlyConfigured, match="writable is a list of globs"):
        toolset(tenant, agent="bia", writable=writable)


def test_globs_of_a_set_are_told_in_one_order(tenant):
    tools = toolset(tenant, agent="bia", entities=[], writable={"c", "a", "b", "e", "d"})

    assert "Writable: a, b, c, d, e." in tools.definitions("openai")[3]["description"]


@pytest.mark.parametrize(
    ("glob", "name", "allowed"),
    [
        ("*", "a.md", True),
        ("*", "a/b/c.md", True),
        ("notes/*", "notes/a/b.md", True),
        ("notes/*", "notes", False),
        ("notes/*", "old/notes/a.md", False),
        ("notes/*", "Notes/a.md", False),
        ("notes/*", "notesx/a.md", False),
        ("notes/**", "notes/a/b.md", True),
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b.md", True),
        ("**/*.md", "a.txt", False),
        ("notes/**/day.md", "notes/day.md", True),
        ("notes/**/day.md", "notes/2027/05/day.md", True),
        ("day-?.md", "day-1.md", True),
        ("day-[12].md", "day-3.md", False),
        ("caf\u0065\u0301/*", "caf\u00e9/a.md", True),
        ("", "a.md", False),
    ],
)
def test_a_glob_means_what_one_expects(tenant, glob, name, allowed):
    tools = toolset(tenant, agent="bia", entities=[], writable=[glob])

    result = tools.call("file_write", {"name": name, "content": "x"})

    assert ("file" in result, result.get("error", {}).get("code")) == (
        (True, None) if allowed else (False, "permission")
    )


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("file_replace", {"old": "me", "new": "you"}, "permission"),
        ("file_write", {"content": "you"}, "exists"),
    ],
)
def test_other_capitals_get_around_no_glob(tenant, name, arguments, code):
    files = FileStore(tenant, "bia")
    files.write("NOTES/soul.md", "me")
    tools = toolset(files=files, writable=["notes/*"])

    refused = tools.call(name, {"name": "notes/soul.md", **arguments})

    assert refused["error"]["code"] == code
    assert files.read("NOTES/soul.md") == "me"


@pytest.mark.parametrize("name", ["file_read", "file_versions"])
def test_a_missing_file_is_an_error(tenant, name):
    tools = toolset(files=FileStore(tenant, "bia"))

    assert tools.call(name, {"name": "none.md"})["error"]["code"] == "not_found"


def test_strategies_are_saved_and_found(tenant):
    tools = toolset(strategies=StrategyStore(tenant))

    saved = tools.call("strategy_save", {"problem": "Extract tables", "strategy": "use pdfplumber"})
    found = tools.call("strategy_find", {"objective": "extract the tables"})

    assert saved["status"] == "created"
    assert found["strategies"][0]["strategy"] == "use pdfplumber" and found["empty_because"] is None
    assert tools.call("strategy_find", {"objective": "the"})["empty_because"] == "no_terms"


def test_the_generic_set_serves_every_entity(tenant):
    tools = toolset(entities=[Task.store(tenant), Plain.store(tenant)], generic=True)

    described = tools.call("entity_describe", {"entity": "tasks"})
    row = tools.call("entity_create", {"entity": "tasks", "data": {"text": "g"}})["row"]
    changed = tools.call("entity_update", {"entity": "tasks", "id": row["id"], "set": {"done": True}})
    found = tools.call("entity_query", {"entity": "tasks", "filter": {"done": True}})
    gone = tools.call("entity_delete", {"entity": "tasks", "id": row["id"]})

    assert "data" in described["arguments"]["create"]["properties"]
    assert changed["changed"] and len(found["rows"]) == 1 and gone == {"deleted": True}
    assert "'tasks'" in tools.call("entity_get", {"entity": "taskz", "id": "x"})["error"]["hint"]


def test_a_row_spoiled_by_hand_is_shown_with_its_errors(tenant, tasks):
    row = created(tasks)
    Task._base_manager.filter(tenant=tenant, pk=row["id"]).update(data={"text": 5})

    shown = tasks.call("tasks_query", {})["rows"][0]

    assert shown["data"] == {"text": 5} and "text" in shown["schema_errors"]


@pytest.mark.parametrize(
    "stored",
    [{}, {"text": "x"}, {"text": "x", "value": 1, "number": 2.5}, {"text": "x", "gone": 1}],
    ids=["nothing", "too-few", "all", "too-many"],
)
def test_a_row_of_an_earlier_schema_is_shown_with_todays_fields(tenant, stored):
    tools = toolset(tenant, entities=[Plain])
    row = tools.call("plains_create", {"data": {}})["row"]
    Plain._base_manager.filter(tenant=tenant, pk=row["id"]).update(data=stored)

    shown = tools.call("plains_get", {"id": row["id"]})["row"]["data"]

    assert shown == {"text": "", "value": None, "number": None} | {
        key: value for key, value in stored.items() if key != "gone"
    }


def test_fields_of_nested_objects_are_todays_too(tenant, tasks):
    row = created(tasks, address={"street": "Quay 1", "city": "Tannhollow"})
    data = {**row["data"], "address": {"street": "Quay 1"}}
    Task._base_manager.filter(tenant=tenant, pk=row["id"]).update(data=data)

    shown = tasks.call("tasks_get", {"id": row["id"]})["row"]["data"]

    assert shown["address"] == {"street": "Quay 1", "city": ""}


@pytest.mark.parametrize("options", [{}, {"entities": [Task]}, {"strategies": None}])
def test_without_a_tenant_there_is_nothing_to_bind(options):
    with pytest.raises(ImproperlyConfigured, match="tenant"):
        toolset(**options)


def test_two_stores_of_one_entity_are_refused(tenant, other_tenant):
    with pytest.raises(ImproperlyConfigured, match="tasks_query"):
        toolset(entities=[Task.store(tenant), Task.store(other_tenant)])


def test_a_tenant_that_is_none_is_refused():
    with pytest.raises(ValidationFailed):
        toolset(" x", entities=[Task])


def test_instructions_name_the_tools(tasks):
    assert "tasks_query" in tasks.instructions()


@pytest.mark.django_db(transaction=True)
def test_the_async_call_gives_the_same(tenant):
    tools = toolset(tenant, entities=[Task])

    row = asyncio.run(tools.acall("tasks_create", {"data": {"text": "x"}}))["row"]

    assert tools.call("tasks_get", {"id": row["id"]})["row"] == row


def test_a_set_without_entities_has_nothing_generic():
    assert len(toolset(entities=[], generic=True)) == 0


def test_the_package_has_no_other_names():
    with pytest.raises(AttributeError, match="'nothing'"):
        agentstore.tools.nothing  # noqa: B018


def test_a_template_carries_out_nothing():
    template = Tool(name="a", title="A", description="", input_schema={}, output_schema={})

    with pytest.raises(NotImplementedError, match="bind it"):
        template.handler({}, None)
