"""Line ends, which a form can't carry: browsers send every one of them as CR LF. Pure Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from agentstore.files.diff import match_lines

__all__ = ["as_browser_sends", "common_end", "fit", "lines_of"]

_LINES = re.compile(r"([^\r\n]*)(\r\n|\r|\n)|([^\r\n]+)")


def lines_of(text: str) -> list[tuple[str, str]]:
    """Return (line, its end) of a text; CR LF, CR and LF end a line, as they do in a browser."""
    return [(match[1] or match[3] or "", match[2] or "") for match in _LINES.finditer(text)]


def as_browser_sends(text: str) -> str:
    """Return a text with every line end as LF: what is left of it in a form."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def common_end(text: str) -> str:
    """Return the line end that a text has most often; LF where there is none or a tie."""
    counts = Counter(end for _, end in lines_of(text) if end)
    return max(("\n", "\r\n", "\r"), key=lambda end: counts[end])


def fit(posted: str, base: str) -> str:
    """Return a posted text with the line ends of ``base``, which the form was filled with.

    Lines that stand in both keep their end, changed lines too; added ones end as most lines do.
    """
    text = as_browser_sends(posted)
    if text == as_browser_sends(base):
        return base
    old, new, usual = lines_of(base), lines_of(text), common_end(base)
    ends = [usual if end else "" for _, end in new]
    for here, there in _pairs([line for line, _ in old], [line for line, _ in new]):
        if ends[there] and old[here][1]:
            ends[there] = old[here][1]
    for here, (line, _) in enumerate(new[1:], 1):
        if not line and ends[here - 1 : here + 1] == ["\r", "\n"]:
            ends[here] = "\r\n"  # the two would be one
    return "".join(line + end for (line, _), end in zip(new, ends, strict=True))


def _pairs(old: list[str], new: list[str]) -> Iterator[tuple[int, int]]:
    """Yield which line of ``old`` each line of ``new`` is, or took the place of."""
    for _, i, j, k, m in match_lines(old, new):
        yield from zip(range(i, j), range(k, m), strict=False)
