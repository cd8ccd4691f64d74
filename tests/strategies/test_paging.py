"""Lists are paged in rank order by position, with a cursor that is bound to its tenant."""

from __future__ import annotations

import base64
import json
import math

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.strategies.paging import page, read_cursor, resolve_page_limit, write_cursor
from agentstore.strategies.ranking import order_key
from tests.strategies.rows import NOW, row

ROWS = [row(str(number), confidence=number / 10) for number in range(7)]


def test_pages_follow_one_another_without_gap_or_repeat():
    seen, after = [], None
    while True:
        shown, after = page(ROWS, after=after, limit=3, now=NOW)
        seen.append([r.id for r in shown])
        if after is None:
            break

    assert seen == [["6", "5", "4"], ["3", "2", "1"], ["0"]]


def test_a_last_page_that_is_full_has_no_next():
    assert page(ROWS[:3], after=None, limit=3, now=NOW)[1] is None
    assert page([], after=None, limit=3, now=NOW) == ([], None)


def test_a_row_that_goes_meanwhile_skips_no_other():
    _, after = page(ROWS, after=None, limit=3, now=NOW)

    shown, _ = page(ROWS[:4], after=after, limit=3, now=NOW)

    assert [r.id for r in shown] == ["3", "2", "1"]


@pytest.mark.parametrize(("limit", "expected"), [(-5, 1), (0, 1), (1, 1), (100, 100), (10**30, 100)], ids=str)
def test_a_page_has_1_to_100_rows(limit, expected):
    assert resolve_page_limit(limit) == expected


@pytest.mark.parametrize("limit", [None, True, "5", 2.5, math.inf])
def test_a_limit_that_is_no_int_is_refused(limit):
    with pytest.raises(ValidationFailed, match="Expected a whole number") as info:
        resolve_page_limit(limit)

    assert list(info.value.errors) == ["limit"]


def test_a_cursor_brings_its_position_back():
    position = order_key(row("é_1", confidence=0), NOW)

    assert read_cursor("acme", write_cursor("acme", position)) == position
    assert write_cursor("acme", None) is None
    assert read_cursor("acme", None) is None


def test_a_cursor_of_another_tenant_is_refused(tenant, other_tenant):
    cursor = write_cursor(other_tenant, order_key(row(), NOW))

    with pytest.raises(ValidationFailed, match="belongs to another list"):
        read_cursor(tenant, cursor)


def forged(*position):
    digest = json.loads(base64.urlsafe_b64decode(write_cursor("acme", order_key(row(), NOW)) + "=="))[0]
    return base64.urlsafe_b64encode(json.dumps([digest, *position]).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "!!!!", "é", "AAAA", "bnVsbA", "W10", "NQ", base64.urlsafe_b64encode(b"[" * 30000).decode(),
     forged(1.0, 2, 3), forged("1", 2, 3, "a"), forged(1.0, 2, 3, None), forged(1.0, True, 3, "a"),
     forged(*"abcde")],
    ids=range(14),
)  # fmt: skip
def test_what_is_no_cursor_is_refused(cursor):
    with pytest.raises(ValidationFailed, match="not a cursor") as info:
        read_cursor("acme", cursor)

    assert list(info.value.errors) == ["cursor"]


@pytest.mark.parametrize("cursor", [5, b"abc", "a\0"], ids=repr)
def test_a_cursor_is_text(cursor):
    with pytest.raises(ValidationFailed) as info:
        read_cursor("acme", cursor)

    assert list(info.value.errors) == ["cursor"]
