"""Strict JSON behind a host's own validators: whatever JSON writes as text or as an array is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import BeforeValidator, Field, ValidationError, WrapValidator, field_validator, model_validator
from typing_extensions import TypeAliasType

from agentstore.core.errors import ValidationFailed
from agentstore.entities import EntitySchema, UTCDateTime
from agentstore.entities.codec import Codec
from agentstore.entities.fields import fields_of
from agentstore.entities.query import parse_filter
from agentstore.entities.strictness import json_validator
from tests.testapp.models import Odd, Task

LIMITS: dict[str, int] = {"max_bytes": 10_000, "max_depth": 64}
ID = UUID("12345678-1234-5678-1234-567812345678")


class Color(Enum):
    RED = "red"


Day = TypeAliasType("Day", date)


class Point(NamedTuple):
    x: int
    at: date


@dataclass
class Span:
    first: date


class Inner(EntitySchema):
    type: Literal["inner"] = "inner"
    day: date
    days: list[date] = []


class Other(EntitySchema):
    type: Literal["other"] = "other"
    at: time


def unchanged(value):
    return value


class Before(EntitySchema):
    @model_validator(mode="before")
    @classmethod
    def look(cls, value: Any) -> Any:
        return value


class Wrapped(EntitySchema):
    @model_validator(mode="wrap")
    @classmethod
    def look(cls, value: Any, handler: Any) -> Any:
        return handler(value)


#: Types with a value and its JSON form.
TYPES = [
    (date, "2026-01-31", date(2026, 1, 31)),
    (date | None, "2026-01-31", date(2026, 1, 31)),
    (datetime, "2026-01-31T09:00:00", datetime(2026, 1, 31, 9)),  # noqa: DTZ001
    (UTCDateTime, "2026-01-31T09:00:00.000000Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
    (time, "09:30:00", time(9, 30)),
    (timedelta, "PT1M30S", timedelta(seconds=90)),
    (Decimal, "1.50", Decimal("1.50")),
    (bytes, "abc", b"abc"),
    (complex, "1+2j", 1 + 2j),
    (UUID, str(ID), ID),
    (Color, "red", Color.RED),
    (tuple[int, date], [1, "2026-01-31"], (1, date(2026, 1, 31))),
    (tuple[date, ...], ["2026-01-31"], (date(2026, 1, 31),)),
    (Point, [1, "2026-01-31"], Point(1, date(2026, 1, 31))),
    (set[int], [1, 2], {1, 2}),
    (frozenset[date], ["2026-01-31"], frozenset({date(2026, 1, 31)})),
    (dict[date, Decimal], {"2026-01-31": "1"}, {date(2026, 1, 31): Decimal(1)}),
    (dict[Day, Day], {"2026-01-31": "2026-02-01"}, {date(2026, 1, 31): date(2026, 2, 1)}),
    (date | int, "2026-01-31", date(2026, 1, 31)),
    (Span, {"first": "2026-01-31"}, Span(date(2026, 1, 31))),
    (Inner, {"type": "inner", "day": "2026-01-31", "days": ["2026-02-01"]}, None),
    (list[Inner], [{"type": "inner", "day": "2026-01-31", "days": []}], None),
    (Annotated[Inner | Other, Field(discriminator="type")], {"type": "other", "at": "09:30:00"}, None),
]


@pytest.fixture(params=["before", "wrap", "field-before", "field-wrap", "decorator"])
def made(request):
    """Return a function that makes the codec of a schema with one field behind a validator."""

    def make(annotation):
        bases = {"before": Before, "wrap": Wrapped}
        marks = {"field-before": BeforeValidator(unchanged), "field-wrap": WrapValidator(lambda v, h: h(v))}
        base = bases.get(request.param, EntitySchema)
        mark = marks.get(request.param)
        namespace = {"__annotations__": {"f": Annotated[annotation, mark] if mark else annotation}}
        if request.param == "decorator":
            namespace["look"] = field_validator("f", mode="before")(classmethod(lambda cls, value: value))
        return Codec(type("Made", (base,), namespace), "made", ())

    return make


@pytest.mark.parametrize(
    ("annotation", "stored", "value"), TYPES, ids=[f"{n}-{case[1]!r:.20}" for n, case in enumerate(TYPES)]
)
def test_the_json_form_of_every_type_is_read_behind_a_validator(made, annotation, stored, value):
    codec = made(annotation)

    instance, document = codec.encode({"f": stored}, **LIMITS)
    again, _, problems = codec.decode(document.text)

    assert document.value == {"f": stored}
    assert (again, problems) == (instance, {})
    assert value is None or instance.f == value


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (date, 0),
        (date, "20260131"),
        (date, "1769817600"),
        (date, True),
        (date, "tomorrow"),
        (datetime, 1769817600),
        (timedelta, 90),
        (time, 36000),
        (Decimal, "one"),
        (Decimal, True),
        (tuple[int, int], "12"),
        (tuple[int, int], ["1", 2]),
        (set[int], {"1": 1}),
        (int, "5"),
        (bool, "yes"),
        (bytes, 5),
    ],
    ids=str,
)
def test_it_is_as_strict_as_without_one(made, annotation, value):
    with pytest.raises(ValidationFailed) as caught:
        made(annotation).encode({"f": value}, **LIMITS)

    assert [path.split(".")[0] for path in caught.value.errors] == ["f"]


class Upgraded(EntitySchema):
    due: date
    rate: Decimal = Decimal(0)

    @model_validator(mode="before")
    @classmethod
    def rename(cls, value: Any) -> Any:
        if isinstance(value, dict) and "deadline" in value:
            value = {**value, "due": value["deadline"]}
            del value["deadline"]
        return value


def test_what_a_validator_makes_of_older_rows_is_taken():
    codec = Codec(Upgraded, "upgraded", ("due",))
    data, _, problems = codec.decode('{"deadline": "2026-01-31", "rate": "0.5"}')

    assert problems == {}
    assert (data.due, data.rate) == (date(2026, 1, 31), Decimal("0.5"))


def test_python_values_are_held_to_python_types():
    class Made(Before):
        f: date

    with pytest.raises(ValidationError):
        Made(f="2026-01-31")
    assert Made.model_validate_json('{"f": "2026-01-31"}') == Made(f=date(2026, 1, 31))


def test_a_schema_without_such_validators_keeps_its_own():
    for schema in (Task.Schema, Inner):
        assert json_validator(schema) is schema.__pydantic_validator__


def test_other_codecs_still_read_what_they_write():
    codec = Codec(Odd.Schema, "odds", ())

    _, document = codec.encode({"code": "7", "amount": "1.5", "ref": str(ID)}, **LIMITS)

    assert document.value["code"] == "7"
    assert codec.decode(document.text)[2] == {}


def test_a_schema_that_nests_itself_is_read():
    codec = Codec(Tree, "trees", ())

    instance, document = codec.encode({"day": "2026-01-31", "kids": [{"day": "2026-02-01"}]}, **LIMITS)

    assert instance.kids[0].day == date(2026, 2, 1)
    assert codec.decode(document.text)[0] == instance


class Tree(Before):
    day: date
    kids: list[Tree] = []


@pytest.mark.parametrize("operand", ["2026-01-31", date(2026, 1, 31)], ids=["json", "python"])
def test_filters_read_their_operands_the_same_way(operand):
    class Made(EntitySchema):
        day: Annotated[date, BeforeValidator(unchanged)]

    [found] = parse_filter({"day__gte": operand}, fields_of(Made))

    assert (found.op, found.value) == ("gte", "2026-01-31")
