"""The settings of files: what keeps nothing may be 0, everything else is at least 1."""

from __future__ import annotations

import pytest

from agentstore.checks import check_settings


@pytest.mark.parametrize("name", ["FILE_VERSIONS_KEPT", "FILE_DAILY_KEPT", "FILE_DELETED_KEPT"])
def test_nothing_need_be_kept(settings, name):
    settings.AGENTSTORE = {name: 0}
    assert [found for found in check_settings(None) if found.id == "agentstore.E002"] == []

    settings.AGENTSTORE = {name: -1}
    [found] = [found for found in check_settings(None) if found.id == "agentstore.E002"]
    assert found.msg == f"AGENTSTORE['{name}'] must be an int >= 0."


@pytest.mark.parametrize("name", ["FILE_MAX_BYTES", "FILE_MAX_FILES", "FILE_MAX_AGENT_BYTES"])
def test_a_limit_is_at_least_one(settings, name):
    settings.AGENTSTORE = {name: 0}

    [found] = [found for found in check_settings(None) if found.id == "agentstore.E002"]

    assert found.msg == f"AGENTSTORE['{name}'] must be an int >= 1."
