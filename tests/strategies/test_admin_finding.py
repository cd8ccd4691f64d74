"""The find playground: what would be injected, why not the rest, and that looking changes nothing."""

from __future__ import annotations

import html
import math
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core import errors
from agentstore.strategies import StrategyStore, render_for_prompt
from agentstore.strategies.models import Incident
from agentstore.strategies.portable import PortableStrategies
from tests.browser import read_form, text_of
from tests.strategies.admin_pages import fill, get, log, obj_of, post, rows_of, spoil, state, url

pytestmark = pytest.mark.django_db
OBJECTIVE = "Please extract the tables from the customs report in report.pdf"


@pytest.fixture
def lessons(tenant):
    """Two strategies that the objective finds and four that it does not."""
    store = StrategyStore(tenant)
    problems = [
        ("scan", "Extract tables from a customs report that arrives as a scanned PDF", 2.6),
        ("columns", "Extract the tables of a customs report PDF when columns run together", 2.1),
        ("form", "Extract tables from a customs form PDF", 1.9),
        ("table", "Extract one table from a customs report PDF", 1.7),
        ("totals", "Read totals from a customs report", 1.6),
        ("other", "Call the driver", 3),
    ]
    for id, problem, confidence in problems:
        store.save(problem=problem, strategy=f"How to {id}", confidence=confidence, id=id)
    return store


def look(client, objective=OBJECTIVE, limit="3", **values):
    return post(client, url("find"), {"tenant": "acme", "objective": objective, "limit": limit, **values})


def section(page, heading):
    """Return the part of a page below a heading."""
    return page.split(f"<h2>{heading}", 1)[1].split("</section>")[0]


def hits(text):
    return re.findall('<mark class="as-hit">(.*?)</mark>', text)


def test_what_would_be_injected_is_what_find_gives_with_marked_words_and_arm(admin_client, lessons):
    page = look(admin_client)

    injected = section(page, "Would be injected: 2 of at most 3")
    rows = rows_of(injected)
    assert [row.split(" How to")[0] for row in rows] == [
        "1 Extract tables from a customs report that arrives as a scanned PDF",
        "2 Extract the tables of a customs report PDF when columns run together",
    ]
    assert all("all 5 words arm: full" in row for row in rows)
    assert rows[0].endswith("11 B")
    assert hits(injected)[:5] == ["Extract", "tables", "customs", "report", "PDF"]
    assert url("change", obj_of("scan").pk) in injected


def test_words_that_count_and_words_left_out_are_told(admin_client, lessons):
    words = text_of(look(admin_client))

    assert "Words that count: extract tables customs report pdf" in words
    assert "left out, too common: please the from in" in words


def test_the_text_is_that_of_the_prompt(admin_client, lessons):
    page = look(admin_client)

    shown = html.unescape(re.search("<pre[^>]*>(.*?)</pre>", page, re.DOTALL)[1])
    mark = r'mark="\w+"|mark \w+'
    own = render_for_prompt(lessons.find(OBJECTIVE))
    assert re.sub(mark, "", shown) == re.sub(mark, "", own)


def test_the_budget_is_told_with_what_it_cut(admin_client, tenant):
    store = StrategyStore(tenant)
    for number in range(6):
        store.save(problem=f"extract {number}", strategy=f"{number}" * 4000)

    page = look(admin_client, "extract", "9")

    words = text_of(page)
    assert "16,000 of 16,384 bytes of the injection budget" in words
    assert "Cut at 16,384 bytes: 2 matches left out." in words
    assert len(rows_of(section(page, "Found, but not injected"))) == 2
    assert "the budget was used up before it" in words
    assert "Nothing was cut." in text_of(look(admin_client, "extract", "1"))


def test_the_rest_stands_nearest_first_with_missing_words(admin_client, lessons):
    page = look(admin_client)

    near = section(page, "Not found, nearest first")
    rows = rows_of(near)
    assert [row.split(" of 5")[0] for row in rows] == [
        "Extract tables from a customs form PDF report 4",
        "Extract one table from a customs report PDF It has table; words must be the same, endings included."
        " tables 4",
        "Read totals from a customs report extract tables pdf 2",
        "Call the driver extract tables customs report pdf 0",
    ]
    assert "Showing 4 of 4 that are not found." in text_of(near)


