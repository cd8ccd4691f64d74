"""The largest that is allowed fits the database, and one byte more is refused at the door."""

from __future__ import annotations

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.strategies import StrategyStore
from agentstore.strategies.entry import (
    EARLIEST_TS,
    MAX_PROBLEM_BYTES,
    MAX_SIGNATURE_BYTES,
    MAX_STRATEGY_BYTES,
    MAX_TEACHER_MODEL_BYTES,
)

CAPS = {
    "problem": MAX_PROBLEM_BYTES,
    "strategy": MAX_STRATEGY_BYTES,
    "teacher_model": MAX_TEACHER_MODEL_BYTES,
    "signature": MAX_SIGNATURE_BYTES,
}
#: One word, many words, three bytes a character, four bytes a character.
FILLS = {"word": "x", "words": "ab ", "cjk": "表", "emoji": "🎹b ", "hindi": "हि"}


def text(unit, size):
    """Return a text of exactly ``size`` bytes that is made of ``unit``."""
    whole = unit * (size // len(unit.encode()))
    return whole + "y" * (size - len(whole.encode()))


@pytest.mark.django_db
@pytest.mark.parametrize("unit", FILLS.values(), ids=FILLS)
def test_the_largest_entry_is_stored_found_and_given_back(tenant, unit):
    store = StrategyStore(tenant)
    given = {name: text(unit, size) for name, size in CAPS.items()}

    saved = store.save(**given)

    row = store.get(saved.id)
    assert {name: getattr(row, name) for name in CAPS} == given
    assert store.has(problem=given["problem"], strategy=given["strategy"])
    assert [match.id for match in store.find(given["problem"])] == [saved.id]


@pytest.mark.django_db
@pytest.mark.parametrize("field", CAPS)
@pytest.mark.parametrize("unit", FILLS.values(), ids=FILLS)
def test_one_byte_more_is_refused(tenant, field, unit):
    given = {"problem": "p", "strategy": "s", field: text(unit, CAPS[field]) + "z"}

    with pytest.raises(ValidationFailed) as info:
        StrategyStore(tenant).save(**given)

    assert list(info.value.errors) == [field]
    assert StrategyStore(tenant).usage().used == 0


@pytest.mark.django_db
def test_a_query_may_be_far_longer_than_a_problem(tenant):
    store = StrategyStore(tenant)
    store.save(problem="extract tables", strategy="s")

    assert store.find("tables " * 200_000)
    assert store.find(" ".join(map(str, range(50_000)))).empty_because == "no_match"
    assert store.find("表" * 100_000).empty_because == "no_match"


@pytest.mark.django_db
def test_the_earliest_time_comes_back_as_it_was_and_none_before_is_taken(tenant):
    store = StrategyStore(tenant)

    saved = store.save(problem="extract tables", strategy="s", ts=EARLIEST_TS)
    with pytest.raises(ValidationFailed, match="before 0001-01-02"):
        store.save(problem="extract other tables", strategy="s", ts="0001-01-01T00:00:00Z")

    (listed,), (found,) = store.list(), store.find("extract")
    assert store.get(saved.id).ts == listed.ts == found.ts == EARLIEST_TS
