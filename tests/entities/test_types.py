"""Every type that a schema can hold: written, kept by the database, read, and written back unchanged."""

from __future__ import annotations

import enum
import ipaddress
import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from pydantic import Field, HttpUrl, Json, StringConstraints

from agentstore.entities import EntitySchema, UTCDateTime
from agentstore.entities.codec import Codec
from agentstore.entities.query import parse_filter

LIMITS = {"max_bytes": 256 * 1024, "max_depth": 64}


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mood(enum.Enum):
    GOOD = "good"
    HALF = 0.5


class Cat(EntitySchema):
    kind: Literal["cat"]
    lives: int = 9


class Dog(EntitySchema):
    kind: Literal["dog"]
    name: str


class Part(EntitySchema):
    by_name: dict[str, list[int]] = {}
    at: UTCDateTime | None = None
    amount: Decimal | None = None


class Every(EntitySchema):
    text: str = ""
    whole: int = 0
    real: float = 0.0
    flag: bool = False
    amount: Decimal | None = None
    day: date | None = None
    local: datetime | None = None
    at: UTCDateTime | None = None
    clock: time | None = None
    lasting: timedelta | None = None
    ref: UUID | None = None
    level: Level = Level.LOW
    mood: Mood = Mood.GOOD
    literal: Literal["x", 2] = "x"
    address: ipaddress.IPv4Address | None = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    part: Part | None = None
    parts: list[Part] = []
    either: int | str | None = None
    numbers: set[int] = set()
    pair: tuple[int, str] | None = None
    names: frozenset[str] = frozenset()
    by_name: dict[str, int] = {}
    by_day: dict[date, int] = {}
    by_number: dict[int, str] = {}
    raw: bytes | None = None
    short: Annotated[str, StringConstraints(min_length=2, max_length=5, pattern="^[a-z]+$")] = "aa"
    above: Annotated[int, Field(gt=0)] = 1
    made_by: str = Field(default="", alias="madeBy")
    link: HttpUrl | None = None
    free: object = None
    inside: Json[list[int]] | None = None


CODEC = Codec(Every, "everys", [])

BERLIN = datetime(2026, 3, 29, 12, tzinfo=ZoneInfo("Europe/Berlin"))
VALUES: list[tuple[str, Any]] = [
    *(
        ("text", text)
        for text in ("", "\u00e9", "e\u0301", "\ufeff", "\u2028", "\U0001d4b3", "\x7f\x01", "%_\\")
    ),
    *(("whole", n) for n in (2**53 + 1, 2**63 + 1, -(2**63) - 1, 10**300, -7)),
    *(("real", x) for x in (1e308, 5e-324, -0.0, 0.1 + 0.2, 1, 2**53, 1e16, 1e22, 1e23, 1e-7)),
    *(("amount", n) for n in (Decimal("1.10"), "1.10", Decimal("1E+5"), Decimal("-0"), Decimal("1e-30"), 3)),
    *(("day", day) for day in (date(2026, 1, 31), "2026-01-31", date(1, 1, 1), date(9999, 12, 31))),
    *(("local", at) for at in (datetime(2026, 1, 31, 9), "2026-01-31T09:00:00+05:30", BERLIN)),  # noqa: DTZ001
    *(("at", at) for at in ("2026-01-31T09:00:00+05:30", BERLIN, "0001-01-01T00:00:00Z")),
    *(("clock", at) for at in (time(1, 2, 3), "01:02:03.5", time(1, 2, tzinfo=UTC))),
    *(("lasting", td) for td in (timedelta(days=3, microseconds=5), "P3D", timedelta(days=-1))),
    *(("ref", ref) for ref in (UUID(int=7), str(UUID(int=8)))),
    *(("level", level) for level in (2, Level.HIGH)),
    *(("mood", mood) for mood in ("good", 0.5, Mood.HALF)),
    ("literal", 2),
    ("address", "10.0.0.1"),
    *(("pet", pet) for pet in ({"kind": "dog", "name": "x"}, Cat(kind="cat"))),
    ("part", {"by_name": {"k": [1, 2]}, "at": "2026-01-01T00:00:00.000000Z", "amount": "1.0"}),
    ("parts", [Part(amount=Decimal("2.50")), {"by_name": {}}]),
    *(("either", value) for value in ("3", 3, None)),
    *(("numbers", some) for some in ({3, 1, 2}, [3, 1, 2])),
    *(("pair", pair) for pair in ((1, "a"), [1, "a"])),
    ("names", frozenset("ab")),
    ("by_name", {"": 1, "\u00e9": 2, " ": 3}),
    *(("by_day", days) for days in ({date(2026, 1, 2): 1}, {"2026-01-02": 1})),
    ("by_number", {"1": "a"}),
    *(("raw", raw) for raw in (b"abc", "abc")),
    ("short", "abc"),
    ("above", 5),
    ("madeBy", "me"),
    ("link", "https://example.com/\u00e4"),
    ("free", {"a": [1, {"b": None}], "c": 1.5, "d": 2**70}),
    ("inside", "[1, 2]"),
]
CASES = [pytest.param(key, value, id=f"{key}-{number}") for number, (key, value) in enumerate(VALUES)]


def kept(text: str) -> str:
    """Return JSON as the database gives it back."""
    if connection.vendor != "postgresql":
        return text
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text", [text])
        (found,) = cursor.fetchone()
    return str(found)


@pytest.mark.parametrize(("key", "value"), CASES)
def test_a_value_is_read_as_it_was_written(db, key, value):
    instance, document = CODEC.encode({key: value}, **LIMITS)
    read, raw, problems = CODEC.decode(kept(document.text))

    assert problems == {}
    assert read == instance
    assert raw.keys() == document.value.keys()


@pytest.mark.parametrize("again", ["given", "stored", "instance"])
@pytest.mark.parametrize(("key", "value"), CASES)
def test_the_same_value_once_more_is_no_change(db, key, value, again):
    """Whether it comes as the caller gave it, as it is stored, or in the instance that was read."""
    _, document = CODEC.encode({key: value}, **LIMITS)
    stored = kept(document.text)
    read, raw, _ = CODEC.decode(stored)
    given = {"given": {key: value}, "stored": {key: raw[key]}, "instance": read}[again]

    plain = json.loads(CODEC.guard(given, **LIMITS))

    assert CODEC.merge(stored, plain, (), **LIMITS)[2] is None
    assert CODEC.replacement(stored, json.dumps(plain), **LIMITS)[2] is None


@pytest.mark.parametrize(("key", "value"), CASES)
def test_a_filter_takes_the_value_as_it_is_stored(key, value):
    _, document = CODEC.encode({key: value}, **LIMITS)
    stored = document.value[key]

    (clause,) = parse_filter({f"{key}__eq": stored}, CODEC.fields)

    assert clause.value == stored
