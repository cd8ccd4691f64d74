"""The settings of strategies: what is not a number that fits is found by the system checks."""

from __future__ import annotations

import math

import pytest

from agentstore.checks import check_settings


def found():
    return [message.msg for message in check_settings(None) if message.id == "agentstore.E002"]


@pytest.mark.parametrize("value", [0, 0.0, 1 / 3, 1])
def test_a_share_from_0_to_1_is_fine(settings, value):
    settings.AGENTSTORE = {"STRATEGY_MIN_OVERLAP": value}

    assert found() == []


@pytest.mark.parametrize("value", [-0.1, 1.01, 33, math.nan, math.inf, True, "1/3", None], ids=repr)
def test_any_other_share_is_named(settings, value):
    settings.AGENTSTORE = {"STRATEGY_MIN_OVERLAP": value}

    assert found() == ["AGENTSTORE['STRATEGY_MIN_OVERLAP'] must be a number from 0 to 1."]


@pytest.mark.parametrize("name", ["STRATEGY_CAPACITY", "STRATEGY_MIN_TERMS"])
@pytest.mark.parametrize("value", [0, -1, 2.5, math.inf, True, None, "10"], ids=repr)
def test_a_count_is_an_int_of_at_least_1(settings, name, value):
    settings.AGENTSTORE = {name: value}

    assert found() == [f"AGENTSTORE[{name!r}] must be an int >= 1."]


@pytest.mark.parametrize("name", ["STRATEGY_CAPACITY", "STRATEGY_MIN_TERMS"])
def test_a_count_can_be_widened(settings, name):
    settings.AGENTSTORE = {name: 10**6}

    assert found() == []
