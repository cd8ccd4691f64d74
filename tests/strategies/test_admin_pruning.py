"""The pruning screen: what goes and what stays, the question, and what happened meanwhile."""

from __future__ import annotations

import json
import threading

import pytest
from django.contrib.admin.models import DELETION
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core import errors
from agentstore.strategies import StrategyStore
from agentstore.strategies.admin import pruning
from tests.browser import buttons, read_form, text_of
from tests.strategies.admin_pages import (
    OnlyAcme,
    access,
    fill,
    get,
    log,
    messages_of,
    post,
    rows_of,
    spoil,
    state,
    url,
)

pytestmark = pytest.mark.django_db


def ids(tenant="acme"):
    return [row.id for row in StrategyStore(tenant).list(limit=100)]


def looked(client, size, tenant="acme", **values):
    """Return what a browser would post after looking at what would go."""
    return {**read_form(get(client, url("prune", tenant=tenant, size=size)), "prune_form"), **values}


def test_the_screen_shows_exactly_what_goes_and_what_stays_by_rank(admin_client, tenant):
    store = fill(tenant, 4)
    store.save(problem="seed", strategy="x", confidence=1, origin="seeded")

    page = get(admin_client, url("prune", tenant=tenant, size=3))

    rows = rows_of(page)
    assert [row.split()[:2] for row in rows[:3]] == [["1", "stays"], ["2", "stays"], ["3", "stays"]]
    assert rows[3] == "Cut: 3 stay above this line, 2 go below it"
    assert [row.split()[:2] for row in rows[4:]] == [["4", "goes"], ["5", "goes"]]
    words = text_of(page)
    assert "Goes 2 strategies" in words and "Stays 3 strategies" in words
    assert f"Best that goes score {store.list().rows[3].score:.3f}" in words
    assert "Goes by origin 1 earned, 1 seeded" in words
    assert 'value="Delete 2 strategies"' in page
    assert ids() == ["s1", "s2", "s3", "s4", store.list().rows[-1].id]


def test_far_from_the_cut_rows_are_counted_with_links_to_all(admin_client, tenant):
    fill(tenant, 60)

    page = get(admin_client, url("prune", tenant=tenant, size=30))
    stay = get(admin_client, url("prune", tenant=tenant, size=30, show="stay"))
    go = get(admin_client, url("prune", tenant=tenant, size=30, show="go"))

    rows = rows_of(page)
    assert rows[0] == "27 more stay, ranks 1 to 27. Show all that stay"
    assert [row.split()[0] for row in rows[1:4]] == ["28", "29", "30"]
    assert [row.split()[0] for row in rows[5:15]] == [str(rank) for rank in range(31, 41)]
    assert rows[15] == "20 more go, ranks 41 to 60. Show all that go"
    assert [row.split()[0] for row in rows_of(stay)[:30]] == [str(rank) for rank in range(1, 31)]
    assert [row.split()[0] for row in rows_of(go)[-30:]] == [str(rank) for rank in range(31, 61)]
    assert len({read_form(each, "prune_form")["seen"] for each in (page, stay, go)}) == 1


def test_pruning_deletes_what_was_shown_with_one_log_entry(admin_client, tenant, other_tenant):
    fill(tenant, 5)
    fill(other_tenant, 5)

    response = admin_client.post(url("prune"), looked(admin_client, 2, reason=" winter\nlessons "))

    assert response["Location"] == url("list", tenant=tenant)
    assert messages_of(response) == ["Deleted 3 strategies of acme."]
    assert ids() == ["s1", "s2"]
    assert len(ids(other_tenant)) == 5
    text = "Deleted 3 strategies of acme. Kept the best 2. Reason: winter lessons"
    assert log() == [(DELETION, "acme", text)]


def test_what_goes_can_be_downloaded_and_seeded_again(admin_client, tenant):
    store = fill(tenant, 4)
    page = get(admin_client, url("prune", tenant=tenant, size=1))
    address = url("export", tenant=tenant, over=1)
    assert address.replace("&", "&amp;") in page

    entries = json.loads(admin_client.get(address).content)
    admin_client.post(url("prune"), looked(admin_client, 1))
    store.seed(entries)

    assert ids() == ["s1", "s2", "s3", "s4"]


