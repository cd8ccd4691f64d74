"""What all of the store's methods promise: unknown ids, other tenants, the caller's block, who acts."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import transaction

from agentstore import acting
from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, ValidationFailed
from agentstore.core.models import AuditEntry
from agentstore.core.values import new_id
from tests.testapp.models import Task

UNKNOWN = [
    UUID(int=7),
    str(UUID(int=8)),
    "nope",
    "",
    "0" * 31,
    "x" * 36,
    5,
    None,
    b"x",
    ["a"],
    {"a": 1},
    "\0",
]


# --- unknown ids and other tenants ----------------------------------------------------------------


@pytest.mark.parametrize("id", UNKNOWN)
def test_every_method_with_an_unknown_id(tasks, unchanged, id):
    assert tasks.get(id) is None
    assert tasks.get(id, version=1) is None
    assert tasks.get_deleted(id) is None
    assert tasks.history(id) == []
    assert tasks.delete(id) is False
    assert tasks.delete(id, expected_version=1) is False
    for call in (
        lambda: tasks.update(id, {"text": "a"}),
        lambda: tasks.update(id, {}),
        lambda: tasks.replace(id, {"text": "a"}),
        lambda: tasks.undelete(id),
    ):
        with pytest.raises(NotFound, match="There is no tasks row"):
            call()
    unchanged()


@pytest.mark.parametrize("deleted", [False, True])
def test_every_method_with_another_tenants_id_behaves_as_for_an_unknown_one(
    tasks, other_tenant, unchanged, deleted
):
    theirs = Task.store(other_tenant).create({"text": "secret"})
    if deleted:
        Task.store(other_tenant).delete(theirs.id)
    mine = tasks.create({"text": "mine"})
    unchanged(reset=True)
    unknown = new_id()

    calls = [
        lambda id: tasks.get(id),
        lambda id: tasks.get(id, version=1),
        lambda id: tasks.get_deleted(id),
        lambda id: tasks.get_deleted(id, version=1),
        lambda id: tasks.history(id),
        lambda id: tasks.history(id, limit=1, before=new_id()),
        lambda id: tasks.delete(id),
        lambda id: tasks.delete(id, expected_version=1),
        lambda id: tasks.delete(id, expected_version=7),
        lambda id: tasks.update(id, {"text": "b"}),
        lambda id: tasks.update(id, {"text": "b"}, expected_version=1),
        lambda id: tasks.update(id, {"text": "b"}, expected_version=7),
        lambda id: tasks.update(id, {}),
        lambda id: tasks.replace(id, {"text": "b"}),
        lambda id: tasks.replace(id, {"text": "b"}, expected_version=7),
        lambda id: tasks.undelete(id),
        lambda id: [row.id for row in tasks.query({"id": id})],
        lambda id: [row.id for row in tasks.iterate({"id__in": [id]})],
        lambda id: tasks.count({"id": id}),
        lambda id: tasks.count({"id__ne": id}),
        lambda id: tasks.usage(),
    ]
    for call in calls:
        assert outcome(call, theirs.id) == outcome(call, unknown)

    assert [row.id for row in tasks.query()] == [mine.id]
    unchanged()


def outcome(call, id):
    """Return what a call gave or told, the id blotted out."""
    try:
        return call(id)
    except NotFound as error:
        return {key: str(value).replace(str(id), "ID") for key, value in error.as_dict().items()}


def test_another_tenants_history_is_no_place_to_go_on_from(tasks, other_tenant):
    theirs = Task.store(other_tenant).create({"text": "secret"})
    entry = Task.store(other_tenant).history(theirs.id)[0]
    mine = tasks.create({"text": "mine"})

    assert tasks.history(mine.id, before=entry.id) == tasks.history(mine.id, before=new_id()) == []


# --- inside a caller's block ----------------------------------------------------------------------


@pytest.mark.local_only
def test_refusals_leave_the_callers_block_usable(tasks, smalls):
    smalls.create_many([{}] * 5)
    row = tasks.create({"text": "a"})

    with transaction.atomic():
        before = tasks.create({"text": "before"})
        for call in (
            lambda: smalls.create({}),
            lambda: smalls.create_many([{}, {}]),
            lambda: tasks.update(row.id, {"text": "b"}, expected_version=7),
            lambda: tasks.update(new_id(), {"text": "b"}),
            lambda: tasks.update(row.id, {"text": 5}),
            lambda: tasks.delete(row.id, expected_version=7),
            lambda: tasks.undelete(new_id()),
            lambda: tasks.create({"text": 5}),
            lambda: smalls.create({}, idempotency_key="k"),
        ):
            with pytest.raises((QuotaExceeded, Conflict, NotFound, ValidationFailed)):
                call()
        after = tasks.create({"text": "after"})

    assert tasks.get(before.id) is not None
    assert tasks.get(after.id) is not None


@pytest.mark.local_only
def test_a_write_belongs_to_the_callers_block(tasks):
    row = tasks.create({"text": "a"})

    with pytest.raises(RuntimeError), transaction.atomic():
        tasks.create({"text": "b"})
        tasks.create_many([{"text": "c"}])
        tasks.update(row.id, {"text": "changed"})
        tasks.delete(row.id)
        tasks.undelete(row.id)
        tasks.create({"text": "d"}, idempotency_key="k")
        raise RuntimeError

    assert [found.data.text for found in tasks.query()] == ["a"]
    assert tasks.usage().used == 1
    assert [entry.op for entry in tasks.history(row.id)] == ["create"]
    assert AuditEntry.objects.count() == 1


# --- who ------------------------------------------------------------------------------------------


@pytest.mark.local_only
@pytest.mark.parametrize("op", ["create", "create_many", "update", "replace", "delete", "undelete"])
def test_who_acts_the_call_before_the_store_before_the_block(db, backend, tenant, op):
    store = Task.store(tenant, actor="store", reason="store's", context={"store": 1})
    bare = Task.store(tenant)

    def write(store, **who):
        row = bare.create({"text": "a"})
        if op == "undelete":
            bare.delete(row.id)
        if op == "create":
            row = store.create({"text": "b"}, **who)
        elif op == "create_many":
            (row,) = store.create_many([{"text": "b"}], **who)
        elif op in ("update", "replace"):
            getattr(store, op)(row.id, {"text": "b"}, **who)
        else:
            getattr(store, op)(row.id, **who)
        entry = bare.history(row.id)[0]
        return entry.actor, entry.reason, entry.context

    with acting(actor="block", reason="block's", context={"block": 1}):
        assert write(bare) == ("block", "block's", {"block": 1})
        assert write(store) == ("store", "store's", {"store": 1})
        assert write(store, actor="call") == ("call", "store's", {"store": 1})
        assert write(store, reason="call's", context={}) == ("store", "call's", {})
    assert write(bare) == ("", "", {})


@pytest.mark.parametrize(
    "who", [{"actor": 5}, {"actor": "x" * 256}, {"reason": "\0"}, {"context": [1]}], ids=str
)
def test_who_is_checked_before_anything_is_written(tasks, unchanged, who):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    for call in (
        lambda: tasks.create({"text": "b"}, **who),
        lambda: tasks.create_many([{"text": "b"}], **who),
        lambda: tasks.update(row.id, {"text": "b"}, **who),
        lambda: tasks.replace(row.id, {"text": "b"}, **who),
        lambda: tasks.delete(row.id, **who),
        lambda: tasks.undelete(row.id, **who),
        lambda: Task.store("acme", **who),
    ):
        with pytest.raises(ValidationFailed):
            call()
    unchanged()


@pytest.mark.parametrize("tenant", ["", " a", "a\n", "\0", None, 5, "x" * 256])
def test_a_store_has_a_tenant(tenant):
    with pytest.raises(ValidationFailed) as info:
        Task.store(tenant)

    assert list(info.value.errors) == ["tenant"]


def test_tenants_are_compared_exactly(store_of):
    names = ["acme", "ACME", "acme.", "\u00e9", "e\u0301", "a%", "a_"]
    for name in names:
        store_of(Task, name).create({"text": name})

    for name in names:
        assert [row.data.text for row in store_of(Task, name).query()] == [name]
        assert store_of(Task, name).usage().used == 1
