"""The list of strategies: rank order, what a row shows, usage, filters, pages."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.values import clock_at, now
from agentstore.strategies import StrategyStore
from tests.browser import text_of
from tests.strategies.admin_pages import OnlyAcme, access, fill, get, obj_of, rows_of, spoil, url
from tests.strategies.rows import FAR

pytestmark = pytest.mark.django_db


def limit(settings, **values):
    settings.AGENTSTORE = {**settings.AGENTSTORE, **values}


def test_strategies_stand_in_rank_order_with_score_confidence_age_and_origin(admin_client, tenant):
    at = now()
    store = StrategyStore(tenant)
    store.save(problem="older", strategy="b", confidence=3, ts=at - timedelta(days=90, seconds=5))
    store.save(problem="newer", strategy="a", confidence=2.5, ts=at - timedelta(hours=5, seconds=5))
    store.save(problem="seed", strategy="c", confidence=0.75, ts=at, origin="seeded")

    with clock_at(at):
        page = get(admin_client, url("list", tenant=tenant))

    assert rows_of(page) == [
        "1 newer a 2.496 2.5 5 h earned",
        "2 older b 1.500 3 90 d earned",
        "3 seed c 0.750 0.75 0 min seeded",
    ]


def test_the_order_is_that_of_the_store_for_equal_scores_too(admin_client, tenant):
    at = now() - timedelta(days=1)
    store = StrategyStore(tenant)
    for id in ("b", "B", "a", "_", "-"):
        store.save(problem=f"same words {id}", strategy="x", id=id, ts=at)
    store.save(problem="short", strategy="x", id="z", ts=at)

    rows = rows_of(get(admin_client, url("list", tenant=tenant)))

    assert [row.split(" x ")[0].split(" ", 1)[1] for row in rows] == [row.problem for row in store.list()]


def test_a_row_from_the_future_ranks_as_now(admin_client, tenant):
    fill(tenant, 2)
    spoil("s2", ts=FAR, rank=9999.0)

    rows = rows_of(get(admin_client, url("list", tenant=tenant)))

    assert rows[0].startswith("1 problem 1")
    assert "0 min" in rows[1]


def test_the_bar_says_how_full_the_tenant_is_and_what_the_next_save_does(admin_client, settings, tenant):
    limit(settings, STRATEGY_CAPACITY=4)
    fill(tenant, 3)
    some = get(admin_client, url("list", tenant=tenant))
    fill(tenant, 4)
    full = get(admin_client, url("list", tenant=tenant))

    assert "acme uses 3 of 4 strategies" in text_of(some)
    assert "1 place left." in text_of(some)
    assert 'width="75.00%"' in some
    assert "Every new one now pushes out the last in this list. Prune…" in text_of(full)
    assert url("prune", tenant=tenant) in full
    assert "as-bar-full" not in full  # being full is normal here


def test_the_list_is_narrowed_by_origin_and_words_and_keeps_the_ranks(admin_client, tenant):
    store = fill(tenant, 3)
    store.save(problem="STRASSE gesperrt", strategy="Umweg", confidence=1, origin="seeded")

    seeded = rows_of(get(admin_client, url("list", tenant=tenant, origin="seeded")))
    folded = rows_of(get(admin_client, url("list", tenant=tenant, q="straße")))
    strategies = rows_of(get(admin_client, url("list", tenant=tenant, q=" WAY  2 ")))
    nothing = get(admin_client, url("list", tenant=tenant, q="100%_"))

    assert [row.split()[0] for row in seeded] == ["4"]
    assert seeded == folded
    assert [row.split()[:3] for row in strategies] == [["2", "problem", "2"]]
    assert "No strategy fits these filters. Clear all filters." in text_of(nothing)


@pytest.mark.parametrize("query", ["origin=stolen", "p=-1", "p=x", "p=999999999999", "q=%00", "tenant="])
def test_a_filter_or_page_that_is_none_is_left_out(admin_client, tenant, query):
    fill(tenant, 2)

    assert len(rows_of(get(admin_client, f"{url('list')}?tenant=acme&{query}"))) == 2


def test_the_list_has_pages_of_25_with_ranks_that_go_on(admin_client, tenant):
    fill(tenant, 60)

    first = get(admin_client, url("list", tenant=tenant))
    last = get(admin_client, url("list", tenant=tenant, p=3))

    assert [row.split()[0] for row in rows_of(last)] == [str(rank) for rank in range(51, 61)]
    assert "60 strategies" in text_of(first)
    assert "?tenant=acme&amp;p=2" in first
    assert "1 strategy of 60" in text_of(get(admin_client, url("list", tenant=tenant, q="problem 58")))


def count_queries(client, address):
    with CaptureQueriesContext(connection) as captured:
        get(client, address)
    return len(captured)


@pytest.mark.parametrize("query", [{}, {"q": "problem"}, {"origin": "earned"}, {"p": "2"}], ids=str)
def test_the_number_of_queries_does_not_grow_with_rows_or_tenants(admin_client, tenant, query):
    fill(tenant, 26)
    few = count_queries(admin_client, url("list", tenant=tenant, **query))
    fill(tenant, 80)
    for number in range(20):
        StrategyStore(f"other {number}").save(problem="p", strategy="s")

    assert count_queries(admin_client, url("list", tenant=tenant, **query)) == few


def test_long_texts_are_cut_in_the_list_and_whole_on_their_page(admin_client, tenant):
    StrategyStore(tenant).save(problem="word " * 300 + "end", strategy="step " * 300 + "finish", id="long")

    page = get(admin_client, url("list", tenant=tenant))
    entry = get(admin_client, url("change", obj_of("long").pk))

    assert "finish" not in page and "…" in page
    assert "finish" in entry and "word end" in entry


def test_a_row_spoiled_by_hand_is_listed_and_says_why_find_skips_it(admin_client, tenant):
    fill(tenant, 2)
    spoil("s2", confidence=7.0)

    rows = rows_of(get(admin_client, url("list", tenant=tenant)))

    (spoiled,) = [row for row in rows if "problem 2" in row]
    assert "skipped" in spoiled
    assert "Find leaves it out: confidence: 7.0 is not between 0 and 3." in spoiled


@pytest.mark.parametrize("values", [{"confidence": -1.0}, {"origin": "stolen"}, {"strategy": "  "}], ids=str)
def test_no_row_spoiled_by_hand_breaks_a_page(admin_client, tenant, values):
    fill(tenant, 2)
    spoil("s2", **values)

    for name in ("list", "prune", "find", "seed", "export"):
        get(admin_client, url(name, tenant=tenant, size=1))
    get(admin_client, url("change", obj_of("s2").pk))


# --- which tenant ----------------------------------------------------------------------------------


def test_without_a_word_about_it_the_first_tenant_by_label_is_shown(admin_client, tenant, other_tenant):
    StrategyStore(other_tenant).save(problem="theirs", strategy="x")
    fill(tenant, 1)

    page = get(admin_client, url("list"))

    assert rows_of(page)[0].startswith("1 problem 1")
    assert '<option value="acme" selected>' in page
    assert '<option value="globex">' in page


def test_only_the_tenants_of_the_access_class_are_offered_and_shown(
    admin_client, settings, tenant, other_tenant
):
    access(settings, OnlyAcme)
    StrategyStore(other_tenant).save(problem="theirs", strategy="x")
    StrategyStore(tenant).save(problem="ours", strategy="x")

    page = get(admin_client, url("list"))

    assert "Acme &amp; Sons uses 1 of 1,000 strategies" in page.replace("<strong>", "").replace(
        "</strong>", ""
    )
    assert "globex" not in page and "theirs" not in page


def test_a_tenant_of_the_access_class_without_strategies_is_told_what_to_do(admin_client, settings):
    access(settings, OnlyAcme)

    page = get(admin_client, url("list"))

    assert "No strategies yet. Agents save what worked; or upload a seed." in text_of(page)
    assert url("seed", tenant="acme") in page


def test_where_nobody_has_strategies_the_page_says_so(admin_client):
    assert "No strategies yet." in text_of(get(admin_client, url("list")))


def test_with_too_many_tenants_their_names_are_typed_and_the_fullest_shown(admin_client, monkeypatch):
    monkeypatch.setattr("agentstore.strategies.admin.base.OFFERED", 2)
    for number in range(3):
        fill(f"tenant {number}", number + 1)

    page = get(admin_client, url("list"))

    assert '<input type="text" name="tenant"' in page
    assert text_of(page).index("tenant 2 (3 of 1,000)") < text_of(page).index("tenant 1 (2 of 1,000)")
    assert "?tenant=tenant%202" in page
    assert len(rows_of(get(admin_client, url("list", tenant="tenant 1")))) == 2


def test_with_too_many_tenants_of_the_access_class_too(admin_client, settings, monkeypatch):
    monkeypatch.setattr("agentstore.strategies.admin.base.OFFERED", 0)
    access(settings, OnlyAcme)
    fill("acme", 1)
    fill("globex", 1)

    page = get(admin_client, url("list"))

    assert "Acme & Sons (1 of 1,000)" in text_of(page)
    assert "globex" not in page


# --- export ----------------------------------------------------------------------------------------


def test_the_export_is_a_seed_of_the_same_strategies_in_rank_order(admin_client, tenant):
    store = fill(tenant, 3, teacher_model="model <b>")

    response = admin_client.get(url("export", tenant=tenant))

    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"].startswith('attachment; filename="strategies-')
    entries = json.loads(response.content)
    assert [entry["id"] for entry in entries] == ["s1", "s2", "s3"]
    store.prune(0)
    assert store.seed(entries).written == 3
    assert [row.teacher_model for row in store.list()] == ["model <b>"] * 3


def test_the_export_of_what_pruning_removes_leaves_the_best_out(admin_client, tenant):
    fill(tenant, 4)

    entries = json.loads(admin_client.get(url("export", tenant=tenant, over=3)).content)

    assert [entry["id"] for entry in entries] == ["s4"]
