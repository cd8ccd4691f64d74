"""The ASGI application: what a user reaches with a token, and how everything else is turned away."""

import asyncio

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.core.exceptions import ImproperlyConfigured
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from rest_framework.authtoken.models import Token

from agentstore.core.access import Access
from agentstore.core.errors import PermissionDenied, ValidationFailed
from agentstore.files import FileStore
from agentstore.tools import toolset
from agentstore.tools.mcp import mcp_app
from agentstore.tools.permitted import permitted_toolset
from tests.testapp.models import Task
from tests.tools.mcp_clients import HELLO, JSON, LIST, MODES, URL, error_of, headers, over_http, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(user):
    return Token.objects.create(user=user).key


@pytest.fixture
def own(user):
    """The tenant that the default access class gives the user."""
    return f"user:{user.pk}"


@pytest.fixture
def other(transactional_db):
    """Another user, and their token."""
    user = User.objects.create_user("otto")
    return user, Token.objects.create(user=user).key


@pytest.fixture
def app():
    return mcp_app()


def ask(app, token, work, **options):
    """Connect as the owner of ``token``, and return what ``work`` does with the client."""

    async def connected():
        async with over_http(app, token, **options) as client:
            return await work(client)

    return asyncio.run(connected())


def call(app, token, name, arguments=None, **options):
    return ask(app, token, lambda client: client.call_tool(name, arguments), **options)


def names(app, token, **options):
    found = ask(app, token, lambda client: client.list_tools(), **options)
    return {tool.name for tool in found.tools}


# --- as a user ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_user_works_with_rows_of_their_own(app, token, own, mode):
    async def work(client):
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        made = await client.call_tool("tasks_create", {"data": {"text": "mine"}})
        found = await client.call_tool("tasks_query", {})
        wrong = await client.call_tool("tasks_create", {"data": {"text": 5}})
        return schemas, made, found, wrong, client.instructions

    schemas, made, found, wrong, instructions = ask(app, token, work, mode=mode)

    row = made.structured_content["row"]
    assert found.structured_content["rows"] == [row]
    Draft202012Validator(schemas["tasks_query"]).validate(found.structured_content)
    assert error_of(wrong)["code"] == "validation" and "tasks_query" in instructions
    assert Task.store(own).history(row["id"])[0].actor == "user:ursula"


@pytest.mark.parametrize("mode", MODES)
def test_another_users_rows_are_not_there(app, token, other, mode):
    row = call(app, token, "tasks_create", {"data": {"text": "mine"}}).structured_content["row"]

    async def work(client):
        return await client.call_tool("tasks_query", {}), await client.call_tool(
            "tasks_get", {"id": row["id"]}
        )

    found, got = ask(app, other[1], work, mode=mode)

    assert found.structured_content["rows"] == []
    assert error_of(got)["code"] == "not_found"


@pytest.mark.parametrize("mode", MODES)
def test_files_are_resources_where_an_agent_is_named(token, own, other, mode):
    FileStore(own, "bia").write("SOUL.md", "You are Bia.")
    FileStore(f"user:{other[0].pk}", "bia").write("SOUL.md", "You are theirs.")

    async def work(client):
        (listed,) = (await client.list_resources()).resources
        return listed, (await client.read_resource(listed.uri)).contents[0].text

    listed, text = ask(mcp_app(agent="bia"), token, work, mode=mode)

    assert (listed.name, text) == ("SOUL.md", "You are Bia.")


def test_no_session_is_opened_so_none_can_be_taken_over(app, token, other):
    first = post(app, headers=headers(token), json={**LIST, "method": "initialize", "params": HELLO})
    call(app, token, "tasks_create", {"data": {"text": "mine"}})
    query = {"name": "tasks_query", "arguments": {}}

    taken = post(
        app,
        headers=headers(other[1], **{"Mcp-Session-Id": first.headers.get("Mcp-Session-Id", "1")}),
        json={**LIST, "method": "tools/call", "params": query},
    )

    assert first.status_code == 200 and "Mcp-Session-Id" not in first.headers
    assert taken.status_code == 200 and '"rows":[]' in taken.text and "mine" not in taken.text


# --- tokens -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (None, ""),
        ("Basic dTpw", "invalid_token"),
        ("Bearer", "invalid_token"),
        ("Bearer ", "invalid_token"),
        ("Bearer unknown", "invalid_token"),
        ("Bearer a b", "invalid_token"),
        ("Bearer caf\xe9", "invalid_token"),
        ("Token TOKEN", "invalid_token"),
        ("Bearer TOKEN, Bearer TOKEN", "invalid_token"),
    ],
    ids=["none", "basic", "bare", "blank", "unknown", "two words", "accent", "scheme", "twice"],
)
def test_without_a_known_token_nobody_comes_in(app, token, sent, error):
    given = (
        dict(JSON)
        if sent is None
        else headers("", Authorization=sent.replace("TOKEN", token).encode("latin-1"))
    )

    found = post(app, headers=given, json=LIST)

    challenge = found.headers["WWW-Authenticate"]
    assert found.status_code == 401 and challenge.startswith('Bearer realm="agentstore"')
    assert (f'error="{error}"' in challenge) if error else ("error" not in challenge)
    assert found.json()["error_description"]


