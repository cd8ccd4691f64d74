"""Entities over REST: rows are made, read, changed, deleted, brought back; refusals are shown."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.db import OperationalError
from django.urls import resolve, reverse
from rest_framework.test import APIClient

from agentstore.core.access import Access
from agentstore.core.models import AuditEntry
from agentstore.core.values import new_id
from agentstore.entities.portable import PortableRows
from agentstore.entities.postgres import PostgresRows
from tests.testapp.models import Small, Task

pytestmark = pytest.mark.django_db
TASKS = "/api/entities/tasks/"


@pytest.fixture
def api(api_client):
    """The REST client of a user, every body in JSON."""
    api_client.default_format = "json"
    return api_client


@pytest.fixture
def other(db):
    """The REST client of another user, who is another tenant."""
    client = APIClient()
    client.default_format = "json"
    client.force_authenticate(User.objects.create_user("other"))
    return client


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


# --- bulk and idempotency -------------------------------------------------------------------


def test_bulk_makes_rows_in_the_order_given(api, store):
    response = api.post(f"{TASKS}bulk/", [{"data": {"text": str(n)}} for n in range(500)])

    assert response.status_code == 201
    assert [row["data"]["text"] for row in response.json()["results"]] == [str(n) for n in range(500)]
    assert store.count() == 500


def test_bulk_makes_all_rows_or_none(api, store):
    response = api.post(f"{TASKS}bulk/", [{"data": {"text": "a"}}, {"data": {"text": 5}}, {"data": {}}])

    assert response.status_code == 400
    assert sorted(response.json()["errors"]) == ["1.text", "2.text"]
    assert store.count() == 0


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"data": {"text": "a"}}, ""),
        ([1], "0"),
        ([{"data": {"text": "a"}}, {}], "1.data"),
        ([{"data": {"text": "a"}, "dat": 1}], "0.dat"),
        ([{"data": {"text": "a"}}] * 501, ""),
    ],
    ids=["object", "number", "no data", "unknown key", "501"],
)
def test_bulk_says_what_is_wrong_and_where(api, store, body, path):
    response = api.post(f"{TASKS}bulk/", body)

    assert response.status_code == 400
    assert list(response.json()["errors"]) == [path]
    assert store.count() == 0


def test_bulk_says_how_many_it_takes(api):
    response = api.post(f"{TASKS}bulk/", [{"data": {"text": "a"}}] * 501)

    assert "up to 500 rows, found 501" in response.json()["detail"]


def test_bulk_of_nothing_makes_nothing(api):
    assert api.post(f"{TASKS}bulk/", []).json() == {"results": []}


def test_the_same_key_and_body_give_the_same_row(api, store):
    first = api.post(TASKS, {"data": {"text": "a"}}, headers={"Idempotency-Key": "k"})
    second = api.post(TASKS, {"data": {"text": "a"}}, headers={"Idempotency-Key": "k"})

    assert (second.status_code, second["Location"]) == (201, first["Location"])
    assert second.json() == first.json()
    assert store.count() == 1


def test_the_same_key_with_another_body_is_a_conflict(api):
    api.post(TASKS, {"data": {"text": "a"}}, headers={"Idempotency-Key": "k"})

    response = api.post(
        TASKS, {"data": {"text": "b"}}, headers={"Idempotency-Key": "k", "If-None-Match": "*"}
    )

    assert response.status_code == 409
    assert response.json()["code"] == "conflict"


def test_bulk_can_be_repeated_with_a_key(api, store):
    body = [{"data": {"text": "a"}}, {"data": {"text": "b"}}]

    first, second = (api.post(f"{TASKS}bulk/", body, headers={"Idempotency-Key": "k"}) for _ in range(2))

    assert second.json() == first.json()
    assert store.count() == 2


@pytest.mark.parametrize("url", [TASKS, f"{TASKS}bulk/"])
@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_is_none_is_refused(api, url, key):
    body = [] if url.endswith("bulk/") else {"data": {"text": "a"}}

    response = api.post(url, body, headers={"Idempotency-Key": key})

    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["Idempotency-Key"]


# --- what the store refuses -----------------------------------------------------------------


def test_data_that_does_not_fit_is_400_with_paths(api):
    response = api.post(TASKS, {"data": {"text": 5, "lines": [{"sku": "x", "quantity": "2"}], "nope": 1}})

    assert response.status_code == 400
    assert response.json()["code"] == "validation"
    assert sorted(response.json()["errors"]) == ["lines.0.quantity", "nope", "text"]


def test_a_full_tenant_is_409(api, user):
    Small.store(f"user:{user.pk}").create_many([{}] * 5)

    response = api.post("/api/entities/smalls/", {"data": {}})

    assert response.status_code == 409
    assert response.json()["code"] == "quota"


def test_undelete_into_a_full_tenant_is_409(api, user):
    store = Small.store(f"user:{user.pk}")
    row = store.create({})
    store.delete(row.id)
    store.create_many([{}] * 5)

    response = api.post(f"/api/entities/smalls/{row.id}/undelete/", headers={"If-Match": '"1"'})

    assert response.status_code == 409
    assert response.json()["code"] == "quota"


def test_a_row_that_is_too_large_is_413(api):
    response = api.post("/api/entities/plains/", {"data": {"text": "x" * 300_000}})

    assert response.status_code == 413
    assert response.json()["code"] == "too_large"


def test_another_tenant_is_403(api):
    response = api.get(TASKS, headers={"X-Agentstore-Tenant": "acme"})

    assert response.status_code == 403
    assert response.json()["code"] == "permission"


def test_a_database_that_fails_is_503_without_its_words(api, monkeypatch):
    def fail(*args, **kwargs):
        raise OperationalError("secret words")

    monkeypatch.setattr(PostgresRows, "_write", fail)
    monkeypatch.setattr(PortableRows, "_atomic", fail)

    response = api.post(TASKS, {"data": {"text": "a"}})

    assert response.status_code == 503
    assert response["Retry-After"] == "1"
    assert response.json()["code"] == "storage"
    assert "secret" not in response.content.decode()


@pytest.mark.parametrize("id", ["nope", "123", "0" * 32, "%00", "a" * 5000, "%F0%9F%99%82", "..", "null"])
@pytest.mark.parametrize("method", ["get", "delete", "put", "patch"])
def test_a_malformed_id_is_404_in_the_words_of_an_unknown_one(api, method, id):
    body = {"data": {"text": "a"}} if method in ("put", "patch") else None
    unknown = str(new_id())

    response = getattr(api, method)(f"{TASKS}{id}/", body)

    expected = getattr(api, method)(f"{TASKS}{unknown}/", body).json()
    assert response.status_code == 404
    assert sorted(response.json()) == sorted(expected)
    assert response.json()["hint"] == expected["hint"]
    assert response.json()["detail"].startswith("There is no tasks row ")


def test_another_tenants_row_is_as_unknown_as_any(api, other):
    row = make(api)
    body = {"data": {"text": "b"}}
    calls = [
        lambda url: other.get(url),
        lambda url: other.get(f"{url}?version=1"),
        lambda url: other.put(url, body),
        lambda url: other.patch(url, body, headers={"If-Match": '"1"'}),
        lambda url: other.put(url, body, headers={"If-Match": '"1", "2"'}),
        lambda url: other.delete(url),
        lambda url: other.get(f"{url}history/"),
        lambda url: other.post(f"{url}undelete/"),
    ]

    unknown = new_id()
    for call in calls:
        theirs, nobodys = call(at(row)), call(f"{TASKS}{unknown}/")

        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.json()["detail"] == nobodys.json()["detail"].replace(str(unknown), row["id"])
    assert other.get(TASKS).json()["results"] == []
    assert api.get(at(row)).json() == row


# --- drift ----------------------------------------------------------------------------------


def test_a_spoiled_row_leaves_the_others_readable(api, store, user):
    good, bad = store.create({"text": "good"}), store.create({"text": "bad"})
    Task._base_manager.filter(pk=bad.id).update(data={"text": 5, "old": 1})

    page = api.get(TASKS)

    rows = {row["id"]: row for row in page.json()["results"]}
    assert page.status_code == 200
    assert rows[str(good.id)]["data"]["text"] == "good"
    assert "schema_errors" not in rows[str(good.id)]
    assert rows[str(bad.id)]["data"] is None
    assert rows[str(bad.id)]["raw"] == {"text": 5, "old": 1}
    assert list(rows[str(bad.id)]["schema_errors"]) == ["text"]


def test_a_spoiled_row_can_be_repaired_by_a_patch(api, store):
    row = store.create({"text": "a"})
    Task._base_manager.filter(pk=row.id).update(data={"text": 5})
    url = f"{TASKS}{row.id}/"

    shown = api.get(url).json()
    repaired = api.patch(url, {"data": {"text": "b"}})

    assert shown["data"] is None
    assert repaired.status_code == 200
    assert repaired.json()["data"]["text"] == "b"


def test_keys_that_the_schema_no_longer_has_are_not_shown(api, store):
    row = store.create({"text": "a"})
    Task._base_manager.filter(pk=row.id).update(data={"text": "a", "old": 1})

    assert "old" not in api.get(f"{TASKS}{row.id}/").json()["data"]


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
