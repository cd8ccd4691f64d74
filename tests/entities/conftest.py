"""What the tests of entities share: both back ends, stores over REST, rows spoiled by hand, what changed."""

from __future__ import annotations

import pytest
from django.db import connection

from agentstore.core.models import AuditEntry, Usage
from agentstore.core.values import new_id, now
from tests.testapp.models import Plain, Small, Task

#: On SQLite both settings mean the portable back end.
BACKENDS = ["auto", "portable"] if connection.vendor == "postgresql" else ["portable"]


#: The modules whose tests say what any store does; they run over REST as well, unless ``local_only``.
OVER_REST = (
    "test_audit",
    "test_conditions",
    "test_idempotency",
    "test_reading",
    "test_store",
    "test_store_creating",
    "test_store_removing",
    "test_store_updating",
)


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        name = metafunc.module.__name__.rpartition(".")[2]
        local_only = metafunc.definition.get_closest_marker("local_only") is not None
        over_rest = ["remote"] if name in OVER_REST and not local_only else []
        metafunc.parametrize("backend", [*BACKENDS, *over_rest], indirect=True)


@pytest.fixture
def backend(request, settings):
    """Run the test once with each back end that the database has, and some over REST."""
    name = "auto" if request.param == "remote" else request.param
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": name}
    return request.param


@pytest.fixture
def store_of(request, db, backend):
    """Return a function that gives the store of a model and tenant, local or over REST."""
    if backend != "remote":
        return lambda model, tenant, **who: model.store(tenant, **who)
    connect = request.getfixturevalue("connect")

    def remote(model, tenant, *, actor=None, **who):
        return connect(actor or "").store(model.entity.name, tenant=tenant, schema=model.Schema, **who)

    return remote


@pytest.fixture
def tasks(store_of, tenant, actor):
    """The tenant's store of tasks."""
    return store_of(Task, tenant, actor=actor)


@pytest.fixture
def smalls(store_of, tenant):
    """The tenant's store of an entity that has room for five rows."""
    return store_of(Small, tenant)


@pytest.fixture
def unchanged(db):
    """Return a function that tells whether anything in the tables changed since the fixture was made."""

    def state():
        return [
            list(model.objects.order_by("pk").values()) for model in (Task, Small, Plain, AuditEntry, Usage)
        ]

    states = [state()]

    def check(*, reset=False):
        if reset:
            states[0] = state()
        assert state() == states[0]

    return check


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
