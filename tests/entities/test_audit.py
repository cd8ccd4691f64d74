"""The audit: what each entry holds, and that any version can be rebuilt from it."""

from __future__ import annotations

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.errors import StorageFailed, ValidationFailed
from agentstore.core.models import AuditEntry
from agentstore.core.values import new_id
from tests.testapp.models import Plain, Small, Task


def patches(store, id):
    return [entry.patch for entry in reversed(store.history(id))]


def test_each_operation_leaves_one_entry(tasks):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "b"}, reason="typo", context={"run": 7})
    tasks.delete(row.id)
    tasks.undelete(row.id)
    tasks.replace(row.id, {"text": "c"})

    entries = tasks.history(row.id)

    assert [(entry.op, entry.version) for entry in entries] == [
        ("update", 3),
        ("undelete", 2),
        ("delete", 2),
        ("update", 2),
        ("create", 1),
    ]
    assert {entry.actor for entry in entries} == {"agent:bia"}
    assert (entries[3].reason, entries[3].context) == ("typo", {"run": 7})
    assert (entries[0].reason, entries[0].context) == ("", {})
    assert [entry.at for entry in entries] == sorted((entry.at for entry in entries), reverse=True)
    assert AuditEntry.objects.filter(entity="tasks", tenant="acme", row_id=row.id).count() == 5


def test_a_create_keeps_the_full_dump_and_an_update_what_it_changed(tasks):
    row = tasks.create({"text": "a", "priority": 3, "tags": ["x"]})
    tasks.update(row.id, {"text": "b", "priority": 3}, unset=["tags", "done"])
    tasks.delete(row.id)
    tasks.undelete(row.id)
    tasks.replace(row.id, {"text": "c"})

    assert patches(tasks, row.id) == [
        row.raw,
        {"set": {"text": "b", "tags": []}, "unset": ["tags"]},
        None,
        None,
        {"set": {"text": "c", "priority": 0}, "unset": []},
    ]


def test_times_of_entries_are_those_of_the_row(tasks):
    row = tasks.create({"text": "a"})
    changed = tasks.update(row.id, {"text": "b"})

    assert [entry.at for entry in tasks.history(row.id)] == [changed.updated_at, row.created_at]


def test_create_many_leaves_one_entry_a_row(tasks):
    rows = tasks.create_many([{"text": "a"}, {"text": "b"}], reason="import")

    for row in rows:
        (entry,) = tasks.history(row.id)
        assert (entry.op, entry.version, entry.patch, entry.reason) == ("create", 1, row.raw, "import")


def test_refusals_and_writes_without_effect_leave_none(tasks):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "a"})
    tasks.undelete(row.id)
    with pytest.raises(ValidationFailed):
        tasks.update(row.id, {"text": 5})
    tasks.delete(new_id())

    assert AuditEntry.objects.count() == 1


@pytest.mark.local_only
@pytest.mark.parametrize("op", ["create", "create_many", "update", "replace", "delete", "undelete"])
def test_a_write_whose_audit_fails_did_not_happen(tasks, monkeypatch, op, settings):
    """Row, counter and audit are one: a taken audit id is an error of the database."""
    row = tasks.create({"text": "a"})
    if op == "undelete":
        tasks.delete(row.id)
    before = (Task.objects.values().get(), tasks.usage(), AuditEntry.objects.count())
    taken = AuditEntry.objects.first().pk
    ids = iter([new_id() if op.startswith("create") else taken, taken, new_id(), new_id()])
    monkeypatch.setattr("agentstore.entities.creating.new_id", lambda: next(ids))
    calls = {
        "create": lambda: tasks.create({"text": "b"}),
        "create_many": lambda: tasks.create_many([{"text": "b"}]),
        "update": lambda: tasks.update(row.id, {"text": "b"}),
        "replace": lambda: tasks.replace(row.id, {"text": "b"}),
        "delete": lambda: tasks.delete(row.id),
        "undelete": lambda: tasks.undelete(row.id),
    }

    with pytest.raises(StorageFailed) as info, transaction.atomic():
        calls[op]()

    assert not info.value.retryable
    assert (Task.objects.values().get(), tasks.usage(), AuditEntry.objects.count()) == before


def test_history_is_read_in_pages(tasks):
    row = tasks.create({"text": "a"})
    for number in range(6):
        tasks.update(row.id, {"priority": number + 1})
        tasks.delete(row.id)
        tasks.undelete(row.id)
    whole = tasks.history(row.id)

    found = tasks.history(row.id, limit=4)
    while len(found) < len(whole):
        found += tasks.history(row.id, limit=4, before=str(found[-1].id))

    assert found == whole
    assert len(whole) == 19
    assert tasks.history(row.id, before=whole[-1].id) == []
    assert tasks.history(row.id, limit=0) == tasks.history(row.id, limit=-3) == whole[:1]
    assert tasks.history(row.id, before="nope") == []


@pytest.mark.parametrize("limit", [True, 2.5, "5", [1]], ids=repr)
def test_a_limit_of_history_is_an_int(tasks, limit):
    with pytest.raises(ValidationFailed, match="whole number") as info:
        tasks.history(new_id(), limit=limit)

    assert list(info.value.errors) == ["limit"]


