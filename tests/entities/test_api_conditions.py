"""Conditions of REST requests: If-Match, If-None-Match, 304, and writers that race."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from agentstore.core.values import new_id
from tests.parallel import run_parallel
from tests.testapp.models import Task

TASKS = "/api/entities/tasks/"
WRITES = ["put", "patch", "delete"]


@pytest.fixture
def store(user):
    """The store that ``api_client`` works on."""
    return Task.store(f"user:{user.pk}")


@pytest.fixture
def row(store):
    """A row at version 2."""
    made = store.create({"text": "a"})
    return store.update(made.id, {"text": "b"})


def send(client, method, id, **headers):
    body = None if method == "delete" else {"data": {"text": "c"}}
    return getattr(client, method)(f"{TASKS}{id}/", body, format="json", headers=headers)


@pytest.mark.parametrize("method", WRITES)
@pytest.mark.parametrize("tag", ['"2"', 'W/"2"', '"1", "2"', "*"])
def test_a_write_at_the_named_version_goes_through(api_client, store, row, method, tag):
    response = send(api_client, method, row.id, **{"If-Match": tag})

    assert response.status_code == (204 if method == "delete" else 200)
    if method != "delete":
        assert response["ETag"] == '"3"'


@pytest.mark.parametrize("method", WRITES)
@pytest.mark.parametrize("tag", ['"1"', '"3"', '"1", "3"', "2", '"x"', "", '"02"', '"99999999999999999999"'])
def test_a_write_at_another_version_is_412_and_says_the_current_one(api_client, store, row, method, tag):
    response = send(api_client, method, row.id, **{"If-Match": tag})

    assert response.status_code == 412
    assert response.json()["code"] == "conflict"
    assert response.json()["current_version"] == 2
    assert response.json()["hint"].startswith("Read it again")
    assert store.get(row.id).data.text == "b"


@pytest.mark.parametrize("method", WRITES)
@pytest.mark.parametrize("tag", ["*", '"2"', 'W/"2"', '"1", "2"'])
def test_a_write_that_the_present_version_excludes_is_412(api_client, store, row, method, tag):
    response = send(api_client, method, row.id, **{"If-None-Match": tag})

    assert response.status_code == 412
    assert response.json()["current_version"] == 2
    assert store.get(row.id).version == 2


@pytest.mark.parametrize("method", WRITES)
def test_a_write_that_another_version_excludes_goes_through(api_client, row, method):
    assert send(api_client, method, row.id, **{"If-None-Match": '"1"'}).status_code in (200, 204)


@pytest.mark.parametrize("method", WRITES)
@pytest.mark.parametrize(
    "headers", [{"If-Match": '"1"'}, {"If-Match": "*"}, {"If-Match": ""}, {"If-None-Match": "*"}]
)
def test_a_condition_on_what_is_not_there_is_404(api_client, method, headers):
    response = send(api_client, method, new_id(), **headers)

    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


@pytest.mark.parametrize("tag", ['"1"', '"1", "3"', ""])
@pytest.mark.parametrize(("method", "data"), [("put", []), ("put", {"text": "\0"}), ("patch", {"nope": 1})])
def test_a_body_without_sense_is_told_before_a_wrong_version(api_client, row, method, data, tag):
    response = getattr(api_client, method)(
        f"{TASKS}{row.id}/", {"data": data}, format="json", headers={"If-Match": tag}
    )

    assert response.status_code == 400


@pytest.mark.parametrize("tag", ['"1"', '"1", "3"', ""])
@pytest.mark.parametrize("method", ["put", "patch"])
def test_a_wrong_version_is_told_before_data_that_would_not_fit(api_client, row, method, tag):
    response = getattr(api_client, method)(
        f"{TASKS}{row.id}/", {"data": {"text": 5}}, format="json", headers={"If-Match": tag}
    )

    assert response.status_code == 412


def test_create_takes_if_none_match_star(api_client, store):
    response = api_client.post(TASKS, {"data": {"text": "a"}}, format="json", headers={"If-None-Match": "*"})

    assert response.status_code == 201


@pytest.mark.parametrize("tag", ['"2"', 'W/"2"', '"1", "2"', "*"])
def test_a_reader_that_has_the_version_gets_304_without_a_body(api_client, row, tag):
    response = api_client.get(f"{TASKS}{row.id}/", headers={"If-None-Match": tag})

    assert response.status_code == 304
    assert response.content == b""
    assert response["ETag"] == '"2"'


@pytest.mark.parametrize("tag", ['"1"', "2", ""])
def test_a_reader_that_has_another_version_gets_the_row(api_client, row, tag):
    assert api_client.get(f"{TASKS}{row.id}/", headers={"If-None-Match": tag}).status_code == 200


def test_a_reader_of_an_earlier_version_has_it_by_its_own_tag(api_client, row):
    url = f"{TASKS}{row.id}/?version=1"

    assert api_client.get(url, headers={"If-None-Match": '"1"'}).status_code == 304
    assert api_client.get(url, headers={"If-None-Match": '"2"'}).status_code == 200


def test_a_write_that_changes_nothing_keeps_its_tag(api_client, row):
    response = api_client.patch(f"{TASKS}{row.id}/", {"data": {"text": "b"}}, format="json")

    assert response["ETag"] == '"2"'


def _racing(user, row, headers):
    def write(number):
        client = APIClient()
        client.force_authenticate(user)
        body = {"data": {"text": f"writer {number}"}}
        return client.patch(f"{TASKS}{row.id}/", body, format="json", headers=headers)

    return run_parallel(8, write)


@pytest.mark.parametrize("tag", ['"2"', '"2", "9"'])
def test_of_eight_writers_with_the_same_tag_one_wins(transactional_db, user, row, tag):
    responses = _racing(user, row, {"If-Match": tag})

    assert sorted(response.status_code for response in responses) == [200] + [412] * 7
    assert {r.json()["current_version"] for r in responses if r.status_code == 412} == {3}


def test_writers_without_a_tag_all_get_through(transactional_db, user, row):
    responses = _racing(user, row, {})

    assert [response.status_code for response in responses] == [200] * 8