def test_of_many_missing_words_twenty_are_named_and_the_others_counted(admin_client, lessons):
    objective = " ".join(f"tables{number}" for number in range(1250))

    page = look(admin_client, objective)

    row = rows_of(section(page, "Not found, nearest first"))[0]
    assert row.count("tables") == 20
    assert "tables0 tables1 tables2 " in row and "tables19 and 1,230 more 0 of 1250" in row


def test_a_word_to_leave_out_is_offered_and_tried(admin_client, lessons):
    page = look(admin_client)
    (tried,) = re.findall(r'name="try" value="([^"]*)"[^>]*>without <i>report</i>', page)
    assert "without report (would find 1 more)" in text_of(page)

    again = look(admin_client, **{"try": tried})

    assert tried == "extract tables customs pdf"
    assert "Would be injected: 3 of at most 3" in again
    assert read_form(again, "find_form")["objective"] == tried


def test_a_single_word_is_not_offered_to_be_left_out(admin_client, lessons):
    assert 'name="try"' not in look(admin_client, "nowhere")


@pytest.mark.parametrize(
    ("id", "limit", "told"),
    [
        ("form", "3", ["It is not found", "Lacks report"]),
        ("table", "3", ["It is not found", "Lacks tables It has table;"]),
        ("columns", "3", ["It would be injected, as number 2"]),
        ("columns", "1", ["It is found, but would not be injected", "the limit was reached before it"]),
    ],
)
def test_any_strategy_is_explained(admin_client, lessons, id, limit, told):
    page = look(admin_client, limit=limit, explain=id)

    words = text_of(page.split('id="explained"')[1].split("</dl>")[0])
    for each in told:
        assert each in words
    assert url("change", obj_of(id).pk) in page
    assert read_form(page, "find_form")["explain"] == id


def test_explaining_what_is_not_there_or_of_another_tenant_is_the_same(admin_client, lessons, other_tenant):
    fill(other_tenant, 1)

    answers = [text_of(look(admin_client, explain=id)) for id in ("s1", "nobody")]

    assert "There is no strategy 's1'." in answers[0]
    assert "There is no strategy 'nobody'." in answers[1]


def test_the_page_of_a_strategy_leads_here_with_its_id(admin_client, lessons):
    page = get(admin_client, url("find", tenant="acme", explain="form"))

    assert read_form(page, "find_form")["explain"] == "form"


def test_the_arm_of_words_alone_is_told_and_what_is_not_needed(admin_client, tenant):
    store = StrategyStore(tenant)
    store.save(problem="Extract tables from report.pdf", strategy="x", id="latin")
    store.save(problem="Извлечь таблицы 表", strategy="y", id="cyrillic")

    latin = look(admin_client, "请帮我 extract tables", explain="latin")
    cyrillic = look(admin_client, "извлечь таблицы 报告")

    assert "words in Latin letters only arm: alnum" in text_of(latin)
    assert "not needed beside words: 请帮 帮我" in text_of(latin)
    assert "Lacks, not needed 请帮 帮我" in text_of(latin)
    assert "words between spaces only arm: alnum" in text_of(cyrillic)


def test_without_words_the_pairs_of_characters_count_and_are_marked(admin_client, tenant):
    StrategyStore(tenant).save(problem="파일을 삭제할 때", strategy="x")

    page = look(admin_client, "파일")

    assert "Words that count: 파일" in text_of(page)
    assert "the only word arm: full" in text_of(page)
    assert hits(page) == ["파일"]


@pytest.mark.parametrize(
    ("objective", "told"),
    [
        ("", "The objective has no word that counts. Add a specific word."),
        ("please tell me the", "The objective has no word that counts. Add a specific word."),
        ("extract nothing", "Nothing found: no strategy has all 2 words."),
        ("nowhere", "Nothing found: no strategy has this word."),
    ],
)
def test_an_empty_result_says_why(admin_client, lessons, objective, told):
    page = look(admin_client, objective)

    assert told in text_of(page)
    assert "Would be injected" not in page
    assert ("Not found, nearest first" in page) is told.startswith("Nothing found")


