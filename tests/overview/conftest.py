"""What the tests of the overview share: two tenants that keep something of every kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agentstore.core.values import clock_at
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.strategies.incidents import report
from agentstore.strategies.values import Incident as Report
from tests.testapp.models import Small, Task

START = datetime(2026, 11, 30, 8, tzinfo=UTC)


def at(minutes):
    """Let what happens inside the block happen so many minutes after nine in Berlin."""
    return clock_at(START + timedelta(minutes=minutes))


@pytest.fixture
def stored(db, tenant, other_tenant):
    """Five changes of all three kinds, a minute apart, and two incidents."""
    tasks = Task.store(tenant, actor="agent:bia")
    with at(0):
        row = tasks.create({"text": "Call Ida"}, reason="asked in a chat")
    with at(1):
        FileStore(tenant, "bia", actor="agent:bia").write("SOUL.md", "one\n")
    with at(2):
        StrategyStore(other_tenant).save(problem="The gate is shut", strategy="Ring twice.", id="g1")
    with at(3):
        tasks.update(row.id, {"done": True}, actor="user:maren")
    with at(4):
        Small.store(other_tenant, actor="agent:ada").create_many([{"n": 1}] * 5)
    with at(5):
        report("default", other_tenant, Report(op="parse", id="g1", error="Skipped: confidence."))
        report("default", tenant, Report(op="find", error="It broke."))
    return row
