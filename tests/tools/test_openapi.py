"""The OpenAPI of tools: complete, and true to what the views do."""

import pytest

from agentstore.tools.spec import DIALECTS
from tests.openapi import ERROR, check_answer, check_body, operations

LIST, CALL = "/api/tools/", "/api/tools/{name}/"
EXPECTED = {
    ("get", LIST): ("tools_list", "200 400 401 403 503"),
    ("post", CALL): ("tools_call", "200 400 401 403 404 409 413 415 503"),
}
WHICH = ["agent", "writable", "read_only", "strict", "generic"]


def parameters(key):
    return operations(LIST)[key]["parameters"]


def test_every_operation_is_there_with_its_id_and_statuses():
    found = {
        key: (operation["operationId"], " ".join(operation["responses"]))
        for key, operation in operations(LIST).items()
    }

    assert found == EXPECTED


def test_every_operation_is_described():
    for operation in operations(LIST).values():
        assert operation["summary"] and operation["security"] and operation["tags"] == ["tools"]
        assert all(parameter.get("description") for parameter in operation["parameters"])


def test_every_parameter_is_listed():
    listed = [p["name"] for p in parameters(("get", LIST))]
    called = [p["name"] for p in parameters(("post", CALL))]

    assert listed == ["dialect", *WHICH, "X-Agentstore-Tenant"]
    assert called == ["name", *WHICH, "Idempotency-Key", "X-Agentstore-Reason", "X-Agentstore-Tenant"]


def test_the_dialects_are_those_of_the_toolset():
    (dialect,) = [p["schema"] for p in parameters(("get", LIST)) if p["name"] == "dialect"]

    assert dialect["enum"] == list(DIALECTS) and dialect["default"] == "mcp"


def test_every_error_has_the_body_of_every_rest_error():
    for operation in operations(LIST).values():
        for status, response in operation["responses"].items():
            assert status[0] not in "45" or response["content"] == {"application/json": {"schema": ERROR}}


@pytest.mark.django_db
@pytest.mark.parametrize("dialect", [*DIALECTS, "french"])
def test_lists_are_as_described(api_client, dialect):
    response = api_client.get(LIST, {"dialect": dialect, "agent": "bia", "writable": ["a*", "b"]})

    check_answer(response, "get", LIST)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [
        ("tasks_create", {"data": {"text": "x"}}, 200),
        ("tasks_query", {}, 200),
        ("tasks_create", {"data": {"text": 5}}, 400),
        ("tasks_get", {"id": "none"}, 404),
        ("none", {}, 404),
        ("tasks_create", {"data": {"text": "x" * 300_000}}, 413),
    ],
)
def test_calls_are_as_described(api_client, name, arguments, status):
    response = api_client.post(f"{LIST}{name}/", data=arguments, format="json")

    assert response.status_code == status
    check_answer(response, "post", CALL)
    check_body(arguments, "post", CALL)