def test_the_store_s_own_why_is_told_where_nothing_counts(admin_client, lessons):
    assert "Why The objective has no word that counts." in text_of(look(admin_client, "the", explain="form"))


def test_a_limit_of_0_gives_nothing_and_says_so(admin_client, lessons):
    page = look(admin_client, limit="0")

    assert "A limit of 0 gives nothing." in text_of(page)
    assert len(rows_of(section(page, "Found, but not injected"))) == 2


@pytest.mark.parametrize("limit", ["NaN", "-1", "2.5", "-inf", "Infinity", "True", "", "x", "9" * 12])
def test_a_limit_that_is_none_is_an_error_of_the_form(admin_client, lessons, limit):
    page = look(admin_client, limit=limit)

    assert "Limit: Type a whole number from 0 on." in page
    assert read_form(page, "find_form")["objective"] == OBJECTIVE
    assert "Would be injected" not in page


def test_an_objective_that_no_store_takes_is_an_error_of_the_form(admin_client, lessons):
    page = look(admin_client, "a\0b")

    assert 'class="errorlist' in page and "Would be injected" not in page
    assert "Objective: The text holds a NUL character at position 1." in page


def test_trouble_in_find_is_told_with_the_way_to_the_incidents(admin_client, lessons, monkeypatch):
    def fail(self, terms):
        raise errors.StorageFailed("The database did not carry out the operation.")

    monkeypatch.setattr(PortableStrategies, "with_terms", fail)

    page = look(admin_client, explain="form")

    assert 'id="explained"' not in page
    assert "Find failed; the agent would get nothing. See incidents." in text_of(page)
    assert url("incidents", tenant="acme") in page
    assert Incident.objects.get().op == "find"


def test_a_stricter_match_is_explained(admin_client, settings, lessons):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_MIN_TERMS": 2}
    fewer = look(admin_client, "customs")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_MIN_TERMS": 1, "STRATEGY_MIN_OVERLAP": 0.5}
    wider = look(admin_client, "customs", explain="scan")

    assert "the objective has fewer words than the settings ask for" in text_of(fewer)
    assert "its problem has too many others beside them" in text_of(wider)


def test_more_that_are_near_are_shown_on_demand(admin_client, tenant):
    fill(tenant, 70)

    first = look(admin_client, "problem nowhere")
    more = look(admin_client, "problem nowhere", near=re.search('name="near" value="(.*?)"', first)[1])
    most = look(admin_client, "problem nowhere", near="99999")

    counts = [len(rows_of(section(page, "Not found"))) for page in (first, more, most)]
    assert counts == [10, 60, 70]
    assert 'name="near"' not in most


def test_two_rows_of_one_content_are_told_apart_from_the_limit(admin_client, tenant):
    """Only rows that were written around the store can have the same content."""
    fill(tenant, 2)
    spoil("s2", problem="problem 1", strategy="way 1", terms=obj_of("s1").terms)

    assert "the same text ranks higher" in text_of(look(admin_client, "problem 1"))


def test_a_row_that_find_skips_is_not_listed_and_can_t_be_explained(admin_client, lessons):
    spoil("form", confidence=7.0)

    page = look(admin_client, explain="form")

    assert "customs form" not in page
    assert "There is no strategy" in text_of(page)


def test_looking_stores_nothing_and_leaves_the_objective_out_of_every_address(admin_client, lessons):
    before = state()

    page = look(admin_client, "secretword tables")

    assert state() == before
    assert log() == []
    assert all("secretword" not in address for address in re.findall('(?:href|action)="(.*?)"', page))
    assert "secretword" not in get(admin_client, url("find", tenant="acme", objective="secretword"))
    assert '<form method="post"' in page


def test_the_number_of_queries_does_not_grow_with_rows(admin_client, tenant):
    def count():
        with CaptureQueriesContext(connection) as captured:
            look(admin_client, "problem nowhere", explain="s1")
        return len(captured)

    fill(tenant, 5)
    few = count()
    fill(tenant, 80)

    assert count() == few


def test_every_match_is_given_for_a_huge_limit(admin_client, tenant):
    store = fill(tenant, 30)

    page = look(admin_client, "problem", "999999999")

    assert len(rows_of(page)) == len(store.find("problem", limit=math.inf)) == 30
