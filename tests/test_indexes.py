"""The index classes: what migrations write, and what the databases make of them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.db.migrations.writer import MigrationWriter
from django.test.utils import CaptureQueriesContext

from agentstore.indexes import EntityFieldIndex, FieldValue
from tests.testapp.models import Small, Task

INDEX = EntityFieldIndex(field="n", kind="number", name="small_n")


def test_a_migration_imports_it_from_its_frozen_path():
    text, imports = MigrationWriter.serialize(INDEX)

    assert text == "agentstore.indexes.EntityFieldIndex(field='n', kind='number', name='small_n')"
    assert imports == {"import agentstore.indexes"}


@pytest.mark.parametrize("tenant", [True, False])
def test_it_is_rebuilt_from_what_the_migration_says(tenant):
    index = EntityFieldIndex(field="n", kind="number", name="small_n", tenant=tenant)
    path, args, kwargs = index.deconstruct()

    assert (path, args) == ("agentstore.indexes.EntityFieldIndex", ())
    assert EntityFieldIndex(**kwargs) == index
    assert index.clone() == index
    assert ("tenant" in kwargs) is not tenant


def test_another_field_kind_or_reach_is_another_index():
    others = [
        EntityFieldIndex(field="a", kind="number", name="small_n"),
        EntityFieldIndex(field="n", kind="text", name="small_n"),
        EntityFieldIndex(field="n", kind="number", name="small_n", tenant=False),
        EntityFieldIndex(field="n", kind="number", name="small_m"),
    ]

    assert INDEX not in others


@pytest.mark.parametrize("field", ["a'b", 'a"b', "a-b", "1a", "_a", "ä", "", "a b", "a\n", "a;--"])
def test_what_can_not_be_written_into_sql_is_refused(field):
    with pytest.raises(ValueError, match="can't be written into SQL"):
        FieldValue(field, "text")


def test_a_foreign_database_is_told():
    with pytest.raises(KeyError):
        FieldValue("n", "nonsense")


def definitions(table):
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", [table])
        return dict(cursor.fetchall())


@pytest.mark.postgres_only
def test_postgres_has_tenant_field_time_and_id_in_each_index(db):
    found = definitions("testapp_task")

    for index in Task._meta.indexes[1:]:
        columns = found[index.name]
        assert f"'{index.field}'::text" in columns
        first = "tenant, " if index.tenant else ""
        assert columns.startswith(f"CREATE INDEX {index.name} ON public.testapp_task USING btree ({first}")
        assert columns.endswith(", updated_at, id)")
        assert ('COLLATE "C"' in columns) is (index.kind == "text")
    assert "WHERE (deleted_at IS NULL)" in found[Task._meta.indexes[0].name]


@pytest.mark.postgres_only
def test_no_extra_index_is_made_on_the_primary_key(db):
    assert len(definitions("testapp_task")) == len(Task._meta.indexes) + 1


def test_adding_renaming_and_removing_works_on_every_database(transactional_db):
    renamed = EntityFieldIndex(field="n", kind="number", name="small_m")

    with connection.schema_editor() as editor:
        editor.add_index(Small, INDEX)
    with connection.schema_editor() as editor:
        editor.rename_index(Small, INDEX, renamed)
    if connection.vendor == "postgresql":
        assert {"small_m"} & set(definitions("testapp_small")) == {"small_m"}
    with connection.schema_editor() as editor:
        editor.remove_index(Small, renamed)

    with connection.cursor() as cursor:
        made = connection.introspection.get_constraints(cursor, "testapp_small")
    assert not {"small_n", "small_m"} & set(made)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="says something about SQLite")
def test_sqlite_makes_nothing(transactional_db):
    with CaptureQueriesContext(connection) as captured, connection.schema_editor() as editor:
        editor.add_index(Small, INDEX)

    assert not [query for query in captured.captured_queries if "INDEX" in query["sql"].upper()]
    with connection.cursor() as cursor:
        made = connection.introspection.get_constraints(cursor, "testapp_task")
    assert not {index.name for index in Task._meta.indexes[1:]} & set(made)
    assert Task._meta.indexes[0].name in made


@pytest.mark.postgres_only
@pytest.mark.parametrize(
    ("filter", "order_by"),
    [
        ({"priority": 500}, None),
        ({"text": "t500"}, None),
        ({"done": False}, "due_at"),
        ({"due_at__gte": "2026-01-01T00:00:00.999Z"}, "due_at"),
        ({"priority__in": [500, 600]}, None),
        ({"text__startswith": "t50"}, None),
        ({}, "-priority"),
        ({}, "text"),
        ({}, "day"),
    ],
    ids=str,
)
def test_the_declared_index_serves_filter_range_and_order(db, filter, order_by):
    store = Task.store("acme")
    day = date(2020, 1, 1)
    store.create_many(
        {"text": f"t{i}", "priority": i, "day": day + timedelta(i), "due_at": f"2026-01-01T00:00:00.{i:03}Z"}
        for i in range(1000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE testapp_task")
    with CaptureQueriesContext(connection) as captured:
        store.query(filter, order_by=order_by)
    sql = captured.captured_queries[0]["sql"]

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    field = (order_by or next(iter(filter))).lstrip("-").split("__")[0]
    assert any(index.name in plan for index in Task._meta.indexes[1:] if index.field == field)
