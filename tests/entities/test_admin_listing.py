"""The list in the admin: tabs, quota, columns, filters from the declared indexes, search, cost."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin import site
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agentstore.core.models import Usage
from agentstore.entities.admin import changelist, listing
from tests.browser import text_of
from tests.entities.admin_pages import OnlyAcme, access, grant, messages_of, url
from tests.testapp.models import Odd, Plain, Small, Task

NOON = datetime(2026, 11, 30, 11, tzinfo=UTC)  # noon in Berlin


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let it be noon of 30 November 2026 in Berlin."""
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


def listed(client, model=Task, **query):
    """Return (the list's page, the names of its rows in order)."""
    response = client.get(url("changelist", model=model), query)
    assert response.status_code == 200, response
    page = response.content.decode()
    rows = re.findall(r'<th class="field-\w+"><a[^>]*>(.*?)</a></th>', page)
    return page, rows


def names(client, **query):
    return set(listed(client, **query)[1])


# --- tabs, quota, columns -----------------------------------------------------------------------


def test_the_tabs_tell_how_many_are_live_and_deleted(admin_client, store):
    rows = store.create_many([{"text": "a"}, {"text": "b"}, {"text": "c"}])
    store.delete(rows[0].id)

    words = text_of(listed(admin_client)[0])

    assert "Live (2) Deleted (1)" in words


def test_deleted_rows_have_their_own_tab_and_say_who_deleted_them(admin_client, store):
    rows = store.create_many([{"text": "a"}, {"text": "b"}])
    store.delete(rows[0].id, actor="user:maren")

    page, found = listed(admin_client, deleted="1")

    assert found == ["a"]
    assert "user:maren" in page
    assert listed(admin_client)[1] == ["b"]


def test_the_quota_stands_above_one_tenants_rows(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 4)

    page, _rows = listed(admin_client, Small, tenant=tenant)

    assert "acme uses 4 of 5 smalls" in text_of(page)
    assert "1 places left. Deleted rows take no place." in text_of(page)
    assert 'width="80.00%"' in page
    assert "as-bar-full" not in page


def test_a_full_quota_is_red_and_says_so(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 5)

    page, _rows = listed(admin_client, Small, tenant=tenant)

    assert "Full: new smalls are refused. Delete some or raise the limit." in page
    assert "as-bar-full" in page


def test_without_a_tenant_the_list_asks_for_one_and_shows_whose_rows_they_are(
    admin_client, store, other_tenant
):
    store.create({"text": "a"})
    Task.store(other_tenant).create({"text": "b"})

    page, rows = listed(admin_client)

    assert set(rows) == {"a", "b"}
    assert "Choose a tenant to see its quota." in page
    assert 'class="field-tenant"' in page
    assert 'class="field-tenant"' not in listed(admin_client, tenant=other_tenant)[0]


def test_the_columns_are_the_naming_field_and_the_indexes(admin_client, store):
    store.create({"text": "a"})

    page, _rows = listed(admin_client, tenant="acme")

    columns = re.findall(r'<t[hd] class="field-(\w+)', page)
    assert columns == ["text", "due_at", "done", "priority", "score", "channel", "day", "updated"]


def test_rows_without_a_text_field_are_named_by_their_id(admin_client, tenant, db):
    row = Small.store(tenant).create({})

    assert listed(admin_client, Small)[1] == [str(row.id)]


def test_times_are_the_viewers_and_name_their_zone_once(admin_client, store):
    store.create({"text": "a", "due_at": "2026-12-02T09:00:00Z"})

    page, _rows = listed(admin_client)

    assert (
        '<time datetime="2026-12-02T09:00:00+00:00" title="2026-12-02 09:00:00 UTC">2 Dec 2026, 10:00</time>'
        in page
    )
    assert text_of(page).count("Europe/Berlin") == 1


def test_a_past_due_time_is_tagged_unless_the_row_is_done(admin_client, store):
    store.create({"text": "late", "due_at": NOON - timedelta(hours=1)})
    store.create({"text": "done", "due_at": NOON - timedelta(hours=1), "done": True})
    store.create({"text": "soon", "due_at": NOON + timedelta(hours=1)})

    page, _rows = listed(admin_client)

    assert page.count(">overdue<") == 1


