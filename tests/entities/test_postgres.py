"""The PostgreSQL back end: one statement a write, named columns, nothing that a pooler breaks."""

from __future__ import annotations

import inspect
import re

import pytest
from django.db import connection, transaction

from agentstore.entities import postgres
from agentstore.entities.postgres import PostgresRows
from tests.testapp.models import Small, Task

pytestmark = pytest.mark.postgres_only


@pytest.fixture
def store(db, tenant):
    return Task.store(tenant)


WRITES = {
    "create": lambda store, row: store.create({"text": "b"}),
    "create_many": lambda store, row: store.create_many([{"text": "b"}] * 500),
    "get": lambda store, row: store.get(row.id),
    "delete": lambda store, row: store.delete(row.id),
    "query": lambda store, row: store.query({"text": "a"}, order_by="-due_at"),
}


@pytest.mark.parametrize("op", WRITES)
def test_hot_operations_are_one_statement(store, django_assert_num_queries, op):
    row = store.create({"text": "a", "due_at": "2026-01-01T00:00:00Z"})

    with django_assert_num_queries(1 if op != "query" else 2):
        WRITES[op](store, row)


def test_an_update_reads_and_writes(store, django_assert_num_queries):
    row = store.create({"text": "a"})

    with django_assert_num_queries(2):
        store.update(row.id, {"text": "b"}, expected_version=1)


def test_a_refusal_is_one_statement_and_no_savepoint(db, tenant, django_assert_num_queries):
    store = Small.store(tenant)
    store.create_many([{}] * 5)

    with django_assert_num_queries(1), pytest.raises(Exception, match="no place left"):
        store.create({})


def test_create_many_takes_a_statement_for_500_rows(store, django_assert_num_queries):
    with django_assert_num_queries(5):  # three statements in a savepoint
        store.create_many([{"text": "a"}] * 1001)


def test_the_sql_names_its_columns_and_keeps_no_session_state():
    source = inspect.getsource(postgres)
    statements = "\n".join(re.findall(r'"""\n?(.*?)"""', source, re.DOTALL)[1:])

    assert "INSERT INTO" in statements
    assert not re.search(r"(SELECT|RETURNING|\.)\s*\*", statements)
    for word in ("pg_advisory_lock", "LISTEN", "NOTIFY", "SET SESSION", "PREPARE", "TEMP TABLE", "DECLARE"):
        assert word not in statements.upper().replace("PG_ADVISORY_LOCK", "pg_advisory_lock")


def test_a_column_that_another_session_adds_breaks_nothing(transactional_db, tenant):
    """With plans prepared on the server, ``*`` would fail for good from here on."""
    store = Task.store(tenant)
    row = store.create({"text": "a"})
    for _ in range(7):
        store.get(row.id)
        list(store.query())

    try:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE testapp_task ADD COLUMN extra integer")

        assert store.get(row.id).data.text == "a"
        assert len(store.query()) == 1
        assert store.update(row.id, {"text": "b"}).version == 2
        assert store.create({"text": "c"}).version == 1
        assert store.delete(row.id)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE testapp_task DROP COLUMN extra")


def test_a_table_with_an_odd_name_is_quoted(store, monkeypatch):
    monkeypatch.setattr(Task._meta, "db_table", 'no "such" table')

    with pytest.raises(Exception, match="did not carry out"), transaction.atomic():
        store.create({"text": "a"})


def test_the_back_end_is_the_portable_one_where_it_has_nothing_of_its_own(store):
    assert isinstance(store._rows, PostgresRows)
    own = {name for name in vars(PostgresRows) if not name.startswith("_")}
    assert own == {"get", "page", "insert", "update", "delete"}


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_stricter_isolation_works_too(transactional_db, backend, tenant, level):
    store = Task.store(tenant)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        row = store.create({"text": "a"}, idempotency_key="k")
        store.update(row.id, {"text": "b"})
        store.delete(row.id)
        store.undelete(row.id)

    assert store.get(row.id).version == 2