def test_the_history_of_a_deleted_row_can_be_read(tasks):
    row = tasks.create({"text": "a"})
    tasks.delete(row.id)

    assert [entry.op for entry in tasks.history(row.id)] == ["delete", "create"]


@pytest.mark.local_only
def test_every_50th_version_keeps_the_full_row(db, backend, tenant):
    store = Small.store(tenant)
    row = store.create({})
    rows = {1: row} | {n: store.update(row.id, {"n": n}) for n in range(2, 121)}

    full = dict(AuditEntry.objects.exclude(full__isnull=True).values_list("version", "full"))

    assert full == {50: rows[50].raw, 100: rows[100].raw}
    for version, then in rows.items():
        found = store.get(row.id, version=version)
        assert (found.version, found.data, found.updated_at) == (version, then.data, then.updated_at)


@pytest.mark.local_only
def test_rebuilding_reads_no_more_than_fifty_entries(db, backend, tenant, monkeypatch):
    store = Small.store(tenant)
    row = store.create({})
    for n in range(1, 121):
        store.update(row.id, {"n": n})
    rows, read = type(store._rows), []
    replay = rows.replay
    monkeypatch.setattr(rows, "replay", lambda self, *args: read.append(replay(self, *args)) or read[-1])

    for version in (49, 50, 99, 100, 120):
        store.get(row.id, version=version)

    assert [len(entries) for entries in read] == [49, 1, 50, 1, 21]


def test_a_version_has_the_identity_of_the_row(tasks):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "b"})

    first = tasks.get(row.id, version=1)

    assert (first.id, first.tenant, first.created_at, first.changed) == (
        row.id,
        "acme",
        row.created_at,
        False,
    )
    assert first.data == row.data
    assert tasks.get(row.id, version=2) == tasks.get(row.id)


@pytest.mark.parametrize("version", [0, -1, 3, 4])
def test_a_version_that_never_was_is_none(tasks, version):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "b"})

    assert tasks.get(row.id, version=version) is None


@pytest.mark.local_only
def test_a_version_whose_audit_is_gone_is_none(tasks):
    row = tasks.create({"text": "a"})
    for number in range(1, 60):
        tasks.update(row.id, {"priority": number})
    entries = AuditEntry._base_manager.filter(row_id=row.id)
    entries.filter(version__in=[1, 55]).delete()

    assert tasks.get(row.id, version=1) is None
    assert tasks.get(row.id, version=20) is None
    assert tasks.get(row.id, version=54).data.priority == 53
    assert tasks.get(row.id, version=55) is None
    assert tasks.get(row.id, version=60).data.priority == 59


def test_a_version_between_two_lost_ones_is_not_made_up(tasks):
    """With an entry missing on the way, what follows it can't be known until the next full row."""
    row = tasks.create({"text": "a"})
    for number in range(1, 5):
        tasks.update(row.id, {"priority": number})
    AuditEntry._base_manager.filter(row_id=row.id, version=2).delete()

    assert tasks.get(row.id, version=3) is None
    assert tasks.get(row.id, version=1).data.priority == 0


def test_an_old_version_that_no_longer_fits_comes_with_the_reasons(tasks):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "b"})
    AuditEntry._base_manager.filter(row_id=row.id, version=1).update(patch={"done": True, "old": 1})

    found = tasks.get(row.id, version=1)

    assert (found.data, found.raw, list(found.schema_errors)) == (None, {"done": True, "old": 1}, ["text"])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-2, 2, width=16)
    | st.sampled_from(["", "a", "ä"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "value": VALUES,
        "text": st.sampled_from(["", "a", "b"]),
        "number": st.sampled_from([None, 0, 1, 1.5]),
    },
)
STEPS: st.SearchStrategy = st.one_of(
    st.tuples(st.just("update"), FIELDS, st.sets(st.sampled_from(["value", "text", "number"]))),
    st.tuples(st.just("replace"), FIELDS, st.just(set())),
    st.tuples(st.just("delete and undelete"), st.just({}), st.just(set())),
    st.tuples(st.just("drift"), st.just({}), st.just(set())),
)


@pytest.mark.local_only
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=FIELDS, steps=st.lists(STEPS, min_size=1, max_size=12), before=st.sampled_from([0, 0, 46]))
def test_every_version_can_be_had_as_it_was(db, backend, tenant, first, steps, before):
    store = Plain.store(tenant)
    row = store.create(first)
    seen = {1: store.get(row.id)}
    for number in range(before):
        row = store.update(row.id, {"number": 10.0 + number})
        seen[row.version] = row

    for op, data, unset in steps:
        if op == "update":
            store.update(row.id, {k: v for k, v in data.items() if k not in unset}, unset=unset)
        elif op == "replace":
            store.replace(row.id, data)
        elif op == "drift":
            stored = Plain._base_manager.get(pk=row.id)
            Plain._base_manager.filter(pk=row.id).update(data={**stored.data, "old": 1})
        else:
            store.delete(row.id)
            store.undelete(row.id)
        found = store.get(row.id)
        seen.setdefault(found.version, found)

    for version, then in seen.items():
        found = store.get(row.id, version=version)
        assert (found.version, found.data, found.updated_at) == (version, then.data, then.updated_at)
        if version < max(seen):
            assert found.raw == {key: value for key, value in then.raw.items() if key != "old"}
