import json

import pytest
from django.contrib.auth.models import Permission

from agentstore.core.access import Access
from agentstore.core.errors import PermissionDenied
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.tools import toolset
from tests.testapp.models import Small, Task

pytestmark = pytest.mark.django_db

BASE = "/api/tools/"


@pytest.fixture
def own(user):
    """The tenant of the client's user."""
    return f"user:{user.pk}"


def call(client, name, arguments, query="", **headers):
    return client.post(f"{BASE}{name}/{query}", data=arguments, format="json", headers=headers)


def names(response):
    return [tool["name"] for tool in response.json()["results"]]


# --- definitions ----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["openai", "openai_chat", "anthropic", "gemini", "mcp"])
def test_the_definitions_are_those_of_the_toolset(api_client, own, dialect):
    response = api_client.get(BASE, {"dialect": dialect})

    assert response.status_code == 200
    assert response.json()["results"] == toolset(own).definitions(dialect)
    assert response.json()["limit"] == len(response.json()["results"])
    assert response.json()["next"] is None and response.json()["next_cursor"] is None


def test_without_a_dialect_they_are_mcps(api_client):
    assert api_client.get(BASE).json() == api_client.get(BASE, {"dialect": "mcp"}).json()


def test_the_instructions_for_the_prompt_come_along(api_client, own):
    assert api_client.get(BASE).json()["instructions"] == toolset(own).instructions()


def test_the_strict_variant_is_the_toolsets(api_client, own):
    strict = api_client.get(BASE, {"dialect": "openai", "strict": "true"}).json()["results"]

    assert strict == toolset(own, strict=True).definitions("openai")
    assert all(tool["strict"] for tool in strict)


def test_the_generic_set_is_the_toolsets(api_client, own):
    generic = api_client.get(BASE, {"generic": "true"}).json()["results"]

    assert generic == toolset(own, generic=True).definitions("mcp")


def test_an_agent_adds_its_files_and_globs_let_them_be_written(api_client):
    none = names(api_client.get(BASE))
    reading = names(api_client.get(BASE, {"agent": "bia"}))
    writing = names(api_client.get(BASE, {"agent": "bia", "writable": ["notes/*", "SOUL.md"]}))

    assert [name for name in none if name.startswith("file_")] == []
    assert [name for name in reading if name.startswith("file_")] == [
        "file_list",
        "file_read",
        "file_versions",
    ]
    assert {"file_write", "file_replace"} < set(writing)


def test_read_only_leaves_nothing_that_writes(api_client):
    query = {"read_only": "true", "agent": "bia", "writable": "*"}
    for generic in ("false", "true"):
        tools = api_client.get(BASE, {**query, "generic": generic}).json()["results"]

        assert tools and all(tool["annotations"]["readOnlyHint"] for tool in tools)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("dialect=french", "dialect"),
        ("dialect=", "dialect"),
        ("strict=yes", "strict"),
        ("generic=1", "generic"),
        ("read_only=True", "read_only"),
        ("agent=b%20a", "agent"),
        ("agent=", "agent"),
        ("dialekt=mcp", "dialekt"),
        ("dialect=mcp&dialect=mcp", ""),
        ("agent=a&agent=b", ""),
        ("agent=%ff", ""),
    ],
)
def test_what_a_request_gets_wrong_is_told_by_name(api_client, query, field):
    response = api_client.get(f"{BASE}?{query}")

    assert response.status_code == 400 and response.json()["code"] == "validation"
    assert field in response.json()["errors"]


# --- calls ----------------------------------------------------------------------------------


def test_a_row_goes_through_its_life_by_calls_alone(api_client, own, user):
    made = call(api_client, "tasks_create", {"data": {"text": "x"}})
    row = made.json()["row"]
    changed = call(
        api_client, "tasks_update", {"id": row["id"], "set": {"done": True}, "expected_version": 1}
    )
    found = call(api_client, "tasks_query", {"filter": {"done": True}})
    read = call(api_client, "tasks_get", {"id": row["id"]})
    gone = call(api_client, "tasks_delete", {"id": row["id"]})

    assert [response.status_code for response in (made, changed, found, read, gone)] == [200] * 5
    assert changed.json()["changed"] is True and changed.json()["row"]["version"] == 2
    assert found.json()["rows"] == [read.json()["row"]] == [changed.json()["row"]]
    assert gone.json() == {"deleted": True}
    assert {entry.actor for entry in Task.store(own).history(row["id"])} == {f"user:{user.username}"}


