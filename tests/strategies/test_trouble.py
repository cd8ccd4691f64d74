"""What find does when the database is in trouble: it gives nothing, says so, and breaks nothing else."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, InterfaceError, connection, transaction
from django.test import override_settings

from agentstore.core.errors import StorageFailed
from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Incident, Strategy

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["auto", "portable"], autouse=True)
def backend(request):
    with override_settings(AGENTSTORE={"BACKEND": request.param}):
        yield request.param


@pytest.fixture
def lessons(tenant):
    store = StrategyStore(tenant)
    store.save(id="a", problem="extract tables", strategy="s")
    return store


@pytest.fixture
def no_table():
    """Let the table be gone inside the test."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agentstore_strategy RENAME TO elsewhere")
    yield
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE elsewhere RENAME TO agentstore_strategy")


def test_a_missing_table_gives_nothing_and_the_block_goes_on(lessons, tenant, no_table):
    with transaction.atomic():
        Incident.objects.count()
        found = lessons.find("extract tables")
        again = lessons.find("extract tables")

        assert Incident.objects.filter(tenant=tenant, op="find").values_list("count").get() == (2,)

    assert (list(found), found.empty_because) == ([], "failed")
    assert again == found


def test_a_failing_find_says_nothing_of_the_cause(lessons, tenant, no_table):
    lessons.find("extract tables")

    error = Incident.objects.get(tenant=tenant).error
    assert "agentstore_strategy" not in error
    assert "Nothing was found" in error


def test_in_a_block_that_is_broken_already_find_gives_nothing_and_hides_no_error(lessons):
    """The caller's own error must surface at the end of the block, not ours in its place."""
    with pytest.raises(IntegrityError, match="theirs"), transaction.atomic():
        try:
            with transaction.atomic(savepoint=False):
                raise IntegrityError("theirs")
        except IntegrityError as error:
            found = lessons.find("extract tables")
            assert found.empty_because == "failed"
            raise error


@pytest.mark.parametrize("error", [DatabaseError, InterfaceError])
def test_no_connection_is_no_find_whatever_the_driver_raises(lessons, monkeypatch, error):
    def refuse(*args, **kwargs):
        raise error("connection already closed")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(connection, "savepoint", refuse)
    monkeypatch.setattr(connection, "savepoint_rollback", lambda sid: None)

    found = lessons.find("extract tables")

    monkeypatch.undo()
    connection.needs_rollback = False  # what Django notes when even a savepoint can't be had
    assert (list(found), found.empty_because) == ([], "failed")


@pytest.mark.parametrize("error", [DatabaseError, InterfaceError])
def test_no_connection_is_a_storage_error_in_save(lessons, monkeypatch, error):
    def refuse(*args, **kwargs):
        raise error("connection already closed")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(connection, "savepoint", refuse)
    monkeypatch.setattr(connection, "savepoint_rollback", lambda sid: None)

    with pytest.raises(StorageFailed):
        lessons.save(problem="another", strategy="s")

    monkeypatch.undo()
    connection.needs_rollback = False
    assert Strategy._base_manager.count() == 1
