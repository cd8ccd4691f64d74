"""The checks of settings; each test is named after the id."""

from __future__ import annotations

import pytest
from django.conf import settings as django_settings
from django.core.checks import run_checks

from agentstore.checks import check_settings

POSTGRES = {"ENGINE": "django.db.backends.postgresql", "NAME": "x"}


class NoClass:
    """Stands in for a class; it is instantiated below."""


an_object = NoClass()


def ids():
    return [message.id for message in check_settings(None) if not message.id.startswith("agentstore.I")]


@pytest.fixture
def databases(monkeypatch):
    """Let the check see another database; it is never connected to."""
    return lambda config: monkeypatch.setitem(django_settings.DATABASES, "default", config)


def test_the_projects_settings_are_sound(db):
    assert [message for message in run_checks() if str(message.id).startswith("agentstore.E")] == []


def test_no_settings_at_all_are_sound(settings):
    del settings.AGENTSTORE

    assert ids() == []


@pytest.mark.parametrize("given", [None, [], "BACKEND", 5], ids=repr)
def test_agentstore_E001_of_no_dict(settings, given):
    settings.AGENTSTORE = given

    assert ids() == ["agentstore.E001"]


def test_agentstore_E001(settings):
    """An unknown key; the hint names those there are."""
    settings.AGENTSTORE = {"BAKEND": "auto"}

    assert ids() == ["agentstore.E001"]
    assert "BACKEND" in check_settings(None)[0].hint


@pytest.mark.parametrize(
    "given",
    [
        {"BACKEND": "fast"},
        {"BACKEND": None},
        {"MAX_ROW_BYTES": 0},
        {"MAX_ROW_BYTES": "1"},
        {"MAX_ROW_BYTES": True},
        {"MAX_ROW_BYTES": 1.5},
        {"MAX_DEPTH": 65},
        {"MAX_DEPTH": 0},
        {"IDEMPOTENCY_HOURS": -1},
    ],
    ids=str,
)
def test_agentstore_E002(settings, given):
    """A value that a setting can't have."""
    settings.AGENTSTORE = given

    assert ids() == ["agentstore.E002"]
    assert check_settings(None)[0].hint


@pytest.mark.parametrize(
    "given",
    ["no.such.module", "agentstore.core.access.Nobody", "nodots", "", 5, None, f"{__name__}.an_object"],
)
def test_agentstore_E003(settings, given):
    """An access class that can't be imported, or is none."""
    settings.AGENTSTORE = {"ACCESS": given}

    assert ids() == ["agentstore.E003"]
    assert "subclass" in check_settings(None)[0].hint


def test_agentstore_E004(settings):
    """Naive times."""
    settings.USE_TZ = False

    assert ids() == ["agentstore.E004"]


@pytest.mark.parametrize("options", [{}, {"OPTIONS": {"server_side_binding": False}}])
def test_agentstore_I001(databases, options):
    """A hint at the connection options that double the speed."""
    databases({**POSTGRES, **options})
    (found,) = check_settings(None)

    assert found.id == "agentstore.I001"
    assert "server_side_binding" in found.hint


@pytest.mark.parametrize(
    "config",
    [
        {**POSTGRES, "OPTIONS": {"server_side_binding": True, "prepare_threshold": 0}},
        {"ENGINE": "django.db.backends.sqlite3", "NAME": "x"},
    ],
    ids=["bound", "sqlite"],
)
def test_databases_that_need_no_hint(databases, config):
    databases(config)

    assert check_settings(None) == []
