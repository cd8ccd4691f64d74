"""What a patch or a replacement comes to: merge, unset, drift, repair."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agentstore.core.errors import TooLarge
from agentstore.core.guards import to_json
from agentstore.entities import EntitySchema
from agentstore.entities.codec import Codec
from tests.entities.codecs import LIMITS, RANGES, TASKS, encode, merge, problems
from tests.testapp.models import Address, TaskData


def test_a_patch_replaces_top_level_fields_and_keeps_the_rest():
    before = encode({"text": "a", "address": {"street": "s", "city": "c"}, "priority": 3})[1]

    instance, after, patch = merge(before.text, {"address": {"street": "t"}})

    assert instance.address == Address(street="t")
    assert after.value == {**before.value, "address": {"street": "t", "city": ""}}
    assert patch.value == {"set": {"address": {"street": "t", "city": ""}}, "unset": []}


def test_only_what_changes_is_in_the_effective_patch():
    before = encode({"text": "a", "priority": 3})[1]

    _, _, patch = merge(before.text, {"text": "a", "priority": 4, "done": False})

    assert patch.value == {"set": {"priority": 4}, "unset": []}


def test_unset_goes_back_to_the_default():
    before = encode({"text": "a", "priority": 3, "tags": ["x"]})[1]

    instance, _, patch = merge(before.text, {}, ["priority", "tags", "done"])

    assert (instance.priority, instance.tags) == (0, [])
    assert patch.value == {"set": {"priority": 0, "tags": []}, "unset": ["priority", "tags"]}


@pytest.mark.parametrize(
    ("patch", "unset"),
    [
        ({}, []),
        ({"text": "a"}, []),
        ({"score": 3}, []),
        ({"score": 3.0}, []),
        ({"due_at": "2026-01-01T10:00:00+01:00"}, []),
        ({"due_at": datetime(2026, 1, 1, 9, tzinfo=UTC)}, []),
        ({}, ["done"]),
    ],
    ids=str,
)
def test_no_effective_change_is_no_patch(patch, unset):
    before = encode({"text": "a", "score": 3, "due_at": "2026-01-01T09:00:00Z"})[1]

    assert merge(before.text, to_json(patch), unset)[2] is None


def test_the_merged_row_is_validated_as_a_whole():
    before = encode({"low": 5}, RANGES)[1]

    assert problems(merge, before.text, {"high": 1}, codec=RANGES) == {"": ["low is over high"]}
    assert merge(before.text, {"high": 1, "low": 0}, codec=RANGES)[2] is not None


def test_drifted_keys_are_dropped_and_audited_by_the_next_write():
    stored = {**encode({"text": "a"})[1].value, "old": 1}

    _, after, patch = merge(stored, {"text": "b"})

    assert "old" not in after.value
    assert patch.value == {"set": {"text": "b"}, "unset": ["old"]}


def test_drift_alone_is_no_reason_to_write():
    stored = {"text": "a", "old": 1}

    assert merge(stored, {})[2] is None
    assert merge(stored, {"text": "a"})[2] is None
    assert TASKS.replacement(json.dumps(stored), '{"text": "a"}', **LIMITS)[2] is None


def test_nested_drift_is_dropped_but_what_the_caller_sends_is_held_to_the_schema():
    stored = {"text": 5, "lines": [{"sku": "x", "old": 2}]}

    _, after, patch = merge(stored, {"text": "b"})

    assert after.value["lines"] == [{"sku": "x", "quantity": 1}]
    assert patch.value["set"]["text"] == "b"
    assert problems(merge, stored, {"text": "b", "lines": [{"sku": "x", "old": 2}]}) == {
        "lines.0.old": ["There is no such field."]
    }


def test_a_patch_that_supplies_what_is_missing_repairs_a_row():
    _, after, patch = merge({"done": True, "old": 1}, {"text": "now"})

    assert (after.value["text"], after.value["done"]) == ("now", True)
    assert patch.value["unset"] == ["old"]
    assert patch.value["set"]["text"] == "now"


def test_a_patch_that_does_not_repair_is_refused():
    assert problems(merge, {"text": 5}, {"done": True}) == {"text": ["Input should be a valid string"]}


@pytest.mark.parametrize("spoiled", ["[1]", "5", "null", '"x"'])
def test_a_row_that_is_no_object_is_repaired_by_a_full_patch(spoiled):
    assert merge(spoiled, {"text": "a"})[1].value["text"] == "a"
    assert TASKS.replacement(spoiled, '{"text": "a"}', **LIMITS)[2].value["set"]["text"] == "a"
    assert problems(merge, spoiled, {"done": True}) == {"text": ["Field required"]}


def test_a_row_over_limits_that_were_lowered_can_be_made_smaller():
    long = encode({"text": "a", "tags": ["x" * 500]})[1]
    low = {"max_bytes": 300, "max_depth": 64}

    assert TASKS.merge(long.text, {"tags": []}, [], **low)[2].value == {"set": {"tags": []}, "unset": []}
    assert TASKS.replacement(long.text, '{"text": "b"}', **low)[2] is not None
    with pytest.raises(TooLarge):
        TASKS.merge(long.text, {"text": "b"}, [], **low)


def test_a_value_that_became_indexed_can_be_shortened():
    free = Codec(TaskData, "tasks", []).encode({"text": "x" * 2000}, **LIMITS)[1]

    assert merge(free.text, {"text": "short"})[2].value["set"] == {"text": "short"}
    assert [*problems(merge, free.text, {"done": True})] == ["text"]


def test_a_replacement_resets_what_it_leaves_out():
    before = encode({"text": "a", "priority": 3})[1]

    _, after, patch = TASKS.replacement(before.text, '{"text": "b"}', **LIMITS)

    assert after.value["priority"] == 0
    assert patch.value == {"set": {"text": "b", "priority": 0}, "unset": []}
    assert TASKS.replacement(before.text, before.text, **LIMITS)[2] is None


class Tagged(EntitySchema):
    tags: set[int] = set()


class Sets(EntitySchema):
    ids: set[int] = set()
    names: frozenset[str] | None = None
    parts: list[Tagged] = []
    by_name: dict[str, set[int]] = {}
    note: str = ""


SETS = Codec(Sets, "sets", [])


@pytest.mark.parametrize(
    ("key", "value", "again"),
    [
        ("ids", [0, 8, 16], [16, 0, 8]),
        ("ids", [0, 8], {8, 0}),
        ("names", ["b", "a"], ["a", "b"]),
        ("parts", [{"tags": [0, 8]}], [{"tags": [8, 0]}]),
        ("by_name", {"x": [0, 8]}, {"x": [8, 0]}),
    ],
)
def test_a_set_has_no_order(key, value, again):
    """Python's sets have one that depends on how they were made, and on the process."""
    _, document = encode({key: value}, SETS)
    stored = document.text

    assert encode({key: again}, SETS)[1].value == document.value
    assert merge(stored, {key: to_json(again)}, codec=SETS)[2] is None
    assert SETS.replacement(stored, json.dumps({key: to_json(again)}), **LIMITS)[2] is None
    patch = merge(stored, {key: to_json(again), "note": "x"}, codec=SETS)[2]
    assert patch.value == {"set": {"note": "x"}, "unset": []}


def test_a_row_whose_set_was_stored_in_another_order_is_left_alone():
    stored = {"ids": [8, 0], "names": ["b", "a"], "parts": [], "by_name": {}, "note": ""}

    assert merge(stored, {"ids": [0, 8]}, codec=SETS)[2] is None
    assert merge(stored, {"note": "x"}, codec=SETS)[2].value["set"]["note"] == "x"
