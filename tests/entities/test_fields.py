"""What is known of a schema's fields: key, kind, base type, and what may be ordered or indexed."""

from __future__ import annotations

import typing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Network
from typing import Annotated, Any, Literal, NewType, Optional, TypeVar
from uuid import UUID

import pytest
from pydantic import (
    AwareDatetime,
    BeforeValidator,
    EmailStr,
    Field,
    FutureDate,
    FutureDatetime,
    IPvAnyAddress,
    Json,
    JsonValue,
    NaiveDatetime,
    PastDate,
    PastDatetime,
    PlainSerializer,
    RootModel,
    StringConstraints,
    ValidationError,
)
from typing_extensions import TypeAliasType

from agentstore.entities import EntitySchema, UTCDateTime
from agentstore.entities.fields import fields_of
from tests.testapp.models import Odd, Task


class Word(StrEnum):
    YES = "yes"


class Old(str, Enum):  # noqa: UP042
    A = "a"


class Plain(Enum):
    A = "a"


class Level(IntEnum):
    HIGH = 3


class Inner(EntitySchema):
    n: int = 0


T = TypeVar("T")
#: Aliases as ``type Name = str`` makes them from Python 3.12 on.
Name = TypeAliasType("Name", str)
Due = TypeAliasType("Due", UTCDateTime)
Day = TypeAliasType("Day", date)
Mood = TypeAliasType("Mood", Literal["good", "bad"])
Positive = TypeAliasType("Positive", Annotated[int, Field(ge=1)])
Maybe = TypeAliasType("Maybe", Optional[T], type_params=(T,))  # noqa: UP045
Nested = TypeAliasType("Nested", "int | list[Nested]")
#: The class behind the statement ``type Name = str``, where Python has it.
statement = getattr(typing, "TypeAliasType", TypeAliasType)
Stated = statement("Stated", Due)
StatedMaybe = statement("StatedMaybe", Optional[T], type_params=(T,))  # type: ignore[arg-type]  # noqa: UP045
UserId = NewType("UserId", str)
Instant = NewType("Instant", Due)


def german(day):
    return f"{day:%d.%m.%Y}"


def field(annotation, **options):
    schema = type("S", (EntitySchema,), {"__annotations__": {"f": annotation}, "f": Field(**options)})
    return fields_of(schema)["f"]


@pytest.mark.parametrize(
    ("annotation", "kind", "nullable", "orderable", "indexable"),
    [
        (str, "text", False, True, True),
        (Optional[str], "text", True, True, True),  # noqa: UP045
        (str | None, "text", True, True, True),
        (Annotated[str, StringConstraints(max_length=5)], "text", False, True, True),
        (Annotated[str | None, Field(max_length=5)], "text", True, True, True),
        (int, "number", False, True, True),
        (Annotated[int, Field(ge=0)] | None, "number", True, True, True),
        (float, "number", False, True, True),
        (bool, "boolean", False, True, True),
        (date, "text", False, True, True),
        (date | None, "text", True, True, True),
        (UTCDateTime, "text", False, True, True),
        (UTCDateTime | None, "text", True, True, True),
        (Word, "text", False, True, True),
        (Word | None, "text", True, True, True),
        (Old, "text", False, True, True),
        (Literal["a", "b"], "text", False, True, True),
        (Level, "number", False, True, False),
        (datetime, "text", False, False, False),
        (datetime | None, "text", True, False, False),
        (Decimal, "text", False, False, False),
        (Decimal | None, "text", True, False, False),
        (UUID, "text", False, True, False),
        (timedelta, "text", False, False, False),
        (IPv4Address | None, "text", True, False, False),
        (IPv6Network, "text", False, False, False),
        (IPvAnyAddress, "text", False, False, False),
        (Fraction, "text", False, False, False),
        (Json[list[int]], "text", False, False, False),
        (Json[dict[str, int]] | None, "text", True, False, False),
        (
            Annotated[date, PlainSerializer(german, return_type=str)],
            "text",
            False,
            False,
            False,
        ),
        (Annotated[int, PlainSerializer(str, return_type=str)], "text", False, False, False),
        (Annotated[Decimal, PlainSerializer(float, return_type=float)], "number", False, True, False),
        (Plain, "text", False, True, False),
        (time, "text", False, True, False),
        (int | str, "mixed", False, False, False),
        (int | float, "number", False, True, False),
        (bool | int, "mixed", False, False, False),
        (Literal[True, False], "boolean", False, True, True),
        (list[str], "array", False, False, False),
        (list[str] | None, "array", True, False, False),
        (set[int], "array", False, False, False),
        (tuple[int, int], "array", False, False, False),
        (dict[str, int], "object", False, False, False),
        (Inner, "object", False, False, False),
        (Inner | None, "object", True, False, False),
        (Inner | str, "mixed", False, False, False),
        (object, "mixed", True, False, False),
        (Any, "mixed", True, False, False),
        (Literal["a", 1], "mixed", False, False, False),
        (Literal["a", None], "text", True, True, True),
        (Name, "text", False, True, True),
        (Name | None, "text", True, True, True),
        (Due, "text", False, True, True),
        (Day | None, "text", True, True, True),
        (Mood, "text", False, True, True),
        (Positive, "number", False, True, True),
        (Maybe[int], "number", True, True, True),
        (Stated, "text", False, True, True),
        (StatedMaybe[Positive] | None, "number", True, True, True),
        (UserId, "text", False, True, True),
        (Instant | None, "text", True, True, True),
        (Nested, "mixed", False, False, False),
        (JsonValue, "mixed", True, False, False),
        (RootModel[str], "text", False, True, True),
        (RootModel[Annotated[int, Field(ge=1)]] | None, "number", True, True, True),
        (RootModel[Due], "text", False, True, True),
        (RootModel[datetime], "text", False, False, False),
        (RootModel[Decimal], "text", False, False, False),
        (RootModel[list[str]], "array", False, False, False),
        (RootModel[int | str], "mixed", False, False, False),
        (EmailStr, "text", False, True, True),
        (PastDate | None, "text", True, True, True),
        (FutureDate, "text", False, True, True),
        (AwareDatetime, "text", False, False, False),
        (NaiveDatetime | None, "text", True, False, False),
        (PastDatetime, "text", False, False, False),
        (FutureDatetime, "text", False, False, False),
        (None, "mixed", True, False, False),
    ],
)
def test_kinds(annotation, kind, nullable, orderable, indexable):
    found = field(annotation)

    assert (found.kind, found.nullable) == (kind, nullable)
    assert (found.orderable, found.indexable) == (orderable, indexable)


