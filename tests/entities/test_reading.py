"""The store's reads: rows, pages, counts, and rows that no longer fit their schema."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest
from django.db import connection, connections
from django.utils.connection import ConnectionDoesNotExist

from agentstore.core.errors import ValidationFailed
from agentstore.core.models import AuditEntry
from agentstore.core.values import clock_at, new_id
from agentstore.entities.portable import PortableRows
from agentstore.entities.postgres import PostgresRows
from agentstore.entities.reading import parse_id
from tests.testapp.models import Line, Odd, Plain, Task, TaskData

#: What a hand may leave in a row of tasks, and where it does not fit.
SPOILED = {
    "missing field": ({"done": True}, ["text"]),
    "wrong type": ({"text": "a", "priority": "high"}, ["priority"]),
    "wrong type inside": ({"text": "a", "lines": [{"sku": 5}]}, ["lines.0.sku"]),
    "null": ({"text": None}, ["text"]),
    "array": ([1, 2], [""]),
    "text": ("text", [""]),
    "number": (5, [""]),
    "several": ({"done": "yes", "tags": {}}, ["done", "tags", "text"]),
}


class Elsewhere:
    """A router whose reads go to a database that is not there: nothing may ask it for one."""

    def db_for_read(self, model, **hints):
        return "replica" if model._meta.app_label in ("testapp", "agentstore") else None


def test_an_id_is_taken_in_its_two_forms(tasks):
    row = tasks.create({"text": "a"})

    assert (
        tasks.get(str(row.id)) == tasks.get(row.id.hex) == tasks.get(str(row.id).upper()) == tasks.get(row.id)
    )
    hexadecimal = row.id.hex
    for other in (
        f"{{{row.id}}}",
        f"urn:uuid:{row.id}",
        "+" + hexadecimal[1:],
        "0x" + hexadecimal[2:],
        f"{row.id}\n",
    ):
        assert parse_id(other) is None


def test_last_updated_comes_first(tasks):
    rows = [tasks.create({"text": text}) for text in "abc"]
    tasks.update(rows[0].id, {"done": True})

    assert [row.data.text for row in tasks.query()] == ["a", "c", "b"]


def test_a_page_has_25_rows_unless_it_is_told_otherwise(tasks):
    tasks.create_many({"text": str(number)} for number in range(120))

    assert len(tasks.query()) == 25
    assert len(tasks.query(limit=7)) == 7
    assert len(tasks.query(limit=0)) == 1
    assert len(tasks.query(limit=1000)) == tasks.query(limit=1000).limit == 100
    assert tasks.query(limit=7).limit == 7


@pytest.mark.local_only
def test_iterate_gives_all_rows_page_by_page(tasks, django_assert_num_queries):
    tasks.create_many({"text": str(number), "priority": number % 2} for number in range(230))

    with django_assert_num_queries(2):
        found = list(tasks.iterate({"priority": 1}, order_by="created_at"))

    assert len({row.id for row in found}) == 115


@pytest.mark.parametrize("order_by", ["priority", "-priority", "score", "updated_at", None])
def test_iterate_gives_each_row_once_though_the_loop_writes_it(tasks, order_by):
    """The priority that it is ordered by is changed as well, up or down."""
    tasks.create_many({"text": str(number)} for number in range(103))
    step = -1 if order_by == "-priority" else 1

    found = []
    for row in islice(tasks.iterate(order_by=order_by), 300):
        found.append(row.id)
        tasks.update(row.id, {"text": "seen", "priority": row.data.priority + step})

    assert len(found) == len(set(found)) == 103


@pytest.mark.parametrize(
    ("arguments", "options", "path"),
    [
        (({"nope": 1},), {}, "nope"),
        ((5,), {}, "filter"),
        ((), {"order_by": "nope"}, "order_by"),
        ((), {"limit": "5"}, "limit"),
        ((), {"limit": None}, "limit"),
        ((), {"cursor": "nope"}, "cursor"),
    ],
)
def test_a_query_that_makes_no_sense_is_told(tasks, arguments, options, path):
    with pytest.raises(ValidationFailed) as info:
        tasks.query(*arguments, **options)

    assert list(info.value.errors) == [path]


def test_iterate_is_checked_when_it_is_called(tasks):
    with pytest.raises(ValidationFailed):
        tasks.iterate({"nope": 1})
    with pytest.raises(ValidationFailed):
        tasks.iterate(order_by="nope")
    with pytest.raises(ValidationFailed):
        tasks.count({"nope": 1})


def test_an_empty_in_finds_nothing(tasks):
    tasks.create({"text": "a"})

    assert list(tasks.query({"text__in": []})) == list(tasks.query({"id__in": []})) == []
    assert tasks.count({"text__in": []}) == tasks.count({"version__in": []}) == 0


@pytest.mark.parametrize(("data", "paths"), SPOILED.values(), ids=SPOILED)
def test_a_spoiled_row_leaves_its_page_readable(tasks, spoil, data, paths):
    good = tasks.create({"text": "good"})
    bad = spoil(data)

    for found in (
        tasks.query(),
        tasks.iterate(),
        tasks.query(order_by="text"),
        tasks.query(order_by="-priority"),
    ):
        rows = {row.id: row for row in found}
        assert rows[good.id].data.text == "good"
        assert (rows[bad].data, rows[bad].raw) == (None, data)
        assert sorted(rows[bad].schema_errors) == paths
    assert tasks.get(bad).data is None
    assert tasks.count() == 2
    for filter in ({"text__ne": "x"}, {"priority__isnull": True}, {"score__lt": 5}, {"text__icontains": "É"}):
        list(tasks.query(filter))


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("order_by", ["text", "-priority", "done", "due_at", "score"])
def test_pages_go_on_behind_a_spoiled_row(tasks, spoil, limit, order_by):
    ids = {spoil(data) for data, _ in SPOILED.values()} | {tasks.create({"text": "good"}).id}
    found, cursor = [], None

    while True:
        page = tasks.query(order_by=order_by, limit=limit, cursor=cursor)
        found += [row.id for row in page]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert len(found) == len(ids)
    assert set(found) == ids


@pytest.mark.parametrize(("data", "paths"), SPOILED.values(), ids=SPOILED)
def test_a_spoiled_row_can_be_repaired_replaced_deleted_and_undeleted(tasks, spoil, data, paths):
    bad = spoil(data)
    repair = {"text": "a", "done": False, "tags": [], "priority": 0, "lines": []}

    with pytest.raises(ValidationFailed):
        tasks.update(bad, {"day": None})
    assert tasks.delete(bad)
    assert tasks.undelete(bad).schema_errors
    fixed = tasks.update(bad, repair)

    assert fixed.changed
    assert (tasks.get(bad).data, tasks.get(bad).version) == (TaskData(**repair), 2)
    spoil(data, row=fixed)
    assert tasks.replace(bad, {"text": "b"}).data == TaskData(text="b")


@pytest.mark.local_only
def test_keys_that_the_schema_no_longer_has_are_ignored_kept_and_dropped_by_the_next_write(tasks, spoil):
    row = tasks.create({"text": "a", "lines": [{"sku": "x"}]})
    stored = {**row.raw, "old": 1, "lines": [{"sku": "x", "quantity": 1, "old": 2}]}
    spoil(stored, row=row)

    found = tasks.get(row.id)
    assert (found.data, found.raw, found.schema_errors) == (row.data, stored, {})

    same = tasks.update(row.id, {"text": "a"})
    assert (same.changed, same.version, tasks.get(row.id).raw) == (False, 1, stored)

    changed = tasks.update(row.id, {"text": "b"})
    assert tasks.get(row.id).raw == changed.raw == {**row.raw, "text": "b"}
    assert tasks.history(row.id)[0].patch == {
        "set": {"text": "b", "lines": [{"sku": "x", "quantity": 1}]},
        "unset": ["old"],
    }


@pytest.mark.local_only
def test_a_field_that_is_new_with_a_default_is_read_with_it(tasks, spoil):
    id = spoil({"text": "a"})

    found = tasks.get(id)

    assert (found.data, found.raw) == (TaskData(text="a"), {"text": "a"})
    tasks.update(id, {"text": "b"})
    assert tasks.get(id).raw["tags"] == []


def test_odd_types_are_decoded(store_of, tenant):
    store = store_of(Odd, tenant)
    ref = new_id()
    row = store.create(
        {"code": 42, "amount": "1.10", "ref": ref, "either": "x", "madeBy": "me", "meta": {"a": [1]}}
    )

    found = store.get(row.id).data

    assert (found.code, str(found.amount), found.ref, found.either, found.made_by) == (
        42,
        "1.10",
        ref,
        "x",
        "me",
    )
    assert [row.id for row in store.query({"code": 42})] == [row.id]
    assert [row.id for row in store.query({"code": "42", "amount": "1.10", "madeBy__startswith": "m"})] == [
        row.id
    ]
    assert store.count({"amount": "1.1"}) == 0
    assert store.count({"madeBy": "you"}) == 0


def test_a_patch_decodes_what_it_keeps(store_of, tenant):
    store = store_of(Odd, tenant)
    row = store.create({"code": 42, "amount": "1.10", "size": 1.0})

    assert store.update(row.id, {"amount": "1.10"}).changed is False
    assert store.update(row.id, {"size": 1}).changed is False
    assert store.update(row.id, {"amount": "1.1"}).changed is True
    assert store.get(row.id).data.code == 42


def test_nested_values_are_filtered_by_containment(tasks):
    row = tasks.create(
        {"text": "a", "lines": [{"sku": "x", "quantity": 2}, {"sku": "y"}], "tags": ["p", "q"]}
    )

    for filter in (
        {"lines": [{"sku": "x"}]},
        {"lines__contains": {"quantity": 2}},
        {"tags": ["q"]},
        {"tags__contains": "p"},
        {"lines__contains": Line(sku="y")},
    ):
        assert [found.id for found in tasks.query(filter)] == [row.id]
    for filter in ({"lines": [{"sku": "x", "quantity": 1}]}, {"tags": ["q", "r"]}, {"tags__contains": "r"}):
        assert tasks.count(filter) == 0


def test_usage_is_the_counter_and_count_the_rows(tasks, spoil):
    tasks.create({"text": "a"})
    spoil({"text": "around the store"})

    assert (tasks.usage().used, tasks.usage().capacity, tasks.count()) == (1, 10_000, 2)


@pytest.mark.local_only
def test_every_statement_goes_where_writes_go(tasks, settings):
    settings.DATABASE_ROUTERS = [Elsewhere()]
    with pytest.raises(ConnectionDoesNotExist):
        Task.objects.first()

    row = tasks.create({"text": "a"}, idempotency_key="k")
    tasks.create({"text": "a"}, idempotency_key="k")
    tasks.create_many([{"text": "b"}])
    tasks.update(row.id, {"text": "c"})
    tasks.replace(row.id, {"text": "d"})
    tasks.delete(row.id)
    tasks.undelete(row.id)

    assert tasks.get(row.id).data.text == "d"
    assert tasks.get(row.id, version=1).data.text == "a"
    assert len(tasks.query(order_by="text")) == tasks.count() == tasks.usage().used == 2
    assert len(tasks.history(row.id)) == 5
    assert len(list(Task.sweep(reason="tests"))) == 2


@pytest.mark.local_only
def test_the_back_end_follows_the_setting(db, tenant, settings, tasks):
    rows = Plain.store(tenant)._rows

    wanted = PostgresRows if settings.AGENTSTORE["BACKEND"] == "auto" else PortableRows
    assert type(rows) is wanted
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": "portable"}
    assert type(Plain.store(tenant)._rows) is PortableRows


@pytest.fixture(params=["Asia/Kolkata", "America/St_Johns"])
def connection_zone(request, transactional_db):
    """Connect as a host does whose ``DATABASES`` name a time zone."""

    def reconnect(zone):
        connection.close()
        connection.settings_dict["TIME_ZONE"] = zone
        for name in ("timezone", "timezone_name"):
            connections["default"].__dict__.pop(name, None)

    reconnect(request.param)
    yield
    reconnect(None)


@pytest.mark.local_only
def test_times_are_utc_whatever_the_time_zone_of_the_connection(connection_zone, backend, tenant):
    store = Task.store(tenant)
    with clock_at(datetime(2026, 1, 1, 9, tzinfo=UTC)):
        made = store.create({"text": "a"})
    row = store.update(made.id, {"text": "b"})
    store.delete(row.id)
    gone = store.get_deleted(row.id)
    store.undelete(row.id)

    first = store.get(row.id, version=1)
    for found in (store.get(row.id), store.query().rows[0], gone, *Task.sweep(reason="tests")):
        assert (found.created_at, found.updated_at) == (made.created_at, row.updated_at)
        assert found.created_at.tzinfo is found.updated_at.tzinfo is UTC
    entry = store.history(row.id)[-1]
    assert gone.deleted_at.tzinfo is first.updated_at.tzinfo is entry.at.tzinfo is UTC
    assert entry.at == first.updated_at == made.created_at
    assert store.count({"created_at": "2026-01-01T09:00:00Z"}) == 1
    assert store.count({"created_at__lt": "2026-01-01T09:00:00Z"}) == 0


def test_reads_write_nothing(tasks):
    row = tasks.create({"text": "a"})
    before = AuditEntry.objects.count()

    tasks.get(row.id)
    list(tasks.query())
    tasks.history(row.id)

    assert AuditEntry.objects.count() == before
    assert Task.objects.get().version == 1
