"""Cursors: opaque, signed, bound to their list; no row twice, none skipped."""

from __future__ import annotations

import string
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.core import signing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.errors import ValidationFailed
from agentstore.core.values import clock_at, new_id
from agentstore.entities.cursor import Position, read_cursor, write_cursor
from tests.testapp.models import Odd, Plain, Small, Task

AT = datetime(2026, 1, 1, 9, 0, 0, 1, tzinfo=UTC)


@pytest.fixture
def cursor_of(tasks):
    """Return the cursor behind the first of three tasks of a list."""
    tasks.create_many({"text": text, "priority": 1} for text in "abc")

    def make(filter=None, order_by=None, store=tasks):
        return store.query(filter, order_by=order_by, limit=1).next_cursor

    return make


@pytest.mark.parametrize(
    "value",
    [None, "", "a", "名🙂", True, False, Decimal("1.50"), Decimal("1E+400"), Decimal(10**30 + 1)],
    ids=repr,
)
def test_a_position_survives(value):
    position = Position(value=value, created_at=AT, updated_at=AT, id=new_id())

    assert read_cursor("b", write_cursor("b", position, version=1)) == position


def test_a_cursor_is_opaque_and_fits_into_an_address(cursor_of):
    cursor = cursor_of(order_by="text")

    assert set(cursor) <= set(string.ascii_letters + string.digits + "-_:.=")


LONG = [f"{'名' * 20_000}{letter}" for letter in "abcdef"]


def lengthy(tenant, values):
    """Return a store with rows whose values are too long for a cursor."""
    store = Plain.store(tenant)
    return store, store.create_many(values)


@pytest.mark.parametrize("order_by", ["text", "-text"])
def test_a_cursor_is_short_however_long_the_values_are(db, backend, tenant, order_by):
    store, rows = lengthy(tenant, [{"text": text} for text in (*LONG, LONG[0])])
    found, cursors = [], []
    cursor = None

    while cursor is not None or not cursors:
        page = store.query({"text__isnull": False}, order_by=order_by, limit=2, cursor=cursor)
        found += [row.id for row in page]
        cursors.append(cursor := page.next_cursor)

    texts = sorted(rows, key=lambda row: (row.data.text, row.updated_at, row.id))
    assert found == [row.id for row in (texts if order_by == "text" else texts[::-1])]
    assert max(len(cursor or "") for cursor in cursors) < 1000


def test_numbers_without_end_make_a_short_cursor_too(db, backend, tenant):
    numbers = [10**300 * n + 1 for n in range(1, 8)]
    store = Odd.store(tenant)
    store.create_many([{"size": number} for number in numbers])

    first = store.query(order_by="size", limit=3)
    second = store.query(order_by="size", limit=9, cursor=first.next_cursor)

    assert [row.data.size for row in (*first, *second)] == numbers
    assert len(first.next_cursor) < 1000


def test_a_long_value_is_where_it_was_though_its_row_was_changed_and_deleted(db, backend, tenant):
    store, rows = lengthy(tenant, [{"text": text} for text in LONG])
    first = store.query(order_by="text", limit=2)
    store.update(rows[1].id, {"text": "short now"})
    store.delete(rows[1].id)

    second = store.query(order_by="text", limit=9, cursor=first.next_cursor)

    assert [row.id for row in second] == [row.id for row in rows[2:]]


def test_a_long_value_that_nobody_knows_any_more_is_told(db, backend, tenant):
    store, rows = lengthy(tenant, [{"text": text} for text in LONG])
    first = store.query(order_by="text", limit=2)
    Plain._base_manager.filter(pk=rows[1].id).delete()

    with pytest.raises(ValidationFailed, match="gone for good") as info:
        store.query(order_by="text", limit=2, cursor=first.next_cursor)

    assert list(info.value.errors) == ["cursor"]
    assert info.value.hint


def test_the_last_page_has_no_cursor(tasks):
    tasks.create_many({"text": text} for text in "abc")

    assert tasks.query(limit=3).next_cursor is None
    assert tasks.query(limit=2).next_cursor is not None
    assert tasks.query({"text": "nope"}).next_cursor is None
    second = tasks.query(limit=2, cursor=tasks.query(limit=2).next_cursor)
    assert (len(second), second.next_cursor) == (1, None)