def test_a_token_in_the_address_counts_for_nothing(app, token):
    assert post(app, url=f"{URL}?access_token={token}", headers=JSON, json=LIST).status_code == 401


@pytest.mark.parametrize("word", ["bearer", "BEARER"])
def test_the_schemes_name_may_be_written_in_any_case(app, token, word):
    found = post(app, headers=headers("", Authorization=f"{word} {token}"), json=LIST)

    assert found.status_code == 200


def test_who_may_not_log_in_any_more_is_out_at_once(app, token, user):
    assert names(app, token)

    User.objects.filter(pk=user.pk).update(is_active=False)

    assert post(app, headers=headers(token), json=LIST).status_code == 401


def test_a_token_that_was_taken_back_is_out_at_once(app, token):
    assert names(app, token)

    Token.objects.all().delete()

    assert post(app, headers=headers(token), json=LIST).status_code == 401


def find(token):
    return User.objects.filter(username=token).first()


async def afind(token):
    return await User.objects.filter(username=token).afirst()


class Finder:
    """As a library with an object of its own would do it."""

    async def __call__(self, token):
        return await afind(token)


@pytest.mark.parametrize(
    "authenticate",
    [find, afind, Finder(), f"{__name__}.find"],
    ids=["function", "async", "object", "path"],
)
def test_the_host_says_whose_token_it_is(user, authenticate):
    app = mcp_app(authenticate=authenticate)

    assert "tasks_query" in names(app, "ursula")
    assert post(app, headers=headers("nobody"), json=LIST).status_code == 401


def test_nobody_in_particular_is_nobody():
    app = mcp_app(authenticate=lambda token: AnonymousUser())

    assert post(app, headers=headers("x"), json=LIST).status_code == 401


def test_a_function_that_breaks_lets_nobody_in(user):
    def broken(token):
        raise LookupError("out of order")

    with pytest.raises(LookupError):
        post(mcp_app(authenticate=broken), headers=headers("ursula"), json=LIST)


def test_the_challenge_leads_to_the_hosts_own_authorization():
    metadata = "https://example.com/.well-known/oauth-protected-resource"

    found = post(mcp_app(authenticate=find, resource_metadata_url=metadata), headers=JSON, json=LIST)

    assert f'resource_metadata="{metadata}"' in found.headers["WWW-Authenticate"]


def test_without_a_way_to_find_users_there_is_no_application(settings):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if "authtoken" not in app]

    with pytest.raises(ImproperlyConfigured, match="authenticate="):
        mcp_app()


@pytest.mark.parametrize("wrong", [5, f"{__name__}.JSON"], ids=["number", "path"])
def test_what_cannot_be_called_finds_no_users(wrong):
    with pytest.raises(ImproperlyConfigured, match="authenticate"):
        mcp_app(authenticate=wrong)


# --- tenants and rights -------------------------------------------------------------------------


def test_who_may_act_for_others_names_the_tenant(app, token, user, tenant):
    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    Task.store("Zürich, 2").create({"text": "theirs"})

    found = call(app, token, "tasks_query", headers={"X-Agentstore-Tenant": "Z%C3%BCrich%2C%202"})

    assert [row["data"]["text"] for row in found.structured_content["rows"]] == ["theirs"]


def test_who_may_not_act_for_others_is_told(app, token):
    found = post(app, headers=headers(token, **{"X-Agentstore-Tenant": "acme"}), json=LIST)

    assert found.status_code == 403 and found.json()["code"] == "permission"
    assert "another tenant" in found.json()["detail"]


def test_a_tenant_that_can_be_none_is_refused(app, token):
    found = post(app, headers=headers(token, **{"X-Agentstore-Tenant": "%ff"}), json=LIST)

    assert found.status_code == 400 and found.json()["code"] == "validation"


class Careful(Access):
    """Lets nobody delete rows, and shows no strategies."""

    def allows(self, user, tenant, capability, action):
        return action != "delete" and capability != "strategies"


class Closed(Access):
    def allows(self, user, tenant, capability, action):
        return False


class NoTools(Access):
    def allows(self, user, tenant, capability, action):
        return capability != "tools"


