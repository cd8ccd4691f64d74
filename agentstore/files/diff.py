"""Differences between two texts, line by line, with the changed words marked. Pure Python.

Lines end where ``\\n`` ends them, and nowhere else: a lone CR, U+2028 and the like are content.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["MAX_DIFF_LINES", "DiffLine", "FileDiff", "Hunk", "compare", "split_lines"]

#: Above this many changed-or-context lines a diff is not built: offer both texts instead.
MAX_DIFF_LINES = 4000
#: A line longer than this is marked as a whole, not by words.
MAX_MARKED = 2000
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffLine:
    """One line: ``sign`` is "+", "-" or " "; ``spans`` are (text, changed) parts of it.

    ``ending`` is "\\n", "\\r\\n" or "" (no newline at the end of the text).
    """

    sign: str
    old: int | None
    new: int | None
    spans: list[tuple[str, bool]]
    ending: str

    @property
    def text(self) -> str:
        """The line without its end."""
        return "".join(part for part, _ in self.spans)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """Lines that stand together; ``skipped`` says how many equal lines come before."""

    lines: list[DiffLine]
    skipped: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FileDiff:
    """What changed from an old text to a new one.

    ``too_large`` means that ``hunks`` were not built; ``only_line_ends`` that nothing but the line
    ends differ. ``hidden_after`` counts the equal lines behind the last hunk.
    """

    old_label: str
    new_label: str
    added: int = 0
    removed: int = 0
    hunks: list[Hunk] = field(default_factory=list)
    hidden_after: int = 0
    too_large: bool = False
    only_line_ends: bool = False

    @property
    def equal(self) -> bool:
        """True when the texts are the same."""
        return not self.hunks and not self.too_large

    def __str__(self) -> str:
        """Return the unified form, as ``diff -u`` writes it."""
        out = [f"--- {self.old_label}", f"+++ {self.new_label}"]
        for hunk in self.hunks:
            old = [line.old for line in hunk.lines if line.old]
            new = [line.new for line in hunk.lines if line.new]
            out.append(f"@@ -{old[0] if old else 0},{len(old)} +{new[0] if new else 0},{len(new)} @@")
            for line in hunk.lines:
                out.append(f"{line.sign}{line.text}{line.ending.rstrip(chr(10))}")
                if not line.ending:
                    out.append("\\ No newline at end of file")
        return "\n".join(out) + "\n" if self.hunks else ""


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; only ``\\n`` ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def compare(
    old: str, new: str, *, old_label: str = "old", new_label: str = "new", context: int = 3
) -> FileDiff:
    """Return the differences with ``context`` equal lines around; a gap of one line is shown."""
    before, after = split_lines(old), split_lines(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=True)
    opcodes = matcher.get_opcodes()
    removed = sum(b - a for tag, a, b, _, _ in opcodes if tag != "equal")
    added = sum(d - c for tag, _, _, c, d in opcodes if tag != "equal")
    labels = {"old_label": old_label, "new_label": new_label, "added": added, "removed": removed}
    if added + removed > MAX_DIFF_LINES:
        return FileDiff(**labels, too_large=True)  # type: ignore[arg-type]
    hunks, hidden = _hunks(opcodes, before, after, context)
    only_ends = old != new and [_cut(line)[0] for line in before] == [_cut(line)[0] for line in after]
    return FileDiff(**labels, hunks=hunks, hidden_after=hidden, only_line_ends=only_ends)  # type: ignore[arg-type]


def _hunks(
    opcodes: Sequence[tuple[str, int, int, int, int]], before: list[str], after: list[str], context: int
) -> tuple[list[Hunk], int]:
    hunks: list[Hunk] = []
    lines: list[DiffLine] = []
    skipped = 0
    for position, (tag, a, b, c, d) in enumerate(opcodes):
        if tag != "equal":
            lines += _changed(before[a:b], after[c:d], a, c)
            continue
        head = 0 if position == 0 else context
        tail = 0 if position == len(opcodes) - 1 else context
        gap = (b - a) - head - tail
        if gap <= 1:
            lines += _same(before[a:b], a, c)
            continue
        if position:
            lines += _same(before[a : a + head], a, c)
            hunks.append(Hunk(lines=lines, skipped=skipped))
        lines, skipped = _same(before[b - tail : b] if tail else [], b - tail, d - tail), gap
    if any(line.sign != " " for line in lines):
        hunks.append(Hunk(lines=lines, skipped=skipped))
        return hunks, 0
    return hunks, skipped + len(lines) if hunks else 0


def _cut(line: str) -> tuple[str, str]:
    for ending in ("\r\n", "\n"):
        if line.endswith(ending):
            return line[: -len(ending)], ending
    return line, ""


def _same(lines: list[str], old: int, new: int) -> list[DiffLine]:
    return [
        DiffLine(sign=" ", old=old + n + 1, new=new + n + 1, spans=[(text, False)], ending=ending)
        for n, (text, ending) in enumerate(map(_cut, lines))
    ]


def _changed(gone: list[str], come: list[str], old: int, new: int) -> list[DiffLine]:
    """Mark the words that differ where as many lines went as came; whole lines otherwise."""
    pairs = [_marked(_cut(a)[0], _cut(b)[0]) for a, b in zip(gone, come, strict=False)]
    if len(gone) != len(come):
        pairs = [([(_cut(a)[0], False)], [(_cut(b)[0], False)]) for a, b in zip(gone, come, strict=False)]
    left = [pair[0] for pair in pairs] + [[(_cut(line)[0], False)] for line in gone[len(pairs) :]]
    right = [pair[1] for pair in pairs] + [[(_cut(line)[0], False)] for line in come[len(pairs) :]]
    minus = [
        DiffLine(sign="-", old=old + n + 1, new=None, spans=spans, ending=_cut(gone[n])[1])
        for n, spans in enumerate(left)
    ]
    plus = [
        DiffLine(sign="+", old=None, new=new + n + 1, spans=spans, ending=_cut(come[n])[1])
        for n, spans in enumerate(right)
    ]
    return minus + plus


def _marked(old: str, new: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    if len(old) + len(new) > MAX_MARKED:
        return [(old, False)], [(new, False)]
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    left: list[tuple[str, bool]] = []
    right: list[tuple[str, bool]] = []
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < 0.3:
        return [(old, False)], [(new, False)]
    for tag, i, j, k, m in matcher.get_opcodes():
        if i < j:
            left.append(("".join(a[i:j]), tag != "equal"))
        if k < m:
            right.append(("".join(b[k:m]), tag != "equal"))
    return left, right
