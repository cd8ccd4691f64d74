"""Dates and times in the viewer's zone: two inputs, kept to the microsecond, also when the clock changes."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation
from hypothesis import given, settings
from hypothesis import strategies as st

from agentstore.entities.forms.moments import Unreadable, in_utc
from agentstore.entities.forms.shape import Shape
from agentstore.entities.forms.texts import read, write

MOMENT = Shape(key="at", kind="moment", label="At")
DAY = Shape(key="on", kind="day", label="On")


@pytest.fixture(autouse=True)
def berlin():
    with timezone.override("Europe/Berlin"):
        yield


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-12-02T13:00:00.000000Z", "2026-12-02 14:00"),
        ("2026-07-01T22:30:00.000000Z", "2026-07-02 00:30"),
        ("2026-12-02T13:00:05.000000Z", "2026-12-02 14:00:05"),
        ("2026-12-02T13:00:05.000001Z", "2026-12-02 14:00:05.000001"),
        ("2026-10-25T00:30:00.000000Z", "2026-10-25 02:30+02:00"),
        ("2026-10-25T01:30:00.000000Z", "2026-10-25 02:30+01:00"),
        ("soon", '"soon"'),
        ("2026-12-02T13:00:00", '"2026-12-02T13:00:00"'),
        ("9999-12-31T23:59:59.000000Z", '"9999-12-31T23:59:59.000000Z"'),
    ],
)
def test_a_moment_is_shown_in_the_viewers_zone(value, text):
    assert write(MOMENT, value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-12-02 14:00", "2026-12-02T13:00:00.000000Z"),
        ("2026-12-02 14:00:05.5", "2026-12-02T13:00:05.500000Z"),
        ("2026-12-02 14:00Z", "2026-12-02T14:00:00.000000Z"),
        ("2026-12-02 14:00 -05:00", "2026-12-02T19:00:00.000000Z"),
        ("2026-10-25 02:30+02:00", "2026-10-25T00:30:00.000000Z"),
        ("2026-10-25 02:30+01:00", "2026-10-25T01:30:00.000000Z"),
        ("12/02/2026 14:00", "2026-12-02T13:00:00.000000Z"),
    ],
)
def test_a_typed_moment_is_read_in_the_viewers_zone(text, value):
    assert read(MOMENT, text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-12-02", "Enter both a date and a time."),
        ("tomorrow 14:00", "Enter a date, such as 2026-12-02."),
        ("2026-12-02 noon", "Enter a time, such as 14:00."),
        ("2026-12-02 14:00+99:00", "Enter a time, such as 14:00."),
        ("2026-10-25 02:30", "02:30 is there twice that day in Europe/Berlin"),
        ("2026-03-29 02:30", "There is no 02:30 that day in Europe/Berlin"),
        ("0001-01-01 00:00+14:00", "outside the years 1 to 9999"),
    ],
)
def test_a_text_that_is_no_moment_says_what_would_be(text, message):
    with pytest.raises(Unreadable, match=message.replace("+", r"\+")):
        read(MOMENT, text)


def test_a_time_that_is_there_twice_names_both_ways_to_write_it():
    with pytest.raises(Unreadable, match=r"write 02:30\+02:00 or 02:30\+01:00"):
        read(MOMENT, "2026-10-25 02:30")


@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)))
@settings(max_examples=300, deadline=None)
def test_what_is_shown_means_what_is_stored(moment):
    value = moment.isoformat(timespec="microseconds") + "Z"

    with timezone.override(ZoneInfo("Europe/Berlin")):
        assert read(MOMENT, write(MOMENT, value)) == value


def test_the_hour_in_utc_is_told():
    assert in_utc("2026-12-02 14:00") == "Europe/Berlin; 14:00 there is 13:00 UTC."
    assert in_utc("") == "Europe/Berlin"


@pytest.mark.parametrize(("language", "clock"), [("fi", "14.05.30"), ("id", "14.05.30"), ("de", "14:05:30")])
def test_the_admins_own_clock_is_read_in_every_language(language, clock):
    with translation.override(language):
        assert read(MOMENT, f"2026-12-02 {clock}") == "2026-12-02T13:05:30.000000Z"


def test_a_number_is_no_time_of_day():
    with pytest.raises(Unreadable):
        read(MOMENT, "2026-12-02 14")


@pytest.mark.parametrize(
    ("text", "value"), [("2026-12-02", "2026-12-02"), ("2.12.2026", "2026-12-02"), ("x", "x")]
)
def test_a_day_is_read_in_the_viewers_language(text, value):
    with translation.override("de"):
        assert read(DAY, text) == value
