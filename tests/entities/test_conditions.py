"""Clauses as SQL: what parity tests can't see, such as the parameters and the prefix ranges."""

from __future__ import annotations

import sys

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from agentstore.entities.conditions import _next_prefix
from tests.testapp.models import Task


@pytest.mark.parametrize(
    ("prefix", "bound"),
    [
        ("a", "b"),
        ("az", "a{"),
        ("\ud7ff", "\ue000"),
        ("a\ud7ff", "a\ue000"),
        ("\U0010ffff", ""),
        ("a\U0010ffff", "b"),
        ("\U0010ffff\U0010ffff", ""),
        ("é", "ê"),
    ],
)
def test_the_bound_of_a_prefix(prefix, bound):
    assert _next_prefix(prefix) == bound


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


@given(TEXT.filter(bool), TEXT, TEXT)
def test_a_prefix_is_a_range_of_code_points(prefix, rest, other):
    bound = _next_prefix(prefix)

    assert prefix <= prefix + rest
    assert not bound or prefix + rest < bound
    if not other.startswith(prefix):
        assert other < prefix or (bound and other >= bound)
    assert not bound or all(
        ord(char) <= sys.maxunicode and not 0xD800 <= ord(char) <= 0xDFFF for char in bound
    )


@pytest.mark.parametrize(
    "text",
    [
        "%",
        "_",
        "\\",
        "\\%",
        "a%b",
        "'",
        '"',
        "'; DROP TABLE x; --",
        "%s",
        "%(a)s",
        "{0}",
        "$1",
        "?",
        ":a",
        "(.*)",
        "[a]",
    ],
)
def test_text_is_taken_literally_by_every_operator(tasks, text):
    wanted = {
        "eq": [text],
        "startswith": [text, f"{text}x"],
        "contains": [text, f"{text}x", f"x{text}x"],
        "icontains": [text, f"{text}x", f"x{text}x"],
        "in": [text],
    }
    tasks.create_many({"text": value} for value in [text, f"{text}x", f"x{text}x", "abc", "x", "aXb", ""])

    for op, texts in wanted.items():
        value = [text] if op == "in" else text
        assert sorted(row.data.text for row in tasks.query({f"text__{op}": value})) == sorted(texts)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("STRASSE", ["strasse"]),
        ("straße", ["Straße"]),
        ("ärger", ["Ärger", "ärger"]),
        ("ΣΊΣΥΦΟΣ", ["σίσυφος"]),
        ("i", ["I", "i"]),
        ("k", ["\u212a"]),
    ],
)
def test_case_is_folded_one_character_to_one(tasks, wanted, found):
    texts = ["Straße", "strasse", "Ärger", "ärger", "σίσυφος", "İ", "ı", "I", "i", "\u212a"]
    tasks.create_many({"text": text} for text in texts)

    assert sorted(row.data.text for row in tasks.query({"text__icontains": wanted})) == sorted(found)


def test_case_is_kept_by_the_other_operators(tasks):
    tasks.create_many([{"text": "Ab"}, {"text": "ab"}])

    for op in ("contains", "startswith", "eq", "gte"):
        assert "Ab" not in [row.data.text for row in tasks.query({f"text__{op}": "ab"})]


@pytest.mark.parametrize(
    ("filter", "texts"),
    [
        ({"score": None}, ["null"]),
        ({"score__ne": None}, ["missing", "one"]),
        ({"score__isnull": True}, ["missing", "null"]),
        ({"score__isnull": False}, ["one"]),
        ({"score__ne": 2}, ["missing", "null", "one"]),
        ({"score__ne": 1}, ["missing", "null"]),
        ({"score__lt": 5}, ["one"]),
        ({"score__gte": -5}, ["one"]),
        ({"score__in": [None, 1]}, ["null", "one"]),
        ({"score__in": [None]}, ["null"]),
        ({"score__in": [2]}, []),
    ],
    ids=str,
)
def test_missing_and_null(tasks, spoil, filter, texts):
    spoil({"text": "missing"})
    spoil({"text": "null", "score": None})
    spoil({"text": "one", "score": 1})

    assert [row.data.text for row in tasks.query(filter, order_by="text")] == texts
    assert tasks.count(filter) == len(texts)


@pytest.mark.parametrize("order_by", ["score", "-score"])
def test_rows_without_a_value_are_last_either_way(tasks, spoil, order_by):
    spoil({"text": "missing"})
    spoil({"text": "null", "score": None})
    spoil({"text": "one", "score": 1})
    spoil({"text": "wrong", "score": "9"})
    spoil({"text": "ten", "score": 10})

    found = [row.raw["text"] for row in tasks.query(order_by=order_by)]

    assert found[:2] == (["one", "ten"] if order_by == "score" else ["ten", "one"])
    assert found[2:] == (
        ["missing", "null", "wrong"] if order_by == "score" else ["wrong", "null", "missing"]
    )


def test_a_hundred_values_fit_into_in(tasks):
    tasks.create_many({"text": str(number), "priority": number} for number in range(120))

    assert tasks.count({"priority__in": list(range(20, 120))}) == 100
    assert tasks.count({"text__in": [str(number) for number in range(20, 120)]}) == 100
    assert tasks.count({"id__in": [row.id for row in tasks.iterate({"priority__lt": 100})]}) == 100


@pytest.mark.local_only
def test_values_travel_as_parameters(tasks):
    tasks.create({"text": "a"})
    found = []

    def note(execute, sql, params, many, context):
        found.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        tasks.query({"text": "needle", "priority__gte": 424242, "tags__contains": "needle2"}, order_by="text")

    for sql, params in found:
        assert "needle" not in sql
        assert "424242" not in sql
        assert "needle" in str(params)


@pytest.mark.local_only
def test_an_order_with_values_takes_two_ranges_at_most(tasks):
    tasks.create_many({"text": str(number), "score": number if number % 2 else None} for number in range(60))

    with CaptureQueriesContext(connection) as queries:
        tasks.query(order_by="score", limit=10)
        one = len(queries)
        tasks.query(order_by="score", limit=50)

    assert one == 1
    assert len(queries) - one <= 2
    assert Task.objects.count() == 60
