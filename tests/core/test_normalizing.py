"""Normal forms: those of Unicode, without the time that long rows of combining characters would take."""

from __future__ import annotations

import sys
import unicodedata
from contextlib import suppress
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core import normalizing
from agentstore.core.errors import ValidationFailed
from agentstore.core.normalizing import normalized
from agentstore.files.names import check_name, name_key
from agentstore.strategies.terms import dedup_key, fold

FORMS = ("NFC", "NFKC")
#: Characters that combine, that decompose to such, that compose with them, and others.
CHARS = "aáぱﾊ한…- \u1112\u1161\u11ab\u0301\u0316\u0345\u0344\u0327\u3099\uff9e\uff9f\u0f73\u0f81\u034f\ufb1d"
#: Marks that take turns: sorting them by insertion takes a step for every pair.
HARMFUL = "a" + "\u0301\u0316" * 200


@pytest.fixture
def unsorted(monkeypatch):
    """What Unicode's own function had to sort: for each call, the longest row of marks out of order."""
    found = []
    normalize = unicodedata.normalize

    def spy(form, text):
        rows, row = [0], ""
        for char in normalize("NFKD", text) if len(text) == 1 else text:
            row = row + char if unicodedata.combining(char) else ""
            rows.append(sum(unicodedata.combining(a) > unicodedata.combining(b) for a, b in pairwise(row)))
        found.append(max(rows))
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", spy)
    return found


@given(st.sampled_from(FORMS), st.text(st.sampled_from(CHARS), max_size=80))
def test_the_form_is_unicodes(form, text):
    assert normalized(form, text) == unicodedata.normalize(form, text)


@given(st.sampled_from(FORMS), st.text(st.sampled_from(CHARS), min_size=20, max_size=60), st.integers(1, 4))
def test_the_form_of_long_rows_is_unicodes(form, text, times):
    row = text.replace("a", "").replace("-", "") * times

    assert normalized(form, f"a{row}b") == unicodedata.normalize(form, f"a{row}b")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ["\u0301\u0316", "\u0301\uff9e", "\u0f81\u0f73", "\u0344\u0316"], ids=ascii)
def test_long_rows_of_combining_characters_come_sorted(form, row, unsorted):
    normalized(form, "a" + row * 200)

    assert max(unsorted) < 3


def test_every_character_that_can_be_part_of_such_a_row_is_known():
    chars = [char for char in map(chr, range(sys.maxunicode + 1)) if not 0xD800 <= ord(char) < 0xE000]
    combining = [
        char for char in chars if all(map(unicodedata.combining, unicodedata.normalize("NFKD", char)))
    ]

    missed = [char for char in combining if not normalizing._LONG.search(char * 30)]

    assert len(combining) > 500
    assert missed == []


@pytest.mark.parametrize(
    "way",
    [fold, check_name, name_key, partial(dedup_key, "problem")],
    ids=["fold", "check_name", "name_key", "dedup_key"],
)
def test_what_users_send_is_normalised_that_way(way, unsorted):
    with suppress(ValidationFailed):  # it is far too long for a name
        way(HARMFUL)

    assert max(unsorted) < 3
