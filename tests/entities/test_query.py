"""Filters, orders and limits as they are read: what holds, and what is told when it does not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from uuid import UUID

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.entities.fields import fields_of
from agentstore.entities.query import (
    Clause,
    Order,
    fingerprint_of,
    operators_of,
    parse_filter,
    parse_limit,
    parse_order,
)
from tests.testapp.models import Channel, Odd, TaskData

TASK = fields_of(TaskData)
ODD = fields_of(Odd.Schema)
ID = UUID("01a22b71-0841-7744-a855-17b0ae202191")


def clause(filter, fields=TASK):
    (found,) = parse_filter(filter, fields)
    return found


def refused(call, *arguments):
    with pytest.raises(ValidationFailed) as info:
        call(*arguments)
    return info.value


@pytest.mark.parametrize(
    ("limit", "size"), [(25, 25), (0, 1), (-5, 1), (1, 1), (100, 100), (101, 100), (10**30, 100)]
)
def test_a_limit_is_clamped(limit, size):
    assert parse_limit(limit) == size


@pytest.mark.parametrize("limit", [None, True, 2.5, 2.0, "5", float("nan"), [1]], ids=repr)
def test_a_limit_that_is_no_int_is_refused(limit):
    assert list(refused(parse_limit, limit).errors) == ["limit"]


@pytest.mark.parametrize(
    ("order_by", "order"),
    [
        (None, Order(field="updated_at", descending=True)),
        ("priority", Order(field="priority", descending=False, kind="number")),
        ("-priority", Order(field="priority", descending=True, kind="number")),
        ("done", Order(field="done", descending=False, kind="boolean")),
        ("-due_at", Order(field="due_at", descending=True, kind="text")),
        ("created_at", Order(field="created_at", descending=False)),
        ("-id", Order(field="id", descending=True)),
    ],
)
def test_an_order_is_a_field_or_its_reverse(order_by, order):
    assert parse_order(order_by, TASK) == order
    assert order_by is None or str(order) == order_by


@pytest.mark.parametrize(
    ("order_by", "fields", "problem"),
    [
        ("nonsense", TASK, "no such field"),
        ("--priority", TASK, "no such field"),
        ("", TASK, "no such field"),
        ("-", TASK, "no such field"),
        ("version", TASK, "no such field"),
        ("tenant", TASK, "no such field"),
        ("data", TASK, "no such field"),
        ("tags", TASK, "no order for array"),
        ("address", TASK, "no order for object"),
        ("amount", ODD, "no order for text"),
        ("at", ODD, "no order for text"),
        ("either", ODD, "no order for mixed"),
    ],
)
def test_an_order_by_what_has_none_is_refused_with_what_has(order_by, fields, problem):
    error = refused(parse_order, order_by, fields)

    assert problem in error.message
    assert list(error.errors) == ["order_by"]
    assert "updated_at" in error.hint


@pytest.mark.parametrize("order_by", [5, ["priority"], True])
def test_an_order_that_is_no_text_is_refused(order_by):
    assert "Expected a field name" in refused(parse_order, order_by, TASK).message


@pytest.mark.parametrize("filter", [None, {}])
def test_no_filter_is_no_clause(filter):
    assert parse_filter(filter, TASK) == ()


@pytest.mark.parametrize("filter", ["done", [("done", True)], 5, True])
def test_a_filter_that_is_no_object_is_refused(filter):
    assert list(refused(parse_filter, filter, TASK).errors) == ["filter"]


def test_a_bare_field_means_eq():
    assert clause({"done": True}) == clause({"done__eq": True})
    assert clause({"done": True}) == Clause(field="done", op="eq", value=True, kind="boolean")


@pytest.mark.parametrize(
    ("filter", "value"),
    [
        ({"due_at": "2026-01-01T10:00:00+01:00"}, "2026-01-01T09:00:00.000000Z"),
        (
            {"due_at__lt": datetime(2026, 1, 1, 10, tzinfo=timezone(timedelta(hours=1)))},
            "2026-01-01T09:00:00.000000Z",
        ),
        ({"day__gte": date(2026, 1, 2)}, "2026-01-02"),
        ({"channel": Channel.CALL}, "call"),
        ({"channel__in": {"call"}}, ["call"]),
        ({"channel__in": ("call", Channel.CHAT)}, ["call", "chat"]),
        ({"priority": 5000}, 5000),
        ({"priority__in": []}, []),
        ({"priority__in": [None, 1]}, [None, 1]),
        ({"score": 3}, 3.0),
        ({"text": None}, None),
        ({"text": ["x"]}, ["x"]),
        ({"address": {"street": 5}}, {"street": 5}),
        ({"tags__contains": 5}, 5),
        ({"text__contains": ""}, ""),
        ({"text__isnull": False}, False),
    ],
    ids=str,
)
def test_values_are_encoded_as_they_are_stored(filter, value):
    assert clause(filter).value == value


def test_codecs_encode_values_too():
    assert clause({"code": 42}, ODD).value == "42"
    assert clause({"code": "42"}, ODD).value == "42"
    assert clause({"ref": UUID(int=7)}, ODD).value == str(UUID(int=7))
    assert clause({"amount": "1.10"}, ODD).value == "1.10"


@pytest.mark.parametrize(
    ("filter", "value"),
    [
        ({"id": ID}, ID),
        ({"id": str(ID)}, ID),
        ({"id__in": [str(ID), ID.hex]}, [ID, ID]),
        ({"version__gte": 10**30}, 2**31 - 1),
        ({"version__lt": -(10**30)}, -(2**31)),
        ({"updated_at__gt": "2026-01-01T10:00:00+01:00"}, datetime(2026, 1, 1, 9, tzinfo=UTC)),
        ({"created_at": datetime(2026, 1, 1, 9, tzinfo=UTC)}, datetime(2026, 1, 1, 9, tzinfo=UTC)),
    ],
    ids=str,
)
def test_the_rows_own_columns_can_be_filtered(filter, value):
    assert clause(filter).value == value
    assert clause(filter).system


@pytest.mark.parametrize(
    ("filter", "problem"),
    [
        ({"priority": "5"}, "Input should be a valid integer"),
        ({"priority": True}, "Input should be a valid integer"),
        ({"priority__lt": [10**5000]}, "more than 4,300 digits"),
        ({"priority__lt": None}, "lt needs a value to compare with"),
        ({"priority__gte": [1]}, "gte needs a value to compare with"),
        ({"priority__in": 5}, "in takes a list, found int"),
        ({"priority__in": "123"}, "in takes a list, found str"),
        ({"priority__in": {"a": 1}}, "in takes a list, found dict"),
        ({"priority__in": list(range(101))}, "in takes up to 100 values, found 101"),
        ({"priority__in": [1, "x"]}, "Input should be a valid integer"),
        ({"priority__isnull": "true"}, "Expected true or false"),
        ({"priority__isnull": 10**5000}, "Expected true or false, found int"),
        ({"priority__ne": [1]}, "ne takes text, numbers, true, false and null only"),
        ({"priority": 10**4300}, "more than 4,300 digits"),
        ({"score": float("nan")}, "nan is not a JSON number"),
        ({"score": 10**400}, "finite number"),
        ({"text": "a\0"}, "NUL"),
        ({"text__contains": "\ud800"}, "surrogate"),
        ({"text__startswith": 5}, "Expected text, found int"),
        ({"text__icontains": None}, "Expected text, found NoneType"),
        ({"tags": "x"}, "valid array"),
        ({"address": {"street": "\0"}}, "NUL"),
        ({"channel": "fax"}, "'call', 'email' or 'chat'"),
        ({"day": "tomorrow"}, "valid date"),
        ({"day": "1767225600"}, "ISO 8601"),
        ({"day__in": ["2026-01-01", "1767225600"]}, "ISO 8601"),
        ({"day__gte": 20260101}, "valid date"),
        ({"due_at": "2026-01-01"}, "offset"),
        ({"done": "yes"}, "valid boolean"),
        ({"id": "nope"}, "is not an id"),
        ({"id": 5}, "Expected text"),
        ({"id": None}, "Expected text"),
        ({"id__in": ["nope"]}, "is not an id"),
        ({"version": "1"}, "Expected a whole number"),
        ({"version": True}, "Expected a whole number"),
        ({"version": None}, "Expected a whole number"),
        ({"created_at": "yesterday"}, "offset"),
        ({"updated_at__lt": None}, "offset"),
        ({"updated_at__lt": datetime(2026, 1, 1)}, "offset"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_a_value_that_the_field_can_not_have_is_told_under_its_key(filter, problem):
    error = refused(parse_filter, filter, TASK)
    (key,) = filter

    assert problem in error.errors[key][0]
    assert error.message.startswith(f"Filter {key!r}: ")


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("priorty", "Did you mean 'priority'?"),
        ("priorty__lt", "Did you mean 'priority'?"),
        ("priority__lessthan", "Valid: eq, ne, lt, lte, gt, gte, in, isnull."),
        ("priority__lt__lt", "Valid: text, "),
        ("priority__", "Valid: eq"),
        ("__lt", "Valid: text, "),
        ("", "Valid: text, "),
        ("tenant", "Valid: text, "),
        ("data", "Valid: text, "),
        ("deleted_at", "created_at"),
        ("address__street", "Valid: eq, isnull."),
        ("tags__in", "Valid: eq, contains, isnull."),
        ("priority__contains", "Valid: eq, ne"),
        ("due_at__icontains", "Valid: eq, ne"),
        ("id__lt", "Valid: eq, ne, in."),
        ("version__isnull", "Valid: eq, ne, lt"),
        (5, "Valid: text, "),
    ],
)
def test_unknown_fields_and_operators_are_told_with_what_there_is(key, hint):
    error = refused(parse_filter, {key: 1}, TASK)

    assert hint in error.hint
    assert list(error.errors) == [str(key)]


def test_every_problem_is_told_at_once():
    error = refused(parse_filter, {"priority": "x", "nope": 1, "done": True, "day__lt": 5}, TASK)

    assert list(error.errors) == ["priority", "nope", "day__lt"]


@pytest.mark.parametrize(
    ("name", "fields", "operators"),
    [
        ("text", TASK, "eq ne lt lte gt gte in startswith contains icontains isnull"),
        ("channel", TASK, "eq ne lt lte gt gte in startswith contains icontains isnull"),
        ("priority", TASK, "eq ne lt lte gt gte in isnull"),
        ("done", TASK, "eq ne lt lte gt gte in isnull"),
        ("due_at", TASK, "eq ne lt lte gt gte in isnull"),
        ("day", TASK, "eq ne lt lte gt gte in isnull"),
        ("tags", TASK, "eq contains isnull"),
        ("lines", TASK, "eq contains isnull"),
        ("address", TASK, "eq isnull"),
        ("amount", ODD, "eq ne in isnull"),
        ("at", ODD, "eq ne in isnull"),
        ("either", ODD, "eq ne in isnull"),
        ("meta", ODD, "eq isnull"),
        ("mood", ODD, "eq ne lt lte gt gte in startswith contains icontains isnull"),
    ],
)
def test_each_type_has_its_operators(name, fields, operators):
    assert " ".join(operators_of(fields[name])) == operators


def test_a_field_named_like_a_control_is_filtered_as_any():
    schema = type("S", (TaskData,), {"__annotations__": {"limit": int}})

    assert clause({"limit": 5}, fields_of(schema)).value == 5


def test_equal_filters_have_one_fingerprint_whatever_their_order():
    def fingerprint(filter):
        return fingerprint_of(parse_filter(filter, TASK))

    assert fingerprint({"done": True, "priority": 1}) == fingerprint({"priority__eq": 1, "done": True})
    different = [{}, {"done": True}, {"done": False}, {"done__ne": True}, {"done": True, "done__eq": False}]
    assert len({str(fingerprint(filter)) for filter in different}) == len(different)
