"""Between a JSON value and the text of one widget. Text is compared with text, so an untouched
widget never changes its value; only text that somebody changed is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.utils import formats, timezone
from django.utils.translation import gettext as _

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONValue
from agentstore.entities.forms.shape import MISSING, Shape, has_default_text

__all__ = [
    "UNSET",
    "Unreadable",
    "in_utc",
    "is_shown",
    "parse_moment",
    "plain_lines",
    "read",
    "split_moment",
    "write",
]


#: The text asks for the schema's default.
UNSET = object()

_INTEGER = re.compile(r"[+-]?\d{1,4300}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_OFFSET = re.compile(r"(.*?)\s*([+-]\d\d:\d\d(?::\d\d)?|[Zz])", re.ASCII)


class Unreadable(Exception):
    """The text means no value; the message says what would."""


def plain_lines(text: str) -> str:
    """Return ``text`` with every line end as a browser's textarea shows it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- value to text ------------------------------------------------------------------------------


def is_shown(shape: Shape, value: JSONValue) -> bool:
    """Tell whether the widget can show ``value`` without losing anything of it."""
    if shape.kind == "lines" and value is not MISSING and value is not None:
        return isinstance(value, list) and all(_is_line(shape, item) for item in value)
    return True


def _is_line(shape: Shape, item: JSONValue) -> bool:
    if shape.item is not None and shape.item.kind == "number":
        return isinstance(item, int | float) and not isinstance(item, bool)
    return isinstance(item, str) and bool(item) and item == item.strip() and not re.search(r"[\r\n]", item)


def write(shape: Shape, value: JSONValue) -> str:
    """Return the text that stands for ``value``; a value of the wrong kind is shown as JSON."""
    if value is MISSING or value is None:
        return ""
    text = _writers.get(shape.kind, _write_json)(shape, value)
    return guards.printable(_write_json(shape, value) if text is None else text)


def _write_json(shape: Shape, value: JSONValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2 if shape.kind == "json" else None)


def _write_text(shape: Shape, value: JSONValue) -> str | None:
    return value if isinstance(value, str) else None


def _write_number(shape: Shape, value: JSONValue) -> str | None:
    return json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _write_choice(shape: Shape, value: JSONValue) -> str | None:
    found = (c.text for c in shape.choices if c.value == value and type(c.value) is type(value))
    return next(found, None)


def _write_lines(shape: Shape, value: JSONValue) -> str | None:
    if shape.item is None or not is_shown(shape, value):
        return None
    return "\n".join(write(shape.item, item) for item in value)


def _write_moment(shape: Shape, value: JSONValue) -> str | None:
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


_writers = {
    "text": _write_text,
    "day": _write_text,
    "number": _write_number,
    "choice": _write_choice,
    "lines": _write_lines,
    "moment": _write_moment,
}


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


# --- text to value ------------------------------------------------------------------------------


def read(shape: Shape, text: str) -> JSONValue:
    """Return the JSON value that a changed text means, or ``UNSET`` for the schema's default.

    What is no value of the shape's kind is handed on as text, so that the schema refuses it in its
    own words.

    Raises:
        Unreadable: the text can't be turned into any value.
    """
    text = plain_lines(text)
    if not (text if shape.plain else text.strip()):
        return _read_nothing(shape)
    return _readers[shape.kind](shape, text)


def _read_nothing(shape: Shape) -> JSONValue:
    if shape.nullable:
        return None
    if shape.kind == "lines":
        return []
    if shape.plain:
        return ""
    if has_default_text(shape):
        return UNSET
    raise Unreadable(_("This field is required."))


def _read_text(shape: Shape, text: str) -> JSONValue:
    return text if shape.plain else text.strip()


def _read_number(shape: Shape, text: str) -> JSONValue:
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return text if number in (float("inf"), float("-inf")) else number
    return text


def _read_boolean(shape: Shape, text: str) -> JSONValue:
    return {"true": True, "false": False}.get(text, text)


def _read_choice(shape: Shape, text: str) -> JSONValue:
    return next((choice.value for choice in shape.choices if choice.text == text), text)


def _read_lines(shape: Shape, text: str) -> JSONValue:
    assert shape.item is not None  # noqa: S101 - a shape of lines has one
    return [read(shape.item, line.strip()) for line in text.split("\n") if line.strip()]


def _read_json(shape: Shape, text: str) -> JSONValue:
    try:
        return guards.parse_json(text)
    except ValidationFailed as error:
        raise Unreadable(error.message) from None


def _read_day(shape: Shape, text: str) -> JSONValue:
    day = _parse_day(text.strip())
    return day.isoformat() if day else text.strip()


def _read_moment(shape: Shape, text: str) -> JSONValue:
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


_readers = {
    "text": _read_text,
    "number": _read_number,
    "boolean": _read_boolean,
    "choice": _read_choice,
    "lines": _read_lines,
    "json": _read_json,
    "day": _read_day,
    "moment": _read_moment,
}
