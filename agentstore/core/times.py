"""Points in time that callers hand over: aware, and kept in UTC. Pure Python."""

from __future__ import annotations

from datetime import UTC, datetime

from agentstore.core import guards

__all__ = ["check_time"]


def check_time(value: object, name: str) -> datetime:
    """Return an aware ``datetime`` or ISO 8601 text with an offset as a time in UTC.

    Raises:
        ValidationFailed: it is neither, or lies outside the years 1 to 9999 in UTC.
    """
    if isinstance(value, str):
        text = value
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            hint = "Send one like 2026-01-31T09:00:00Z."
            guards.refuse(name, f"{text[:100]!r} is not a date and time.", hint)
    if not isinstance(value, datetime) or value.tzinfo is None:
        guards.refuse(name, f"Expected a date and time with an offset, found {value!r:.100}.")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        guards.refuse(name, "The time lies outside the years 1 to 9999 in UTC.")