def test_why_and_in_which_run_may_stand_in_headers(api_client, own):
    headers = {"X-Agentstore-Reason": "tidied%20up", "X-Agentstore-Context": '{"run":"8f2c"}'}

    row = call(api_client, "tasks_create", {"data": {"text": "x"}}, **headers).json()["row"]
    bad = call(api_client, "tasks_create", {"data": {"text": "x"}}, **{"X-Agentstore-Context": "5"})

    (entry,) = Task.store(own).history(row["id"])
    assert (entry.reason, entry.context) == ("tidied up", {"run": "8f2c"})
    assert bad.status_code == 400 and Task.store(own).count() == 1


def test_files_are_read_and_written_as_the_address_allows(api_client, own, user):
    query = "?agent=bia&writable=notes/*"
    written = call(api_client, "file_write", {"name": "notes/day.md", "content": "one"}, query)
    read = call(api_client, "file_read", {"name": "notes/day.md"}, query)
    refused = call(api_client, "file_write", {"name": "SOUL.md", "content": "x"}, query)

    info = FileStore(own, "bia").info("notes/day.md")
    assert written.json()["changed"] is True and read.json()["content"] == "one"
    assert (info.actor, info.source) == (f"user:{user.username}", "tool")
    assert refused.status_code == 403 and refused.json()["code"] == "permission"
    assert FileStore(own, "bia").info("SOUL.md") is None


def test_strategies_are_saved_and_found(api_client, own):
    saved = call(api_client, "strategy_save", {"problem": "extract tables", "strategy": "use pdfplumber"})
    found = call(api_client, "strategy_find", {"objective": "extract tables"})

    assert saved.json()["status"] == "created"
    assert [item["id"] for item in found.json()["strategies"]] == [saved.json()["id"]]
    assert StrategyStore(own).usage().used == 1


def test_the_generic_tools_are_called_where_the_address_asks_for_them(api_client):
    made = call(api_client, "entity_create", {"entity": "tasks", "data": {"text": "x"}}, "?generic=true")
    described = call(api_client, "entity_describe", {"entity": "tasks"}, "?generic=true")
    missing = call(api_client, "entity_create", {"entity": "tasks", "data": {"text": "x"}})

    assert made.json()["row"]["data"]["text"] == "x"
    assert "query" in described.json()["arguments"]
    assert missing.status_code == 404


def test_with_strict_a_null_means_not_given(api_client, own):
    row = Task.store(own).create({"text": "x", "score": 1.5})
    arguments = {
        "id": str(row.id),
        "set": {"text": "y", "score": None},
        "unset": None,
        "expected_version": None,
    }

    response = call(api_client, "tasks_update", arguments, "?strict=true")

    assert response.json()["row"]["data"]["text"] == "y"
    assert response.json()["row"]["data"]["score"] == 1.5


def test_a_key_makes_a_create_happen_once(api_client, own):
    first = call(api_client, "tasks_create", {"data": {"text": "x"}}, **{"Idempotency-Key": "one"})
    again = call(api_client, "tasks_create", {"data": {"text": "x"}}, **{"Idempotency-Key": "one"})
    other = call(api_client, "tasks_create", {"data": {"text": "y"}}, **{"Idempotency-Key": "one"})

    assert first.json() == again.json() and Task.store(own).count() == 1
    assert other.status_code == 409 and other.json()["code"] == "conflict"


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_is_none_is_refused(api_client, own, key):
    response = call(api_client, "tasks_create", {"data": {"text": "x"}}, **{"Idempotency-Key": key})

    assert response.status_code == 400 and "Idempotency-Key" in response.json()["errors"]
    assert Task.store(own).count() == 0


