"""Hostile input over REST: whatever is sent, the answer is JSON of the known shape and never a 500."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.values import new_id
from tests.testapp.models import Plain, Task

pytestmark = pytest.mark.django_db
TASKS = "/api/entities/tasks/"
SURROGATE = '"\\ud800"'


@pytest.fixture
def row(user):
    return Task.store(f"user:{user.pk}").create({"text": "a"})


def send(client, body, *, method="post", url=TASKS, content_type="application/json", **extra):
    return client.generic(method.upper(), url, body, content_type=content_type, **extra)


def assert_error(response, *statuses):
    assert response.status_code in statuses, response.content[:500]
    assert response["Content-Type"] == "application/json"
    body = json.loads(response.content)
    assert set(body) <= {"code", "detail", "hint", "errors", "current_version"}
    assert isinstance(body["code"], str)
    assert body["detail"]
    assert len(response.content) < 10_000
    return body


BODIES = {
    "nothing": b"",
    "no json": b"{",
    "invalid utf-8": b'{"data": {"text": "\xff"}}',
    "utf-16": '{"data": {"text": "a"}}'.encode("utf-16"),
    "bom": b'\xef\xbb\xbf{"data": {"text": "a"}}',
    "nan": b'{"data": {"text": "a", "score": NaN}}',
    "infinity": b'{"data": {"text": "a", "score": -Infinity}}',
    "1e400": b'{"data": {"text": "a", "score": 1e400}}',
    "duplicate key": b'{"data": {"text": "a", "text": "b"}}',
    "duplicate data": b'{"data": {"text": "a"}, "data": {"text": "b"}}',
    "nul": b'{"data": {"text": "a\\u0000b"}}',
    "nul in a key": b'{"data": {"text": "a", "\\u0000": 1}}',
    "surrogate": f'{{"data": {{"text": {SURROGATE}}}}}'.encode(),
    "surrogate as a key": f'{{"data": {{"text": "a", {SURROGATE}: 1}}}}'.encode(),
    "surrogate as an outer key": f'{{"data": {{"text": "a"}}, {SURROGATE}: 1}}'.encode(),
    "deep list": b'{"data": {"text": "a", "tags": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "deep object": b'{"data": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_002,
    "a bit too deep": b'{"data": {"text": "a", "tags": ' + b"[" * 64 + b"]" * 64 + b"}}",
    "long number": b'{"data": {"text": "a", "priority": ' + b"9" * 5000 + b"}}",
    "list": b"[]",
    "text": b'"data"',
    "null": b"null",
    "no data": b"{}",
    "data is null": b'{"data": null}',
    "data is a list": b'{"data": []}',
    "unknown key": b'{"data": {"text": "a"}, "dta": 1}',
    "unset": b'{"data": {"text": "a"}, "unset": []}',
    "unknown field": b'{"data": {"text": "a", "nope": 1}}',
    "text for a number": b'{"data": {"text": "a", "priority": "5"}}',
    "true for a number": b'{"data": {"text": "a", "priority": true}}',
    "number for a boolean": b'{"data": {"text": "a", "done": 1}}',
    "number over a bound": b'{"data": {"text": "a", "priority": 1001}}',
    "many unknown fields": json.dumps({"data": {str(n): n for n in range(20)}}).encode(),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("kind", ["create", "replace"])
def test_a_body_that_does_not_fit_is_400(api_client, row, kind, body):
    url, method = (TASKS, "post") if kind == "create" else (f"{TASKS}{row.id}/", "put")

    response = send(api_client, body, url=url, method=method)

    assert_error(response, 400)
    assert api_client.get(f"{TASKS}{row.id}/").json()["version"] == 1
    assert len(api_client.get(TASKS).json()["results"]) == 1


@pytest.mark.parametrize("name", [name for name in BODIES if name not in ("nothing", "no data", "unset")])
def test_a_patch_that_does_not_fit_is_400(api_client, row, name):
    response = send(api_client, BODIES[name], url=f"{TASKS}{row.id}/", method="patch")

    assert_error(response, 400)


@pytest.mark.parametrize("name", [name for name in BODIES if name != "list"])
def test_bulk_that_does_not_fit_is_400(api_client, name):
    wrapped = BODIES[name] if name in ("nothing", "no json") else b"[" + BODIES[name] + b"]"

    assert_error(send(api_client, wrapped, url=f"{TASKS}bulk/"), 400)


@pytest.mark.parametrize("url", ["", "bulk/", "{id}/", "{id}/undelete/"])
def test_a_body_of_three_megabytes_is_413(api_client, row, url):
    body = b'{"data": {"text": "' + b"x" * 3_000_000 + b'"}}'
    method = "put" if url == "{id}/" else "post"

    response = send(api_client, body, url=TASKS + url.format(id=row.id), method=method)

    assert assert_error(response, 413)["code"] == "too_large"


@pytest.mark.parametrize(
    "content_type", ["text/html", "multipart/form-data; boundary=x", "application/xml", "x"]
)
@pytest.mark.parametrize("method", ["post", "put", "patch"])
def test_another_content_type_is_415(api_client, row, method, content_type):
    url = TASKS if method == "post" else f"{TASKS}{row.id}/"

    response = send(api_client, b"--x--", url=url, method=method, content_type=content_type)

    assert assert_error(response, 415)["code"] == "unsupported_media_type"


def test_a_form_of_three_megabytes_is_refused_in_json(api_client):
    response = send(api_client, b"a" * 3_000_000, content_type="application/x-www-form-urlencoded")

    assert_error(response, 413, 415)


def test_a_length_that_is_no_number_is_an_empty_body(api_client):
    assert_error(send(api_client, b"{}", CONTENT_LENGTH="x"), 400)


def test_a_number_of_any_length_survives_where_it_fits(api_client, user):
    body = b'{"data": {"value": ' + b"9" * 4000 + b"}}"

    response = send(api_client, body, url="/api/entities/plains/")

    assert response.status_code == 201
    assert json.loads(response.content)["data"]["value"] == int("9" * 4000)


def test_deep_json_survives_up_to_the_limit(api_client, user):
    # the row is level 1, the value starts at level 2
    body = b'{"data": {"value": ' + b"[" * 63 + b"]" * 63 + b"}}"

    response = send(api_client, body, url="/api/entities/plains/")

    assert response.status_code == 201
    assert Plain.store(f"user:{user.pk}").count() == 1


def test_markup_in_an_echoed_key_comes_back_as_json(api_client):
    response = send(api_client, b'{"data": {"text": "a", "<script>": 1}}')

    assert "<script>" in assert_error(response, 400)["errors"]


@pytest.mark.parametrize(
    "header",
    [
        {"HTTP_IF_MATCH": "\xff" * 100},
        {"HTTP_IF_MATCH": '"' * 10_000},
        {"HTTP_IF_NONE_MATCH": '"9",' * 5000},
        {"HTTP_X_AGENTSTORE_TENANT": "%00"},
        {"HTTP_X_AGENTSTORE_TENANT": "\xff"},
        {"HTTP_X_AGENTSTORE_TENANT": "a" * 10_000},
        {"HTTP_ACCEPT": "\0"},
        {"HTTP_ACCEPT_LANGUAGE": "x" * 10_000},
    ],
    ids=lambda header: f"{next(iter(header))}",
)
@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_hostile_headers_do_no_harm(api_client, row, method, header):
    body = b"" if method in ("get", "delete") else b'{"data": {"text": "b"}}'

    response = send(api_client, body, url=f"{TASKS}{row.id}/", method=method, **header)

    assert response.status_code in (200, 204, 400, 403, 412)


@pytest.mark.parametrize("key", ["\xff", "'; DROP TABLE", "x" * 255, "\x01"])
def test_an_idempotency_key_is_any_short_text(api_client, key):
    responses = [send(api_client, b'{"data": {"text": "a"}}', HTTP_IDEMPOTENCY_KEY=key) for _ in range(2)]

    assert [response.status_code for response in responses] == [201, 201]
    assert responses[0].content == responses[1].content


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    ["text", "due_at", "done", "priority", "score", "channel", "day", "tags", "address", "nope"]
)
quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=60, deadline=None, suppress_health_check=quiet)
@given(data=st.dictionaries(fields, values, max_size=4))
def test_any_data_is_stored_or_refused(api_client, data):
    response = send(api_client, json.dumps({"data": {"text": "a", **data}}).encode())

    if response.status_code != 201:
        assert_error(response, 400, 413)
    else:
        assert api_client.get(response["Location"]).json() == response.json()


@settings(max_examples=60, deadline=None, suppress_health_check=quiet)
@given(query=st.binary(max_size=30), name=fields)
def test_any_query_string_is_answered_or_refused(api_client, query, name):
    raw = f"{name}=".encode() + query.replace(b"#", b"")

    response = api_client.generic("GET", TASKS, QUERY_STRING=raw.decode("latin-1"))

    if response.status_code != 200:
        assert_error(response, 400)


def test_an_unknown_row_is_404_whatever_else_is_wrong_with_the_write(api_client):
    url = f"{TASKS}{new_id()}/"

    assert_error(send(api_client, b'{"data": {"text": 5}}', url=url, method="patch"), 404)
