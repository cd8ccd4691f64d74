"""Entities over REST: many rows in one request, and requests that are sent twice."""

from __future__ import annotations

import pytest

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