def test_a_value_that_is_not_allowed_is_shown_raw_and_tagged(admin_client, store, spoil):
    row = store.create({"text": "a"})
    spoil({**row.raw, "channel": "fax"}, row)
    spoil({"text": 5})
    spoil("no object")

    page, rows = listed(admin_client)

    assert (
        '<span class="as-mono">&quot;fax&quot;</span> <span class="as-tag as-tag-warn">not allowed</span>'
        in page
    )
    assert len(rows) == 3


def test_a_missing_value_is_tagged(admin_client, spoil):
    spoil({"done": True})

    page, _rows = listed(admin_client)

    assert '<span class="as-tag as-tag-warn">missing</span>' in page


def test_a_script_in_a_row_is_inert(admin_client, store, spoil):
    row = store.create({"text": "<script>1</script>"}, actor="<script>2</script>")
    spoil({**row.raw, "channel": "<script>3</script>"}, row)
    store.delete(row.id, actor="<script>4</script>", reason="<script>5</script>")

    page = listed(admin_client, deleted="1")[0]

    assert not re.search(r"<script>\d", page)
    assert "&lt;script&gt;1" in page and "&lt;script&gt;4" in page


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "No tasks yet. Add one, import a file, or let an agent create them."),
        ({"q": "x"}, "No task fits these filters. Clear all filters."),
        ({"done": "yes"}, "No task fits these filters. Clear all filters."),
        ({"deleted": "1"}, "No deleted tasks."),
    ],
)
def test_an_empty_list_says_what_to_do(admin_client, db, query, message):
    assert message in text_of(listed(admin_client, **query)[0])


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


# --- order --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "found"),
    [("5", ["low", "high", "none"]), ("-5", ["high", "low", "none"]), ("1", ["high", "low", "none"])],
)
def test_rows_are_sorted_by_a_declared_field_those_without_a_value_last(admin_client, store, order, found):
    store.create_many([{"text": "none"}, {"text": "low", "score": 1}, {"text": "high", "score": 20}])

    assert listed(admin_client, tenant="acme", o=order)[1] == found


