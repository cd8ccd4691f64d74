"""What the admin screens of all capabilities share."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import timezone, translation

from agentstore.core.admin import UsageBar, time_tag, zone_name
from agentstore.core.values import Usage

NOON = datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC)


def test_a_time_is_the_viewers_and_has_its_utc_in_the_title():
    with timezone.override("Asia/Kolkata"):
        tag = time_tag(NOON)
        assert 'datetime="2026-11-30T12:00:05+00:00" title="2026-11-30 12:00:05 UTC"' in tag
        assert ">30 Nov 2026, 17:30</time>" in tag
        assert zone_name() == "Asia/Kolkata"


@pytest.mark.parametrize(
    ("used", "capacity", "width", "left", "full"),
    [
        (0, 10, "0.00%", "10", False),
        (412, 10_000, "4.12%", "9,588", False),
        (5, 5, "100.00%", "0", True),
        (9, 5, "100.00%", "0", True),
        (0, 0, "100%", "0", True),
    ],
)
def test_a_usage_bar_is_as_wide_as_the_tenant_is_full(used, capacity, width, left, full):
    bar = UsageBar(who="acme", usage=Usage(used=used, capacity=capacity), noun="tasks")

    assert (bar.width, bar.left, bar.full) == (width, left, full)


def test_a_width_is_no_words_of_a_language():
    """An SVG attribute takes a point, whatever the viewer's language writes."""
    with translation.override("de"):
        assert UsageBar(who="", usage=Usage(used=1, capacity=3), noun="").width == "33.33%"
