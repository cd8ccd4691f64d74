"""Sets are stored in one order, wherever in a row they stand."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import Field, RootModel

from agentstore.entities import EntitySchema
from agentstore.entities.codec import Codec

#: Enough for two sets of the same words to be gone through in different orders.
WORDS = [f"word {number}" for number in range(40)]
SORTED = sorted(WORDS)


class Tags(RootModel[set[str]]):
    """Stored as a list."""


@dataclass
class Label:
    tags: set[str]


class Inner(EntitySchema):
    tags: set[str] = Field(default=set(), alias="t")


class Everywhere(EntitySchema):
    plain: set[str] = set()
    frozen: frozenset[str] = frozenset()
    root: Tags = Tags(set())
    label: Label = Label(set())
    inner: Inner = Inner()
    pair: tuple[int, set[str]] = (0, set())
    by_name: dict[str, Tags] = {}
    labels: list[Label] = []


@pytest.mark.parametrize(
    ("key", "given", "stored"),
    [
        ("plain", WORDS, SORTED),
        ("frozen", WORDS, SORTED),
        ("root", WORDS, SORTED),
        ("label", {"tags": WORDS}, {"tags": SORTED}),
        ("inner", {"t": WORDS}, {"t": SORTED}),
        ("pair", [1, WORDS], [1, SORTED]),
        ("by_name", {"a": WORDS}, {"a": SORTED}),
        ("labels", [{"tags": WORDS}], [{"tags": SORTED}]),
    ],
)
def test_a_set_has_one_order_wherever_it_stands(key, given, stored):
    codec = Codec(Everywhere, "everywhere", ())

    _, document = codec.encode({key: given}, max_bytes=100_000, max_depth=64)
    _, _, patch = codec.merge(document.text, {key: given}, (), max_bytes=100_000, max_depth=64)

    assert document.value[key] == stored
    assert patch is None
