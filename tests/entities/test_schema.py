"""The base schema and ``UTCDateTime``: strict, and stored so that text order is time order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from agentstore.entities import EntitySchema, UTCDateTime


class Note(EntitySchema):
    n: int = 0
    x: float = 0.0
    flag: bool = False
    loose: int = Field(default=0, strict=False)


class Event(EntitySchema):
    at: UTCDateTime
    until: UTCDateTime | None = None


def stored(at):
    return json.loads(Event(at=at).model_dump_json())["at"]


@pytest.mark.parametrize(
    "text",
    [
        '{"n": "5"}',
        '{"n": true}',
        '{"n": 5.0}',
        '{"x": "1"}',
        '{"flag": 1}',
        '{"flag": "yes"}',
        '{"unknown": 1}',
        '{"x": NaN}',
        '{"x": Infinity}',
        '{"x": 1' + "0" * 400 + "}",
    ],
)
def test_json_is_taken_strictly(text):
    with pytest.raises(ValidationError):
        Note.model_validate_json(text)


def test_a_field_may_opt_out_of_strictness():
    assert Note.model_validate_json('{"loose": "5"}').loose == 5


def test_defaults_are_validated_like_any_value():
    class Wrong(EntitySchema):
        n: int = "five"

    with pytest.raises(ValidationError):
        Wrong()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-31T09:00:00Z", "2026-01-31T09:00:00.000000Z"),
        ("2026-01-31t09:00:00z", "2026-01-31T09:00:00.000000Z"),
        ("2026-01-31 09:00:00+00:00", "2026-01-31T09:00:00.000000Z"),
        ("2026-01-31T10:00:00.5+01:00", "2026-01-31T09:00:00.500000Z"),
        ("2026-01-31T10:00+01:00", "2026-01-31T09:00:00.000000Z"),
        ("2026-01-31T09:00:00.123456789Z", "2026-01-31T09:00:00.123456Z"),
        ("2026-01-31T09:00:00-00:30", "2026-01-31T09:30:00.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        (datetime(2026, 1, 31, 9, tzinfo=UTC), "2026-01-31T09:00:00.000000Z"),
        (datetime(2026, 1, 31, 9, tzinfo=timezone(timedelta(hours=2))), "2026-01-31T07:00:00.000000Z"),
    ],
    ids=str,
)
def test_a_time_is_stored_in_fixed_width_utc(given, expected):
    assert stored(given) == expected
    assert Event.model_validate_json(json.dumps({"at": expected})).at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "given",
    [
        "2026-01-31T09:00:00",
        "2026-01-31",
        "09:00:00Z",
        "",
        "now",
        "2026-02-30T09:00:00Z",
        "2026-01-31T25:00:00Z",
        "2026-01-31T09:00:00+0100",
        "2026-W05-6T09:00:00Z",
        "20260131T090000Z",
        "２026-01-31T09:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "2026-01-31T09:00:00Z\n",
        1767225600,
        1.5,
        None,
        True,
        datetime(2026, 1, 31, 9),
    ],
    ids=repr,
)
def test_what_is_no_moment_is_refused_with_an_example(given):
    with pytest.raises(ValidationError, match="offset|years|no such day"):
        Event(at=given)


@given(
    st.datetimes(
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
        min_value=datetime(2, 1, 1),
        max_value=datetime(9998, 1, 1),
    ),
    st.datetimes(timezones=st.just(UTC)),
)
def test_text_order_is_time_order_and_nothing_is_lost(left, right):
    assert (stored(left) < stored(right)) == (left < right)
    assert Event.model_validate_json(json.dumps({"at": stored(left)})).at == left


def test_the_schema_says_date_time():
    properties = Event.model_json_schema()["properties"]

    assert properties["at"] == {"format": "date-time", "title": "At", "type": "string"}
    assert {"type": "null"} in properties["until"]["anyOf"]
