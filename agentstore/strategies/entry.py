"""What a strategy may hold: its shape, its sizes and the write door.

``shape_issue`` judges what is stored and never raises; ``validate_for_write`` judges what is about
to be and raises. Pure Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from agentstore.core import guards, tenancy, values
from agentstore.core.errors import ValidationFailed
from agentstore.strategies.ranking import EPOCH
from agentstore.strategies.terms import fold
from agentstore.strategies.values import Entry

__all__ = [
    "DEFAULT_CONFIDENCE",
    "EARLIEST_TS",
    "HINTS",
    "INJECTION_BUDGET_BYTES",
    "MAX_CONFIDENCE",
    "MAX_PROBLEM_BYTES",
    "MAX_SIGNATURE_BYTES",
    "MAX_STRATEGY_BYTES",
    "MAX_TEACHER_MODEL_BYTES",
    "MAX_TS_BYTES",
    "MAX_TS_FUTURE",
    "STRATEGY_ID_RE",
    "complete",
    "issues_for_write",
    "parse_ts",
    "read_ts",
    "shape_issue",
    "validate_for_write",
    "validate_loosely",
]

STRATEGY_ID_RE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z", re.ASCII)
#: The caps, in bytes of UTF-8, inclusive.
MAX_PROBLEM_BYTES = 8192
MAX_STRATEGY_BYTES = 4096
MAX_TEACHER_MODEL_BYTES = 512
MAX_SIGNATURE_BYTES = 4096
MAX_TS_BYTES = 64
#: How many bytes of strategy texts one retrieval may put into a prompt.
INJECTION_BUDGET_BYTES = 16_384
MAX_CONFIDENCE = 3
DEFAULT_CONFIDENCE = 2
#: How far ahead a time may be at the door: a clock that is a little fast, not a wrong time zone.
MAX_TS_FUTURE = timedelta(seconds=300)
#: The first time that every database gives back as it was, whatever the zone of its session.
EARLIEST_TS = datetime(1, 1, 2, tzinfo=UTC)

#: What to do about an issue of each field.
HINTS = {
    "": "An entry is an object with a problem and a strategy.",
    "tenant": "Leave the tenant out: the store has its own.",
    "id": "Use 1 to 64 letters, digits, - and _ only.",
    "problem": f"Say which problem the strategy solves, in at most {MAX_PROBLEM_BYTES:,} bytes.",
    "strategy": f"Say what worked, in at most {MAX_STRATEGY_BYTES:,} bytes.",
    "confidence": f"Use a number from 0 to {MAX_CONFIDENCE}.",
    "ts": "Leave ts out, or use the time when the lesson was learned, with its UTC offset.",
    "teacher_model": f"Name the model in at most {MAX_TEACHER_MODEL_BYTES:,} bytes, or leave it out.",
    "signature": "Leave signature out; it is reserved.",
    "origin": "Use earned or seeded.",
}
_ORIGINS = ("earned", "seeded")


def shape_issue(value: object) -> str | None:
    """Return why ``value`` has not the shape of a stored strategy, or None; never raise.

    The value of ``ts`` is not judged, only that it is a datetime or a text of at most 64 bytes.
    """
    try:
        for field, issue in _issues(value, _SHAPE).items():
            return f"{field}: {issue}" if field else issue
    except Exception as error:  # an object of the caller's that breaks when it is looked at
        return f"The entry can't be read: {type(error).__name__}."
    return None


def validate_for_write(value: object, *, now: datetime | None = None) -> Entry:
    """Return ``value``, a complete entry, checked: its shape, and a ts from year 1 to 5 minutes ahead.

    Raises:
        ValidationFailed: ``errors`` has every field that does not fit.
    """
    _raise(issues_for_write(value, now=now or values.now()))
    entry: Mapping[str, Any] = value  # type: ignore[assignment]  # no issue, so it is a mapping
    return _entry(entry, parse_ts(entry["ts"]))


def issues_for_write(value: object, *, now: datetime) -> dict[str, str]:
    """Return what ``validate_for_write`` would refuse, as field -> issue."""
    found = _issues(value, _SHAPE)
    if isinstance(value, Mapping) and "ts" not in found:
        issue = _time_issue(value["ts"], now)
        found |= {"ts": issue} if issue else {}
    return found


def validate_loosely(value: Mapping[str, Any]) -> Entry:
    """Return ``value`` with what matching and ranking need checked, but no size, id or time.

    This is how the in-memory store takes entries of older shapes; a ts that can't be read counts
    as the oldest.

    Raises:
        ValidationFailed: ``errors`` has every field that does not fit.
    """
    _raise(_issues(value, _LOOSE))
    return _entry(value, read_ts(value["ts"]))


def complete(fields: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Return the entry that ``fields`` mean: id, ts, confidence and origin supplied where absent."""
    given = {name: value for name, value in fields.items() if value is not None}
    defaults = {"id": str(values.new_id()), "ts": now, "confidence": DEFAULT_CONFIDENCE, "origin": "earned"}
    return defaults | given


