"""Numbers, containment and folding in Python, exactly as PostgreSQL has them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core import ordering

NUMBERS = (
    st.integers()
    | st.integers(min_value=-(10**400), max_value=10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=3)
)


def exact(number):
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


@given(NUMBERS, NUMBERS)
def test_number_keys_sort_as_their_numbers(left, right):
    keys = ordering.number_key(left), ordering.number_key(right)

    assert (keys[0] < keys[1], keys[0] == keys[1]) == (
        exact(left) < exact(right),
        exact(left) == exact(right),
    )


@pytest.mark.parametrize(
    "ascending",
    [
        [
            -(10**400),
            -1e308,
            -2,
            -1.5,
            -1,
            -0.1,
            -5e-324,
            0,
            5e-324,
            0.1,
            1,
            1.5,
            2,
            9,
            10,
            99,
            100,
            1e22,
            10**23,
            1e308,
        ],
        [2**53 - 1, 2**53, 2**53 + 1, 10**19, 10**19 + 1],
        [Decimal("1.09"), Decimal("1.1"), Decimal("1.11")],
    ],
)
def test_number_keys_of_all_sizes(ascending):
    keys = [ordering.number_key(number) for number in ascending]

    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "same", [[1, 1.0, Decimal("1.000")], [0, 0.0, -0.0, Decimal("0E+5")], [1e22, 10**22]]
)
def test_equal_numbers_have_one_key(same):
    assert len({ordering.number_key(number) for number in same}) == 1


def test_exact_json_keeps_every_digit():
    assert ordering.exact_json("[1.10, 10000000000000000000001, 1e400]") == [
        Decimal("1.10"),
        Decimal(10**22 + 1),
        Decimal("1e400"),
    ]


@pytest.mark.parametrize(
    ("container", "contained", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {}, True),
        ({}, {"a": None}, False),
        ({"a": None}, {"a": None}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": "1"}, {"a": 1}, False),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, True),
        ({"a": [1, 2, 2]}, {"a": [2, 1, 1]}, True),
        ({"a": [1]}, {"a": []}, True),
        ({"a": [1]}, {"a": {}}, False),
        ({"a": [1]}, {"a": 1}, False),
        ({"a": [[1], 2]}, {"a": [1]}, False),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, True),
        ([1, 2], 1, True),
        ([1, 2], [1], True),
        ([[1]], [1], False),
        (1, [1], False),
        ([{"a": 1}], {"a": 1}, False),
        ([None], None, True),
        ([True], 1, False),
    ],
    ids=repr,
)
def test_containment(container, contained, expected):
    left, right = (ordering.exact_json(json.dumps(value)) for value in (container, contained))

    assert ordering.contains(left, right) is expected


def test_the_work_of_containment_grows_with_the_lists_not_with_their_product():
    compared = []

    class Word(str):
        def __eq__(self, other):
            compared.append(self)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    words = [Word(number) for number in range(500)]

    assert ordering.contains(words, [Word(number) for number in reversed(range(500))])
    assert len(compared) < 5 * 500


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Hello", "hello"),
        ("ÄÖÜ", "äöü"),
        ("ΑΣΣ", "ασσ"),
        ("ς", "σ"),
        ("Straße", "straße"),
        ("ẞ", "ß"),
        ("İ", "İ"),
        ("\u212a", "k"),
        ("Ж名🙂", "ж名🙂"),
    ],
)
def test_folding_is_one_character_to_one(text, folded):
    assert ordering.fold(text) == folded


@given(st.text())
def test_folding_keeps_the_length_and_is_done_once(text):
    folded = ordering.fold(text)

    assert len(folded) == len(text)
    assert ordering.fold(folded) == folded


def test_the_alphabets_say_what_fold_does():
    capitals, small = ordering.fold_alphabets()

    assert len(capitals) == len(small) == len(set(capitals))
    assert ordering.fold(capitals) == small
    assert not any(char.isascii() for char in capitals)
