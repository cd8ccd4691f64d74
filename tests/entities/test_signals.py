"""``row_changed``: told on commit, by ids only, and free of cost where nobody listens."""

from __future__ import annotations

import logging

import pytest
from django.db import connection, transaction

from agentstore.core.errors import Conflict
from agentstore.core.values import new_id
from agentstore.signals import row_changed
from tests.testapp.models import Small, Task


@pytest.fixture
def heard():
    """Every signal that is sent while the test runs."""
    signals = []

    def listen(sender, **news):
        news.pop("signal")
        signals.append((sender, news))

    row_changed.connect(listen)
    yield signals
    row_changed.disconnect(listen)


def test_each_write_is_told_after_its_commit(transactional_db, backend, tenant, heard):
    store = Task.store(tenant, actor="agent:bia")
    row = store.create({"text": "secret"})
    store.update(row.id, {"text": "b"}, actor="agent:tom")
    store.replace(row.id, {"text": "c"})
    store.delete(row.id)
    store.undelete(row.id)

    told = [(sender, news["op"], news["version"], news["actor"]) for sender, news in heard]
    assert told == [
        (Task, "create", 1, "agent:bia"),
        (Task, "update", 2, "agent:tom"),
        (Task, "update", 3, "agent:bia"),
        (Task, "delete", 3, "agent:bia"),
        (Task, "undelete", 3, "agent:bia"),
    ]
    assert all(news.keys() == {"tenant", "id", "op", "version", "actor"} for _, news in heard)
    assert {(news["tenant"], news["id"]) for _, news in heard} == {(tenant, row.id)}
    assert "secret" not in str(heard)


def test_create_many_is_told_row_by_row(transactional_db, backend, tenant, heard):
    rows = Task.store(tenant).create_many([{"text": "a"}, {"text": "b"}])

    assert [news["id"] for _, news in heard] == [row.id for row in rows]


def test_nothing_is_told_before_the_commit_nor_after_a_rollback(transactional_db, backend, tenant, heard):
    store = Task.store(tenant)
    with transaction.atomic():
        store.create({"text": "a"})
        assert heard == []
    assert len(heard) == 1

    with pytest.raises(RuntimeError), transaction.atomic():
        store.create({"text": "b"})
        raise RuntimeError

    assert len(heard) == 1


def test_what_did_not_happen_is_not_told(transactional_db, backend, tenant, heard):
    store = Task.store(tenant)
    row = store.create({"text": "a"}, idempotency_key="k")
    heard.clear()

    store.create({"text": "a"}, idempotency_key="k")
    store.update(row.id, {"text": "a"})
    store.undelete(row.id)
    store.delete(new_id())
    with pytest.raises(Conflict):
        store.update(row.id, {"text": "b"}, expected_version=7)

    assert heard == []


def test_a_receiver_may_listen_to_one_entity(transactional_db, backend, tenant):
    seen = []

    def listen(sender, **news):
        seen.append(sender)

    row_changed.connect(listen, sender=Small)
    try:
        Task.store(tenant).create({"text": "a"})
        Small.store(tenant).create({})
    finally:
        row_changed.disconnect(listen, sender=Small)

    assert seen == [Small]


def test_a_receiver_that_fails_harms_neither_the_write_nor_the_others(
    transactional_db, backend, tenant, heard, caplog
):
    def fail(sender, **news):
        raise RuntimeError("receiver")

    row_changed.connect(fail)
    try:
        with caplog.at_level(logging.ERROR):
            row = Task.store(tenant).create({"text": "a"})
    finally:
        row_changed.disconnect(fail)

    assert Task.store(tenant).get(row.id) is not None
    assert len(heard) == 1


def test_without_receivers_nothing_is_kept_for_the_commit(db, backend, tenant):
    with transaction.atomic():
        before = len(connection.run_on_commit)

        Task.store(tenant).create_many([{"text": "a"}, {"text": "b"}])

        assert len(connection.run_on_commit) == before


def test_rows_written_together_are_kept_together_for_the_commit(db, backend, tenant, heard):
    """An import of a million rows must not hold a million callbacks until it commits."""
    with transaction.atomic():
        before = len(connection.run_on_commit)

        Task.store(tenant).create_many([{"text": "a"}] * 1200)

        assert len(connection.run_on_commit) == before + 1
        (_, tell, _robust) = connection.run_on_commit[-1]
        assert len(tell.args[1]) == 16 * 1200


def test_a_rolled_back_inner_block_is_not_told_of(transactional_db, backend, tenant, heard):
    store = Task.store(tenant)
    with transaction.atomic():
        kept = store.create({"text": "a"})
        with pytest.raises(RuntimeError), transaction.atomic():
            store.create_many([{"text": "b"}, {"text": "c"}])
            raise RuntimeError

    assert [news["id"] for _, news in heard] == [kept.id]
