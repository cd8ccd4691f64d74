"""A declared field's index is what PostgreSQL reads: for filter, range, order and the pages behind."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.plans import explain
from tests.testapp.models import Task

pytestmark = pytest.mark.postgres_only

ROWS = 3000
DAY = "2026-01-{:02d}T09:00:00.000000Z"
FILL = """
INSERT INTO testapp_task (id, tenant, data, version, created_at, updated_at)
SELECT gen_random_uuid(), tenant, jsonb_build_object(
    'text', 'task ' || lpad(n::text, 5, '0'), 'done', n %% 50 = 0, 'priority', n %% 100,
    'due_at', CASE WHEN n %% 3 > 0
      THEN to_char(date '2026-01-01' + n %% 28, 'YYYY-MM-DD"T09:00:00.000000Z"') END,
    'score', CASE WHEN n %% 4 > 0 THEN n / 7.0 END),
  1, timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second'
FROM generate_series(1, %s) AS n, (VALUES ('busy'), ('other')) AS tenants (tenant)
"""


@pytest.fixture
def tasks(db):
    """The store of a tenant with a few thousand rows, beside another tenant's, analyzed."""
    with connection.cursor() as cursor:
        cursor.execute(FILL, [ROWS])
        cursor.execute("ANALYZE testapp_task")
    return Task.store("busy")


def index_of(field):
    """Return the name of the tenant's index on a field."""
    return next(i.name for i in Task._meta.indexes if getattr(i, "field", "") == field and i.tenant)


@pytest.mark.parametrize(
    ("filter", "order", "field"),
    [
        ({"text": "task 00042"}, None, "text"),
        ({"priority": 7}, None, "priority"),
        ({"done": True}, None, "done"),
        ({"due_at": DAY.format(3)}, None, "due_at"),
        ({"text__in": ["task 00042", "task 00043"]}, None, "text"),
        ({"text__startswith": "task 000"}, "text", "text"),
        ({"priority__gte": 98}, "priority", "priority"),
        ({"due_at__lt": DAY.format(2)}, "-due_at", "due_at"),
        ({"score__gt": 1, "score__lte": 2}, "score", "score"),
        (None, "text", "text"),
        (None, "-due_at", "due_at"),
        (None, "-score", "score"),
        ({"score__isnull": True}, "score", "score"),
    ],
    ids=str,
)
def test_filter_and_order_read_the_fields_index(tasks, filter, order, field):
    plans = explain(lambda: tasks.query(filter, order_by=order))

    assert len(plans) == 1
    assert index_of(field) in plans[0]
    assert "Seq Scan" not in plans[0]


@pytest.mark.parametrize("filter", [None, {"priority__gte": 50}, {"done": False}], ids=str)
@pytest.mark.parametrize("order", ["priority", "-priority"])
def test_rows_come_from_the_index_in_order(tasks, filter, order):
    """In a descending order too: nothing is sorted, so a page costs what a page costs."""
    first = tasks.query(filter, order_by=order)

    plans = [
        *explain(lambda: tasks.query(filter, order_by=order)),
        *explain(lambda: tasks.query(filter, order_by=order, cursor=first.next_cursor)),
    ]

    assert len(plans) == 2
    assert all(index_of("priority") in plan and "Sort" not in plan for plan in plans)


@pytest.mark.parametrize("paged", [False, True])
def test_the_newest_with_a_value_are_read_without_sorting(tasks, paged):
    cursor = tasks.query({"done": True}, limit=5).next_cursor if paged else None

    (plan,) = explain(lambda: tasks.query({"done": True}, limit=5, cursor=cursor))

    assert index_of("done") in plan
    assert "Sort" not in plan


@pytest.mark.parametrize("order", ["due_at", "-due_at"])
def test_rows_without_a_value_come_from_the_index_in_order(tasks, order):
    """They are a second range of the same index, also behind a cursor."""
    missing = {"due_at__isnull": True}
    first = tasks.query(missing, order_by=order)

    plans = [
        *explain(lambda: tasks.query(missing, order_by=order)),
        *explain(lambda: tasks.query(missing, order_by=order, cursor=first.next_cursor)),
    ]

    assert len(plans) == 2
    assert all(index_of("due_at") in plan and "Sort" not in plan for plan in plans)


def test_a_cursor_among_equal_keys_starts_at_its_place_in_the_index(tasks):
    first = tasks.query(order_by="-due_at", limit=20)

    (plan,) = explain(lambda: tasks.query(order_by="-due_at", limit=20, cursor=first.next_cursor))

    assert "ROW(" in plan.split("Index Cond:", 1)[1].split("Filter:", 1)[0]


def test_rows_by_last_change_come_from_the_index_of_live_rows(tasks):
    first = tasks.query()

    plans = explain(lambda: tasks.query(cursor=first.next_cursor))

    assert "testapp_tas_live" in plans[0]
    assert "Sort" not in plans[0]


def test_the_sweep_reads_its_own_index(tasks):
    wanted = {"due_at__lt": DAY.format(20)}

    (plan,) = explain(lambda: next(iter(Task.sweep(wanted, order_by="due_at", reason="dispatch"))))

    assert "Sort" not in plan
    assert next(i.name for i in Task._meta.indexes if getattr(i, "tenant", True) is False) in plan


def test_a_row_is_read_by_its_primary_key(tasks):
    id = tasks.query(limit=1).rows[0].id

    (plan,) = explain(lambda: tasks.get(id))

    assert "testapp_task_pkey" in plan
