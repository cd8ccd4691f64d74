"""What is at no address of the API is answered in JSON, and never by Django's own page."""

import pytest
from django import urls

from agentstore.files import FileStore

pytestmark = pytest.mark.django_db

NOWHERE = [
    "agents/bia/nope/", "agents/bia/", "agents//files/", "agents/%0a/",
    "strategies/", "strategies/nope/", "strategies/entries/a/b/", "strategies/find/x/",
    "tools/a/b/", "tools//", "tools/%0a/x/",
]  # fmt: skip


@pytest.mark.parametrize("path", NOWHERE, ids=ascii)
@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_what_is_nowhere_is_404_in_json(api_client, path, method):
    response = getattr(api_client, method)(f"/api/{path}")

    assert response.status_code == 404 and response.json()["code"] == "not_found"


@pytest.mark.parametrize("path", ["agents", "agents/bia/files", "strategies/usage", "tools"])
def test_a_reader_without_the_last_slash_is_sent_on(api_client, path):
    response = api_client.get(f"/api/{path}")

    assert response.status_code == 301 and response["Location"] == f"/api/{path}/"
    assert api_client.get(f"{response['Location']}").status_code == 200


@pytest.mark.parametrize("path", ["strategies/entries", "strategies/find", "tools/tasks_create", "agents"])
def test_a_writer_without_the_last_slash_is_told_even_while_debugging(api_client, settings, path):
    settings.DEBUG = True

    response = api_client.post(f"/api/{path}", data={}, format="json")

    assert response.status_code == 404
    assert response.json()["hint"] == "Every address but a file's ends with a slash."


@pytest.mark.parametrize("path", ["agents/bia/nope/", "strategies/nope/", "tools/a/b/"])
def test_nobody_learns_what_is_nowhere(client, path):
    assert client.get(f"/api/{path}").status_code in (401, 403)


@pytest.mark.parametrize("name", ["a%0Ab", "a%0D", "%0A", "a%00b", "%E2%80%A8"])
@pytest.mark.parametrize("act", ["files", "versions"])
def test_a_name_that_holds_line_ends_is_refused_by_the_store(api_client, user, act, name):
    response = api_client.get(f"/api/agents/bia/{act}/{name}")

    assert response.status_code == 400 and "name" in response.json()["errors"]
    assert FileStore(f"user:{user.pk}", "bia").list() == []


@pytest.mark.parametrize(
    "path",
    [
        "agents/", "agents/bia/files/", "agents/bia/files/a.md", "agents/bia/changes/", "agents/bia/archive/",
        "agents/bia/restore/a.md", "strategies/entries/", "strategies/find/", "tools/", "tools/tasks_get/",
    ],
)  # fmt: skip
def test_every_address_says_what_it_takes(api_client, path):
    response = api_client.options(f"/api/{path}")

    assert response.status_code == 200 and response.json()["name"]
    assert "OPTIONS" in response["Allow"]


@pytest.mark.parametrize(
    "path",
    [
        "entities/",
        "entities/tasks/",
        "entities/tasks/count/",
        "agents/bia/files/",
        "strategies/usage/",
        "tools/",
    ],
)
def test_a_host_may_capture_a_part_of_the_prefix(api_client, settings, path):
    prefixed = urls.path("<slug:org>/api/", urls.include("agentstore.urls"))
    settings.ROOT_URLCONF = type("Urls", (), {"urlpatterns": [prefixed]})

    assert api_client.get(f"/acme/api/{path}").status_code == 200
    assert api_client.get("/acme/api/entities/tasks/nope/x/").status_code == 404
