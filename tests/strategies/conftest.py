"""What the tests of strategies share: stores to make, and a fixed time. Rows for the rules: ``rows``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from agentstore.core.values import clock_at
from agentstore.strategies.memory import InMemoryStrategyStore
from agentstore.strategies.store import StrategyStore
from tests.strategies.rows import NOW, save_some

ON_DISK = pytest.mark.django_db
COMMITTED = pytest.mark.django_db(transaction=True)


@pytest.fixture
def now() -> Iterator[datetime]:
    """Stop the stores' clock at ``NOW``."""
    with clock_at(NOW):
        yield NOW


@pytest.fixture(
    params=[InMemoryStrategyStore, pytest.param(StrategyStore, marks=ON_DISK)], ids=["memory", "database"]
)
def make_store(request):
    """Make a store for a tenant: ``make_store(tenant, capacity=None)``; every kind of store in turn."""
    return request.param


@pytest.fixture
def store(make_store, tenant):
    return make_store(tenant)


@pytest.fixture(
    params=[InMemoryStrategyStore, pytest.param(StrategyStore, marks=COMMITTED)], ids=["memory", "database"]
)
def async_store(request, tenant):
    """A store whose async methods run in threads, which see only what is committed."""
    return request.param(tenant)


@pytest.fixture
def stocked(store):
    """A store of five lessons, id0 to id4, the last the best."""
    save_some(store, [0.5, 1, 1.5, 2, 2.5])
    return store
