"""The portable back end: the ORM alone, and a write as the first statement of each transaction."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from agentstore.core.errors import Conflict, QuotaExceeded
from tests.parallel import run_parallel
from tests.testapp.models import Small, Task


@pytest.fixture
def portable(settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": "portable"}


@pytest.fixture
def store(db, portable, tenant):
    return Task.store(tenant)


BACKEND_CALLS = ["insert", "update", "delete", "undelete"]


@pytest.mark.parametrize("key", [None, "k"])
def test_the_first_statement_of_a_write_is_a_write(store, monkeypatch, key):
    """SQLite gives up at once where a transaction that has read wants to write and another one did."""
    firsts = {}
    rows = type(store._rows)

    def watch(name):
        call = getattr(rows, name)

        def watched(self, *args, **kwargs):
            with CaptureQueriesContext(connection) as queries:
                result = call(self, *args, **kwargs)
            own = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
            firsts.setdefault(name, []).append(own[0].split()[0])
            return result

        monkeypatch.setattr(rows, name, watched)

    for name in BACKEND_CALLS:
        watch(name)
    row = store.create({"text": "a"}, idempotency_key=key)
    store.create_many([{"text": "b"}], idempotency_key=key and "k2")
    store.update(row.id, {"text": "b"})
    store.delete(row.id)
    store.undelete(row.id)

    assert set(firsts) == set(BACKEND_CALLS)
    assert {word for words in firsts.values() for word in words} <= {"INSERT", "UPDATE", "DELETE"}


def test_a_refusal_undoes_what_was_written_before_it(db, portable, tenant):
    """The row is written before the counter is asked: a full counter must take it back."""
    store = Small.store(tenant)
    rows = store.create_many([{"n": n} for n in range(5)])
    store.delete(rows[0].id)
    store.create({})

    with transaction.atomic():
        with pytest.raises(QuotaExceeded):
            store.undelete(rows[0].id)
        assert store.get(rows[0].id) is None
        assert store.usage().used == 5
        with pytest.raises(Conflict):
            store.delete(rows[1].id, expected_version=7)
        assert store.delete(rows[1].id)

    assert store.usage().used == store.count() == 4


def test_threads_never_find_the_database_locked(transactional_db, portable, tenant):
    store = Task.store(tenant)
    shared = store.create({"text": "a"})

    def work(i):
        for number in range(15):
            row = store.create({"text": f"{i}-{number}"}, idempotency_key=f"{i}-{number}")
            store.update(row.id, {"priority": number + 1})
            store.update(shared.id, {"text": f"{i}-{number}"})
            if number % 3 == 0:
                store.delete(row.id)

    assert run_parallel(8, work) == [None] * 8
    assert store.count() == store.usage().used == 1 + 8 * 10
    assert store.get(shared.id).version == 1 + 8 * 15


def test_the_counter_is_made_with_the_first_row_only(store, django_assert_num_queries):
    store.create({"text": "a"})

    with django_assert_num_queries(5):  # savepoint, counter, row, audit, release
        store.create({"text": "b"})
