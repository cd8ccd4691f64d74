"""What an audited change did, field by field, with the values before and after."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentstore.core.values import HistoryEntry, new_id
from agentstore.entities import changes
from agentstore.entities.changes import ABSENT, Swap


def entry(op, version, patch=None):
    at = datetime(2026, 11, 30, tzinfo=UTC)
    return HistoryEntry(
        id=new_id(), op=op, version=version, patch=patch, actor="", reason="", context={}, at=at
    )  # fmt: skip


CREATE = entry("create", 1, {"text": "a", "lines": [], "old": 1})
FIRST = entry("update", 2, {"set": {"text": "b"}, "unset": ["old"]})
SECOND = entry("update", 3, {"set": {"text": "c", "done": False}, "unset": ["done"]})


def test_values_before_come_from_the_changes_before():
    second, first, create = changes.describe([SECOND, FIRST, CREATE], None, ["done", "text"])

    assert create.row == CREATE.patch
    assert [(field.key, field.old, field.new) for field in first.fields] == [
        ("text", "a", "b"),
        ("old", 1, ABSENT),
    ]
    assert [(field.key, field.old, field.new) for field in second.fields] == [
        ("done", ABSENT, False), ("text", "b", "c"),
    ]  # fmt: skip
    assert second.row == {"text": "c", "lines": [], "done": False}


def test_a_page_goes_on_from_the_row_before_it():
    (change,) = changes.describe([SECOND], {"text": "b"}, ["text"])

    assert change.fields[0].old == "b"


def test_values_before_that_nobody_knows_are_told_so():
    (change,) = changes.describe([SECOND], None, ["text"])

    assert not change.fields[0].known
    assert change.row is None


def test_a_field_put_back_to_its_default_is_marked():
    (change,) = changes.describe([SECOND], {"text": "b", "done": True}, ["text", "done"])

    assert [field.reset for field in change.fields] == [False, True]


@pytest.mark.parametrize("op", ["delete", "undelete"])
def test_deleting_and_undeleting_change_no_field(op):
    (change,) = changes.describe([entry(op, 3)], {"text": "b"}, [])

    assert change.fields == ()
    assert change.row == {"text": "b"}


def test_nested_objects_are_told_key_by_key():
    update = entry("update", 2, {"set": {"ship_to": {"street": "Old Quay 14", "city": "T"}}, "unset": []})

    (change,) = changes.describe([update], {"ship_to": {"street": "Old Quay 41", "city": "T"}}, [])

    assert change.fields[0].inner == (Swap(key="street", old="Old Quay 41", new="Old Quay 14"),)


def test_rows_belong_together_by_name():
    old = [{"sku": "PN", "n": 1}, {"sku": "BX", "n": 20}, {"sku": "GO", "n": 1}]
    new = [{"sku": "BX", "n": 40}, {"sku": "ST", "n": 6}, {"sku": "PN", "n": 1}]

    rows = changes.compare_rows(old, new, first="sku")

    assert (rows.added, rows.removed) == (("ST",), ("GO",))
    assert rows.changed == (("BX", (Swap(key="n", old=20, new=40),)),)


def test_rows_of_one_name_belong_together_by_place():
    rows = changes.compare_rows(
        [{"sku": "A", "n": 1}, {"sku": "A", "n": 2}], [{"sku": "A", "n": 3}], first="sku"
    )

    assert rows.changed == (("#1", (Swap(key="n", old=1, new=3),)),)
    assert rows.removed == ("#2",)


def test_rows_without_any_text_are_named_by_their_place():
    assert changes.name_of({"n": 1}, 4) == "#5"


def test_short_texts_are_not_cut():
    assert changes.clip("a", "b") == ("a", "b")


def test_of_long_texts_the_part_that_differs_is_left():
    start, end = "word " * 100, " tail" * 100

    old, new = changes.clip(f"{start}confirmed{end}", f"{start}on hold{end}")

    assert "confirmed" in old and "on hold" in new
    assert old.startswith("… ") and old.endswith(" …")
    assert len(old) < 200 and len(new) < 200


def test_a_text_that_only_grew_shows_what_came():
    old, new = changes.clip("word " * 100, "word " * 100 + "and the door code")

    assert "and the door code" in new