def test_fields_come_in_the_order_of_declaration_by_their_stored_key():
    assert list(fields_of(Task.Schema)) == [
        "text",
        "due_at",
        "done",
        "priority",
        "score",
        "channel",
        "day",
        "tags",
        "address",
        "lines",
    ]
    assert fields_of(Odd.Schema)["madeBy"].name == "made_by"


def test_a_codec_is_known_by_what_it_stores():
    code = fields_of(Odd.Schema)["code"]

    assert code.kind == "text"
    assert not code.orderable
    assert not fields_of(Odd.Schema)["amount"].orderable


def test_titles_descriptions_and_requirement():
    made = field(int, title="Size", description="How big.")

    assert (made.title, made.description, made.required) == ("Size", "How big.", True)
    assert field(int, default=3).title == "f"
    assert not field(int, default=3).required


@pytest.mark.parametrize(
    ("annotation", "options", "good", "bad"),
    [
        (int, {"ge": 5}, b"1", b'"1"'),
        (Annotated[int, Field(ge=5)], {}, b"1", b"1.5"),
        (Annotated[int, Field(ge=5)] | None, {}, b"null", b"true"),
        (str, {"max_length": 2, "pattern": "^a"}, b'"long"', b"5"),
        (Annotated[str, StringConstraints(min_length=9)], {}, b'"x"', b"5"),
        (float, {"gt": 0}, b"-1.5", b'"x"'),
        (UTCDateTime, {}, b'"2026-01-01T00:00:00+01:00"', b'"2026-01-01"'),
        (date, {}, b'"2026-01-01"', b'"tomorrow"'),
        (Word, {}, b'"yes"', b'"no"'),
        (Literal["a"], {}, b'"a"', b'"b"'),
        (Positive, {}, b"0", b'"1"'),
        (Maybe[Positive], {}, b"0", b"1.5"),
        (Instant, {}, b'"2026-01-01T00:00:00+01:00"', b'"2026-01-01"'),
        (EmailStr, {}, b'"ann"', b"5"),
        (PastDate, {}, b'"2999-01-01"', b'"tomorrow"'),
        (FutureDatetime | None, {}, b'"2000-01-01T00:00:00Z"', b'"tomorrow"'),
        (Annotated[int, BeforeValidator(int), PlainSerializer(str)], {"ge": 5}, b'"1"', b'"x"'),
    ],
)
def test_operands_are_held_to_the_type_without_its_constraints(annotation, options, good, bad):
    adapter = field(annotation, **options).adapter

    adapter.validate_json(good)
    with pytest.raises((ValidationError, ValueError)):
        adapter.validate_json(bad)