@pytest.mark.parametrize("position", range(0, 400, 7))
def test_a_tampered_cursor_is_refused(tasks, position):
    tasks.create_many({"text": text} for text in "ab")
    cursor = tasks.query(limit=1).next_cursor
    place = position % len(cursor)
    other = "A" if cursor[place] != "A" else "B"

    with pytest.raises(ValidationFailed) as info:
        tasks.query(limit=1, cursor=cursor[:place] + other + cursor[place + 1 :])

    assert list(info.value.errors) == ["cursor"]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "a:b", "a:b:c", 5, True, b"x", ["x"], "\0", "\ud800", "é", "." * 10_000, "eyJ9:x"],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_cursor_is_refused(tasks, cursor):
    with pytest.raises(ValidationFailed) as info:
        tasks.query(cursor=cursor)

    assert list(info.value.errors) == ["cursor"]


def test_what_another_part_of_the_project_signed_is_refused(tasks):
    for signed in (signing.dumps(["x"]), signing.Signer().sign_object(["x", []])):
        with pytest.raises(ValidationFailed, match="not a cursor"):
            tasks.query(cursor=signed)


@pytest.mark.parametrize(
    ("filter", "order_by"),
    [
        ({"priority": 2}, None),
        ({"priority__lte": 1}, None),
        ({"priority": 1, "done": False}, None),
        ({}, None),
        ({"priority": 1}, "updated_at"),
        ({"priority": 1}, "-created_at"),
        ({"priority": 1}, "text"),
        ({"text": 'x", "y'}, None),
    ],
    ids=str,
)
def test_a_cursor_of_another_filter_or_order_is_refused(cursor_of, tasks, filter, order_by):
    cursor = cursor_of({"priority": 1})

    with pytest.raises(ValidationFailed, match="belongs to another list") as info:
        tasks.query(filter, order_by=order_by, cursor=cursor)

    assert list(info.value.errors) == ["cursor"]


def test_the_same_list_said_otherwise_takes_the_cursor(cursor_of, tasks):
    cursor = cursor_of({"priority": 1, "done": False})

    page = tasks.query(
        {"done__eq": False, "priority__eq": 1}, order_by="-updated_at", limit=50, cursor=cursor
    )

    assert len(page) == 2


def test_a_cursor_of_another_tenant_or_entity_is_refused(cursor_of, tasks, other_tenant, tenant):
    Task.store(other_tenant).create_many({"text": text} for text in "abc")

    with pytest.raises(ValidationFailed, match="another list"):
        Task.store(other_tenant).query(cursor=cursor_of())
    with pytest.raises(ValidationFailed, match="another list"):
        Small.store(tenant).query(cursor=cursor_of())


def test_a_rotated_key_still_reads_older_cursors(cursor_of, tasks, settings):
    cursor = cursor_of()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [settings.SECRET_KEY]

    assert len(tasks.query(cursor=cursor)) == 2

    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(ValidationFailed, match="not a cursor"):
        tasks.query(cursor=cursor)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    values=st.lists(st.sampled_from([None, 1, 2, 2, 2.5]), max_size=24),
    limit=st.integers(1, 9),
    order_by=st.sampled_from(
        ["score", "-score", "text", "done", "-done", None, "created_at", "-id", "due_at"]
    ),
)
def test_no_row_twice_and_none_skipped_among_equal_keys(tasks, values, limit, order_by):
    Task._base_manager.all().delete()
    with clock_at(AT):
        made = tasks.create_many({"text": "same", "score": value} for value in values)
    found, cursor, pages = [], None, 0

    while True:
        page = tasks.query(order_by=order_by, limit=limit, cursor=cursor)
        found += [row.id for row in page]
        pages += 1
        cursor = page.next_cursor
        if cursor is None:
            break

    assert sorted(found) == sorted(row.id for row in made)
    assert pages == max(1, -(-len(values) // limit))


def test_rows_made_and_deleted_meanwhile_disturb_no_other(tasks):
    rows = tasks.create_many({"text": text, "priority": 1} for text in "abcdef")
    first = tasks.query(order_by="text", limit=2)
    tasks.delete(rows[1].id)  # the row that the cursor stands on
    tasks.create({"text": "aa"})  # before it
    tasks.create({"text": "cc"})  # behind it

    second = tasks.query(order_by="text", limit=10, cursor=first.next_cursor)

    assert [row.data.text for row in second] == ["c", "cc", "d", "e", "f"]