@pytest.mark.parametrize("page_size", [100, 2, 1])
@pytest.mark.parametrize(("order", "found"), [("4", ["low", "high"]), ("-4", ["high", "low"])])
def test_rows_that_a_hand_spoiled_come_last_in_either_direction(
    admin_client, store, spoil, monkeypatch, order, found, page_size
):
    """On every page, and on both databases, though the field may not be null."""
    monkeypatch.setattr(site._registry[Task], "list_per_page", page_size)
    store.create_many([{"text": "low", "priority": 1}, {"text": "high", "priority": 20}])
    for data in ({"text": "gone"}, {"text": "odd", "priority": "x"}):
        spoil(data)

    numbers = range(1, max(4 // page_size, 1) + 1)
    pages = [listed(admin_client, tenant="acme", o=order, p=number)[1] for number in numbers]

    seen = [name for page in pages for name in page]
    assert seen == [*found, *(["gone", "odd"] if order == "4" else ["odd", "gone"])]


def test_last_updated_comes_first(admin_client, store):
    first, _second = store.create_many([{"text": "a"}, {"text": "b"}])
    store.update(first.id, {"done": True})

    assert listed(admin_client)[1] == ["a", "b"]


@pytest.mark.postgres_only
@pytest.mark.parametrize("order", ["2", "-2", "3", "-3", "-4", "8", "-8"])
def test_the_order_of_a_list_is_read_from_an_index(admin_client, store, order):
    """Not sorted: a list of a large tenant costs what its page costs."""
    store.create_many(
        [{"text": f"t{n}", "due_at": NOON, "done": n % 2 == 0, "priority": n} for n in range(60)]
    )
    with CaptureQueriesContext(connection) as queries:
        listed(admin_client, tenant="acme", o=order)
    (sql,) = [q["sql"] for q in queries if '"testapp_task"."data"' in q["sql"] and "ORDER BY" in q["sql"]]

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "Index Scan" in plan
    assert "Sort" not in plan


# --- cost ---------------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_grow_with_the_rows(admin_client, store):
    store.create_many([{"text": "x"}] * 2)
    listed(admin_client)

    with CaptureQueriesContext(connection) as few:
        listed(admin_client)
    store.create_many([{"text": "x"}] * 40)
    with CaptureQueriesContext(connection) as many:
        listed(admin_client)

    assert len(many) == len(few)


def test_the_deleted_tab_takes_one_query_for_all_who_deleted(admin_client, store):
    rows = store.create_many([{"text": "x"}] * 30)
    store.delete(rows[0].id)
    listed(admin_client, deleted="1")

    with CaptureQueriesContext(connection) as few:
        listed(admin_client, deleted="1")
    for row in rows[1:]:
        store.delete(row.id)
    with CaptureQueriesContext(connection) as many:
        listed(admin_client, deleted="1")

    assert len(many) == len(few)


def test_a_large_table_is_not_counted(admin_client, store, monkeypatch):
    monkeypatch.setattr(changelist, "COUNTED", 3)
    monkeypatch.setattr(listing, "SMALL", 4)
    store.create_many([{"text": f"t{number}"} for number in range(6)])

    with CaptureQueriesContext(connection) as queries:
        page, rows = listed(admin_client)

    counts = [q["sql"] for q in queries if "COUNT(" in q["sql"] and "testapp_task" in q["sql"]]
    assert counts and all("LIMIT" in sql for sql in counts)
    assert "Live (6)" in page and "Deleted (" not in page
    assert "6 tasks" in text_of(page)
    assert rows[0] == "t5"


def test_a_large_list_of_all_tenants_is_sorted_by_nothing_that_no_index_serves(
    admin_client, store, monkeypatch
):
    monkeypatch.setattr(listing, "SMALL", 1)
    store.create_many([{"text": "a", "priority": 2}, {"text": "b", "priority": 1}])

    page, rows = listed(admin_client, o="5")

    assert rows == ["b", "a"]  # last created first, as ever
    assert "sortable column-due_at" in page  # a sweep index serves it
    assert "sortable column-priority" not in page
    assert "sortable column-priority" in listed(admin_client, tenant="acme")[0]


def test_filtered_rows_beyond_the_bound_are_said_to_be_there(admin_client, store, monkeypatch):
    monkeypatch.setattr(changelist, "COUNTED", 3)
    store.create_many([{"text": "x"}] * 6)

    page, _rows = listed(admin_client, done="no")

    assert "More rows match" in page
    assert "More rows match" not in listed(admin_client)[0]


def test_counters_that_lie_hide_no_rows(admin_client, store):
    store.create_many([{"text": "a"}, {"text": "b"}])
    Usage._base_manager.update(used=0)

    assert names(admin_client) == {"a", "b"}


def test_pages_go_on(admin_client, store):
    store.create_many([{"text": f"t{number}"} for number in range(60)])

    first, second = listed(admin_client)[1], listed(admin_client, p="2")[1]

    assert (len(first), len(second)) == (50, 10)
    assert not set(first) & set(second)


# --- who sees what ------------------------------------------------------------------------------


def test_limited_staff_see_their_tenants_rows_alone(admin_client, store, other_tenant, settings):
    store.create({"text": "mine"})
    Task.store(other_tenant).create({"text": "theirs"})
    access(settings, OnlyAcme)

    page, rows = listed(admin_client)

    assert rows == ["mine"]
    assert "Acme &amp; Sons</strong> uses 1 of 10,000 tasks" in page
    assert "Live (1)" in page
    assert other_tenant not in page
    assert names(admin_client, tenant=other_tenant) == set()


def test_staff_without_permission_see_no_list(client, staff):
    client.force_login(staff)

    assert client.get(url("changelist")).status_code == 403


def test_staff_who_may_view_see_no_buttons_that_change(client, staff, store):
    store.create({"text": "a"})
    client.force_login(grant(staff, "view"))

    page, rows = listed(client)

    assert rows == ["a"]
    assert "addlink" not in page
    assert "delete_selected" not in page


def test_no_page_has_inline_script_or_style(admin_client, store):
    store.create({"text": "a"})

    page = listed(admin_client)[0]

    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|<style", page)


def test_an_entity_without_indexes_has_a_list(admin_client, tenant, db):
    Plain.store(tenant).create({"text": "a", "value": {"x": [1]}})

    assert listed(admin_client, Plain)[1] == ["a"]
    assert messages_of(admin_client.get(url("changelist", model=Plain))) == []
