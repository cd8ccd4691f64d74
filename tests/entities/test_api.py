"""Entities over REST: rows are made, read, changed, deleted, brought back."""

from __future__ import annotations

import pytest

from agentstore.core.models import AuditEntry
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


def make(api, **data):
    response = api.post(TASKS, {"data": {"text": "a", **data}})
    assert response.status_code == 201, response.content
    return response.json()


def at(row):
    return f"{TASKS}{row['id']}/"


# --- create and read ------------------------------------------------------------------------


def test_a_row_is_made_and_says_where_it_is(api, store):
    response = api.post(TASKS, {"data": {"text": "a", "priority": 2}})

    row = response.json()
    assert response.status_code == 201
    assert response["ETag"] == '"1"'
    assert response["Location"] == f"http://testserver{TASKS}{row['id']}/"
    assert sorted(row) == ["created_at", "data", "id", "updated_at", "version"]
    assert row["data"]["priority"] == 2
    assert store.get(row["id"]).data.text == "a"


def test_what_was_made_can_be_read_where_it_says(api):
    made = api.post(TASKS, {"data": {"text": "a"}})

    read = api.get(made["Location"])

    assert read.status_code == 200
    assert read["ETag"] == '"1"'
    assert read.json() == made.json()


def test_times_are_utc_of_fixed_width(api):
    row = make(api)

    assert len(row["created_at"]) == len("2026-01-31T09:00:00.000000Z")
    assert row["created_at"].endswith("Z")


def test_the_actor_is_audited(api, user):
    row = make(api)

    assert AuditEntry.objects.get(row_id=row["id"]).actor == f"user:{user.username}"


def test_text_is_kept_to_the_character(api):
    text = "  x \r\n\u2028🙂 ‮ é e\u0301 "

    row = make(api, text=text)

    assert api.get(at(row)).json()["data"]["text"] == text


def test_head_answers_as_get_without_a_body(api):
    row = make(api)

    response = api.head(at(row))

    assert response.status_code == 200
    assert response["ETag"] == '"1"'
    assert api.head(TASKS).status_code == 200


def test_what_get_gives_can_be_put(api):
    row = make(api, tags=["x"])

    response = api.put(at(row), row)

    assert response.status_code == 200
    assert response.json() == row  # nothing changed, so it is the same version


def test_what_get_gives_can_be_posted_and_patched(api):
    row = make(api)

    assert api.post(TASKS, row).json()["id"] != row["id"]
    assert api.patch(at(row), row).json() == row


# --- change ---------------------------------------------------------------------------------


def test_put_replaces_the_whole_document(api):
    row = make(api, priority=5, tags=["x"])

    response = api.put(at(row), {"data": {"text": "b"}})

    assert response.status_code == 200
    assert response["ETag"] == '"2"'
    assert response.json()["data"]["priority"] == 0
    assert response.json()["data"]["tags"] == []


def test_put_never_makes_a_row(api):
    id = new_id()

    assert api.put(f"{TASKS}{id}/", {"data": {"text": "b"}}).status_code == 404
    assert api.get(f"{TASKS}{id}/").status_code == 404


def test_patch_replaces_the_fields_it_names(api):
    row = make(api, priority=5, address={"street": "s", "city": "c"})

    data = api.patch(at(row), {"data": {"address": {"street": "t"}}}).json()["data"]

    assert data["priority"] == 5
    assert data["address"] == {"street": "t", "city": ""}


def test_patch_resets_the_fields_in_unset(api):
    row = make(api, priority=5)

    response = api.patch(at(row), {"unset": ["priority"]})

    assert response.json()["data"]["priority"] == 0
    assert response.json()["version"] == 2


def test_patch_sets_last_what_it_also_resets(api):
    row = make(api, priority=5)

    response = api.patch(at(row), {"data": {"priority": 7}, "unset": ["priority"]})

    assert response.json()["data"]["priority"] == 7


