"""The settings dict: read when used, with defaults for what is not given."""

from __future__ import annotations

import pytest

from agentstore.conf import Setting, Settings, settings


def test_every_setting_has_its_default(settings):
    del settings.AGENTSTORE
    found = {name: getattr(Settings(), name) for name in Settings.names()}

    assert {name: found[name] for name in DEFAULTS} == DEFAULTS


DEFAULTS = {
    "ACCESS": "agentstore.core.access.Access",
    "BACKEND": "auto",
    "MAX_ROW_BYTES": 262_144,
    "MAX_DEPTH": 64,
    "IDEMPOTENCY_HOURS": 24,
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
