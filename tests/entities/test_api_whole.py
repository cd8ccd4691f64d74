"""What a client without the store needs over REST: filters in bodies, counts, places, why a write happens."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from agentstore.core.access import Access
from agentstore.core.context import MAX_CONTEXT_BYTES, MAX_REASON
from agentstore.core.values import new_id
from tests.testapp.models import Odd, Small, Task

pytestmark = pytest.mark.django_db
TASKS = "/api/entities/tasks/"


@pytest.fixture
def api(api_client):
    api_client.default_format = "json"
    return api_client


@pytest.fixture
def store(user):
    return Task.store(f"user:{user.pk}")


# --- filters in a body ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({}, ["a", "b", "null"]),
        (None, ["a", "b", "null"]),
        ({"text__in": []}, []),
        ({"due_at": None}, ["a", "null"]),
        ({"text": "null"}, ["null"]),
        ({"tags": ["x"], "priority__gt": 1}, ["a"]),
        ({"text__in": ["a", "b" * 200, "b"] + ["x" * 900] * 97}, ["a", "b"]),
    ],
    ids=range(7),
)
def test_a_filter_in_a_body_says_what_a_query_string_cannot(api, store, filter, found):
    store.create_many([{"text": "a", "tags": ["x"], "priority": 2}, {"text": "null"}])
    store.create({"text": "b", "due_at": "2026-01-01T00:00:00Z"})

    page = api.post(f"{TASKS}query/", {"filter": filter, "order_by": "text"})
    counted = api.post(f"{TASKS}count/", {"filter": filter})

    assert page.status_code == counted.status_code == 200, page.content
    assert [row["data"]["text"] for row in page.json()["results"]] == found
    assert counted.json() == {"count": len(found)}


def test_text_and_numbers_of_an_open_type_are_told_apart(api, user):
    store = Odd.store(f"user:{user.pk}")
    text, number = store.create({"either": "5"}), store.create({"either": 5})

    for value, row in (("5", text), (5, number)):
        page = api.post("/api/entities/odds/query/", {"filter": {"either": value}}).json()
        assert [found["id"] for found in page["results"]] == [str(row.id)]


def test_pages_go_on_where_the_one_before_ended(api, store):
    store.create_many({"text": str(number)} for number in range(5))
    asked = {"filter": {"priority": 0}, "order_by": "-text", "limit": 2}
    texts, cursor = [], None

    while True:
        page = api.post(f"{TASKS}query/", {**asked, "cursor": cursor}).json()
        assert sorted(page) == ["limit", "next_cursor", "results"]
        assert page["limit"] == 2
        texts += [row["data"]["text"] for row in page["results"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert texts == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"filter": {"nope": 1}}, "nope"),
        ({"filter": 5}, "filter"),
        ({"filter": [1]}, "filter"),
        ({"limit": "5"}, "limit"),
        ({"limit": None}, "limit"),
        ({"limit": True}, "limit"),
        ({"order_by": 5}, "order_by"),
        ({"order_by": "tags"}, "order_by"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": 5}, "cursor"),
        ({"filters": {}}, "filters"),
        ([], ""),
    ],
    ids=str,
)
def test_a_question_that_makes_no_sense_is_refused_by_name(api, body, path):
    response = api.post(f"{TASKS}query/", body)

    assert response.status_code == 400
    assert list(response.json()["errors"]) == [path]


def test_an_empty_body_asks_for_everything(api, store):
    store.create({"text": "a"})

    assert len(api.post(f"{TASKS}query/").json()["results"]) == 1
    assert api.post(f"{TASKS}count/").json() == {"count": 1}


# --- count and usage ------------------------------------------------------------------------


def test_a_count_takes_the_filters_of_a_list(api, store):
    store.create_many([{"text": "a", "done": True}, {"text": "b"}, {"text": "c"}])
    store.delete(store.create({"text": "d"}).id)

    assert api.get(f"{TASKS}count/").json() == {"count": 3}
    assert api.get(f"{TASKS}count/?done=false&text__in=b&text__in=a").json() == {"count": 1}


@pytest.mark.parametrize("name", ["limit", "cursor", "order_by", "nope"])
def test_a_count_takes_filters_only(api, name):
    response = api.get(f"{TASKS}count/?{name}=5")

    assert response.status_code == 400
    assert list(response.json()["errors"]) == [name]


def test_usage_tells_used_capacity_and_what_remains(api, user):
    Small.store(f"user:{user.pk}").create_many([{}, {}])

    response = api.get("/api/entities/smalls/usage/")

    assert response.json() == {"used": 2, "capacity": 5, "remaining": 3}
    assert api.get("/api/entities/smalls/usage/?x=1").status_code == 400


def test_nobody_counts_what_another_tenant_keeps(api, store):
    store.create({"text": "a"})
    other = APIClient()
    other.default_format = "json"
    other.force_authenticate(User.objects.create_user("other"))

    assert other.get(f"{TASKS}count/").json() == {"count": 0}
    assert other.get(f"{TASKS}usage/").json()["used"] == 0
    assert other.post(f"{TASKS}query/", {}).json()["results"] == []
    assert APIClient().post(f"{TASKS}query/", {}, format="json").status_code == 403


class Viewing(Access):
    """Everybody may look, and nothing else."""

    def allows(self, user, tenant, capability, action):
        return action == "view"


def test_who_may_only_look_may_ask_in_a_body_too(api, settings):
    settings.AGENTSTORE = {"ACCESS": "tests.entities.test_api_whole.Viewing"}

    assert api.post(f"{TASKS}query/", {"filter": {}}).status_code == 200
    assert api.post(f"{TASKS}count/", {"filter": {}}).status_code == 200
    assert api.get(f"{TASKS}usage/").status_code == 200
    assert api.post(TASKS, {"data": {"text": "a"}}).status_code == 403


# --- deleted rows ---------------------------------------------------------------------------


def test_a_deleted_row_can_be_read_as_what_an_undelete_brings_back(api, store):
    row = store.create({"text": "a"})
    store.update(row.id, {"text": "b"})
    at = f"{TASKS}{row.id}/"
    assert api.get(f"{at}?deleted=true").status_code == 404
    store.delete(row.id)

    found = api.get(f"{at}?deleted=true").json()

    assert (found["data"]["text"], found["version"]) == ("b", 2)
    assert found["deleted_at"].endswith("Z")
    assert api.get(f"{at}?deleted=true&version=1").json()["data"]["text"] == "a"
    assert "no version 9" in api.get(f"{at}?deleted=true&version=9").json()["detail"]
    assert api.get(at).status_code == api.get(f"{at}?deleted=false").status_code == 404
    assert api.get(f"{at}?deleted=yes").status_code == 400


def test_what_a_deleted_row_shows_can_be_sent_back(api, store):
    row = store.create({"text": "a"})
    store.delete(row.id)
    found = api.get(f"{TASKS}{row.id}/?deleted=true").json()
    store.undelete(row.id)

    assert api.put(f"{TASKS}{row.id}/", found).status_code == 200


# --- whether anything changed, and whose it is ----------------------------------------------


def test_a_write_says_whether_it_changed_anything(api, store):
    key = {"Idempotency-Key": "k"}
    made = api.post(TASKS, {"data": {"text": "a"}}, headers=key)
    again = api.post(TASKS, {"data": {"text": "a"}}, headers=key)
    at = f"{TASKS}{made.json()['id']}/"
    answers = [
        made,
        again,
        api.patch(at, {"data": {"text": "b"}}),
        api.patch(at, {"data": {"text": "b"}}),
        api.put(at, {"data": {"text": "c"}}),
        api.put(at, {"data": {"text": "c"}}),
        api.post(f"{at}undelete/"),
        api.post(f"{TASKS}bulk/", [{"data": {"text": "d"}}]),
    ]
    api.delete(at)
    answers.append(api.post(f"{at}undelete/"))

    changed = [answer["X-Agentstore-Changed"] for answer in answers]
    assert changed == ["true", "false", "true", "false", "true", "false", "false", "true", "true"]


def test_an_answer_about_rows_says_whose_they_are(api, user):
    unknown = api.get(f"{TASKS}{new_id()}/")

    assert unknown.status_code == 404
    assert unknown["X-Agentstore-Tenant"] == f"user:{user.pk}"
    assert "X-Agentstore-Tenant" not in api.get("/api/entities/nope/")
    assert "X-Agentstore-Tenant" not in APIClient().get(TASKS)


# --- why and in which run -------------------------------------------------------------------


def test_a_request_may_say_why_and_in_which_run_it_writes(api, store):
    why = {
        "X-Agentstore-Reason": quote("paid, 100 % – Zürich\n"),
        "X-Agentstore-Context": quote(json.dumps({"run": "8f2c", "step": 7})),
    }
    made = api.post(TASKS, {"data": {"text": "a"}}, headers=why).json()
    at = f"{TASKS}{made['id']}/"
    bulk = api.post(f"{TASKS}bulk/", [{"data": {"text": "b"}}], headers=why).json()["results"][0]
    api.patch(at, {"data": {"text": "b"}}, headers=why)
    api.put(at, {"data": {"text": "c"}}, headers=why)
    api.delete(at, headers=why)
    api.post(f"{at}undelete/", headers=why)

    entries = [*store.history(made["id"]), *store.history(bulk["id"])]

    assert len(entries) == 6
    assert {entry.reason for entry in entries} == {"paid, 100 % – Zürich\n"}
    assert all(entry.context == {"run": "8f2c", "step": 7} for entry in entries)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Agentstore-Reason", "100 %"),
        ("X-Agentstore-Reason", "%FF"),
        ("X-Agentstore-Reason", "%00"),
        ("X-Agentstore-Reason", "x" * (MAX_REASON + 1)),
        ("X-Agentstore-Context", "{"),
        ("X-Agentstore-Context", "[1]"),
        ("X-Agentstore-Context", "5"),
        ("X-Agentstore-Context", '{"a":1,"a":2}'),
        ("X-Agentstore-Context", '{"a":NaN}'),
        ("X-Agentstore-Context", '{"a":"\\u0000"}'),
        ("X-Agentstore-Context", '{"a":"%s"}' % ("x" * MAX_CONTEXT_BYTES)),
    ],
    ids=range(11),
)
def test_what_is_no_reason_or_context_is_refused(api, store, name, value):
    response = api.post(TASKS, {"data": {"text": "a"}}, headers={name: value})

    assert response.status_code in (400, 413), response.content
    assert store.count() == 0
