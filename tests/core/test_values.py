"""Ids, times, and the values that travel between stores and surfaces."""

from __future__ import annotations

import dataclasses
from datetime import UTC, timedelta

import pytest

from agentstore.core.values import EntityRow, Page, Usage, new_id, now


def row(**changes):
    fields = {"id": new_id(), "tenant": "acme", "version": 1, "data": None, "raw": {}}
    return EntityRow(created_at=now(), updated_at=now(), **{**fields, **changes})


def test_ids_are_version_7_and_sort_by_age():
    ids = [new_id() for _ in range(2000)]

    assert {id.version for id in ids} == {7}
    assert ids == sorted(ids)
    assert len(set(ids)) == 2000
    assert [id.hex for id in ids] == sorted(id.hex for id in ids)


def test_now_is_aware_and_in_utc():
    assert now().utcoffset() == timedelta(0)
    assert now().tzinfo is UTC


@pytest.mark.parametrize(("used", "capacity", "remaining"), [(0, 5, 5), (5, 5, 0), (7, 5, 0)])
def test_usage_never_has_fewer_than_no_places_left(used, capacity, remaining):
    assert Usage(used=used, capacity=capacity).remaining == remaining


def test_a_page_is_iterated_and_counted():
    rows = [row(), row()]
    page = Page(rows=rows, next_cursor=None, limit=25)

    assert list(page) == rows
    assert len(page) == 2


def test_values_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        row().version = 2


def test_a_row_is_unchanged_and_sound_unless_it_says_otherwise():
    assert (row().changed, row().deleted_at, row().schema_errors) == (False, None, {})
