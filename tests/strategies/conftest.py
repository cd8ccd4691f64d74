"""What the tests of strategies share: stores to make, a fixed time, and rows for the pure rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from agentstore.core.values import clock_at
from agentstore.strategies.memory import InMemoryStrategyStore
from tests.strategies.rows import NOW


@pytest.fixture
def now() -> Iterator[datetime]:
    """Stop the stores' clock at ``NOW``."""
    with clock_at(NOW):
        yield NOW


@pytest.fixture(params=["memory"])
def make_store(request):
    """Make a store for a tenant: ``make_store(tenant, capacity=None)``; every kind of store in turn."""
    return InMemoryStrategyStore


@pytest.fixture
def store(make_store, tenant):
    return make_store(tenant)


@pytest.fixture
def async_store(make_store, tenant):
    return make_store(tenant)
