"""Ages, numbers and marked words, as the pages of strategies write them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentstore.strategies.admin.nearness import alike
from agentstore.strategies.admin.words import age_text, marked, number_text, size_text
from agentstore.strategies.matching import explain
from agentstore.strategies.terms import analyse_query
from tests.strategies.rows import NOW, row


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(days=-3), "0 min"),
        (timedelta(minutes=59, seconds=59), "59 min"),
        (timedelta(hours=23, minutes=59), "23 h"),
        (timedelta(days=1), "1 d"),
        (timedelta(days=1234), "1,234 d"),
    ],
    ids=str,
)
def test_an_age_is_written_in_its_largest_unit(age, text):
    assert age_text(age).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (2.8, "2.8"), (0.0, "0"), (1 / 3, "0.333"), (10.0, "10")]
)
def test_a_number_is_written_without_idle_zeros(value, text):
    assert number_text(value) == text


def test_a_size_counts_bytes():
    assert size_text("é" * 1000) == "2,000 B"


@pytest.mark.parametrize(
    ("text", "objective", "shown"),
    [
        ("Extract tables", "tables", "Extract [tables]"),
        ("report.pdf", "pdf", "report.[pdf]"),
        ("start the server", "art", "start the server"),
        ("user_name", "user name", "[user]_[name]"),
        ("Die STRASSE", "straße", "Die [STRASSE]"),
        ("ein ＰＤＦ", "pdf", "ein [ＰＤＦ]"),
        ("don't stop", "dont", "[don&#x27;t] stop"),
        ("don’t stop", "dont", "[don’t] stop"),
        ("हिन्दी में", "हिन्दी", "[हिन्दी] में"),
        ("파일을 삭제", "파일", "[파일]을 삭제"),
        ("提取表格", "取表", "提[取表]格"),
        ("提取表格", "提取表", "[提取表]格"),
        ("提取表格", "表", "提取[表]格"),
        ("ไฟล์ใหญ่", "ไฟล์", "[ไฟล์]ใหญ่"),
        ("pdf文件", "文件", "pdf[文件]"),
        ("zero\u200bwidth", "zerowidth", "[zero\u200bwidth]"),
        ("\u0301 mark first", "first", "\u0301 mark [first]"),
        ("<b>bold</b> & more", "bold", "&lt;b&gt;[bold]&lt;/b&gt; &amp; more"),
        ("a\0b", "x", "a\\0b"),
        ("", "x", ""),
    ],
)
def test_the_words_that_an_objective_found_are_marked_as_they_are_written(text, objective, shown):
    html = marked(text, analyse_query(objective).every)

    assert html.replace('<mark class="as-hit">', "[").replace("</mark>", "]") == shown


@pytest.mark.parametrize(
    ("missing", "own", "found"),
    [
        ("tables", "table", ["table"]),
        ("extract", "extracting", ["extracting"]),
        ("delete", "deletes", ["deletes"]),
        ("cat", "car", []),
        ("report", "reply", []),
        ("deliveries", "delivery", ["delivery"]),
        ("printing", "printed", ["printed"]),
        ("art", "start", []),
    ],
)
def test_words_that_differ_in_their_ending_only_are_found(missing, own, found):
    stored = row(problem=f"{own} something")

    assert alike(explain(analyse_query(missing), stored, now=NOW).missing_terms, stored) == found
