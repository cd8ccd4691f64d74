"""What becomes of a save: a new row, a merge, or a refusal; the order of two saves does not matter."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core.errors import AlreadyExists
from agentstore.strategies.merging import admit, merge, result
from tests.strategies.rows import NOW, row

HOUR = timedelta(hours=1)


def test_stored_id_and_origin_win():
    stored, new = row("old", origin="earned"), row("new", origin="seeded", ts=NOW + HOUR)

    assert (merge(stored, new).id, merge(stored, new).origin) == ("old", "earned")
    assert (merge(new, stored).id, merge(new, stored).origin) == ("new", "seeded")


def test_confidence_and_time_are_maxima():
    merged = merge(row(confidence=3, ts=NOW), row(confidence=1, ts=NOW + HOUR))

    assert (merged.confidence, merged.ts) == (3, NOW + HOUR)


def test_the_later_text_stays_with_its_model_and_signature():
    """Casefolding makes -r and -R one content; the correction must survive."""
    early = row(strategy="rm -r", teacher_model="small", signature="s", ts=NOW)
    late = row(strategy="rm -R", teacher_model=None, ts=NOW + HOUR)

    for merged in (merge(early, late), merge(late, early)):
        assert (merged.strategy, merged.teacher_model, merged.signature) == ("rm -R", None, None)


def test_of_equally_late_texts_the_greater_stays():
    one, other = row(strategy="rm -R"), row(strategy="rm -r")

    assert merge(one, other).strategy == merge(other, one).strategy == "rm -r"


TEXTS = st.sampled_from(["Read the file", "read  the FILE", "READ THE ＦＩＬＥ"])
SAVES = st.builds(
    row,
    st.sampled_from("abc"),
    TEXTS,
    TEXTS,
    ts=st.integers(0, 3).map(lambda hours: NOW + hours * HOUR),
    confidence=st.sampled_from([0.0, 1.0, 2.5]),
    teacher_model=st.sampled_from([None, "", "m"]),
    signature=st.sampled_from([None, "", "s"]),
    origin=st.sampled_from(["earned", "seeded"]),
)


def anonymous(merged):
    return dataclasses.replace(merged, id="", origin="earned")


@given(st.lists(SAVES, min_size=1, max_size=5), st.randoms())
def test_the_order_of_saves_matters_for_id_and_origin_only(saves, random):
    shuffled = random.sample(saves, len(saves))

    assert anonymous(reduce(merge, saves)) == anonymous(reduce(merge, shuffled))
    assert reduce(merge, shuffled).id == shuffled[0].id


@given(SAVES)
def test_the_same_save_again_changes_nothing(save):
    assert merge(save, save) == save


def test_new_content_is_stored_as_it_is():
    assert admit(row("new"), same_content=None, same_id=None) == row("new")


def test_known_content_merges_even_when_its_id_belongs_to_other_content():
    other = row("new", "another problem")

    admitted = admit(row("new", confidence=3), same_content=row("old"), same_id=other)

    assert admitted == row("old", confidence=3)


def test_an_id_with_other_content_is_refused():
    with pytest.raises(AlreadyExists, match="Strategy taken exists with other content"):
        admit(row("taken"), same_content=None, same_id=row("taken", "another problem"))


@pytest.mark.parametrize(
    ("merged", "gone", "status", "evicted"),
    [
        (False, [], "created", []),
        (True, [], "merged", []),
        (False, ["x", "y"], "created", ["x", "y"]),
        (False, ["x", "a"], "not_kept", ["x"]),
        (True, ["a"], "not_kept", []),
    ],
)
def test_the_result_says_what_happened(merged, gone, status, evicted):
    saved = result("a", merged=merged, gone=gone)

    assert (saved.status, saved.id, saved.evicted_ids) == (status, "a", evicted)
