"""Text of digits where a date or time belongs: pydantic reads it as seconds since 1970, we refuse it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentstore.core.values import JSONValue

__all__ = ["NO_TIME", "epochs", "may_hold_epochs"]

#: Text of digits alone, as a JSON value or key.
_DIGITS = re.compile(r'"\s*[+-]?\d+(\.\d*)?\s*"')
#: What a date, time or duration looks like once it is stored.
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d|-?P")
NO_TIME = "Input should be a date or time as ISO 8601 text, such as 2026-01-31"


def may_hold_epochs(text: str) -> bool:
    """Tell whether a JSON text has text of digits in it at all, as a value or key."""
    return _DIGITS.search(text) is not None


def epochs(given: JSONValue, stored: JSONValue, path: str) -> Iterator[str]:
    """Yield the paths at which text of digits became a date or time."""
    if isinstance(given, dict) and isinstance(stored, dict):
        for key in given.keys() & stored.keys():
            yield from epochs(given[key], stored[key], f"{path}.{key}" if path else key)
    elif isinstance(given, list) and isinstance(stored, list):
        for number, (one, other) in enumerate(zip(given, stored, strict=False)):
            yield from epochs(one, other, f"{path}.{number}")
    elif isinstance(given, str) and _DIGITS.fullmatch(f'"{given}"') and _TIME.match(str(stored)):
        yield path
