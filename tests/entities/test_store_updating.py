"""Updating and replacing rows: what changes, what is refused, in which order; refusals change nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentstore.core.errors import Conflict, NotFound, TooLarge, ValidationFailed
from agentstore.core.values import new_id
from agentstore.entities import store as store_module
from agentstore.entities.backend import Outcome
from tests.testapp.models import Plain, TaskData

# --- update ---------------------------------------------------------------------------------------


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


@pytest.fixture
def overtaken(tasks, monkeypatch):
    """Have somebody else patch a row when it has been read and is about to be written; gives the writes."""
    write, writes = type(tasks._rows).update, []

    def slow(self, change):
        writes.append(change)
        if len(writes) == 1:
            tasks.update(change.id, {"priority": 7})
        return write(self, change)

    monkeypatch.setattr(type(tasks._rows), "update", slow)
    return writes


@pytest.mark.local_only
def test_a_write_that_loses_a_race_is_decided_anew(tasks, overtaken):
    """Between reading and writing someone else patches another field: both patches stay."""
    row = tasks.create({"text": "a"})

    changed = tasks.update(row.id, {"text": "b"})

    assert (changed.version, changed.data.text, changed.data.priority) == (3, "b", 7)
    assert [change.seen for change in overtaken] == [1, 1, 2]


@pytest.mark.local_only
def test_a_write_that_loses_a_race_with_a_version_is_a_conflict(tasks, overtaken):
    row = tasks.create({"text": "a"})

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


# --- replace --------------------------------------------------------------------------------------


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
