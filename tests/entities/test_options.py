"""What a declaration says, and the index names it leads to."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentstore.entities import EntitySchema
from agentstore.entities.options import EntityOptions, build_indexes, read_options
from tests.testapp.models import Plain, TaskData


def test_a_declaration_without_options_has_the_defaults():
    options = read_options("Reminder", None, "Reminders of\n    the user.")

    assert options == EntityOptions(
        name="reminder",
        indexes=(),
        sweep_indexes=(),
        max_rows_per_tenant=10_000,
        description="Reminders of\nthe user.",
    )


def test_options_of_a_base_class_count():
    class Base:
        name = "base"
        indexes = ["a"]

    class Entity(Base):
        name = "own"

    assert read_options("X", Entity, None).name == "own"
    assert read_options("X", Entity, None).indexes == ("a",)


def test_a_description_beats_the_docstring():
    entity = type("Entity", (), {"description": "For the model."})

    assert read_options("X", entity, "For developers.").description == "For the model."


def test_doubled_index_fields_count_once():
    assert read_options("X", type("Entity", (), {"indexes": ["a", "b", "a"]}), None).indexes == ("a", "b")


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("index", ["a"], r"X.Entity.index is not an option. Valid: name, indexes"),
        ("indexes", "due_at", "must be a list of field names, found 'due_at'"),
        ("indexes", [1], "must be a list of field names"),
        ("sweep_indexes", {"a": 1}, "must be a list of field names"),
        ("name", 5, "name must be text, found 5"),
        ("description", None, "description must be text, found None"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_at_once(option, value, problem):
    with pytest.raises(ImproperlyConfigured, match=problem):
        read_options("X", type("Entity", (), {option: value}), None)


def test_capacity_is_a_number_or_asks_the_declaration():
    assert EntityOptions(name="x", max_rows_per_tenant=7).capacity("acme") == 7
    assert Plain.entity.capacity("small-1") == 2
    assert Plain.entity.capacity("acme") == 1_000_000


@pytest.mark.parametrize("value", [-1, 1.5, True, None, "5"], ids=repr)
def test_a_callable_that_gives_no_capacity_is_told(value):
    options = EntityOptions(name="x", max_rows_per_tenant=lambda tenant: value)

    with pytest.raises(ImproperlyConfigured, match="x: max_rows_per_tenant must be an int >= 0"):
        options.capacity("acme")


def names(table, **options):
    return [index.name for index in build_indexes(table, TaskData, EntityOptions(name="x", **options))]


def test_index_names_follow_djangos_recipe():
    assert names("desk_reminder", indexes=["due_at"], sweep_indexes=["due_at"]) == [
        "desk_remind_live_e27a7d_idx",
        "desk_remind_due_at_b37591_idx",
        "desk_remind_due_at_cb1758_swp",
    ]


@pytest.mark.parametrize("table", ["x", "9lives_x", "_x", "a" * 57 + "_" + "b" * 61])
def test_index_names_are_legal_and_distinct(table):
    found = names(table, indexes=list(TaskData.model_fields)[:7], sweep_indexes=["due_at", "text"])

    assert len(found) == len(set(found)) == 10
    assert all(len(name) <= 30 and name[0].isalpha() for name in found)


def test_a_field_named_as_the_index_of_live_rows_has_a_name_of_its_own():
    schema = type("S", (EntitySchema,), {"__annotations__": {"live": bool}})

    indexes = build_indexes("x", schema, EntityOptions(name="x", indexes=["live"], sweep_indexes=["live"]))

    assert len({index.name for index in indexes}) == 3


def test_long_tables_that_start_alike_have_names_of_their_own():
    assert not set(names("a" * 60 + "1", indexes=["due_at"])) & set(names("a" * 60 + "2", indexes=["due_at"]))


def test_fields_that_can_not_be_indexed_are_left_to_the_checks():
    assert len(names("x", indexes=["tags", "unknown", "due_at"])) == 2
