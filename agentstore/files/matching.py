"""Which items of one list stand in another one too, in bounded time. Pure Python.

difflib's answer is the best to read, but its time can grow with the square of the lists, and beyond:
a text of 100 KiB in which every other line changed took it most of a minute.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import TypeAlias

__all__ = ["Budget", "Opcode", "opcodes_of"]

Opcode: TypeAlias = tuple[str, int, int, int, int]


class Budget:
    """How many steps matching may still take."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, steps: int) -> bool:
        """Take the steps off; False where there are not so many left."""
        enough = steps <= self.left
        self.left = self.left - steps if enough else 0
        return enough

    def part(self, most: int) -> Budget:
        """Take off at most so many steps, as a budget of their own."""
        part = Budget(min(most, self.left))
        self.left -= part.left
        return part


class Spent(Exception):
    """Matching took more steps than it may."""


class Matcher(difflib.SequenceMatcher[str]):
    """difflib's matcher, whose time can grow with the square of its input, under a limit of steps."""

    a: list[str]
    b2j: dict[str, list[int]]

    def __init__(self, a: list[str], b: list[str], budget: Budget) -> None:
        super().__init__(None, a, b)
        self.budget = budget
        pairs = (1 + len(self.b2j.get(item, ())) for item in a)
        self.until = list(accumulate(pairs, initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        """Do what difflib does, and count: it looks at each item with all that equal it."""
        if not self.budget.spend(self.until[len(self.a) if ahi is None else ahi] - self.until[alo]):
            raise Spent
        return super().find_longest_match(alo, ahi, blo, bhi)


def opcodes_of(before: list[str], after: list[str], budget: Budget) -> list[Opcode]:
    """Return what ``SequenceMatcher.get_opcodes`` returns, in bounded time.

    What takes more steps than the budget has is matched by the items that each side has once.
    """
    head, tail = common(before, after)
    a, b = before[head : len(before) - tail], after[head : len(after) - tail]
    middle: list[Opcode]
    try:
        middle = list(Matcher(a, b, budget).get_opcodes())
    except Spent:
        middle = _between(_anchors(a, b), a, b)
    codes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    codes += [(tag, i + head, j + head, k + head, m + head) for tag, i, j, k, m in middle]
    if tail:
        codes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return codes


def _anchors(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """Return the longest chain of positions of items that each side has once, as patience diffs do."""
    once = [{item for item, count in Counter(side).items() if count == 1} for side in (a, b)]
    places = {item: place for place, item in enumerate(b) if item in once[1]}
    pairs = [(n, places[item]) for n, item in enumerate(a) if item in once[0] and item in places]
    ends: list[int] = []  # ends[k]: where in b the best chain of k + 1 pairs ends
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [place], [number]
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _between(anchors: list[tuple[int, int]], a: list[str], b: list[str]) -> list[Opcode]:
    """Return the opcodes of two lists that match at the anchors, and as far as they go on equal there."""
    codes: list[Opcode] = []
    i = k = 0
    for j, m in [*anchors, (len(a), len(b))]:
        head, tail = common(a[i:j], b[k:m])
        _add(codes, "equal", i, i + head, k, k + head)
        left, right = j - tail - i - head, m - tail - k - head
        tag = "replace" if left and right else "delete" if left else "insert"
        _add(codes, tag, i + head, j - tail, k + head, m - tail)
        _add(codes, "equal", j - tail, min(j + 1, len(a)), m - tail, min(m + 1, len(b)))
        i, k = j + 1, m + 1
    return codes


def _add(codes: list[Opcode], tag: str, i: int, j: int, k: int, m: int) -> None:
    """Append an opcode, joined with the one before it if both are equal; an empty one is left out."""
    if i == j and k == m:
        return
    if tag == "equal" and codes and codes[-1][0] == "equal":
        _, i, _, k, _ = codes.pop()
    codes.append((tag, i, j, k, m))


def common(a: list[str], b: list[str]) -> tuple[int, int]:
    """Return how many items at the start and, of the rest, at the end are equal."""
    most = min(len(a), len(b))
    head = next((n for n in range(most) if a[n] != b[n]), most)
    tail = next((n for n in range(most - head) if a[-1 - n] != b[-1 - n]), most - head)
    return head, tail