def test_one_strategy_is_told_in_the_singular(admin_client, tenant):
    fill(tenant, 2)

    assert list(buttons(get(admin_client, url("prune", tenant=tenant, size=1)), "prune_form")) == []
    assert 'value="Delete 1 strategy"' in get(admin_client, url("prune", tenant=tenant, size=1))
    response = admin_client.post(url("prune"), looked(admin_client, 1))

    assert messages_of(response) == ["Deleted 1 strategy of acme."]


# --- sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["-1", "2.5", "NaN", "Infinity", "1e3", "", " ", "x", "9" * 12, "٣"])
def test_a_size_that_is_none_is_an_error_of_the_form(admin_client, tenant, size):
    fill(tenant, 3)
    before = state()

    page = get(admin_client, url("prune", tenant=tenant, size=size))
    posted = post(admin_client, url("prune"), {"tenant": tenant, "size": size, "seen": "x"})

    for each in (page, posted):
        assert "Keep the best: Type a whole number from 0 on." in each
        assert 'aria-invalid="true"' in each
        assert "prune_form" not in each
        assert "<title>Error:" in each
    assert state() == before


def test_without_a_size_nothing_is_asked_and_no_error_told(admin_client, tenant):
    fill(tenant, 3)

    page = get(admin_client, url("prune", tenant=tenant))

    assert "Type a whole number" not in page and "prune_form" not in page


@pytest.mark.parametrize("size", [3, 4, 999_999_999])
def test_where_all_fit_nothing_is_to_do(admin_client, tenant, size):
    fill(tenant, 3)

    page = get(admin_client, url("prune", tenant=tenant, size=size))
    posted = post(admin_client, url("prune"), {"tenant": tenant, "size": size, "seen": "x"})

    assert "The tenant has 3 strategies; all stay." in text_of(page)
    assert "prune_form" not in page + posted
    assert log() == []


def test_pruning_to_0_takes_the_tenant_s_name(admin_client, settings):
    access(settings, OnlyAcme)
    fill("acme", 3)

    page = get(admin_client, url("prune", tenant="acme", size=0))
    refused = [
        post(admin_client, url("prune"), looked(admin_client, 0, name=name))
        for name in ("", "Acme", "globex")
    ]

    assert "All 3 strategies go." in text_of(page)
    assert "Type “Acme &amp; Sons” to delete all 3" in page
    assert all("Type the name of the tenant" in each for each in refused)
    assert len(ids()) == 3
    response = admin_client.post(url("prune"), looked(admin_client, 0, name=" Acme & Sons "))
    assert response.status_code == 302
    assert ids() == []


def test_pruning_to_0_takes_the_tenant_s_own_id_too(admin_client, tenant):
    fill(tenant, 3)

    assert admin_client.post(url("prune"), looked(admin_client, 0, name="acme")).status_code == 302
    assert StrategyStore(tenant).usage().used == 0


# --- what happened meanwhile -----------------------------------------------------------------------


def test_a_list_that_changed_since_the_look_is_refused_and_shown_again(admin_client, tenant):
    store = fill(tenant, 5)
    form = looked(admin_client, 3)
    for number in (1, 2):
        store.save(problem=f"better {number}", strategy="x", confidence=3, id=f"b{number}")
    before = state()

    page = post(admin_client, url("prune"), {**form, "reason": "keep me"}, status=409)

    assert "The list changed since you looked: 2 others would go. Look again." in page
    assert state() == before
    assert log() == []
    again = read_form(page, "prune_form")
    assert again["reason"] == "keep me"
    assert admin_client.post(url("prune"), again).status_code == 302
    assert ids() == ["b2", "b1", "s1"]


def test_one_other_and_fewer_are_told_apart(admin_client, tenant):
    store = fill(tenant, 5)
    one = looked(admin_client, 3)
    store.save(problem="better", strategy="x", confidence=3, id="b1")
    fewer = looked(admin_client, 3)
    store.delete("s5")

    assert "1 other would go." in post(admin_client, url("prune"), one | {"shown": one["shown"]}, status=409)
    assert "not all of these would go." in post(admin_client, url("prune"), fewer, status=409)


