"""Stored values in words: what a screen says for yes, no, nothing, times and what is deeper."""

from __future__ import annotations

import pytest
from django.utils import timezone

from agentstore.entities.admin.display import show, show_all
from agentstore.entities.forms.shape import MISSING, Shape, shapes_of
from tests.browser import text_of
from tests.testapp.models import TaskData

BOOLEAN = Shape(key="asked", kind="boolean", label="Asked", nullable=True)
MOMENT = Shape(key="at", kind="moment", label="At")
SHAPES = {shape.key: shape for shape in shapes_of(TaskData)}


@pytest.mark.parametrize(
    ("shape", "value", "words"),
    [
        (BOOLEAN, True, "Yes"),
        (BOOLEAN, False, "No"),
        (BOOLEAN, None, "Unknown"),
        (MOMENT, "2026-12-02T13:00:00.000000Z", "2 Dec 2026, 14:00"),
        (MOMENT, "soon", "soon"),
        (None, None, "empty"),
        (None, "", "empty"),
        (None, [], "empty"),
        (None, {}, "empty"),
        (None, MISSING, "empty"),
        (None, 2.5, "2.5"),
        (None, ["a", "b"], "a, b"),
        (None, {"a": [1]}, '{"a": [1]}'),
        (None, "half \ud800", "half \\ud800"),
        (None, "x" * 400, "x" * 300 + " …"),
    ],
)
def test_a_value_is_shown_in_words(shape, value, words):
    with timezone.override("Europe/Berlin"):
        assert text_of(str(show(shape, value))) == words


def test_markup_in_a_value_is_escaped():
    assert "<b>" not in f"{show(None, {'a': '<b>'})}"


def test_a_list_of_objects_is_shown_as_a_table():
    shown = show_all(SHAPES["lines"], [{"sku": "PN"}])

    assert list(shown.columns) == ["Sku", "Quantity"]
    assert text_of(" ".join(map(str, shown.rows[0]))) == "PN empty"


def test_a_list_of_objects_that_is_none_is_shown_as_it_is():
    assert text_of(str(show_all(SHAPES["lines"], ["x", 1]).html)) == '["x", 1]'
