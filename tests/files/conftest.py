"""What the tests of files share: both back ends, one agent's store, and a clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection

from agentstore.core.values import clock_at
from agentstore.files import FileStore

#: On SQLite both settings mean the portable back end.
BACKENDS = ["auto", "portable"] if connection.vendor == "postgresql" else ["portable"]
#: When the stories of these tests begin.
START = datetime(2026, 11, 1, 8, tzinfo=UTC)


def texts(store, name):
    """Return the kept older versions with their texts, newest first."""
    return {version.version: store.read(name, version.version) for version in store.versions(name)}


@pytest.fixture(params=BACKENDS)
def backend(request, settings):
    """Run the test once with each back end that the database has."""
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": request.param}
    return request.param


@pytest.fixture
def files(db, backend, tenant, actor):
    """The files of the tenant's agent bia."""
    return FileStore(tenant, "bia", actor=actor)


@pytest.fixture
def one_day():
    """Stop the clock: were a day to end meanwhile, its last version would be kept beside the newest."""
    with clock_at(START):
        yield
