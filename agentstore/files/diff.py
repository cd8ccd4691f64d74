"""Differences between two texts, line by line, with the changed words marked. Pure Python.

Lines end where ``\\n`` ends them, and nowhere else: a lone CR, U+2028 and the like are content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agentstore.files.matching import Budget, Opcode, opcodes_of

__all__ = [
    "MAX_DIFF_LINES",
    "DiffLine",
    "FileDiff",
    "Hunk",
    "compare",
    "count_lines",
    "match_lines",
    "split_lines",
]

#: Above this many changed-or-context lines a diff is not built: offer both texts instead.
MAX_DIFF_LINES = 4000
#: A pair of lines with more characters than this is shown without marks.
MAX_MARKED = 2000
#: Lines that have less than this share of their characters in common are shown without marks.
MIN_ALIKE = 0.3
#: How many steps matching lines may take; and matching words, in one line and in all.
MAX_WORK = 300_000
MAX_LINE_MARKING = 10_000
MAX_MARKING = 100_000
Spans: TypeAlias = list[tuple[str, bool]]
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
        old_at = new_at = 0
        for hunk in self.hunks:
            old, new = (sum(line.sign != sign for line in hunk.lines) for sign in "+-")
            old_at, new_at = old_at + hunk.skipped, new_at + hunk.skipped
            out.append(f"@@ -{old_at + (old > 0)},{old} +{new_at + (new > 0)},{new} @@")
            old_at, new_at = old_at + old, new_at + new
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
    opcodes = match_lines(before, after)
    added, removed = _counts(opcodes)
    labels = {"old_label": old_label, "new_label": new_label, "added": added, "removed": removed}
    if added + removed > MAX_DIFF_LINES:
        return FileDiff(**labels, too_large=True)  # type: ignore[arg-type]
    hunks, hidden = _hunks(opcodes, before, after, context)
    only_ends = old != new and [_cut(line)[0] for line in before] == [_cut(line)[0] for line in after]
    return FileDiff(**labels, hunks=hunks, hidden_after=hidden, only_line_ends=only_ends)  # type: ignore[arg-type]


def count_lines(old: str, new: str) -> tuple[int, int]:
    """Return how many lines ``compare`` tells as added, and how many as removed."""
    return _counts(match_lines(split_lines(old), split_lines(new)))


def match_lines(before: list[str], after: list[str]) -> list[Opcode]:
    """Return the opcodes that lead from one list of lines to another, in bounded time."""
    return opcodes_of(before, after, Budget(MAX_WORK))


def _counts(opcodes: Sequence[Opcode]) -> tuple[int, int]:
    changed = [code for code in opcodes if code[0] != "equal"]
    return sum(d - c for _, _, _, c, d in changed), sum(b - a for _, a, b, _, _ in changed)


def _hunks(
    opcodes: Sequence[Opcode], before: list[str], after: list[str], context: int
) -> tuple[list[Hunk], int]:
    hunks: list[Hunk] = []
    lines: list[DiffLine] = []
    skipped = 0
    budget = Budget(MAX_MARKING)
    for position, (tag, a, b, c, d) in enumerate(opcodes):
        if tag != "equal":
            lines += _changed(before[a:b], after[c:d], a, c, budget)
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


def _changed(gone: list[str], come: list[str], old: int, new: int, budget: Budget) -> list[DiffLine]:
    """Mark the words that differ in lines that stand for each other: the first for the first, and so on."""
    before, after = [_cut(line)[0] for line in gone], [_cut(line)[0] for line in come]
    pairs = [_marked(a, b, budget) for a, b in zip(before, after, strict=False)]
    left = [pair[0] for pair in pairs] + [[(text, False)] for text in before[len(pairs) :]]
    right = [pair[1] for pair in pairs] + [[(text, False)] for text in after[len(pairs) :]]
    minus = [
        DiffLine(sign="-", old=old + n + 1, new=None, spans=spans, ending=_cut(gone[n])[1])
        for n, spans in enumerate(left)
    ]
    plus = [
        DiffLine(sign="+", old=None, new=new + n + 1, spans=spans, ending=_cut(come[n])[1])
        for n, spans in enumerate(right)
    ]
    return minus + plus


def _marked(old: str, new: str, budget: Budget) -> tuple[Spans, Spans]:
    plain: tuple[Spans, Spans] = [(old, False)], [(new, False)]
    if len(old) + len(new) > MAX_MARKED:
        return plain
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    own = budget.part(MAX_LINE_MARKING)
    if not own.spend(len(a) + len(b)):
        return plain
    opcodes = opcodes_of(a, b, own)
    budget.left += own.left
    alike = sum(_letters(a[i:j]) for tag, i, j, _, _ in opcodes if tag == "equal")
    if 2 * alike < MIN_ALIKE * (_letters(a) + _letters(b)):
        return plain
    left = [("".join(a[i:j]), tag != "equal") for tag, i, j, _, _ in opcodes if i < j]
    right = [("".join(b[k:m]), tag != "equal") for tag, _, _, k, m in opcodes if k < m]
    return left, right


def _letters(words: list[str]) -> int:
    """Return how many characters there are, white space aside."""
    return sum(len(word) for word in words if not word.isspace())
