"""Database errors: translated, logged, never shown."""

from __future__ import annotations

import logging

import pytest
from django.db import (
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)
from django.db.backends.utils import CursorWrapper

from agentstore.core.errors import NotFound, StorageFailed
from agentstore.core.storage import atomic, translate_errors
from tests.testapp.models import Task


@translate_errors
def fail(error):
    raise error


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (OperationalError, True),
        (InterfaceError, True),
        (DataError, False),
        (IntegrityError, False),
        (ProgrammingError, False),
    ],
)
def test_a_database_error_becomes_a_storage_error_without_its_text(error, retryable, caplog):
    with pytest.raises(StorageFailed) as info:
        fail(error('relation "secret" at SELECT 1'))

    assert info.value.retryable is retryable
    assert "secret" not in str(info.value.as_dict())
    assert info.value.hint == ("Try again later." if retryable else "The cause is in the server's log.")
    assert isinstance(info.value.__cause__, error)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert 'relation "secret"' in caplog.text


@pytest.mark.parametrize("error", [NotFound("no"), KeyError("x")], ids=["ours", "python"])
def test_other_errors_pass(error):
    with pytest.raises(type(error)):
        fail(error)


def test_what_a_call_returns_passes():
    assert translate_errors(len)("abc") == 3


def test_a_broken_database_is_a_storage_error_in_every_store_method(db, monkeypatch):
    store = Task.store("acme")
    row = store.create({"text": "a"})

    def broken(self, sql, params=None):
        raise OperationalError("could not connect to 10.0.0.1")

    calls = [
        lambda: store.get(row.id),
        lambda: store.get(row.id, version=1),
        lambda: store.query(),
        lambda: list(store.iterate()),
        lambda: store.count(),
        lambda: store.usage(),
        lambda: store.history(row.id),
        lambda: store.create({"text": "b"}),
        lambda: store.create({"text": "b"}, idempotency_key="k"),
        lambda: store.create_many([{"text": "b"}]),
        lambda: store.update(row.id, {"text": "b"}),
        lambda: store.replace(row.id, {"text": "b"}),
        lambda: store.delete(row.id),
        lambda: store.undelete(row.id),
        lambda: list(Task.sweep(reason="tests")),
    ]

    with monkeypatch.context() as broken_for_now:
        broken_for_now.setattr(CursorWrapper, "execute", broken)
        broken_for_now.setattr(CursorWrapper, "executemany", broken)
        for call in calls:
            with pytest.raises(StorageFailed) as info:
                call()
            assert info.value.retryable
            assert "10.0.0.1" not in str(info.value.as_dict())


@pytest.mark.postgres_only
def test_a_connection_that_was_lost_is_made_anew_by_the_next_call(transactional_db):
    """Django would look after it between requests only, and a worker has none."""
    store = Task.store("acme")
    store.create({"text": "a"})
    connection.connection.close()

    with pytest.raises(StorageFailed) as info:
        store.create({"text": "b"})

    assert info.value.retryable
    assert store.create({"text": "b"}).version == 1
    assert store.count() == 2


@pytest.mark.postgres_only
def test_a_connection_that_was_lost_inside_a_block_stays_for_the_block_to_end(transactional_db):
    store = Task.store("acme")

    with pytest.raises(OperationalError), transaction.atomic():
        store.create({"text": "a"})
        connection.connection.close()
        with pytest.raises(StorageFailed):
            store.create({"text": "b"})
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    assert store.count() == 0


@pytest.mark.postgres_only
def test_a_connection_that_still_works_is_kept_after_an_error(transactional_db):
    connection.ensure_connection()
    used = connection.connection

    with pytest.raises(StorageFailed), atomic("default"), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 10")
        cursor.execute("SELECT pg_sleep(5)")

    assert Task.store("acme").count() == 0
    assert connection.connection is used


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_no_connection_for_a_transaction_is_a_storage_error(db, monkeypatch, error):
    def refuse():
        raise error("could not connect to 10.0.0.1")

    monkeypatch.setattr(connection, "savepoint", refuse)

    with pytest.raises(StorageFailed) as info, atomic("default"):
        raise AssertionError("not reached")

    connection.needs_rollback = False
    assert info.value.retryable
    assert "10.0.0.1" not in str(info.value.as_dict())


def test_what_is_raised_inside_a_transaction_passes_and_undoes_it(db):
    with pytest.raises(NotFound), atomic("default"):
        Task.store("acme").create({"text": "a"})
        raise NotFound("no")

    assert Task.store("acme").count() == 0
