"""The list in the admin: its order, and what a page of it costs."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime

import pytest
from django.contrib.admin import site
from django.core.paginator import UnorderedObjectListWarning
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agentstore.core.models import Usage
from agentstore.entities.admin import changelist, listing
from tests.browser import text_of
from tests.entities.admin_pages import listed, names
from tests.testapp.models import Task

NOON = datetime(2026, 11, 30, 11, tzinfo=UTC)  # noon in Berlin


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let it be noon of 30 November 2026 in Berlin."""
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


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


def test_a_page_of_rows_in_no_order_is_a_page(store):
    """A host may page through rows for purposes of its own, such as Django's autocompletion."""
    store.create({"text": "a"})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnorderedObjectListWarning)
        page = changelist.BoundedPaginator(Task.objects.all(), 10).page(1)

    assert [row.data["text"] for row in page] == ["a"]


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
