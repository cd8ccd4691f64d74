"""What every strategy store finds, explains and lists, whichever kind it is."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from agentstore.core.errors import NotFound, ValidationFailed
from tests.strategies.rows import NOW, ids, save_some

DAY = timedelta(days=1)


# --- find -----------------------------------------------------------------------------------------


def test_find_gives_the_best_three_first(stocked):
    assert ids(stocked.find("a problem")) == ["id4", "id3", "id2"]


@pytest.mark.parametrize("limit", [math.nan, -1, 2.5, -math.inf, True, None, "3"])
@pytest.mark.parametrize("query", ["problem", "how do I", None])
def test_a_limit_that_is_none_is_refused_before_anything_else(store, query, limit):
    with pytest.raises(ValidationFailed) as info:
        store.find(query, limit=limit)

    assert list(info.value.errors) == ["limit"]


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (10**30, 5), (math.inf, 5)], ids=str)
def test_a_limit_is_the_most_there_is(stocked, limit, count):
    assert len(stocked.find("problem", limit=limit)) == count


def test_what_was_found_equals_the_list_of_its_matches(stocked, now):
    found = stocked.find("problem", limit=2)

    assert found == list(found) and found != list(found)[:1] and found != tuple(found)
    assert found == stocked.find("problem", limit=2) and found != stocked.find("problem")
    assert stocked.find("problem", limit=0) == [] == stocked.find("nowhere")
    assert stocked.find("problem", limit=0) != stocked.find("nowhere")  # which says why it is empty


@pytest.mark.parametrize("query", [None, 5, b"problem", ["problem"], "a\0", "a\ud800"], ids=repr)
def test_a_query_is_text(store, query):
    with pytest.raises(ValidationFailed) as info:
        store.find(query)

    assert list(info.value.errors) == ["query"]


def test_an_empty_result_says_why(stocked):
    assert stocked.find("please tell me how").empty_because == "no_terms"
    assert stocked.find("").empty_because == "no_terms"
    assert stocked.find("problem 77").empty_because == "no_match"


@pytest.mark.parametrize(
    ("query", "problem", "arm"),
    [
        ("请帮我 extract tables from report.pdf", "Extract tables from report.pdf", "alnum"),
        ("用 pdfplumber 提取 表格", "用 pdfplumber 删除 表格", "alnum"),
        ("user_id", "user id", "full"),
        ("ＰＤＦ", "pdf", "full"),
        ("Straße", "STRASSE", "full"),
        ("파일", "파일을 삭제", "full"),
        ("art", "start the server", None),
        ("delete files not matching", "delete files matching", None),
        ("100%", "100 percent", "full"),
        ('quote" \\ slash', 'slash \\ quote"', "full"),
    ],
)
def test_find_matches_as_the_rules_say(store, query, problem, arm):
    store.save(problem=problem, strategy="s")

    assert [match.arm for match in store.find(query)] == ([] if arm is None else [arm])


def test_a_match_carries_its_terms_arm_and_score(store, now):
    store.save(id="a", problem="Extract tables", strategy="s", confidence=3, ts=NOW - 90 * DAY)

    (match,) = store.find("请 extract the tables")

    assert (match.id, match.score, match.arm, match.matched_terms) == (
        "a",
        1.5,
        "alnum",
        ("extract", "tables"),
    )


def test_equal_scores_have_one_total_order(store):
    for id, problem, ts in [
        ("b", "pdf tables", NOW),
        ("Z", "pdf tables.", NOW),
        ("a", "pdf tables!", NOW - DAY),
        ("_", "pdf tables in reports", NOW),
    ]:
        store.save(id=id, problem=problem, strategy="s", confidence=0, ts=ts)

    assert ids(store.find("pdf", limit=math.inf)) == ids(store.list()) == ["Z", "b", "a", "_"]


def test_finding_changes_nothing(stocked, now):
    before = stocked.list().rows

    stocked.find("problem")

    assert stocked.list().rows == before


# --- the other reads ------------------------------------------------------------------------------


def test_explain_says_which_terms_a_row_lacks(store):
    store.save(id="a", problem="Extract tables", strategy="s")

    explanation = store.explain("extract all tables", "a")

    assert (explanation.id, explanation.found, explanation.missing_terms) == ("a", False, ("all",))
    assert store.explain("tables", "a").found


@pytest.mark.parametrize("id", ["nobody", "", None, 5, [], "a\0"], ids=repr)
def test_an_unknown_id_is_not_found(store, id):
    with pytest.raises(NotFound, match="There is no strategy"):
        store.explain("tables", id)

    assert store.get(id) is None
    assert store.delete(id) is False


def test_has_compares_content_as_a_merge_does(store):
    store.save(problem="Read the FILE", strategy="Use ＰＤＦ")

    assert store.has(problem=" read  the file ", strategy="use pdf")
    assert not store.has(problem="Read the FILE", strategy="Use PDFs")
    assert not store.has(problem="Use PDF", strategy="Read the FILE")


@pytest.mark.parametrize("content", [{"problem": None}, {"strategy": 5}, {"problem": "a\0"}], ids=repr)
def test_has_takes_text(store, content):
    with pytest.raises(ValidationFailed):
        store.has(**{"problem": "p", "strategy": "s", **content})


def test_usage_counts_against_the_capacity(make_store, tenant):
    store = make_store(tenant, capacity=7)
    save_some(store, [1, 2])

    usage = store.usage()

    assert (usage.used, usage.capacity, usage.remaining) == (2, 7, 5)


def test_list_pages_in_rank_order(stocked):
    first = stocked.list(limit=2)
    second = stocked.list(limit=2, cursor=first.next_cursor)
    third = stocked.list(limit=2, cursor=second.next_cursor)

    assert [ids(page) for page in (first, second, third)] == [["id4", "id3"], ["id2", "id1"], ["id0"]]
    assert (third.next_cursor, third.limit, len(third)) == (None, 2, 1)


def test_list_refuses_a_cursor_of_another_tenant(make_store, tenant, other_tenant):
    mine, theirs = make_store(tenant), make_store(other_tenant)
    save_some(theirs, [1, 2])

    with pytest.raises(ValidationFailed, match="another list"):
        mine.list(cursor=theirs.list(limit=1).next_cursor)
