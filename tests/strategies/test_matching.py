"""What a query finds, in which order, how much of it, and why something is not found."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.strategies.matching import explain, matched_arm, select, within_budget
from agentstore.strategies.ranking import in_order
from agentstore.strategies.terms import analyse_query
from agentstore.strategies.values import MatchRules
from tests.strategies.rows import NOW, row


def found(query, rows, *, limit=math.inf, **options):
    return select(analyse_query(query), rows, tenant="acme", limit=limit, now=NOW, **options)


PLAIN = MatchRules()


def arm(query, problem, rules=PLAIN):
    return matched_arm(analyse_query(query), row(problem=problem), rules)


@pytest.mark.parametrize(
    ("query", "problem", "expected"),
    [
        ("extract tables", "Extract tables from report.pdf", "full"),
        ("tables, extract!", "Extract tables from report.pdf", "full"),
        ("请帮我 extract tables from report.pdf", "Extract tables from report.pdf", "alnum"),
        ("用 pdfplumber 提取 表格", "用 pdfplumber 删除 表格", "alnum"),
        ("用 pdfplumber 提取 表格", "用 pdfplumber 提取 表格", "full"),
        ("user_id of customers", "customers: user id", "full"),
        ("ＰＤＦ", "read a pdf", "full"),
        ("Straße", "STRASSE ohne Nummer", "full"),
        ("파일", "파일을 삭제", "full"),
        ("表", "提取表格", "full"),
        ("提取表格", "如何提取表格？", "full"),
        ("ไฟล์", "ลบไฟล์ออก", "full"),
        ("हिन्दी", "हिन्दी फ़ाइल", "full"),
        ("don't delete", "Don’t delete drafts", "full"),
        ("art", "start the server", None),
        ("delete files not matching", "delete files matching", None),
        ("top 3", "top 5", None),
        ("extract tables quickly", "extract tables", None),
        ("提取表格", "表格提取", None),
        ("año", "ano", None),
        ("table", "extract tables", None),
        ("pdf tables", "表格 tables", None),
        ("how do I do this", "how do I do this", None),
        ("", "anything", None),
    ],
)
def test_a_query_matches_where_every_significant_term_is_a_term_of_the_problem(query, problem, expected):
    assert arm(query, problem) == expected


def test_the_strategy_text_is_not_searched():
    assert found("pdfplumber", [row(strategy="use pdfplumber")]).empty_because == "no_match"


TEXTS = st.lists(
    st.sampled_from(["a", "the", "pdf", "tables", "not", "表格", "表", "格式", "x1"]), max_size=4
).map(" ".join)


@given(TEXTS, TEXTS)
def test_matching_is_one_containment(query, problem):
    asked, stored = analyse_query(query), row(problem=problem or "-")

    matched = matched_arm(asked, stored)

    words, grams = set(asked.words), set(asked.grams)
    assert (matched is not None) == (bool(words or grams) and (words or grams) <= stored.terms)
    assert (matched == "full") == (bool(words or grams) and words | grams <= stored.terms)


def test_the_best_comes_first_and_carries_what_the_caller_needs():
    rows = [
        row("low", confidence=1),
        row("top", "tables to extract", confidence=3, teacher_model="m", origin="seeded"),
    ]

    first, second = found("extract the tables", rows)

    assert (first.id, second.id) == ("top", "low")
    assert (first.tenant, first.problem, first.strategy) == ("acme", "tables to extract", "use pdfplumber")
    assert (first.confidence, first.score, first.ts) == (3, 3, NOW)
    assert (first.teacher_model, first.signature, first.origin) == ("m", None, "seeded")
    assert (first.arm, first.matched_terms) == ("full", ("extract", "tables"))


def test_matched_terms_are_those_of_the_arm():
    (match,) = found("用 tables 提取 extract", [row()])

    assert (match.arm, match.matched_terms) == ("alnum", ("tables", "extract"))


@pytest.mark.parametrize(
    ("limit", "count"), [(0, 0), (1, 1), (2, 2), (5, 3), (10**30, 3), (math.inf, 3)], ids=str
)
def test_the_limit_is_the_most_there_is(limit, count):
    rows = [row(str(number), strategy=str(number)) for number in range(3)]

    assert len(found("tables", rows, limit=limit)) == count


def test_the_same_content_is_found_once_before_the_limit_counts():
    """Two rows of one content can come from hands that write around the store."""
    rows = [
        row("copy", strategy="Use  PDFplumber", confidence=2.5),
        row("best", strategy="use pdfplumber", confidence=3),
        row("other", strategy="use camelot", confidence=1),
    ]

    assert [match.id for match in found("tables", rows, limit=2)] == ["best", "other"]


def test_an_empty_result_says_why():
    assert found("how do I", [row()]).empty_because == "no_terms"
    assert found("rows", [row()]).empty_because == "no_match"
    assert found("rows", []).empty_because == "no_match"
    assert found("tables", [row()]).empty_because is None


def test_asking_for_nothing_says_only_that_a_query_has_no_terms():
    assert found("tables", [row()], limit=0).empty_because is None
    assert found("how do I", [row()], limit=0).empty_because == "no_terms"


def test_a_result_is_a_sequence():
    result = found("tables", [row("a", strategy="1"), row("b", strategy="2")])

    assert [match.id for match in result] == ["a", "b"]
    assert (result[0].id, result[-1].id, len(result), bool(result)) == ("a", "b", 2, True)
    assert result[:1] == [result[0]]
    assert not found("rows", [])


def test_the_budget_ends_the_result_before_the_first_text_that_does_not_fit():
    """Not "skip and go on": what a smaller limit finds must stay the beginning of what a larger finds."""
    sizes = [60, 30, 20, 5]
    rows = [row(str(n), strategy=f"{n}" * size, confidence=3 - n / 10) for n, size in enumerate(sizes)]

    result = found("tables", rows, budget=100)

    assert [match.id for match in result] == ["0", "1"]
    assert result.truncated
    assert result.left_out == 2


def test_only_what_the_limit_lets_through_can_be_left_out():
    rows = [row(str(n), strategy=f"{n}" * 60, confidence=3 - n / 10) for n in range(5)]

    assert found("tables", rows, limit=1, budget=100).truncated is False
    assert found("tables", rows, limit=3, budget=100).left_out == 2


@pytest.mark.parametrize(
    ("texts", "budget", "count"),
    [
        ([], 10, 0),
        (["x" * 10], 10, 1),
        (["x" * 11], 10, 0),
        (["表表表", "x"], 10, 2),
        (["表表表", "xx"], 10, 1),
        (["x" * 100, "y"], None, 2),
    ],
)
def test_the_budget_counts_bytes_inclusively(texts, budget, count):
    assert within_budget(texts, budget) == count


SPECS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3), st.integers(1, 40)), max_size=8
).map(
    lambda specs: [
        row(
            str(number),
            "extract tables" + " more" * extra,
            f"{content}" * size,
            confidence=float(confidence),
            ts=NOW - timedelta(days=30 * extra),
        )
        for number, (content, confidence, extra, size) in enumerate(specs)
    ]
)


@given(SPECS, st.integers(0, 8), st.none() | st.integers(0, 100))
def test_a_smaller_limit_finds_the_beginning_of_what_a_larger_finds(rows, limit, budget):
    fewer = found("tables", rows, limit=limit, budget=budget)
    more = found("tables", rows, limit=limit + 1, budget=budget)

    assert more.matches[: len(fewer)] == fewer.matches


@given(SPECS, st.randoms())
def test_the_result_does_not_depend_on_the_order_of_the_rows(rows, random):
    assert found("tables", rows) == found("tables", random.sample(rows, len(rows)))


@given(SPECS)
def test_the_result_is_in_rank_order(rows):
    ids = [match.id for match in found("tables", rows)]

    ranked = [r.id for r in in_order(rows, NOW)]
    assert ids == [id for id in ranked if id in ids]


STUFFED = " ".join(f"word{number}" for number in range(1000)) + " extract tables"


@pytest.mark.parametrize(
    ("rules", "query", "problem", "expected"),
    [
        (MatchRules(min_terms=2), "tables", "extract tables", None),
        (MatchRules(min_terms=2), "extract tables", "extract tables", "full"),
        (MatchRules(min_terms=2), "tables 表格", "tables 表格", "full"),
        (MatchRules(min_terms=2), "tables 表格", "tables", None),
        (MatchRules(min_terms=2), "表格们", "表格们", "full"),
        (MatchRules(min_overlap=1 / 3), "extract tables", STUFFED, None),
        (MatchRules(), "extract tables", STUFFED, "full"),
        (MatchRules(min_overlap=1 / 3), "tables", "extract all tables", "full"),
        (MatchRules(min_overlap=1 / 3), "tables", "extract all tables quickly", None),
        (MatchRules(min_overlap=1 / 3), "tables", "how do I extract the tables", "full"),
        (MatchRules(min_overlap=1), "提取表格", "提取表格", "full"),
        (MatchRules(min_overlap=0.5), "tables 删除", "tables 提取表格", None),
    ],
)
def test_matching_can_be_tightened(rules, query, problem, expected):
    assert arm(query, problem, rules) == expected


def why(query, problem, rules=PLAIN):
    return explain(analyse_query(query), row(problem=problem), now=NOW, rules=rules)


def test_an_explanation_lists_what_is_missing():
    explanation = why("please extract all tables quickly", "Extract tables from report.pdf")

    assert not explanation.found
    assert (explanation.because, explanation.arm) == ("missing_terms", None)
    assert explanation.present_terms == ("extract", "tables")
    assert explanation.missing_terms == ("all", "quickly")


def test_an_explanation_of_a_match_says_which_arm_and_what_did_not_count():
    explanation = why("请 extract tables", "Extract tables")

    assert explanation.found
    assert (explanation.because, explanation.arm) == (None, "alnum")
    assert (explanation.missing_terms, explanation.ignored_terms) == ((), ("请",))
    assert explanation.score == 2


def test_an_explanation_of_unspaced_text_lists_bigrams():
    explanation = why("提取表格", "提取数据")

    assert explanation.present_terms == ("提取",)
    assert (explanation.missing_terms, explanation.ignored_terms) == (("取表", "表格"), ())


@pytest.mark.parametrize(
    ("query", "rules", "because"),
    [
        ("how do I", MatchRules(), "no_terms"),
        ("tables", MatchRules(min_terms=2), "min_terms"),
        ("tables", MatchRules(min_overlap=0.9), "min_overlap"),
    ],
)
def test_an_explanation_names_the_rule_that_was_not_met(query, rules, because):
    assert why(query, "extract tables", rules).because == because


@given(TEXTS, TEXTS, st.sampled_from([MatchRules(), MatchRules(min_terms=2), MatchRules(min_overlap=0.5)]))
def test_what_is_explained_as_found_is_found(query, problem, rules):
    stored = row(problem=problem or "-")

    explanation = explain(analyse_query(query), stored, now=NOW, rules=rules)

    assert explanation.found == bool(found(query, [stored], rules=rules))
    assert explanation.arm == matched_arm(analyse_query(query), stored, rules)
