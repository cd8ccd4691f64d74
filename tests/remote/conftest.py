"""What the tests of remote stores share: waits that take no time, and ways that fail."""

from __future__ import annotations

import httpx
import pytest

from tests.remote.faults import Faulty
from tests.testapp.models import Task, TaskData


@pytest.fixture
def waits(monkeypatch):
    """The waits between attempts, which nobody waits."""
    found = []

    async def no_wait(seconds):
        found.append(seconds)

    monkeypatch.setattr("agentstore.remote.client.sleep", found.append)
    monkeypatch.setattr("agentstore.remote.client.async_sleep", no_wait)
    return found


@pytest.fixture
def local(db, tenant):
    """The local store of what ``remote`` and ``over`` work on."""
    return Task.store(tenant, actor="agent:bia")


@pytest.fixture
def remote(connect, tenant):
    """The tenant's tasks over REST."""
    return connect("agent:bia").store("tasks", tenant=tenant, schema=TaskData)


@pytest.fixture
def over(connect, tenant, waits):
    """Return a function that gives the tenant's tasks over a way with faults."""
    made = []

    def store(*faults, **options):
        transport = Faulty(httpx.HTTPTransport(), faults)
        made.append(httpx.Client(transport=transport, timeout=60))
        found = connect("agent:bia", client=made[-1], **options).store(
            "tasks", tenant=tenant, schema=TaskData
        )
        return found, transport

    yield store
    for client in made:
        client.close()
