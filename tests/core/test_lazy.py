"""Packages give the names of their modules without loading them before somebody asks."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from agentstore.core.lazy import names_of


def test_a_name_comes_from_its_module():
    look_up = names_of("agentstore.core", {"Conflict": "errors"})

    assert look_up("Conflict") is sys.modules["agentstore.core.errors"].Conflict


def test_no_module_is_loaded_before_its_name_is_asked_for():
    look_up = names_of("agentstore.core", {"Nonsense": "no_such_module"})

    with pytest.raises(ModuleNotFoundError, match=r"agentstore\.core\.no_such_module"):
        look_up("Nonsense")


@pytest.mark.parametrize("package", ["entities", "files", "strategies", "tools"])
def test_an_unknown_name_is_refused_as_by_any_module(package):
    module = import_module(f"agentstore.{package}")

    with pytest.raises(AttributeError, match=rf"module 'agentstore\.{package}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
