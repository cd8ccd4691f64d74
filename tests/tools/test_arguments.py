"""What clients and models send that is nearly right: nulls for what they leave out, operators in values."""

import pytest

from agentstore.files import FileStore
from agentstore.tools import toolset
from tests.testapp.models import Odd, Task

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
def test_a_null_for_an_argument_that_may_be_left_out_means_not_given(tenant, generic):
    """Many clients send every argument that there is."""
    tools = toolset(tenant, entities=[Task], agent="bia", files=FileStore(tenant, "bia"), generic=generic)
    name, given = ("entity", {"entity": "tasks"}) if generic else ("tasks", {})
    row = tools.call(f"{name}_create", {**given, "data": {"text": "x"}})["row"]
    nothing = dict.fromkeys(["filter", "order_by", "limit", "cursor"])

    found = tools.call(f"{name}_query", {**given, **nothing})
    same = tools.call(
        f"{name}_update", {**given, "id": row["id"], "set": None, "unset": None, "expected_version": None}
    )

    assert [found["rows"], same] == [[row], {"row": row, "changed": False}]
    assert tools.call("file_list", {"prefix": None}) == {"files": []}


def test_a_null_for_an_argument_that_must_be_there_is_of_the_wrong_type(tenant):
    tasks = toolset(tenant, entities=[Task])

    error = tasks.call("tasks_get", {"id": None})["error"]

    assert error["errors"] == {"id": ["Expected string, found null."]}
    assert "tenant" in tasks.call("tasks_query", {"tenant": None})["error"]["errors"]


@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
@pytest.mark.parametrize(
    ("filter", "problem"),
    [
        ({"text": {"contains": "x"}}, "Expected string, found object."),
        ({"done": False, "priority": {"$gte": 3}}, "Expected integer, found object."),
        ({"score": [1, 2]}, "Expected number or null, found array."),
        (
            {"priority__in": [1], "due_at__lt": {"value": "2027-01-01T00:00:00Z"}},
            "Expected string, found object.",
        ),
    ],
    ids=str,
)
def test_an_operator_inside_of_a_filters_value_is_told_instead_of_finding_nothing(
    tenant, generic, filter, problem
):
    tools = toolset(tenant, entities=[Task], generic=generic)
    name, given = ("entity_query", {"entity": "tasks"}) if generic else ("tasks_query", {})

    error = tools.call(name, {**given, "filter": filter})["error"]

    key = list(filter)[-1]
    assert error["errors"] == {key: [problem]}
    assert error["hint"] == f"An operator is a part of the key, as in {key.partition('__')[0]}__in."


def test_objects_and_lists_are_filtered_where_a_field_holds_them(tenant):
    tools = toolset(tenant, entities=[Task, Odd])
    data = {"text": "x", "tags": ["a", "b"], "address": {"street": "Quay 1"}, "priority": 3}
    row = tools.call("tasks_create", {"data": data})["row"]
    odd = tools.call("odds_create", {"data": {"anything": {"a": [1]}, "meta": {"b": 1}}})["row"]

    found = tools.call(
        "tasks_query", {"filter": {"tags": ["a"], "address": {"street": "Quay 1"}, "priority__in": [3, 4]}}
    )
    others = tools.call("odds_query", {"filter": {"anything": {"a": [1]}, "meta": {}}})

    assert [found["rows"], others["rows"]] == [[row], [odd]]