def parse_ts(value: object) -> datetime:
    """Return ``value``, an aware datetime or ISO text with an offset, in UTC.

    Raises:
        ValueError: it is naive, no time, or has no place in UTC.
    """
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{value[:64]!r} is no ISO time.") from None
    if not isinstance(moment, datetime):
        raise ValueError(f"Expected a time, found {type(value).__name__}.")
    if moment.utcoffset() is None:
        raise ValueError(f"{moment.isoformat()} has no UTC offset.")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{moment.isoformat()} is out of range in UTC.") from None


def read_ts(value: object) -> datetime:
    """Return a stored ts; what can't be read ranks as the oldest, 1970."""
    try:
        return parse_ts(value)
    except ValueError:
        return EPOCH


def _entry(value: Mapping[str, Any], ts: datetime) -> Entry:
    return Entry(
        id=str.__str__(value["id"]),
        problem=str.__str__(value["problem"]),
        strategy=str.__str__(value["strategy"]),
        confidence=float(value["confidence"]) or 0.0,  # not -0.0
        ts=ts,
        teacher_model=_plain(value.get("teacher_model")),
        signature=_plain(value.get("signature")),
        origin="seeded" if value.get("origin") == "seeded" else "earned",
    )


def _plain(text: str | None) -> str | None:
    """Return the plain text of a subclass: ``str()`` of one that is an Enum is its name."""
    return None if text is None else str.__str__(text)


def _raise(found: Mapping[str, str]) -> None:
    for field, issue in found.items():
        raise ValidationFailed(
            f"{field}: {issue}" if field else issue,
            hint=HINTS[field],
            errors={name: [text] for name, text in found.items()},
        )


def _issues(value: object, checks: Mapping[str, Callable[[object], str]]) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {"": f"Expected an object, found {type(value).__name__}."}
    found = {field: check(value.get(field)) for field, check in checks.items()}
    return {field: issue for field, issue in found.items() if issue}


def _tenant_issue(value: object) -> str:
    if value is None:
        return ""
    try:
        tenancy.check_tenant(value)
    except ValidationFailed as error:
        return error.message
    return ""


def _id_issue(value: object) -> str:
    if issue := _text_issue(value):
        return issue
    text = guards.check_text(value, "")
    return "" if STRATEGY_ID_RE.fullmatch(text) else f"{text[:80]!r} is no strategy id."


def _text_issue(value: object, *, cap: int | None = None) -> str:
    if value is None:
        return "Missing."
    try:
        text = guards.check_text(value, "")
    except ValidationFailed as error:
        return error.message
    size = len(text.encode())
    return f"{size:,} bytes; the limit is {cap:,}." if cap is not None and size > cap else ""


def _content_issue(value: object, *, cap: int | None = None) -> str:
    if issue := _text_issue(value, cap=cap):
        return issue
    return "" if fold(guards.check_text(value, "")).strip() else "Blank."


def _optional_issue(value: object, *, cap: int | None = None) -> str:
    return "" if value is None else _text_issue(value, cap=cap)


def _confidence_issue(value: object) -> str:
    if value is None:
        return "Missing."
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"Expected a number, found {type(value).__name__}."
    if 0 <= value <= MAX_CONFIDENCE:
        return ""
    shown = str(value) if -1e9 < value < 1e9 or isinstance(value, float) else "The number"
    return f"{shown} is not between 0 and {MAX_CONFIDENCE}."


def _ts_issue(value: object) -> str:
    return "" if isinstance(value, datetime) else _text_issue(value, cap=MAX_TS_BYTES)


def _time_issue(value: object, now: datetime) -> str:
    try:
        ts = parse_ts(value)
    except ValueError as error:
        return str(error)
    if ts < EARLIEST_TS:
        return f"{values.utc_text(ts)} is before {EARLIEST_TS.date()}."
    return f"{values.utc_text(ts)} is more than 5 minutes ahead." if ts > now + MAX_TS_FUTURE else ""


def _origin_issue(value: object) -> str:
    if value is None or (isinstance(value, str) and value in _ORIGINS):
        return ""
    found = f"{value[:80]!r}" if isinstance(value, str) else type(value).__name__
    return f"Expected earned or seeded, found {found}."


_LOOSE: dict[str, Callable[[object], str]] = {
    "id": _text_issue,
    "problem": _content_issue,
    "strategy": _content_issue,
    "confidence": _confidence_issue,
    "teacher_model": _optional_issue,
    "signature": _optional_issue,
    "origin": _origin_issue,
}
_SHAPE: dict[str, Callable[[object], str]] = {
    "tenant": _tenant_issue,
    "id": _id_issue,
    "problem": partial(_content_issue, cap=MAX_PROBLEM_BYTES),
    "strategy": partial(_content_issue, cap=MAX_STRATEGY_BYTES),
    "confidence": _confidence_issue,
    "ts": _ts_issue,
    "teacher_model": partial(_optional_issue, cap=MAX_TEACHER_MODEL_BYTES),
    "signature": partial(_optional_issue, cap=MAX_SIGNATURE_BYTES),
    "origin": _origin_issue,
}
