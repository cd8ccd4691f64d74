"""What the tests of entities share: both back ends, and rows spoiled by hand."""

from __future__ import annotations

import pytest
from django.db import connection

from agentstore.core.values import new_id, now
from tests.testapp.models import Task

#: On SQLite both settings mean the portable back end.
BACKENDS = ["auto", "portable"] if connection.vendor == "postgresql" else ["portable"]


@pytest.fixture(params=BACKENDS)
def backend(request, settings):
    """Run the test once with each back end that the database has."""
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": request.param}
    return request.param


@pytest.fixture
def tasks(db, backend, tenant, actor):
    """The tenant's store of tasks."""
    return Task.store(tenant, actor=actor)


@pytest.fixture
def spoil(db, tenant):
    """Write ``data`` into a task around the store, as a hand with SQL would; without a row, make one."""

    def write(data, row=None, model=Task):
        if row is not None:
            model._base_manager.filter(pk=row.id).update(data=data)
            return row.id
        id, at = new_id(), now()
        fields = {"id": id, "tenant": tenant, "version": 1, "created_at": at, "updated_at": at}
        model._base_manager.bulk_create([model(data=data, **fields)])
        return id

    return write
