"""Answers: every error is the class that the server raised, what is no answer is told, rows are read."""

from __future__ import annotations

import httpx
import pytest

from agentstore.core import errors
from agentstore.core.api import STATUS
from agentstore.remote import RemoteFailed
from agentstore.remote.answers import Answer, error_of
from agentstore.remote.failures import LocalOnly
from tests.remote.faults import ID, answering, refusing, row
from tests.testapp.models import TaskData

PROBLEMS = {"a.0": ["No.", "Not so."], "": ["x"]}
RAISED = [
    errors.NotFound("There is no thing.", hint="Look."),
    errors.Conflict("It is at version 3, not 2.", hint="Read it again.", current_version=3),
    errors.Conflict("The key was used."),
    errors.QuotaExceeded("There is no place left.", hint="Delete."),
    errors.ValidationFailed(
        "It does not fit.", hint="Valid: a.", errors={"a.0": ["No.", "Not so."], "": ["x"]}
    ),
    errors.ValidationFailed("It does not fit."),
    errors.AlreadyExists("It is there.", hint="Take another."),
    errors.TooLarge("It has 5 bytes.", hint="Shorten it."),
    errors.PermissionDenied("You may not.", hint="Ask."),
    errors.StorageFailed("The database did not.", hint="Later.", retryable=True),
    errors.StorageFailed("The database did not.", hint="Read the log."),
]
NO_ANSWERS = ["", "<html>", "[]", "5", "null", '"x"', "{", "{}", '{"detail":5}', "[" * 100_000, "\ud800"]


@pytest.mark.parametrize("raised", RAISED, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_as_what_it_was(raised):
    """With all that it holds, and as the views send it: this list has every class that they know."""
    assert {type(error) for error in RAISED} == set(STATUS)
    headers = {"Retry_After": "1"} if raised.retryable else {}
    client = refusing(STATUS[type(raised)], raised.as_dict(), **headers)

    with pytest.raises(errors.AgentStoreError) as info:
        client.store("tasks").update(ID, {"text": "a"})

    assert type(info.value) is type(raised)
    assert info.value.as_dict() == raised.as_dict()
    assert (info.value.message, info.value.hint, info.value.retryable) == (
        raised.message,
        raised.hint,
        raised.retryable,
    )
    assert getattr(info.value, "current_version", None) == getattr(raised, "current_version", None)
    assert getattr(info.value, "errors", None) == getattr(raised, "errors", None)


def test_a_failed_condition_is_a_conflict():
    client = refusing(412, errors.Conflict("At 3, not 2.", current_version=3).as_dict())

    with pytest.raises(errors.Conflict) as info:
        client.store("tasks").update(ID, {"text": "a"}, expected_version=2)

    assert info.value.current_version == 3


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "parse_error", errors.ValidationFailed),
        (401, "not_authenticated", errors.PermissionDenied),
        (401, "authentication_failed", errors.PermissionDenied),
        (403, "permission_denied", errors.PermissionDenied),
        (404, "not_found", errors.NotFound),
        (405, "method_not_allowed", RemoteFailed),
        (415, "unsupported_media_type", errors.ValidationFailed),
        (429, "throttled", RemoteFailed),
        (500, "error", RemoteFailed),
    ],
)
def test_an_error_of_the_servers_framework_is_the_nearest_class(status, code, kind):
    with pytest.raises(kind, match="No, really") as info:
        refusing(status, {"code": code, "detail": "No, really."}).store("tasks").count()

    assert type(info.value) is kind


@pytest.mark.parametrize("status", [200, 201, 204, 301, 400, 404, 409, 418, 500, 503])
@pytest.mark.parametrize(
    "body",
    ["", "<html>", "[]", "5", "null", '"x"', "{", "{}", '{"detail":5}', "[" * 100_000, "\ud800"],
    ids=range(11),
)
def test_what_is_no_answer_of_agentstore_is_a_failure(status, body):
    with pytest.raises(RemoteFailed) as info:
        content = body.encode("utf-8", "surrogatepass")
        answering(lambda request: httpx.Response(status, content=content), retries=0).store("tasks").usage()

    assert "GET https://host.example/api/entities/tasks/usage/" in info.value.message
    assert info.value.hint


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.PermissionDenied),
        (403, errors.PermissionDenied),
        (413, errors.TooLarge),
        (431, errors.TooLarge),
    ],
)
def test_a_refusal_of_a_proxy_is_what_its_status_says(status, kind):
    with pytest.raises(kind, match=f"status {status}") as info:
        refusing(status, "<html>").store("tasks").create({"text": "a"})

    assert info.value.hint


@pytest.mark.parametrize(
    "body",
    [
        {"results": 5},
        {"results": [{"id": 5}], "next_cursor": None, "limit": 1},
        {"results": [{**row(), "created_at": "x"}], "next_cursor": None, "limit": 1},
        {"results": [{**row(), "id": "x"}], "next_cursor": None, "limit": 1},
        {"results": [{"id": ID}], "next_cursor": None, "limit": 1},
        {"limit": 1},
    ],
    ids=range(6),
)
def test_an_answer_that_lacks_what_it_should_hold_is_a_failure(body):
    with pytest.raises(RemoteFailed, match="not what it should be"):
        answering(lambda request: httpx.Response(200, json=body)).store("tasks").query()


def test_an_unknown_entity_or_address_is_not_an_unknown_row(connect, tenant):
    """``None`` and ``False`` say something about a row; a wrong address must not look like that."""
    store = connect().store("nopes", tenant=tenant)

    for call in (
        lambda: store.get(ID),
        lambda: store.get_deleted(ID),
        lambda: store.delete(ID),
        lambda: store.history(ID),
        lambda: store.count(),
    ):
        with pytest.raises(errors.NotFound, match="There is no entity 'nopes'"):
            call()


def test_a_row_that_the_clients_schema_does_not_take_comes_with_the_reasons():
    shown = row(data={"text": 5, "lines": [{}], "later": 1})

    found = answering(lambda request: httpx.Response(200, json=shown)).store("tasks", schema=TaskData).get(ID)

    assert (found.data, found.raw) == (None, shown["data"])
    assert sorted(found.schema_errors) == ["lines.0.sku", "text"]


def test_keys_that_the_clients_schema_does_not_have_are_ignored():
    shown = row(data={"text": "a", "later": 1})

    found = answering(lambda request: httpx.Response(200, json=shown)).store("tasks", schema=TaskData).get(ID)

    assert found.data == TaskData(text="a")


def test_a_failure_is_one_of_storage_with_a_code_of_its_own():
    assert issubclass(RemoteFailed, errors.StorageFailed)
    assert (RemoteFailed.code, LocalOnly.code) == ("remote", "local_only")


def test_a_hint_of_the_server_wins():
    answer = Answer(
        where="GET x",
        status=401,
        headers={},
        content=b'{"code": "x", "detail": "d", "hint": "h", "errors": 5}',
    )

    assert error_of(answer).hint == "h"
