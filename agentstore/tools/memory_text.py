"""The texts that the memory tool shows: sizes, numbered lines, and what can be sent back. Pure Python."""

from __future__ import annotations

from typing import Any

__all__ = ["format_size", "lines_at", "numbered", "occurrences", "printable", "sendable", "snippet", "whole"]

LINE_NUMBER_WIDTH = 6
#: How many places of a text are told: a letter may occur a hundred thousand times.
MOST_PLACES = 100


def format_size(size: int) -> str:
    """Return a size as the tool shows it: 0B, 512B, 1.5K."""
    if not size:
        return "0B"
    power = min((size.bit_length() - 1) // 10, 3)
    value = size / 1024**power
    return f"{int(value) if value == int(value) else round(value, 1)}{'BKMG'[power]}"


def numbered(lines: list[str], first: int) -> str:
    """Return lines with their numbers, of which ``first`` is that of the first."""
    return "\n".join(f"{number:>{LINE_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def occurrences(content: str, old: str) -> list[int]:
    """Return where ``old`` occurs, overlaps included: one place more than ``MOST_PLACES`` at most."""
    found: list[int] = []
    at = content.find(old) if old else -1
    while at >= 0 and len(found) <= MOST_PLACES:
        found.append(at)
        at = content.find(old, at + 1)
    return found


def lines_at(content: str, places: list[int]) -> str:
    """Return the numbers of the lines of some places, of ``MOST_PLACES`` at most."""
    numbers, line, before = [], 1, 0
    for place in places[:MOST_PLACES]:
        line += content.count("\n", before, place)
        before = place
        numbers.append(str(line))
    return ", ".join([*numbers, *(["…"] if len(places) > MOST_PLACES else [])])


def snippet(content: str, line: int) -> str:
    """Return the lines around one line, numbered."""
    first = max(0, line - 2)
    return numbered(content.split("\n")[first : line + 3], first + 1)


def printable(path: str) -> str:
    """Return the beginning of a path that may hold anything."""
    return sendable(path[:200]).replace("\0", "\\0")


def sendable(text: str) -> str:
    """Return a text without what can't be encoded."""
    return text.encode("utf-8", "backslashreplace").decode()


def whole(value: Any) -> Any:
    """Return 3.0 as 3: to JSON Schema it is an integer, and there are clients that send it so."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
