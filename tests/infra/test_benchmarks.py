"""The benchmarks' own arithmetic: intervals, cut-offs, what counts as right. Nothing is timed here."""

from __future__ import annotations

import json
import sys
from math import inf

import pytest

from tests.benchmarks import __main__ as command
from tests.benchmarks import requests
from tests.benchmarks.scoring import Answer, Share, coverage, cut_off, judge, wilson


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),
        (590, 747, 0.7592, 0.8175),
        (2, 1000, 0.0005, 0.0073),
    ],
)
def test_the_wilson_interval_is_that_of_the_tables(part, whole, low, high):
    assert wilson(part, whole) == pytest.approx((low, high), abs=5e-5)


def test_nothing_is_known_of_no_observations():
    assert wilson(0, 0) == (0.0, 1.0)
    assert str(Share(part=0, whole=0)) == "0.000 (0.000-1.000)"


def test_a_share_is_shown_with_its_interval():
    assert str(Share(part=8, whole=10)) == "0.800 (0.490-0.943)"


def test_coverage_counts_what_reaches_the_cut():
    assert coverage([1.0, 0.5, 0.5, 0.0], 0.5) == 0.75
    assert coverage([1.0, 0.5, 0.5, 0.0], inf) == 0.0


@pytest.mark.parametrize(
    ("scores", "wanted", "cut"),
    [
        ([4.0, 3.0, 2.0, 1.0], 0.5, 3.0),
        ([4.0, 3.0, 2.0, 1.0], 0.6, 3.0),
        ([4.0, 3.0, 2.0, 1.0], 0.7, 2.0),
        ([4.0, 3.0, 2.0, 1.0], 1.0, 1.0),
        ([4.0, 3.0, 2.0, 1.0], 0.0, inf),
        ([4.0, 3.0, 2.0, 1.0], 0.1, inf),
        ([4.0, 2.0, 2.0, 2.0], 0.5, 4.0),  # 0.25 or 1: equal scores can't be told apart
        ([4.0, 2.0, 2.0, 2.0], 0.7, 2.0),
        ([1.0, 0.0], 0.25, inf),  # 0 and 0.5 are equally near: the stricter
        ([1.0, 0.0], 0.75, 1.0),
    ],
)
def test_a_cut_off_brings_the_coverage_as_near_as_scores_let_it(scores, wanted, cut):
    assert cut_off(scores, wanted) == cut
    assert cut_off(scores[::-1], wanted) == cut


def test_hits_are_judged_by_intent_and_only_above_the_cut():
    answers = [
        Answer(intent="card", score=9.0),
        Answer(intent="card", score=5.0),
        Answer(intent="loan", score=5.0),
        Answer(intent="loan", score=4.9),
        Answer(intent=None, score=0.0),
    ]

    covered, right = judge(answers, ["card", "loan", "loan", "loan", "card"], 5.0)

    assert (covered.part, covered.whole) == (3, 5)
    assert (right.part, right.whole) == (2, 3)


def test_a_query_without_any_hit_is_never_covered():
    covered, right = judge([Answer(intent=None, score=0.0)], ["card"], 0.0)

    assert (covered.part, right.whole) == (0, 0)


# --- the requests -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder with the three files, twelve requests of each of two intents."""
    rows = [(f"{intent}, request {number}", intent) for intent in ("card", "loan") for number in range(12)]
    for part in ("train", "test"):
        lines = ["text,category", *(f'"{text}",{intent}' for text, intent in rows)]
        (tmp_path / f"banking77_{part}.csv").write_text("\n".join(lines), "utf-8")
    parts = dict.fromkeys(("train", "val", "test"), rows) | {"oos_test": [("how tall is it", "oos")]}
    (tmp_path / "clinc150_full.json").write_text(json.dumps(parts), "utf-8")
    return tmp_path


def test_ten_requests_of_each_intent_are_stored_the_same_ones_every_time(folder):
    clinc, banking = requests.load(folder)

    for found in (clinc, banking):
        assert sorted(intent for _, intent in found.stored) == ["card"] * 10 + ["loan"] * 10
        assert len(set(found.stored)) == 20
        assert found.asked
    assert (clinc.foreign, banking.foreign) == (["how tall is it"], [])
    assert requests.load(folder) == [clinc, banking]


def test_what_chooses_a_cut_off_is_not_stored(folder):
    _, banking = requests.load(folder)

    assert len(banking.choosing) == 4
    assert not set(banking.choosing) & set(banking.stored)


def test_files_that_are_missing_are_named(folder):
    assert requests.missing(folder) == []
    (folder / "banking77_test.csv").unlink()
    assert requests.missing(folder) == ["banking77_test.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "retrieval needs --data FOLDER"),
        (["--data", "/no/such/folder"], "/no/such/folder lacks banking77"),
    ],
)
def test_retrieval_says_what_data_it_needs_before_it_starts_anything(monkeypatch, capsys, arguments, words):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "retrieval", *arguments])

    with pytest.raises(SystemExit) as ended:
        command.main()

    assert ended.value.code == 2
    assert words in capsys.readouterr().err
