"""Entities over REST: who may do what, and which addresses there are."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import resolve, reverse

from agentstore.core.access import Access
from agentstore.core.values import new_id
from tests.testapp.models import Task

pytestmark = pytest.mark.django_db
TASKS = "/api/entities/tasks/"


@pytest.fixture
def api(api_client):
    """The REST client of a user, every body in JSON."""
    api_client.default_format = "json"
    return api_client


@pytest.fixture
def store(user):
    """The store that ``api`` works on."""
    return Task.store(f"user:{user.pk}")


# --- access ---------------------------------------------------------------------------------


def test_nobody_is_refused(client):
    response = client.get(TASKS)

    assert response.status_code in (401, 403)
    assert response["Content-Type"] == "application/json"


def test_who_may_act_for_others_works_on_the_named_tenant(api, user):
    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    api.force_authenticate(User.objects.get(pk=user.pk))

    row = api.post(TASKS, {"data": {"text": "a"}}, headers={"X-Agentstore-Tenant": "Z%C3%BCrich"}).json()

    assert Task.store("Zürich").get(row["id"]) is not None
    assert api.get(f"{TASKS}{row['id']}/").status_code == 404


class Asked(Access):
    """Writes down what it is asked, and allows nothing."""

    seen: list[tuple[str, str]] = []

    def allows(self, user, tenant, capability, action):
        self.seen.append((capability, action))
        return False


@pytest.mark.parametrize(
    ("method", "path", "action"),
    [
        ("get", "", "view"),
        ("post", "", "add"),
        ("post", "bulk/", "add"),
        ("get", "{id}/", "view"),
        ("put", "{id}/", "change"),
        ("patch", "{id}/", "change"),
        ("delete", "{id}/", "delete"),
        ("get", "{id}/history/", "view"),
        ("post", "{id}/undelete/", "undelete"),
        ("options", "", "view"),
    ],
)
def test_the_access_class_is_asked_for_each_action(api, settings, method, path, action):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Asked"}
    Asked.seen.clear()

    response = getattr(api, method)(TASKS + path.format(id=new_id()))

    assert response.status_code == 403
    assert Asked.seen == [("entities.tasks", action)]


# --- addresses ------------------------------------------------------------------------------


def test_the_index_lists_the_entities_that_the_user_may_see(api):
    found = {entry["name"]: entry for entry in api.get("/api/entities/").json()["results"]}

    assert found["tasks"] == {
        "name": "tasks",
        "description": "Tasks with everything that can be indexed.",
        "url": f"http://testserver{TASKS}",
    }
    assert api.get("/api/entities/?x=1").status_code == 400


class OnlySmalls(Access):
    def allows(self, user, tenant, capability, action):
        return capability == "entities.smalls"


def test_the_index_leaves_out_what_the_user_may_not_see(api, settings):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.OnlySmalls"}

    assert [entry["name"] for entry in api.get("/api/entities/").json()["results"]] == ["smalls"]
    assert api.get("/api/entities/task/").json()["hint"] == "Valid: smalls."


def test_the_index_refuses_who_may_see_nothing(api, settings, client):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Asked"}

    assert api.get("/api/entities/").status_code == 403
    assert client.get("/api/entities/").status_code in (401, 403)


@pytest.mark.parametrize(
    "path", ["nope/", "nope/x/", "tasks/x/y/", "tasks//", "%00/", "tasks/x/history/y/", "a%0Ab/"]
)
@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_what_is_no_address_is_404_in_json(api, method, path):
    response = getattr(api, method)(f"/api/entities/{path}")

    assert response.status_code == 404
    assert response["Content-Type"] == "application/json"
    assert response.json()["code"] == "not_found"


def test_an_unknown_entity_is_told_the_closest_one(api):
    assert api.get("/api/entities/task/").json() == {
        "code": "not_found",
        "detail": "There is no entity 'task'.",
        "hint": api.get("/api/entities/task/").json()["hint"],
    }
    assert api.get("/api/entities/task/").json()["hint"].startswith("Did you mean 'tasks'? Valid: ")


@pytest.mark.parametrize("path", ["", "/tasks", "/tasks/x", "/tasks/bulk"])
def test_a_reader_without_the_last_slash_is_sent_on(api, path):
    response = api.get(f"/api/entities{path}?limit=1")

    assert response.status_code == 301
    assert response["Location"] == f"/api/entities{path}/?limit=1"


@pytest.mark.parametrize("path", ["", "/tasks", "/tasks/x"])
def test_a_writer_without_the_last_slash_is_told_even_while_debugging(api, settings, path):
    settings.DEBUG = True

    response = api.post(f"/api/entities{path}", {"data": {}})

    assert response.status_code == 404
    assert response.json()["hint"] == "Every address ends with a slash."


def test_the_addresses_have_names():
    assert reverse("agentstore:tasks-list") == TASKS
    assert reverse("agentstore:tasks-detail", args=["x"]) == f"{TASKS}x/"
    assert reverse("agentstore:tasks-history", args=["x"]) == f"{TASKS}x/history/"
    assert reverse("agentstore:tasks-undelete", args=["x"]) == f"{TASKS}x/undelete/"
    assert reverse("agentstore:tasks-bulk") == f"{TASKS}bulk/"
    assert reverse("agentstore:entities") == "/api/entities/"


def test_no_entity_view_is_wrapped_in_a_transaction():
    for path in (TASKS, f"{TASKS}x/", f"{TASKS}bulk/", "/api/entities/", "/api/entities/nope/"):
        assert "default" in resolve(path).func._non_atomic_requests


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("delete", "", "GET, POST, HEAD, OPTIONS"),
        ("put", "", "GET, POST, HEAD, OPTIONS"),
        ("post", "x/", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"),
        ("get", "bulk/", "POST, OPTIONS"),
        ("get", "x/undelete/", "POST, OPTIONS"),
        ("post", "x/history/", "GET, HEAD, OPTIONS"),
        ("trace", "", "GET, POST, HEAD, OPTIONS"),
    ],
)
def test_a_wrong_method_is_405_and_told_the_right_ones(api, method, path, allowed):
    response = api.generic(method.upper(), TASKS + path)

    assert response.status_code == 405
    assert response["Allow"] == allowed
    assert response.json()["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["", "bulk/", "x/", "x/history/", "x/undelete/"])
def test_options_are_answered_everywhere(api, path):
    response = api.options(TASKS + path)

    assert response.status_code == 200
    assert response.json()["parses"] == ["application/json"]


def test_the_viewset_says_what_the_entity_is():
    view = resolve(TASKS).func.cls

    assert view.__name__ == "TaskViewSet"
    assert view.__doc__ == Task.entity.description
    assert view.model is Task
