"""Matching two lists: as difflib does while that is quick, else by what each has once; always bounded."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.files.matching import Budget, opcodes_of

LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=25)


def check_opcodes(codes, a, b):
    """Opcodes cover both lists without a gap, equal parts are equal, and others have no equal end."""
    assert [item for tag, i, j, k, m in codes for item in (a[i:j] if tag == "equal" else b[k:m])] == b
    at = (0, 0)
    for tag, i, j, k, m in codes:
        assert (i, k) == at
        assert (tag == "equal") == (a[i:j] == b[k:m])
        assert tag == {(True, True): tag, (True, False): "delete", (False, True): "insert"}[i < j, k < m]
        at = (j, m)
    assert at == (len(a), len(b))
    assert all(one[0] != "equal" or two[0] != "equal" for one, two in zip(codes, codes[1:], strict=False))


@given(LISTS, LISTS)
def test_with_steps_enough_the_answer_is_as_good_as_the_standard_library_s(a, b):
    codes = opcodes_of(a, b, Budget(10**9))

    check_opcodes(codes, a, b)
    alike = difflib.SequenceMatcher(None, a, b).ratio()
    equal = sum(j - i for tag, i, j, _, _ in codes if tag == "equal")
    assert 2 * equal >= alike * (len(a) + len(b)) * 0.5 - 1e-9


@given(LISTS, LISTS, st.integers(0, 60))
def test_with_few_steps_the_answer_is_true_all_the_same(a, b, steps):
    check_opcodes(opcodes_of(a, b, Budget(steps)), a, b)


@given(st.permutations(range(12)))
def test_without_steps_the_longest_chain_of_what_each_side_has_once_is_found(order):
    a, b = [str(n) for n in range(12)], [str(n) for n in order]

    codes = opcodes_of(a, b, Budget(0))

    check_opcodes(codes, a, b)
    longest = [1] * 12
    for n in range(12):
        longest[n] = 1 + max((longest[m] for m in range(n) if order[m] < order[n]), default=0)
    assert sum(j - i for tag, i, j, _, _ in codes if tag == "equal") == max(longest)


class Counted(str):
    """A line that counts how often it is looked up."""

    __slots__ = ()
    seen = 0

    def __hash__(self):
        Counted.seen += 1
        return str.__hash__(self)

    def __eq__(self, other):
        return str.__eq__(self, other)


#: How many lines the new text has of each old one.
SHAPES = {
    "every other line changed": lambda n: [f"{n:05}" if n % 2 else f"x{n}"],
    "every third line gone": lambda n: [f"{n:05}"] if n % 3 else [],
    "lines between": lambda n: [f"{n:05}", f"x{n}"] if n % 2 else [f"{n:05}"],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_lookups_do_not_grow_with_the_square(shape):
    a = [Counted(f"{n:05}") for n in range(8000)]
    b = [Counted(line) for n in range(8000) for line in SHAPES[shape](n)]
    Counted.seen = 0

    codes = opcodes_of(a, b, Budget(50_000))

    assert Counted.seen < 50_000 + 12 * (len(a) + len(b))
    equal = sum(j - i for tag, i, j, _, _ in codes if tag == "equal")
    assert equal == sum(f"{n:05}" in SHAPES[shape](n) for n in range(8000))
