"""Deleting rows and bringing them back: places, versions and times; refusals change nothing."""

from __future__ import annotations

import pytest

from agentstore.core.errors import NotFound
from agentstore.entities.backend import Outcome


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