@pytest.mark.parametrize(
    ("name", "arguments", "status", "code", "path"),
    [
        ("tasks_updat", {}, 404, "not_found", None),
        ("tasks", {}, 404, "not_found", None),
        ("file_read", {"name": "a"}, 404, "not_found", None),
        ("tasks_get", {}, 400, "validation", "id"),
        ("tasks_get", {"id": 5}, 400, "validation", "id"),
        ("tasks_get", {"id": "no-id"}, 404, "not_found", None),
        ("tasks_get", {"id": "x", "tenant": "other"}, 400, "validation", "tenant"),
        ("tasks_query", {"filter": {"txt": "x"}}, 400, "validation", "txt"),
        ("tasks_query", {"cursor": "nope"}, 400, "validation", "cursor"),
        ("tasks_create", {"data": {"text": 5}}, 400, "validation", "text"),
        ("tasks_create", {"data": {"text": "a\0b"}}, 400, "validation", "data.text"),
        ("tasks_create", [], 400, "validation", "arguments"),
        ("tasks_create", 5, 400, "validation", "arguments"),
        ("tasks_create", {"data": {"text": "x" * 300_000}}, 413, "too_large", None),
        ("strategy_save", {"problem": " ", "strategy": "s"}, 400, "validation", "problem"),
        ("strategy_find", {"objective": "x", "limit": -1}, 400, "validation", "limit"),
    ],
)
def test_errors_have_the_status_and_body_of_every_rest_error(api_client, name, arguments, status, code, path):
    response = call(api_client, name, arguments)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["detail"] and "error" not in response.json()
    assert path is None or path in response.json()["errors"]


@pytest.mark.parametrize(
    ("body", "type", "status"),
    [
        (b"{", "application/json", 400),
        (b'{"id": 1, "id": 2}', "application/json", 400),
        (b'{"id": NaN}', "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 100 + b"]" * 100, "application/json", 400),
        (b"", "application/json", 400),
        (b"", "application/x-www-form-urlencoded", 400),
        (b"id=1", "application/x-www-form-urlencoded", 415),
        (b" " * 3_000_000, "application/json", 413),
    ],
)
def test_bodies_that_are_no_arguments_are_refused(api_client, body, type, status):
    response = api_client.generic("POST", f"{BASE}tasks_get/", body, content_type=type)

    assert response.status_code == status and response.json()["code"]


def test_arguments_may_come_as_the_text_that_a_model_wrote(api_client):
    response = call(api_client, "tasks_create", json.dumps({"data": {"text": "x"}}))

    assert response.json()["row"]["data"]["text"] == "x"


def test_no_arguments_need_no_body(api_client):
    response = api_client.post(f"{BASE}tasks_query/")

    assert response.status_code == 200 and response.json() == {"rows": [], "next_cursor": None}


def test_a_conflict_is_409_with_the_current_version(api_client, own):
    row = Task.store(own).create({"text": "x"})

    response = call(
        api_client, "tasks_update", {"id": str(row.id), "set": {"text": "y"}, "expected_version": 7}
    )

    assert response.status_code == 409 and response.json()["current_version"] == 1


def test_a_full_quota_is_409(api_client, own):
    Small.store(own).create_many([{}] * 5)

    response = call(api_client, "smalls_create", {"data": {}})

    assert response.status_code == 409 and response.json()["code"] == "quota"


def test_an_unknown_tool_names_the_closest(api_client):
    assert "'tasks_update'" in call(api_client, "tasks_updat", {}).json()["hint"]


def test_files_without_an_agent_say_what_is_missing(api_client):
    assert "agent" in call(api_client, "file_read", {"name": "a"}).json()["hint"]
    assert "writable" in call(api_client, "file_write", {}, "?agent=bia").json()["hint"]


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_a_tool_is_only_called(api_client, method):
    response = getattr(api_client, method)(f"{BASE}tasks_get/")

    assert response.status_code == 405 and response.json()["code"] == "method_not_allowed"


# --- tenants and rights ---------------------------------------------------------------------


def test_another_tenants_row_is_not_found_in_the_same_words(api_client, other_tenant):
    row = Task.store(other_tenant).create({"text": "secret"})

    theirs = call(api_client, "tasks_get", {"id": str(row.id)})
    none = call(api_client, "tasks_get", {"id": str(row.id).replace("0", "1")})

    assert theirs.status_code == none.status_code == 404
    assert "secret" not in theirs.content.decode()
    assert call(api_client, "tasks_query", {}).json()["rows"] == []


def test_only_who_may_names_another_tenant(api_client, user, other_tenant):
    header = {"X-Agentstore-Tenant": other_tenant}
    refused = call(api_client, "tasks_create", {"data": {"text": "x"}}, **header)
    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    able = api_client.__class__()
    able.force_authenticate(type(user).objects.get(pk=user.pk))

    done = call(able, "tasks_create", {"data": {"text": "x"}}, **header)

    assert refused.status_code == 403 and done.status_code == 200
    assert Task.store(other_tenant).count() == 1
    assert "X-Agentstore-Tenant" in done["Vary"]


