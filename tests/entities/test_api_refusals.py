"""Entities over REST: what the store refuses, and rows that no longer fit."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from rest_framework.test import APIClient

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
