"""The folder's front door: its names resolve on first use, and the pure ones need no Django."""

from __future__ import annotations

import pytest

from agentstore import strategies
from tests.isolated import run_python

PURE = "entry matching memory merging methods paging prompt ranking seed terms values"


def test_the_pure_modules_and_the_store_in_memory_need_no_django():
    code = f"""
import sys
sys.modules["django"] = sys.modules["asgiref"] = None
from importlib import import_module
for name in "{PURE}".split():
    import_module("agentstore.strategies." + name)
from agentstore.strategies import InMemoryStrategyStore, render_for_prompt, seed_strategies
store = InMemoryStrategyStore("acme")
seed_strategies(store, [{{"id": "a", "problem": "Extract tables", "strategy": "Use pdfplumber"}}])
print("pdfplumber" in render_for_prompt(store.find("tables")))
"""

    assert run_python(code).stdout == "True\n"


@pytest.mark.parametrize("name", strategies.__all__)
def test_every_public_name_resolves(name):
    assert getattr(strategies, name).__module__.startswith("agentstore.strategies.")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        strategies.nothing  # noqa: B018
