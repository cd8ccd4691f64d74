"""The store's writes: what they return, what they refuse, in which order; refusals change nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from agentstore import acting
from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, TooLarge, ValidationFailed
from agentstore.core.models import AuditEntry, Usage
from agentstore.core.values import clock_at, new_id
from agentstore.entities import store as store_module
from agentstore.entities.backend import Outcome
from tests.testapp.models import Plain, Small, Task, TaskData

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


@pytest.fixture
def smalls(store_of, tenant):
    return store_of(Small, tenant)


@pytest.fixture
def unchanged(db):
    """Return a function that tells whether anything in the tables changed since the fixture was made."""

    def state():
        return [
            list(model.objects.order_by("pk").values()) for model in (Task, Small, Plain, AuditEntry, Usage)
        ]

    states = [state()]

    def check(*, reset=False):
        if reset:
            states[0] = state()
        assert state() == states[0]

    return check


# --- create -------------------------------------------------------------------------------------


def test_create_returns_what_get_then_finds(tasks):
    row = tasks.create({"text": "call Bia", "due_at": "2026-01-01T10:00:00+01:00", "lines": [{"sku": "x"}]})

    found = tasks.get(row.id)
    assert row.changed
    assert not found.changed
    assert (row.id, row.tenant, row.version, row.data) == (found.id, "acme", 1, found.data)
    assert (row.raw, row.created_at, row.updated_at) == (found.raw, found.created_at, found.updated_at)
    assert row.created_at == row.updated_at
    assert isinstance(row.data, TaskData)
    assert row.data.due_at == datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert (found.schema_errors, found.deleted_at) == ({}, None)


@pytest.mark.local_only
def test_ids_are_version_7_and_times_are_aware_utc_with_microseconds(tasks):
    before = datetime.now(UTC)
    row = tasks.get(tasks.create({"text": "a"}).id)

    assert row.id.version == 7
    assert before <= row.created_at <= datetime.now(UTC)
    assert row.created_at.utcoffset() == timedelta(0)
    with clock_at(datetime(2026, 1, 1, 9, 0, 0, 123457, tzinfo=UTC)):
        assert tasks.get(tasks.create({"text": "b"}).id).created_at.microsecond == 123457


def test_what_create_is_given_is_not_changed_nor_kept(tasks):
    given = {"text": "a", "tags": ["x"]}
    row = tasks.create(given)
    given["tags"].append("y")

    assert row.data.tags == ["x"]
    assert tasks.get(row.id).data.tags == ["x"]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"text": "a", "tags": ["\0"]}, "tags.0"),
        ({"text": "\ud800"}, "text"),
        ({"text": "a", "score": float("nan")}, "score"),
        ({"text": "a", "score": float("inf")}, "score"),
        ({"text": "x" * 1001}, "text"),
        ({"text": 5}, "text"),
        ({"text": "a", "nope": 1}, "nope"),
        ({}, "text"),
        ("text", ""),
    ],
    ids=range(9),
)
def test_create_refuses_with_the_path_and_changes_nothing(tasks, unchanged, data, path):
    with pytest.raises(ValidationFailed) as info:
        tasks.create(data)

    assert list(info.value.errors) == [path]
    unchanged()


def test_create_refuses_what_is_too_large_or_too_deep(store_of, tenant, unchanged, settings):
    store = store_of(Plain, tenant)
    deep = 0
    for _ in range(64):
        deep = [deep]

    with pytest.raises(TooLarge):
        store.create({"text": "x" * (256 * 1024)})
    with pytest.raises(ValidationFailed, match="nested too deeply"):
        store.create({"value": deep})
    settings.AGENTSTORE = {**settings.AGENTSTORE, "MAX_ROW_BYTES": 100, "MAX_DEPTH": 3}
    with pytest.raises(TooLarge, match="the limit is 100"):
        store.create({"text": "x" * 100})
    with pytest.raises(ValidationFailed, match="nested too deeply"):
        store.create({"value": [[[1]]]})
    unchanged()


def test_the_largest_and_deepest_row_is_kept(store_of, tenant):
    deep = 0
    for _ in range(63):
        deep = [deep]
    store = store_of(Plain, tenant)

    row = store.create({"value": deep, "text": "x" * 200_000, "number": 1e308})

    assert store.get(row.id).data == row.data


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        -(2**63) - 1,
        10**400,
        10**4300 - 1,
        1e-7,
        5e-324,
        "\x01\x7f",
        "\ufffe\uffff",
        "🙂",
        "\\u0000",
        "%s",
        {"%": "%(a)s"},
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else f"int{value.bit_length()}",
)
def test_unusual_values_come_back(store_of, tenant, value):
    store = store_of(Plain, tenant)

    row = store.create({"value": value})
    changed = store.update(row.id, {"value": [value]})

    assert store.get(row.id).data.value == [value] == changed.data.value
    assert store.get(row.id, version=1).data.value == value


def test_validation_wins_over_quota(smalls):
    smalls.create_many([{}] * 5)

    with pytest.raises(ValidationFailed):
        smalls.create({"n": "x"})
    with pytest.raises(QuotaExceeded):
        smalls.create({})


# --- quota --------------------------------------------------------------------------------------


def test_a_full_tenant_is_told_the_limit_and_nothing_changes(smalls, unchanged):
    smalls.create_many([{}] * 5)
    unchanged(reset=True)

    with pytest.raises(QuotaExceeded, match="smalls: there is no place left; the limit is 5 rows") as info:
        smalls.create({})

    assert info.value.hint
    unchanged()


def test_each_tenant_and_entity_has_its_own_places(smalls, store_of, other_tenant, tenant):
    smalls.create_many([{}] * 5)

    store_of(Small, other_tenant).create_many([{}] * 5)
    store_of(Plain, tenant).create({})

    assert (smalls.usage().used, smalls.usage().capacity, smalls.usage().remaining) == (5, 5, 0)
    assert store_of(Small, "empty").usage().used == 0


def test_deleting_frees_a_place_and_undeleting_takes_one(smalls):
    first, *_ = smalls.create_many([{}] * 5)
    smalls.delete(first.id)
    assert smalls.usage().used == 4
    smalls.create({})

    with pytest.raises(QuotaExceeded):
        smalls.undelete(first.id)

    assert smalls.get(first.id) is None
    assert smalls.usage().used == 5
    assert [entry.op for entry in smalls.history(first.id)] == ["delete", "create"]


def test_the_limit_may_depend_on_the_tenant(store_of):
    store_of(Plain, "small-1").create_many([{}] * 2)

    with pytest.raises(QuotaExceeded, match="the limit is 2"):
        store_of(Plain, "small-1").create({})
    assert store_of(Plain, "acme").usage().capacity == 1_000_000


@pytest.mark.parametrize(("limit", "fits"), [(0, 0), (1, 1), (10**12, 3), (2**31 - 1, 3)])
def test_limits_of_every_size(store_of, tenant, monkeypatch, limit, fits):
    monkeypatch.setattr(type(Small.entity), "capacity", lambda self, tenant: limit)
    store = store_of(Small, tenant)

    for number in range(3):
        if number < fits:
            store.create({})
        else:
            with pytest.raises(QuotaExceeded):
                store.create({})

    assert store.count() == fits


def test_a_lowered_limit_blocks_creates_only(smalls, monkeypatch):
    row, other, *_ = smalls.create_many([{}] * 5)
    monkeypatch.setattr(type(Small.entity), "capacity", lambda self, tenant: 2)

    assert smalls.update(row.id, {"n": 1}).changed
    assert smalls.delete(other.id)
    with pytest.raises(QuotaExceeded):
        smalls.create({})
    assert smalls.usage().remaining == 0


def test_a_callable_that_gives_nonsense_is_told(db, monkeypatch, tenant, unchanged):
    monkeypatch.setattr(
        Small, "entity", type(Small.entity)(name="smalls", max_rows_per_tenant=lambda tenant: "5")
    )

    with pytest.raises(ImproperlyConfigured, match="smalls: max_rows_per_tenant"):
        Small.store(tenant).create({})
    unchanged()


# --- create_many --------------------------------------------------------------------------------


def test_create_many_keeps_the_order(tasks):
    rows = tasks.create_many({"text": str(number)} for number in range(20))

    assert [row.data.text for row in rows] == [str(number) for number in range(20)]
    assert [row.data for row in rows] == [tasks.get(row.id).data for row in rows]
    assert len({row.created_at for row in rows}) == 1
    assert [row.id for row in rows] == sorted(row.id for row in rows)
    assert all(row.version == 1 and row.changed for row in rows)
    assert tasks.usage().used == 20


@pytest.mark.local_only
@pytest.mark.parametrize("count", [499, 500, 501, 1001])
def test_create_many_takes_more_than_one_statement_holds(db, backend, tenant, count):
    store = Plain.store(tenant)

    rows = store.create_many({"number": number} for number in range(count))

    assert store.count() == store.usage().used == len(rows) == count
    assert AuditEntry.objects.filter(op="create").count() == count
    assert store.get(rows[-1].id).data.number == count - 1


def test_create_many_of_nothing_is_nothing(tasks, unchanged):
    assert tasks.create_many([]) == []
    unchanged()


def test_create_many_is_all_or_nothing_when_items_do_not_fit(tasks, unchanged):
    items = [{"text": "a"}, {"text": 5}, {"text": "b"}, {"lines": [{}], "text": "c"}, 7]

    with pytest.raises(ValidationFailed) as info:
        tasks.create_many(items)

    assert sorted(info.value.errors) == ["1.text", "3.lines.0.sku", "4"]
    assert "3 of 5 items do not fit; 1.text: " in info.value.message
    unchanged()


@pytest.mark.parametrize("items", [None, 5, "ab", b"ab", {"text": "a"}])
def test_create_many_takes_a_list(tasks, unchanged, items):
    with pytest.raises(ValidationFailed, match=f"Expected a list of objects, found {type(items).__name__}"):
        tasks.create_many(items)
    unchanged()


def test_create_many_is_all_or_nothing_when_the_places_do_not_suffice(smalls, unchanged):
    smalls.create_many([{}] * 3)
    unchanged(reset=True)

    with pytest.raises(QuotaExceeded, match="no place left for 3 rows; the limit is 5"):
        smalls.create_many([{}] * 3)
    with pytest.raises(QuotaExceeded):
        smalls.create_many([{}] * 6)

    unchanged()
    assert len(smalls.create_many([{}] * 2)) == 2


@pytest.mark.local_only
def test_create_many_over_many_statements_is_all_or_nothing(db, backend, tenant, unchanged, monkeypatch):
    monkeypatch.setattr(type(Plain.entity), "capacity", lambda self, tenant: 1100)

    with pytest.raises(QuotaExceeded):
        Plain.store(tenant).create_many([{}] * 1101)
    unchanged()
    Plain.store(tenant).create_many([{}] * 100)
    with pytest.raises(QuotaExceeded):
        Plain.store(tenant).create_many([{}] * 1001)

    assert Plain.store(tenant).usage().used == Plain.store(tenant).count() == 100


# --- update -------------------------------------------------------------------------------------


def test_an_update_replaces_fields_and_counts_the_version(tasks):
    made = tasks.create({"text": "a", "priority": 1, "address": {"street": "s", "city": "c"}})

    row = tasks.update(made.id, {"priority": 2, "address": {"street": "t"}})

    assert row.changed
    assert (row.version, row.data.priority, row.data.text) == (2, 2, "a")
    assert row.data.address.city == ""
    assert row.created_at == made.created_at
    assert row.updated_at > made.updated_at
    found = tasks.get(made.id)
    assert (found.version, found.data, found.updated_at) == (2, row.data, row.updated_at)


def test_an_update_takes_python_values(tasks):
    row = tasks.create({"text": "a"})
    at = datetime(2026, 1, 1, tzinfo=UTC)

    assert tasks.update(row.id, {"due_at": at}).data.due_at == at


def test_unset_resets_to_the_default(tasks):
    row = tasks.create({"text": "a", "priority": 5, "tags": ["x"], "score": 1.5})

    changed = tasks.update(row.id, {"text": "b"}, unset=["priority", "tags", "score"])

    assert (changed.data.text, changed.data.priority, changed.data.tags, changed.data.score) == (
        "b",
        0,
        [],
        None,
    )
    assert changed.version == 2
    assert tasks.update(row.id, unset=("done",)).changed is False


@pytest.mark.parametrize(
    ("patch", "options"),
    [
        ({}, {}),
        (None, {}),
        ({"text": "a"}, {}),
        ({"score": 1}, {}),
        ({}, {"unset": ["done"]}),
        ({}, {"unset": []}),
    ],
    ids=str,
)
def test_an_update_without_effect_is_no_version(tasks, unchanged, patch, options):
    row = tasks.create({"text": "a", "score": 1.0})
    unchanged(reset=True)

    same = tasks.update(row.id, patch, expected_version=1, **options)

    assert not same.changed
    assert (same.id, same.version, same.data, same.updated_at) == (row.id, 1, row.data, row.updated_at)
    unchanged()


@pytest.mark.parametrize(
    ("patch", "unset", "path"),
    [
        ({"nope": 1}, (), "nope"),
        ({}, ["nope"], "nope"),
        ({"priority": 1}, ["priority"], "priority"),
        ({}, ["text"], "text"),
        ({}, "done", "unset"),
        ({}, 5, "unset"),
        ({}, None, "unset"),
        ({}, [5], "unset"),
        ([], (), ""),
        ("text", (), ""),
        ({"text": "\0"}, (), "text"),
        ({"tags": ["\ud800"]}, (), "tags.0"),
        ({"score": float("nan")}, (), "score"),
        ({"score": object()}, (), "score"),
        ({1: 2}, (), ""),
    ],
)
def test_the_shape_of_a_patch_is_checked_before_the_row_is_looked_for(tasks, unchanged, patch, unset, path):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    for id in (row.id, new_id(), "nope"):
        with pytest.raises(ValidationFailed) as info:
            tasks.update(id, patch, unset=unset, expected_version=7)
        assert list(info.value.errors) == [path]

    unchanged()


def test_an_unknown_row_comes_before_a_conflict_and_a_conflict_before_the_merged_row(tasks, unchanged):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    for write in (tasks.update, tasks.replace):
        with pytest.raises(NotFound):
            write(new_id(), {"text": 5}, expected_version=7)
        with pytest.raises(Conflict):
            write(row.id, {"text": 5}, expected_version=7)
        with pytest.raises(ValidationFailed):
            write(row.id, {"text": 5}, expected_version=1)

    unchanged()


def test_a_conflict_says_both_versions_and_what_to_do(tasks):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "b"})

    for call in (
        lambda: tasks.update(row.id, {"text": "c"}, expected_version=1),
        lambda: tasks.replace(row.id, {"text": "c"}, expected_version=1),
        lambda: tasks.delete(row.id, expected_version=1),
    ):
        with pytest.raises(Conflict, match=f"tasks row {row.id} is at version 2, not 1") as info:
            call()
        assert info.value.current_version == 2
        assert info.value.hint == "Read it again and reapply your change."


@pytest.mark.parametrize("version", [True, 1.0, "1", [1], float("nan")], ids=repr)
def test_a_version_that_is_no_int_is_refused(tasks, unchanged, version):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    for call in (
        lambda: tasks.update(row.id, {"text": "b"}, expected_version=version),
        lambda: tasks.replace(row.id, {"text": "b"}, expected_version=version),
        lambda: tasks.delete(row.id, expected_version=version),
        lambda: tasks.get(row.id, version=version),
        lambda: tasks.get("nope", version=version),
    ):
        with pytest.raises(ValidationFailed, match="whole number"):
            call()
    unchanged()


@pytest.mark.parametrize(
    "version", [0, -1, 2, 2**31, 2**64, -(2**64), 10**5000], ids=lambda v: str(v.bit_length())
)
def test_a_version_that_the_row_is_not_at_is_a_conflict_however_large(tasks, unchanged, version):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    for call in (
        lambda: tasks.update(row.id, {"text": "b"}, expected_version=version),
        lambda: tasks.replace(row.id, {"text": "b"}, expected_version=version),
        lambda: tasks.delete(row.id, expected_version=version),
    ):
        with pytest.raises(Conflict):
            call()
    assert tasks.get(row.id, version=version) is None
    unchanged()


def test_a_patch_too_large_is_refused(store_of, tenant, unchanged):
    store = store_of(Plain, tenant)
    row = store.create({"text": "x" * 200_000})
    unchanged(reset=True)

    with pytest.raises(TooLarge, match="The patch"):
        store.update(new_id(), {"text": "x" * 300_000})
    with pytest.raises(TooLarge, match="The plains row"):
        store.update(row.id, {"value": "x" * 100_000})
    unchanged()


@pytest.mark.local_only
def test_an_update_that_never_gets_through_gives_up_with_a_conflict(tasks, monkeypatch):
    row = tasks.create({"text": "a"})
    monkeypatch.setattr(store_module, "ATTEMPTS", 3)
    monkeypatch.setattr(type(tasks._rows), "update", lambda self, change: Outcome.STALE)

    with pytest.raises(Conflict, match="changed 3 times while it was being written") as info:
        tasks.update(row.id, {"text": "b"})

    assert info.value.current_version == 1


@pytest.mark.local_only
def test_a_delete_and_an_undelete_that_never_get_through_give_up_too(tasks, monkeypatch):
    row, gone = tasks.create_many([{"text": "a"}, {"text": "b"}])
    tasks.delete(gone.id)
    monkeypatch.setattr(store_module, "ATTEMPTS", 3)
    monkeypatch.setattr(type(tasks._rows), "delete", lambda self, change: 0)
    monkeypatch.setattr(type(tasks._rows), "undelete", lambda self, change, limit: Outcome.STALE)

    with pytest.raises(Conflict, match="changed 3 times"):
        tasks.delete(row.id, expected_version=1)
    with pytest.raises(Conflict, match="changed 3 times"):
        tasks.undelete(gone.id)


@pytest.mark.local_only
def test_a_write_that_loses_a_race_is_decided_anew(tasks, monkeypatch):
    """Between reading and writing someone else patches another field: both patches stay."""
    row = tasks.create({"text": "a"})
    rows = type(tasks._rows)
    write, calls = rows.update, []

    def slow(self, change):
        calls.append(change)
        if len(calls) == 1:
            tasks.update(row.id, {"priority": 7})
        return write(self, change)

    monkeypatch.setattr(rows, "update", slow)

    changed = tasks.update(row.id, {"text": "b"})

    assert (changed.version, changed.data.text, changed.data.priority) == (3, "b", 7)
    assert [change.seen for change in calls] == [1, 1, 2]


@pytest.mark.local_only
def test_a_write_that_loses_a_race_with_a_version_is_a_conflict(tasks, monkeypatch):
    row = tasks.create({"text": "a"})
    rows = type(tasks._rows)
    write, calls = rows.update, []

    def slow(self, change):
        calls.append(change)
        if len(calls) == 1:
            tasks.update(row.id, {"priority": 7})
        return write(self, change)

    monkeypatch.setattr(rows, "update", slow)

    with pytest.raises(Conflict) as info:
        tasks.update(row.id, {"text": "b"}, expected_version=1)
    assert info.value.current_version == 2


@pytest.mark.local_only
def test_a_row_deleted_while_it_is_written_is_not_found(tasks, monkeypatch):
    row = tasks.create({"text": "a"})
    rows = type(tasks._rows)
    write = rows.update

    def late(self, change):
        tasks.delete(row.id)
        return write(self, change)

    monkeypatch.setattr(rows, "update", late)

    with pytest.raises(NotFound):
        tasks.update(row.id, {"text": "b"})


# --- replace ------------------------------------------------------------------------------------


def test_replace_is_the_whole_document(tasks):
    row = tasks.create({"text": "a", "priority": 5, "tags": ["x"]})

    changed = tasks.replace(row.id, {"text": "b"}, expected_version=1)

    assert changed.changed
    assert (changed.version, changed.data) == (2, TaskData(text="b"))
    assert tasks.get(row.id).data == TaskData(text="b")


def test_replace_takes_an_instance(tasks):
    row = tasks.create({"text": "a"})

    assert tasks.replace(row.id, TaskData(text="b", priority=3)).data.priority == 3


def test_replace_by_the_same_is_no_version(tasks, unchanged):
    row = tasks.create({"text": "a", "score": 1.0})
    unchanged(reset=True)

    same = tasks.replace(row.id, {"text": "a", "score": 1})

    assert (same.changed, same.version) == (False, 1)
    unchanged()


@pytest.mark.parametrize("data", [{}, {"text": 5}, {"text": "a", "nope": 1}], ids=str)
def test_replace_holds_the_data_to_the_schema(tasks, unchanged, data):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    with pytest.raises(ValidationFailed):
        tasks.replace(row.id, data)
    unchanged()


@pytest.mark.parametrize(
    "data", [None, [], "x", {"text": "\0"}, {"text": "a", "score": float("inf")}], ids=str
)
def test_replace_checks_the_guards_before_the_row_is_looked_for(tasks, data):
    with pytest.raises(ValidationFailed):
        tasks.replace(new_id(), data)


def test_replace_never_inserts(tasks, unchanged):
    with pytest.raises(NotFound):
        tasks.replace(new_id(), {"text": "a"})
    unchanged()


# --- delete and undelete ------------------------------------------------------------------------


def test_delete_is_true_then_false(tasks):
    row = tasks.create({"text": "a"})

    assert tasks.delete(row.id) is True
    assert tasks.delete(row.id) is False
    assert tasks.delete(row.id, expected_version=7) is False
    assert tasks.get(row.id) is None
    assert tasks.get(row.id, version=1) is None
    assert list(tasks.query()) == list(tasks.iterate()) == []
    assert tasks.count() == 0
    assert tasks.usage().used == 0
    with pytest.raises(NotFound):
        tasks.update(row.id, {"text": "b"})


def test_delete_and_undelete_leave_version_and_times(tasks):
    row = tasks.create({"text": "a"})
    row = tasks.update(row.id, {"text": "b"})

    tasks.delete(row.id, expected_version=2)
    back = tasks.undelete(row.id)

    assert back.changed
    assert (back.version, back.data, back.updated_at, back.created_at, back.deleted_at) == (
        2,
        row.data,
        row.updated_at,
        row.created_at,
        None,
    )
    assert tasks.get(row.id).data == row.data
    assert tasks.usage().used == 1


def test_a_deleted_row_can_be_read_as_what_an_undelete_brings_back(tasks):
    row = tasks.create({"text": "a"})
    tasks.update(row.id, {"text": "b"})
    assert tasks.get_deleted(row.id) is None
    tasks.delete(row.id)

    found = tasks.get_deleted(row.id)

    assert (found.data.text, found.version) == ("b", 2)
    assert found.deleted_at is not None
    assert tasks.get_deleted(row.id, version=1).data.text == "a"


def test_undelete_of_a_live_row_changes_nothing(tasks, unchanged):
    row = tasks.create({"text": "a"})
    unchanged(reset=True)

    same = tasks.undelete(row.id)

    assert (same.changed, same.version, same.data) == (False, 1, row.data)
    unchanged()


def test_a_row_can_go_and_come_back_many_times(tasks):
    row = tasks.create({"text": "a"})

    for _ in range(3):
        assert tasks.delete(row.id)
        assert tasks.undelete(row.id).changed

    assert [entry.op for entry in tasks.history(row.id)] == ["undelete", "delete"] * 3 + ["create"]
    assert tasks.usage().used == 1


@pytest.mark.local_only
def test_a_delete_that_reaches_its_version_in_between_still_deletes(tasks, monkeypatch):
    """At version 1 when the delete for version 2 looks, at 2 when it asks why: it must not say False."""
    row = tasks.create({"text": "a"})
    rows = type(tasks._rows)
    read, calls = rows.get, []

    def late(self, id, *, deleted=False):
        calls.append(id)
        if len(calls) == 1:
            tasks.update(row.id, {"text": "b"})
        return read(self, id, deleted=deleted)

    monkeypatch.setattr(rows, "get", late)

    assert tasks.delete(row.id, expected_version=2) is True


@pytest.mark.local_only
def test_an_undelete_that_another_one_beat_finds_the_row_live(tasks, monkeypatch):
    row = tasks.create({"text": "a"})
    tasks.delete(row.id)
    monkeypatch.setattr(
        type(tasks._rows), "undelete", lambda self, change, limit: (other(), Outcome.STALE)[1]
    )

    def other():
        monkeypatch.undo()
        tasks.undelete(row.id)

    found = tasks.undelete(row.id)

    assert (found.changed, found.data) == (False, row.data)


def test_a_counter_that_a_fixture_forgot_does_not_go_below_zero(tasks, spoil):
    tasks.delete(tasks.create({"text": "counted"}).id)
    id = spoil({"text": "a"})

    assert tasks.delete(id)
    assert tasks.usage().used == 0


# --- unknown ids and other tenants --------------------------------------------------------------


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


# --- inside a caller's block --------------------------------------------------------------------


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


# --- who ----------------------------------------------------------------------------------------


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