@pytest.mark.parametrize(
    "body",
    [
        {"unset": ["text"]},
        {"data": {"text": "b"}, "unset": ["text"]},
        {"unset": ["nope"]},
        {"unset": "priority"},
        {"unset": None},
        {"unset": {"priority": 1}},
        {"unset": [1]},
        {"unset": [{}]},
        {"unset": [["priority"]]},
        {"data": None},
        {"data": []},
        {"data": 5, "unset": ["priority"]},
        {"data": {"nope": 1}},
        {"text": "b"},
    ],
    ids=str,
)
def test_a_patch_that_makes_no_sense_is_refused(api, body):
    row = make(api)

    response = api.patch(at(row), body)

    assert response.status_code == 400
    assert response.json()["code"] == "validation"
    assert api.get(at(row)).json() == row


@pytest.mark.parametrize("body", [{}, {"data": {}}, {"unset": []}, {"data": {"text": "a"}}])
def test_a_patch_that_changes_nothing_makes_no_version(api, body):
    row = make(api)

    response = api.patch(at(row), body)

    assert response.status_code == 200
    assert response.json() == row


# --- delete, undelete, history, versions ----------------------------------------------------


def test_delete_answers_once(api):
    row = make(api)

    first, second = api.delete(at(row)), api.delete(at(row))

    assert (first.status_code, first.content) == (204, b"")
    assert second.status_code == 404
    assert api.get(at(row)).status_code == 404


def test_undelete_brings_a_row_back_at_its_version(api):
    row = make(api)
    api.delete(at(row))

    response = api.post(f"{at(row)}undelete/")

    assert response.status_code == 200
    assert response["ETag"] == '"1"'
    assert response.json() == row
    assert api.get(at(row)).json() == row


def test_undelete_of_a_live_row_returns_it(api):
    row = make(api)

    assert api.post(f"{at(row)}undelete/", {}).json() == row


def test_undelete_takes_no_keys(api):
    row = make(api)

    assert api.post(f"{at(row)}undelete/", {"data": {}}).status_code == 400


def test_an_earlier_version_can_be_read(api):
    row = make(api)
    api.patch(at(row), {"data": {"text": "b"}})

    response = api.get(f"{at(row)}?version=1")

    assert response.json()["data"]["text"] == "a"
    assert response["ETag"] == '"1"'


@pytest.mark.parametrize("version", ["2", "0", "-1", "9" * 100])
def test_a_version_that_never_was_is_404_and_says_where_the_row_is(api, version):
    row = make(api)

    response = api.get(f"{at(row)}?version={version}")

    assert response.status_code == 404
    assert response.json()["hint"] == "It is at version 1."


@pytest.mark.parametrize("version", ["", "x", "1.0", "9" * 5000])
def test_a_version_that_is_no_number_is_400(api, version):
    row = make(api)

    assert api.get(f"{at(row)}?version={version}").status_code == 400


def test_history_is_paged_newest_first(api):
    row = make(api)
    for number in range(3):
        api.patch(at(row), {"data": {"priority": number + 1}})
    api.delete(at(row))

    seen, url = [], f"{at(row)}history/?limit=2"
    while url:
        page = api.get(url).json()
        assert page["limit"] == 2
        seen += [(entry["op"], entry["version"]) for entry in page["results"]]
        url = page["next"]

    assert seen == [("delete", 4), ("update", 4), ("update", 3), ("update", 2), ("create", 1)]


def test_a_change_says_what_who_and_when(api, user):
    row = make(api)
    api.patch(at(row), {"data": {"priority": 1}})

    entry = api.get(f"{at(row)}history/").json()["results"][0]

    assert sorted(entry) == ["actor", "at", "context", "id", "op", "patch", "reason", "version"]
    assert entry["patch"] == {"set": {"priority": 1}, "unset": []}
    assert entry["actor"] == f"user:{user.username}"


def test_history_beyond_its_end_is_empty(api):
    row = make(api)

    page = api.get(f"{at(row)}history/?cursor={new_id()}").json()

    assert page == {"results": [], "next": None, "next_cursor": None, "limit": 25}


@pytest.mark.parametrize("query", ["limit=x", "cursor=x", "nope=1", "limit=1&limit=2"])
def test_history_refuses_parameters_that_make_no_sense(api, query):
    row = make(api)

    assert api.get(f"{at(row)}history/?{query}").status_code == 400
