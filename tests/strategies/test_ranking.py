"""Which strategy comes first and which goes first; which limits and caps are accepted."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentstore.core.errors import ValidationFailed
from agentstore.strategies import ranking
from agentstore.strategies.ranking import (
    EPOCH,
    LOWEST_RANK,
    in_order,
    order_key,
    rank,
    resolve_capacity_cap,
    resolve_find_limit,
    score,
    split,
)
from tests.strategies.rows import NOW, row

DAY = timedelta(days=1)
TIMES = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(2026, 6, 1), timezones=st.just(UTC))
CONFIDENCES = st.floats(min_value=0, max_value=3, allow_subnormal=True)


@pytest.mark.parametrize(
    ("confidence", "age", "expected"),
    [(2, 0, 2), (2, 90, 1), (2, 180, 0.5), (3, 270, 0.375), (0, 5, 0), (1.5, -400, 1.5)],
)
def test_score_halves_every_90_days_and_no_future_raises_it(confidence, age, expected):
    assert score(confidence, NOW - age * DAY, NOW) == expected


def test_confidence_3_equals_a_fresh_1_after_143_days():
    assert score(3, NOW - 142 * DAY, NOW) > 1 > score(3, NOW - 143 * DAY, NOW)


def test_rank_is_the_logarithm_of_confidence_plus_half_lives_with_nine_digits():
    ts = datetime(2026, 1, 1, 0, 0, 0, 123, tzinfo=UTC)

    assert rank(3, ts) == round(math.log2(3) + (ts - EPOCH).total_seconds() / 7_776_000, 9)
    assert rank(1, EPOCH) == 0
    assert rank(2, EPOCH + 90 * DAY) == 2


def test_confidence_0_ranks_lowest_whatever_its_time():
    smallest, oldest = math.ulp(0.0), datetime.min.replace(tzinfo=UTC)

    assert rank(0, NOW) == rank(0.0, oldest) == LOWEST_RANK
    assert rank(smallest, oldest) > LOWEST_RANK
    assert json.loads(json.dumps(LOWEST_RANK, allow_nan=False)) == LOWEST_RANK


def test_a_confidence_that_only_a_row_spoiled_by_hand_has_ranks_lowest_too():
    assert rank(-1.0, NOW) == rank(float("nan"), NOW) == LOWEST_RANK


@given(CONFIDENCES, TIMES, CONFIDENCES, TIMES)
def test_a_higher_rank_is_a_higher_score_at_any_time(confidence, ts, other_confidence, other_ts):
    """Ratios of scores do not depend on now, so an order that was right once stays right."""
    assume(rank(confidence, ts) - rank(other_confidence, other_ts) > 2e-9)

    for now in (NOW, NOW + 10 * DAY):
        assert score(confidence, ts, now) >= score(other_confidence, other_ts, now)


def test_better_scores_come_first():
    rows = [
        row("weak", confidence=1),
        row("best", confidence=3),
        row("old", confidence=3, ts=NOW - 60 * DAY),
        row("none", confidence=0),
    ]

    assert [r.id for r in in_order(rows, NOW)] == ["best", "old", "weak", "none"]


def test_equal_scores_are_ordered_by_fewer_terms_then_later_then_smaller_id():
    older = NOW - DAY
    rows = [
        row("b", "extract tables", confidence=0, ts=NOW),
        row("Z", "extract tables", confidence=0, ts=NOW),
        row("a", "extract tables", confidence=0, ts=older),
        row("c", "extract all tables", confidence=0, ts=NOW),
        row("_", "how do I extract the tables", confidence=0, ts=NOW),
    ]

    for arrangement in permutations(rows):
        assert [r.id for r in in_order(arrangement, NOW)] == ["Z", "_", "b", "a", "c"]


def test_ids_are_ordered_by_code_point():
    rows = [row(id) for id in ["a", "B", "-", "_", "9", "z", "A"]]

    assert [r.id for r in in_order(rows, NOW)] == ["-", "9", "A", "B", "_", "a", "z"]


def test_a_time_in_the_future_ranks_as_now_and_wins_no_tie():
    future = row("z", ts=datetime(2999, 1, 1, tzinfo=UTC))
    present = row("a", ts=NOW)

    assert in_order([future, present], NOW) == [present, future]
    assert order_key(future, NOW)[:3] == order_key(present, NOW)[:3]


def test_the_key_is_plain_data():
    assert json.loads(json.dumps(order_key(row(), NOW), allow_nan=False)) == [*order_key(row(), NOW)]


def test_what_goes_is_the_end_of_the_order():
    rows = [row(str(number), confidence=number / 10) for number in range(5)]

    stays, goes = split(rows, 2, NOW)

    assert [r.id for r in stays] == ["4", "3"]
    assert [r.id for r in goes] == ["2", "1", "0"]


@pytest.mark.parametrize("cap", [0, 5, 6, 10**30])
def test_split_loses_no_row(cap):
    rows = [row(str(number)) for number in range(5)]

    stays, goes = split(rows, cap, NOW)

    assert len(stays) == min(cap, 5)
    assert stays + goes == rows


class Index:
    """An int-like object, as numpy's are."""

    def __index__(self):
        return 4


class Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(0, 0), (3, 3), (10**30, 10**30), (math.inf, math.inf), (Index(), 4)],
)
def test_a_limit_is_a_non_negative_int_or_infinity(limit, expected):
    assert resolve_find_limit(limit) == expected


@pytest.mark.parametrize(
    "limit",
    [math.nan, -1, 2.5, -math.inf, True, False, None, "3", 3.0, [3], Decimal(3), Decimal("Infinity"),
     -(10**5000), b"3", Unprintable()],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_any_other_limit_is_refused_and_not_folded(limit):
    with pytest.raises(ValidationFailed, match="limit must be a non-negative int or math.inf") as info:
        resolve_find_limit(limit)

    assert list(info.value.errors) == ["limit"]


@pytest.mark.parametrize(("cap", "least"), [(0, 0), (1, 1), (10**30, 0)], ids=str)
def test_a_cap_is_an_int(cap, least):
    assert resolve_capacity_cap("max_size", cap, least=least) == cap


@pytest.mark.parametrize(
    "cap",
    [math.nan, -1, 2.5, True, None, "3", -math.inf, 3.0, -(10**5000)],
    ids=lambda value: type(value).__name__,
)
def test_any_other_cap_is_refused_under_its_name(cap):
    with pytest.raises(ValidationFailed, match="max_size must be an int of at least 0") as info:
        resolve_capacity_cap("max_size", cap)

    assert list(info.value.errors) == ["max_size"]


def test_a_cap_of_infinity_is_refused_by_name():
    with pytest.raises(ValidationFailed, match="capacity must not be Infinity"):
        resolve_capacity_cap("capacity", math.inf)


def test_a_cap_under_the_least_is_refused():
    with pytest.raises(ValidationFailed, match="capacity must be an int of at least 1, found 0"):
        resolve_capacity_cap("capacity", 0, least=1)


def test_constants_are_as_documented():
    assert (ranking.DEFAULT_CAPACITY, ranking.DEFAULT_LIMIT, ranking.HALF_LIFE.days) == (1000, 3, 90)
