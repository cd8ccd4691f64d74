"""Between stored dates and times and the texts of their inputs, in the current time zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.utils import formats, timezone
from django.utils.translation import gettext as _

from agentstore.core.values import JSONValue

__all__ = ["Unreadable", "in_utc", "moment_text", "parse_moment", "read_day", "read_moment", "split_moment"]

_OFFSET = re.compile(r"(.*?)\s*([+-]\d\d:\d\d(?::\d\d)?|[Zz])", re.ASCII)


class Unreadable(Exception):
    """The text means no value; the message says what would."""


def moment_text(value: JSONValue) -> str | None:
    """Return a stored date and time as it is typed, in the current time zone; None for anything else."""
    moment = parse_moment(value)
    if moment is None:
        return None
    local = moment.astimezone(timezone.get_current_timezone())
    clock = local.strftime("%H:%M")
    if local.second or local.microsecond:
        clock = local.time().isoformat(timespec="microseconds" if local.microsecond else "seconds")
    return f"{local.date().isoformat()} {clock}{_offset(local) if _is_twice(local) else ''}"


def parse_moment(value: JSONValue) -> datetime | None:
    """Return the moment that a stored text means, None where it means none that can be shown here."""
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(timezone.get_current_timezone())
    except (TypeError, ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else None


def split_moment(text: str) -> tuple[str, str]:
    """Return the texts of the two inputs of a date and time."""
    day, _blank, clock = text.partition(" ")
    return day, clock


def in_utc(text: str) -> str:
    """Say in which zone a date and time is typed, and what it is in UTC."""
    names = {"zone": timezone.get_current_timezone_name(), "clock": split_moment(text)[1]}
    try:
        day, clock = split_moment(text)
        moment = _to_utc(date.fromisoformat(day), *_parse_clock(clock))
    except (ValueError, OverflowError, Unreadable):
        return names["zone"]
    return _("%(zone)s; %(clock)s there is %(utc)s UTC.") % {**names, "utc": moment.strftime("%H:%M")}


def read_day(text: str) -> str:
    """Return the date that was typed as it is stored; what is no date comes back as it is."""
    day = _parse_day(text.strip())
    return day.isoformat() if day else text.strip()


def read_moment(text: str) -> str:
    """Return the date and time that was typed as it is stored, in UTC.

    Raises:
        Unreadable: it is none, or which moment it means is not clear.
    """
    day_text, clock_text = split_moment(text.strip())
    if not day_text or not clock_text.strip():
        raise Unreadable(_("Enter both a date and a time."))
    day = _parse_day(day_text)
    if day is None:
        raise Unreadable(_("Enter a date, such as %(example)s.") % {"example": "2026-12-02"})
    clock, zone = _parse_clock(clock_text.strip())
    try:
        return _to_utc(day, clock, zone).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    except OverflowError:
        raise Unreadable(_("The time lies outside the years 1 to 9999.")) from None


def _parse_day(text: str) -> date | None:
    for pattern in ("%Y-%m-%d", *formats.get_format("DATE_INPUT_FORMATS")):
        try:
            return datetime.strptime(text, pattern).date()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            continue
    return None


def _parse_clock(text: str) -> tuple[time, tzinfo | None]:
    match = _OFFSET.fullmatch(text)
    clock, offset = (match[1], match[2]) if match else (text, "")
    parsed = _clock(clock.strip())
    try:
        zone = datetime.fromisoformat(f"2000-01-01T00:00{offset.upper()}").tzinfo if offset else None
    except ValueError:
        parsed = zone = None
    if parsed is None:
        raise Unreadable(_("Enter a time, such as %(example)s.") % {"example": "14:00"})
    return parsed, zone


def _clock(text: str) -> time | None:
    """Return a time of day as ISO writes it, or as the admin's clock does in the viewer's language."""
    try:
        parsed = time.fromisoformat(text)
    except ValueError:
        parsed = None
    if parsed is not None and ":" in text:
        return parsed if parsed.tzinfo is None else None
    for pattern in formats.get_format("TIME_INPUT_FORMATS"):
        try:
            return datetime.strptime(text, pattern).time()  # noqa: DTZ007 - a time of day has no zone
        except ValueError:
            continue
    return None


def _to_utc(day: date, clock: time, zone: tzinfo | None) -> datetime:
    """Return the moment in UTC; a time that is twice or never there that day needs an offset."""
    if zone is not None:
        return datetime.combine(day, clock, zone).astimezone(UTC)
    local = datetime.combine(day, clock, timezone.get_current_timezone())
    names = {"time": clock.strftime("%H:%M"), "zone": timezone.get_current_timezone_name()}
    if _is_twice(local):
        names["choices"] = _(" or ").join(f"{names['time']}{_offset(each)}" for each in _folds(local))
        message = _(
            "%(time)s is there twice that day in %(zone)s, when the clock goes back: write %(choices)s."
        )
        raise Unreadable(message % names)
    moment = local.astimezone(UTC)
    if moment.astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
        message = _("There is no %(time)s that day in %(zone)s: the clock is put forward over it.")
        raise Unreadable(message % names)
    return moment


def _folds(local: datetime) -> Iterator[datetime]:
    yield local.replace(fold=0)
    yield local.replace(fold=1)


def _is_twice(local: datetime) -> bool:
    first, second = (each.utcoffset() or timedelta() for each in _folds(local))
    return first > second


def _offset(local: datetime) -> str:
    return re.sub(r".*(?=[+-])", "", local.isoformat())