def test_of_very_many_only_the_change_itself_is_told(admin_client, tenant, monkeypatch):
    monkeypatch.setattr(pruning, "TOKENS", 1)
    store = fill(tenant, 5)
    form = looked(admin_client, 3)
    store.delete("s5")

    page = post(admin_client, url("prune"), form, status=409)

    assert "The list changed since you looked. Look again." in page


def test_a_text_that_changed_under_the_same_id_is_noticed(admin_client, tenant):
    fill(tenant, 3)
    form = looked(admin_client, 2)
    spoil("s3", strategy="quite another way")

    assert "The list changed since you looked" in post(admin_client, url("prune"), form, status=409)
    assert len(ids()) == 3


def test_a_strategy_that_joined_those_that_stay_changes_nothing_of_what_was_shown(admin_client, tenant):
    store = fill(tenant, 4)
    form = looked(admin_client, 3)
    store.delete("s1")
    store.save(problem="new best", strategy="x", confidence=3, id="best")

    assert admin_client.post(url("prune"), form).status_code == 302
    assert ids() == ["best", "s2", "s3"]


def test_a_post_without_a_look_only_shows(admin_client, tenant):
    fill(tenant, 3)

    page = post(admin_client, url("prune"), {"tenant": tenant, "size": "1"})

    assert "prune_form" in page
    assert len(ids()) == 3


@pytest.mark.postgres_only
@pytest.mark.django_db(transaction=True)
def test_no_writer_gets_in_between_the_last_look_and_the_act(admin_client, tenant, monkeypatch):
    """Without the lock the other writer would be through, and one more strategy would go."""
    fill(tenant, 3)
    form, real, writers = looked(admin_client, 2), StrategyStore.prune, []

    def write():
        StrategyStore(tenant).save(problem="better", strategy="x", confidence=3, id="best")
        connection.close()

    def prune(self, max_size, *, dry_run=False):
        gone = real(self, max_size, dry_run=dry_run)
        if dry_run and connection.in_atomic_block and not writers:
            writers.append(threading.Thread(target=write))
            writers[0].start()
            writers[0].join(timeout=1)
        return gone

    monkeypatch.setattr(StrategyStore, "prune", prune)
    response = admin_client.post(url("prune"), form)
    writers[0].join()

    assert response.status_code == 302
    assert ids() == ["best", "s1", "s2"]


def test_trouble_in_the_database_is_told_and_deletes_nothing(admin_client, tenant, monkeypatch):
    fill(tenant, 3)
    form = looked(admin_client, 1)
    real = StrategyStore.prune

    def prune(self, max_size, *, dry_run=False):
        if not dry_run:
            raise errors.StorageFailed("The database did not carry out the operation.")
        return real(self, max_size, dry_run=True)

    monkeypatch.setattr(StrategyStore, "prune", prune)

    assert "The database did not carry out the operation." in post(admin_client, url("prune"), form)
    assert len(ids()) == 3


def test_a_row_spoiled_by_hand_is_pruned_like_any_other(admin_client, tenant):
    fill(tenant, 3)
    spoil("s2", confidence=-1.0)

    response = admin_client.post(url("prune"), looked(admin_client, 2))

    assert response.status_code == 302
    assert ids() == ["s1", "s3"]


def test_an_origin_of_no_kind_counts_as_earned(admin_client, tenant):
    fill(tenant, 2)
    spoil("s2", origin="stolen")

    assert "Goes by origin 1 earned" in text_of(get(admin_client, url("prune", tenant=tenant, size=1)))


def test_the_number_of_queries_does_not_grow_with_rows(admin_client, tenant):
    def count(size):
        with CaptureQueriesContext(connection) as captured:
            get(admin_client, url("prune", tenant=tenant, size=size))
        return len(captured)

    fill(tenant, 10)
    few = count(5)
    fill(tenant, 80)

    assert count(5) == count(40) == few
