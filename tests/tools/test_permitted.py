"""What of the tools a user may use; the surfaces' own tests show it over REST and MCP."""

import traceback

import pytest
from django.contrib.auth.models import AnonymousUser

from agentstore.core.access import Access
from agentstore.core.errors import NotFound, PermissionDenied, ValidationFailed
from agentstore.files import FileStore
from agentstore.tools import toolset
from agentstore.tools.permitted import Wanted, permitted_toolset
from tests.testapp.models import Task

pytestmark = pytest.mark.django_db


class Viewers(Access):
    """Lets everybody look, and nobody change a thing."""

    def allows(self, user, tenant, capability, action):
        return action == "view"


class OnlyTasks(Access):
    """Lets everybody add to and look at tasks; nothing else is anybody's business."""

    def allows(self, user, tenant, capability, action):
        return capability == "entities.tasks" and action in ("view", "add")


@pytest.fixture
def access(settings):
    def choose(kind):
        settings.AGENTSTORE = {"ACCESS": f"{__name__}.{kind.__name__}"}

    return choose


def names(tools):
    return [tool.name for tool in tools]


@pytest.mark.parametrize(
    "options",
    [{}, {"generic": True}, {"read_only": True}, {"strict": True}, {"agent": "bia", "writable": ["notes/*"]}],
    ids=str,
)
def test_who_may_do_everything_gets_the_toolset(user, options):
    tools = permitted_toolset(user, Wanted(**options))

    assert tools.definitions("mcp") == toolset(f"user:{user.pk}", **options).definitions("mcp")


def test_only_what_is_allowed_is_there(user, access):
    access(OnlyTasks)

    assert names(permitted_toolset(user, Wanted(agent="bia"))) == ["tasks_query", "tasks_get", "tasks_create"]
    generic = permitted_toolset(user, Wanted(generic=True))
    assert names(generic) == ["entity_describe", "entity_query", "entity_get", "entity_create"]


def test_a_withheld_tool_says_why_and_of_what(user, access):
    access(Viewers)
    tools = permitted_toolset(user, Wanted())

    error = tools.call("tasks_create", {"data": {"text": "x"}})["error"]

    assert error == {
        "code": "permission",
        "detail": "You may not add here.",
        "hint": "You need the right to add in entities.tasks.",
    }
    assert Task.store(f"user:{user.pk}").count() == 0


def test_a_generic_tool_that_nobody_may_use_is_withheld_too(user, access):
    access(Viewers)
    tools = permitted_toolset(user, Wanted(generic=True))

    with pytest.raises(PermissionDenied):
        tools.run("entity_delete", {"entity": "tasks", "id": "x"})


@pytest.mark.parametrize("options", [{}, {"generic": True}], ids=str)
def test_a_refusal_that_is_raised_often_stays_small(user, access, options):
    access(OnlyTasks)
    tools = permitted_toolset(user, Wanted(**options))
    name = "entity_create" if options else "smalls_create"

    lengths = set()
    for _ in range(5):
        with pytest.raises(PermissionDenied) as caught:
            tools.run(name, {"entity": "smalls", "data": {}})
        lengths.add(len(traceback.extract_tb(caught.value.__traceback__)))

    assert len(lengths) == 1


def test_with_one_name_nothing_else_is_made(user):
    assert "tasks_get" in names(permitted_toolset(user, Wanted(), only="tasks_get"))
    assert "odds_get" not in names(permitted_toolset(user, Wanted(), only="tasks_get"))
    assert names(permitted_toolset(user, Wanted(agent="bia"), only="file_read")) == [
        "file_list", "file_read", "file_versions",
    ]  # fmt: skip


def test_with_a_name_that_is_none_the_closest_is_told(user):
    tools = permitted_toolset(user, Wanted(), only="tasks_gett")

    with pytest.raises(NotFound) as caught:
        tools.run("tasks_gett", {})

    assert "'tasks_get'" in caught.value.hint


def test_nobody_gets_nothing():
    tools = permitted_toolset(AnonymousUser(), Wanted(agent="bia"))

    assert names(tools) == []
    with pytest.raises(PermissionDenied):
        tools.run("tasks_query", {})


def test_another_tenant_is_refused_to_who_may_not_name_it(user, other_tenant):
    FileStore(other_tenant, "bia").write("a.md", "secret")

    assert names(permitted_toolset(user, Wanted(tenant=other_tenant, agent="bia"))) == []


def test_an_agent_that_can_be_none_is_refused():
    with pytest.raises(ValidationFailed):
        Wanted(agent="b a")
