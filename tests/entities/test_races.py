"""Another writer acts between two statements of one operation: what was read may be other then.

Where the tests of ``test_concurrency`` let many threads meet by chance, here each meets at its place.
"""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from agentstore.core.errors import Conflict
from agentstore.core.models import IdempotencyKey
from agentstore.core.values import now
from agentstore.entities.maintenance import purge_keys
from agentstore.entities.portable import PortableRows
from tests.parallel import run_parallel
from tests.testapp.models import Task

pytestmark = pytest.mark.usefixtures("transactional_db", "backend")


@pytest.fixture
def before(monkeypatch):
    """Return a function that lets another connection act, once, before a call of the back end."""

    def arrange(name, act):
        call, results = getattr(PortableRows, name), []

        def called(self, *args, **kwargs):
            if not results and threading.current_thread() is threading.main_thread():
                results.extend(run_parallel(1, lambda _: impatient(act)))
            return call(self, *args, **kwargs)

        monkeypatch.setattr(PortableRows, name, called)
        return results

    return arrange


def impatient(act):
    """Act, but give up soon where another holds what it takes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SET lock_timeout = '300ms'" if connection.vendor == "postgresql" else "PRAGMA busy_timeout = 300"
        )
    return act()


def forget_keys():
    return purge_keys("default", now(), tenant=None, dry_run=False)


@pytest.mark.parametrize("text", ["a", "b"], ids=["same data", "other data"])
def test_a_key_that_goes_while_it_is_looked_up_is_used_anew(tenant, before, text):
    store = Task.store(tenant)
    first = store.create({"text": "a"}, idempotency_key="k")
    removed = before("claimed", forget_keys)

    row = store.create({"text": text}, idempotency_key="k")

    assert (removed, row.changed, row.data.text) == ([1], True, text)
    assert row.id != first.id
    assert store.create({"text": text}, idempotency_key="k").id == row.id
    assert IdempotencyKey.objects.count() == 1
    assert store.count() == store.usage().used == 2


def test_a_key_that_goes_and_comes_while_it_is_looked_up_is_the_others(tenant, before):
    store = Task.store(tenant)
    store.create({"text": "a"}, idempotency_key="k")
    before("claimed", lambda: (forget_keys(), store.create({"text": "b"}, idempotency_key="k")))

    with pytest.raises(Conflict, match="with other data"):
        store.create({"text": "a"}, idempotency_key="k")

    assert store.count() == store.usage().used == 2


def test_an_undelete_that_others_came_before_is_the_last_in_the_history(tenant, before):
    store = Task.store(tenant)
    row = store.create({"text": "a"})
    store.delete(row.id)
    before("undelete", lambda: (store.undelete(row.id), store.delete(row.id)))

    assert store.undelete(row.id).changed

    ops = [entry.op for entry in store.history(row.id)]
    assert ops == ["undelete", "delete", "undelete", "delete", "create"]
