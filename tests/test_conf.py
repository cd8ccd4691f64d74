"""The settings dict: read when used, with defaults for what is not given."""

from __future__ import annotations

import pytest

from agentstore.conf import Setting, Settings, settings


def test_every_setting_has_its_default(settings):
    del settings.AGENTSTORE

    assert {name: getattr(Settings(), name) for name in Settings.names()} == DEFAULTS


DEFAULTS = {
    "ACCESS": "agentstore.core.access.Access",
    "BACKEND": "auto",
    "MAX_ROW_BYTES": 262_144,
    "MAX_DEPTH": 64,
    "IDEMPOTENCY_HOURS": 24,
    "FILE_MAX_BYTES": 102_400,
    "FILE_MAX_FILES": 1000,
    "FILE_MAX_AGENT_BYTES": 16_777_216,
    "FILE_VERSIONS_KEPT": 20,
    "FILE_DAILY_KEPT": 7,
    "FILE_DELETED_KEPT": 20,
    "STRATEGY_CAPACITY": 1000,
    "STRATEGY_MIN_TERMS": 1,
    "STRATEGY_MIN_OVERLAP": 0,
}


def test_what_is_given_counts_at_once_and_no_longer_than_given(settings):
    from agentstore.conf import settings as ours

    settings.AGENTSTORE = {"BACKEND": "portable"}
    assert (ours.BACKEND, ours.MAX_DEPTH) == ("portable", 64)

    settings.AGENTSTORE = {"MAX_DEPTH": 5}
    assert (ours.BACKEND, ours.MAX_DEPTH) == ("auto", 5)


def test_names_are_those_of_the_settings():
    assert Settings.names() == sorted(Settings.names())
    assert all(isinstance(vars(Settings)[name], Setting) for name in Settings.names())
    assert Settings.BACKEND.name == "BACKEND"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        settings.NONSENSE  # noqa: B018
