"""The list in the admin: its filters, from the tenant and the declared indexes, and its search."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from agentstore.entities.admin import listing
from tests.browser import text_of
from tests.entities.admin_pages import listed, names, url
from tests.testapp.models import Odd, Task

NOON = datetime(2026, 11, 30, 11, tzinfo=UTC)  # noon in Berlin


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let it be noon of 30 November 2026 in Berlin."""
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


# --- filters ------------------------------------------------------------------------------------


@pytest.fixture
def week(store):
    """Tasks due at the edges of the filters' spans, named by them."""
    zone = timezone.get_current_timezone()
    midnight = datetime(2026, 11, 30, tzinfo=zone)
    times = {
        "yesterday": midnight - timedelta(microseconds=1),
        "this morning": midnight,
        "this minute": NOON,
        "tonight": midnight + timedelta(days=1, microseconds=-1),
        "tomorrow": midnight + timedelta(days=1),
        "sixth day": midnight + timedelta(days=7, microseconds=-1),
        "seventh day": midnight + timedelta(days=7),
    }
    store.create_many([{"text": name, "due_at": at.astimezone(UTC)} for name, at in times.items()])
    store.create({"text": "never"})
    return store


TODAY = {"this morning", "this minute", "tonight"}


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        ("overdue", {"yesterday", "this morning"}),
        ("today", TODAY),
        ("week", {*TODAY, "tomorrow", "sixth day"}),
        ("later", {"seventh day"}),
        ("__none__", {"never"}),
        ("nonsense", set()),
    ],
)
def test_times_are_filtered_by_spans_of_the_viewers_days(admin_client, week, choice, found):
    assert names(admin_client, due_at=choice) == found


def test_the_spans_are_offered_in_words(admin_client, week):
    words = text_of(listed(admin_client)[0])

    assert "By due at Any time Overdue Today Next 7 days Later No value" in words


@pytest.mark.parametrize(
    ("choice", "found"), [("overdue", {"29"}), ("today", {"30"}), ("week", {"30", "6"}), ("later", {"7"})]
)
def test_dates_are_filtered_by_the_same_spans(admin_client, store, choice, found):
    days = {"29": "2026-11-29", "30": "2026-11-30", "6": "2026-12-06", "7": "2026-12-07"}
    store.create_many([{"text": name, "day": day} for name, day in days.items()])

    assert names(admin_client, day=choice) == found


@pytest.mark.parametrize(("choice", "found"), [("yes", {"a"}), ("no", {"b"})])
def test_booleans_are_filtered_by_yes_and_no(admin_client, store, choice, found):
    store.create_many([{"text": "a", "done": True}, {"text": "b"}])

    assert names(admin_client, done=choice) == found


def test_enums_are_filtered_by_value(admin_client, store):
    store.create_many([{"text": "a", "channel": "call"}, {"text": "b"}])

    assert names(admin_client, channel="call") == {"a"}
    assert "By channel All call email chat" in text_of(listed(admin_client)[0])


def test_literals_are_filtered_by_value(admin_client, tenant, db):
    Odd.store(tenant).create_many([{"mood": "bad", "madeBy": "a"}, {"madeBy": "b"}])

    assert listed(admin_client, Odd, mood="bad")[1] == ["a"]


def test_filters_and_search_narrow_together(admin_client, store):
    store.create_many(
        [{"text": "Call Bo", "done": True}, {"text": "Call Cy"}, {"text": "Mail Bo", "done": True}]
    )

    assert names(admin_client, done="yes", q="call", tenant="acme") == {"Call Bo"}


def test_tenants_are_filtered(admin_client, store, other_tenant):
    store.create({"text": "a"})
    Task.store(other_tenant).create({"text": "b"})

    assert names(admin_client, tenant=other_tenant) == {"b"}
    assert names(admin_client, tenant="nobody") == set()
    assert names(admin_client, tenant=" \0") == set()


def test_with_many_tenants_the_fullest_are_offered_and_any_can_be_typed(admin_client, db, monkeypatch):
    monkeypatch.setattr(listing, "OFFERED", 2)
    for number in range(4):
        Task.store(f"t{number}").create_many([{"text": "x"}] * (number + 1))

    page = listed(admin_client, tenant="t0", done="no")[0]

    assert "By tenant All t2 t3 t0 Another tenant" in text_of(page)
    assert '<input type="hidden" name="done" value="no">' in page
    assert 'name="tenant"' in page
    assert "t1" not in text_of(page)


def test_counts_are_shown_on_demand(admin_client, store):
    store.create_many([{"text": "a", "done": True}, {"text": "b"}, {"text": "c"}])

    words = text_of(listed(admin_client, _facets="True")[0])

    assert "Yes (1) No (2)" in words
    assert "Yes (1)" not in text_of(listed(admin_client)[0])


@pytest.mark.parametrize(
    "query", [{"data__text": "a"}, {"deleted_at__isnull": "1"}, {"text__regex": "."}, {"foo": "1"}]
)
def test_the_query_string_reaches_no_lookup_of_the_orm(admin_client, store, query):
    response = admin_client.get(url("changelist"), query)

    assert response.status_code == 302
    assert response.url.endswith("?e=1")


def test_a_filter_is_removed_by_name_not_by_how_it_begins(admin_client, store):
    """Fields ``due`` and ``due_at`` may both be indexed."""
    page = listed(admin_client, due_at="today", done="no")[0]

    assert re.search(r'href="\?done=no"[^>]*>Any time', page)


# --- search -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("piano", {"The Piano for Änne"}),
        ("änne PIANO", {"The Piano for Änne"}),
        ('"for Änne"', {"The Piano for Änne"}),
        ('"piano the"', set()),
        ("100%", {"100% sure"}),
        ("_", set()),
        ("email", set()),
        ("'", set()),
    ],
)
def test_every_word_of_a_search_occurs_in_a_text_field(admin_client, store, term, found):
    store.create_many([{"text": "The Piano for Änne"}, {"text": "100% sure"}])

    assert names(admin_client, q=term) == found


def test_an_id_finds_its_row(admin_client, store):
    row, _other = store.create_many([{"text": "a"}, {"text": "b"}])

    assert names(admin_client, q=str(row.id)) == {"a"}


def test_the_search_says_where_it_looks(admin_client, db):
    words = text_of(listed(admin_client)[0])

    assert "Searches in: text. Capitals and small letters are the same." in words