def test_the_access_class_may_keep_a_user_from_tools_as_a_whole(settings, app, token):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.NoTools"}

    found = post(app, headers=headers(token), json=LIST)

    assert (found.status_code, found.json()["hint"]) == (403, "You need the right to view in tools.")


@pytest.mark.parametrize("mode", MODES)
def test_the_access_class_decides_which_tools_there_are(settings, app, token, mode):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Careful"}

    async def work(client):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        return tools, await client.call_tool("tasks_delete", {"id": "x"})

    tools, refused = ask(app, token, work, mode=mode)

    assert "tasks_update" in tools and not {"tasks_delete", "strategy_find"} & tools
    assert error_of(refused)["code"] == "permission"


def test_who_may_use_nothing_does_not_come_in(settings, app, token):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Closed"}

    found = post(app, headers=headers(token), json=LIST)

    assert found.status_code == 403 and found.json()["code"] == "permission"


def test_the_host_may_make_the_tools_of_a_user(token, tenant, user):
    def make(user, wanted):
        return toolset(tenant, entities=[Task], actor=user.username, read_only=wanted.read_only)

    app = mcp_app(tools=make, read_only=True)

    assert names(app, token) == {"tasks_query", "tasks_get"}


def test_the_host_may_refuse_a_user_and_say_why(token):
    def make(user, wanted):
        raise PermissionDenied("Pay first.")

    found = post(mcp_app(tools=make), headers=headers(token), json=LIST)

    assert found.status_code == 403 and found.json()["detail"] == "Pay first."


def test_a_set_without_tools_is_refused(token):
    app = mcp_app(tools=lambda user, wanted: toolset(entities=[]))

    assert post(app, headers=headers(token), json=LIST).status_code == 403


# --- which tools --------------------------------------------------------------------------------

FILES = {"file_list", "file_read", "file_versions"}


@pytest.mark.parametrize(
    ("options", "query", "some", "none"),
    [
        ({}, "", {"tasks_create", "strategy_save"}, FILES),
        ({"agent": "bia"}, "", FILES | {"tasks_create"}, {"file_write"}),
        ({"agent": "bia", "writable": ["*"]}, "", FILES | {"file_write"}, set()),
        ({"writable": ["*"]}, "", {"tasks_create"}, FILES | {"file_write"}),
        ({"writable": ["*"]}, "?agent=bia", FILES | {"file_write"}, set()),
        ({}, "?agent=bia", FILES, {"file_write"}),
        ({"agent": "bia"}, "?agent=bia", FILES, set()),
        ({"agent": "bia", "writable": ["*"], "read_only": True}, "", FILES, {"file_write", "tasks_create"}),
        ({"read_only": True}, "?read_only=false", {"tasks_query"}, {"tasks_create"}),
        ({}, "?read_only=true", {"tasks_query"}, {"tasks_create"}),
        ({"generic": True}, "", {"entity_query", "entity_create"}, {"tasks_query"}),
        ({}, "?generic=true&read_only=true", {"entity_query"}, {"tasks_query", "entity_create"}),
    ],
)
def test_the_address_narrows_what_the_application_offers(token, options, query, some, none):
    found = names(mcp_app(**options), token, url=f"{URL}{query}")

    assert some <= found and not none & found


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("?agent=rex", "agent"),
        ("?read_only=maybe", "read_only"),
        ("?writable=*", "writable"),
        ("?agent=%ff", "UTF-8"),
    ],
)
def test_what_the_address_may_not_ask_for_is_refused(token, query, word):
    found = post(mcp_app(agent="bia"), url=f"{URL}{query}", headers=headers(token), json=LIST)

    assert found.status_code == 400 and word in found.text


@pytest.mark.parametrize("name", ["writable", "allowed_origins"])
def test_a_text_in_the_place_of_a_list_is_refused_at_once(name):
    """As a list it would be its letters: every one-letter file could be written."""
    with pytest.raises(ImproperlyConfigured, match=name):
        mcp_app(**{name: "*"})


def test_what_is_no_list_of_globs_is_refused_at_once():
    with pytest.raises(ImproperlyConfigured, match="writable is a list of globs"):
        mcp_app(writable=[5])


def test_an_agent_that_can_be_none_is_refused_at_once():
    with pytest.raises(ValidationFailed):
        mcp_app(agent="no agent")


def test_the_hook_is_told_what_is_asked_for(token):
    asked = []

    def make(user, wanted):
        asked.append(wanted)
        return permitted_toolset(user, wanted)

    names(mcp_app(tools=make, writable=["notes/*"]), token, url=f"{URL}?agent=bia&read_only=true")

    assert {(one.agent, tuple(one.writable), one.read_only) for one in asked} == {("bia", ("notes/*",), True)}
