"""``sweep``: the one named door across tenants, checked and logged."""

from __future__ import annotations

import logging
from itertools import islice

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.errors import ValidationFailed
from tests.testapp.models import Task


@pytest.fixture
def of_three(db, backend):
    for number, tenant in enumerate(("acme", "globex", "initech")):
        store = Task.store(tenant)
        store.create_many({"text": tenant, "priority": n, "done": n % 2 == 0} for n in range(number + 1))
        store.delete(store.create({"text": "gone"}).id)


def test_rows_of_every_tenant_are_found_and_each_says_whose_it_is(of_three):
    rows = list(Task.sweep(reason="dispatch"))

    assert sorted((row.tenant, row.data.text) for row in rows) == [
        ("acme", "acme"),
        ("globex", "globex"),
        ("globex", "globex"),
        ("initech", "initech"),
        ("initech", "initech"),
        ("initech", "initech"),
    ]


def test_filter_and_order_are_those_of_a_query(of_three):
    rows = list(Task.sweep({"done": True, "priority__gte": 0}, order_by="-priority", reason="dispatch"))

    assert [row.data.priority for row in rows] == [2, 0, 0, 0]


def test_many_rows_come_page_by_page(of_three):
    Task.store("acme").create_many({"text": "x"} for _ in range(230))

    with CaptureQueriesContext(connection) as queries:
        rows = list(Task.sweep({"text": "x"}, order_by="created_at", reason="dispatch"))

    assert len({row.id for row in rows}) == 230
    assert len(queries) == 3


def test_rows_may_be_written_while_they_are_swept(of_three):
    for row in Task.sweep({"done": False}, reason="dispatch"):
        Task.store(row.tenant).update(row.id, {"done": True})

    assert list(Task.sweep({"done": False}, reason="dispatch")) == []


def test_a_spoiled_row_does_not_stop_a_sweep(of_three, spoil):
    id = spoil({"done": True})

    found = {row.id: row for row in Task.sweep(reason="dispatch")}

    assert found[id].data is None
    assert len(found) == 7


def test_every_sweep_is_logged_with_its_reason(of_three, caplog):
    with caplog.at_level(logging.INFO, logger="agentstore.sweep"):
        Task.sweep(reason="dispatch due tasks")

    assert [record.getMessage() for record in caplog.records] == ["sweep of tasks: dispatch due tasks"]


@pytest.mark.parametrize("reason", ["", " ", None, 5, "x" * 2001, "\0"])
def test_a_sweep_says_why(db, reason, caplog):
    with caplog.at_level(logging.INFO, logger="agentstore.sweep"), pytest.raises(ValidationFailed) as info:
        Task.sweep(reason=reason)

    assert list(info.value.errors) == ["reason"]
    assert caplog.records == []


def test_a_sweep_without_a_reason_is_no_call():
    with pytest.raises(TypeError):
        Task.sweep()


@pytest.mark.parametrize(
    ("filter", "order_by"), [({"nope": 1}, None), ({"tenant": "acme"}, None), ({}, "nope"), ("x", None)]
)
def test_a_sweep_is_checked_when_it_is_called(db, filter, order_by):
    with pytest.raises(ValidationFailed):
        Task.sweep(filter, order_by=order_by, reason="dispatch")


def test_the_async_sweep_finds_the_same_rows_and_is_checked_and_logged_alike(of_three, caplog):
    Task.store("acme").create_many({"text": "x"} for _ in range(230))

    async def story():
        return [row.id async for row in Task.asweep({"text": "x"}, order_by="-created_at", reason="send")]

    with caplog.at_level(logging.INFO, logger="agentstore.sweep"):
        found = async_to_sync(story)()
        with pytest.raises(ValidationFailed):
            Task.asweep({"nope": 1}, reason="send")

    assert found == [row.id for row in Task.sweep({"text": "x"}, order_by="-created_at", reason="send")]
    assert len(found) == 230
    assert [record.getMessage() for record in caplog.records] == ["sweep of tasks: send"]


def test_a_sweep_gives_each_row_once_though_the_loop_writes_it(db):
    Task.store("acme").create_many({"text": "x"} for _ in range(103))

    found = []
    for row in islice(Task.sweep({"text": "x"}, order_by="due_at", reason="send"), 300):
        found.append(row.id)
        Task.store(row.tenant).update(row.id, {"priority": 1})

    assert len(found) == len(set(found)) == 103


def test_the_async_sweep_gives_each_row_once_though_the_loop_writes_it(db):
    store = Task.store("acme")
    store.create_many({"text": "x"} for _ in range(103))

    async def story():
        found = []
        async for row in Task.asweep({"text": "x"}, order_by="due_at", reason="send"):
            found.append(row.id)
            await store.aupdate(row.id, {"priority": 1})
            if len(found) == 300:
                break
        return found

    found = async_to_sync(story)()

    assert len(found) == len(set(found)) == 103