def test_nobody_gets_in_without_credentials(client):
    listed = client.get(BASE)
    called = client.post(f"{BASE}tasks_create/", {"data": {"text": "x"}}, content_type="application/json")

    assert listed.status_code in (401, 403) and called.status_code == listed.status_code
    assert listed.json()["code"]


class Viewers(Access):
    """Lets everybody look, and nobody change a thing."""

    def allows(self, user, tenant, capability, action):
        return action == "view"


class NoTools(Access):
    """Lets everybody do everything but use tools."""

    def allows(self, user, tenant, capability, action):
        return capability != "tools"


class Apart(Access):
    """Keeps smalls with another tenant, lets tasks be added and not changed, and strategies to nobody."""

    def tenant(self, user, capability, wanted=None):
        if capability == "strategies":
            raise PermissionDenied("No strategies for you.")
        return "shared" if capability == "entities.smalls" else super().tenant(user, capability, wanted)

    def allows(self, user, tenant, capability, action):
        return (capability, action) != ("entities.tasks", "change")


def access(settings, kind):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.{kind.__name__}"}


@pytest.mark.parametrize("generic", ["false", "true"])
def test_who_may_only_view_gets_nothing_that_writes(api_client, settings, generic):
    access(settings, Viewers)

    tools = api_client.get(BASE, {"generic": generic, "agent": "bia", "writable": "*"}).json()["results"]

    assert len(tools) > 5 and all(tool["annotations"]["readOnlyHint"] for tool in tools)


@pytest.mark.parametrize(
    ("name", "arguments", "query"),
    [
        ("tasks_create", {"data": {"text": "x"}}, ""),
        ("tasks_update", {"id": "ID", "set": {"text": "y"}}, ""),
        ("tasks_delete", {"id": "ID"}, ""),
        ("entity_create", {"entity": "tasks", "data": {"text": "x"}}, "?generic=true"),
        ("entity_delete", {"entity": "tasks", "id": "ID"}, "?generic=true"),
        ("file_write", {"name": "a", "content": "x"}, "?agent=bia&writable=*"),
        ("file_replace", {"name": "a", "old": "x", "new": "y"}, "?agent=bia&writable=*"),
        ("strategy_save", {"problem": "p q", "strategy": "s"}, ""),
    ],
)
def test_who_may_only_view_writes_nothing(api_client, settings, own, name, arguments, query):
    access(settings, Viewers)
    row = Task.store(own).create({"text": "x"})
    arguments = {key: str(row.id) if value == "ID" else value for key, value in arguments.items()}

    response = call(api_client, name, arguments, query)

    assert response.status_code == 403 and response.json()["code"] == "permission"
    assert [item.version for item in Task.store(own).iterate()] == [1]
    assert FileStore(own, "bia").list() == [] and StrategyStore(own).usage().used == 0


def test_the_right_to_use_tools_can_be_withheld(api_client, settings):
    access(settings, NoTools)

    assert api_client.get(BASE).status_code == 403
    assert call(api_client, "tasks_query", {}).status_code == 403


@pytest.mark.parametrize("query", ["", "?generic=true"])
def test_each_capability_is_asked_for_by_its_own_name(api_client, settings, own, query):
    access(settings, Apart)
    Small.store("shared").create({"n": 7})
    row = Task.store(own).create({"text": "x"})

    def act(entity, act, **arguments):
        if query:
            return call(api_client, f"entity_{act}", {"entity": entity, **arguments}, query)
        return call(api_client, f"{entity}_{act}", arguments)

    assert [row["data"]["n"] for row in act("smalls", "query").json()["rows"]] == [7]
    assert act("tasks", "create", data={"text": "y"}).status_code == 200
    refused = act("tasks", "update", id=str(row.id), set={"text": "z"})
    assert refused.status_code == 403 and "right to change in" in refused.json()["hint"]
    assert act("odds", "update", id=str(row.id), set={}).status_code == 404
    assert (
        call(api_client, "strategy_find", {"objective": "x"}, query).json()["detail"]
        == "No strategies for you."
    )
    listed = names(api_client.get(BASE + query))
    assert "strategy_find" not in listed and "tasks_update" not in listed


def test_a_call_asks_for_its_own_capability_alone(api_client, settings, monkeypatch):
    asked = []
    monkeypatch.setattr(Access, "allows", lambda self, *args: asked.append(args[2]) or True)

    call(api_client, "tasks_query", {})

    assert set(asked) == {"tools", "entities.tasks"}
