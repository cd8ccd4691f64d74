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


REFUSING_C = {
    "postgresql": [
        """CREATE FUNCTION refuse_c() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN IF NEW.strategy_id = 'c' THEN RAISE 'no'; END IF; RETURN NEW; END $$""",
        "CREATE TRIGGER no_c BEFORE INSERT ON agentstore_strategy FOR EACH ROW EXECUTE FUNCTION refuse_c()",
    ],
    "sqlite": [
        """CREATE TRIGGER no_c BEFORE INSERT ON agentstore_strategy WHEN NEW.strategy_id = 'c'
           BEGIN SELECT RAISE(ABORT, 'no'); END"""
    ],
}


@pytest.fixture
def no_c():
    """Let the database refuse the strategy ``c`` inside the test, as a host's own trigger might."""
    with connection.cursor() as cursor:
        for statement in REFUSING_C[connection.vendor]:
            cursor.execute(statement)


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


def test_a_save_that_the_database_refuses_leaves_the_callers_block_usable(lessons, tenant, no_c):
    with transaction.atomic():
        with pytest.raises(StorageFailed):
            lessons.save(id="c", problem="problem c", strategy="s")
        lessons.save(id="d", problem="problem d", strategy="s")

    assert {row.id for row in lessons.list()} == {"a", "d"}
    assert Incident.objects.filter(tenant=tenant, op="save").values_list("strategy_id").get() == ("c",)


def test_failed_saves_without_an_id_of_their_own_are_counted_as_one_incident(lessons, tenant, no_table):
    """An id that was made for a save and never stored names nothing, and would be a row each time."""
    for _ in range(3):
        with pytest.raises(StorageFailed):
            lessons.save(problem="problem", strategy="s")

    incidents = Incident.objects.filter(tenant=tenant, op="save")
    assert incidents.values_list("strategy_id", "count").get() == ("", 3)


def test_what_a_seed_wrote_before_the_database_refused_an_entry_is_stored(lessons, no_c):
    result = lessons.seed({"id": id, "problem": f"problem {id}", "strategy": "s"} for id in "bcd")

    assert (result.written, result.failed_at.id) == (1, "c")
    assert {row.id for row in lessons.list()} == {"a", "b"}
    assert lessons.usage().used == 2


def test_a_seed_whose_connection_is_lost_does_not_claim_to_have_written(lessons, monkeypatch):
    """Django rolls such a transaction back at its end, without an error."""
    save = lessons.save

    def lose(**fields):
        if fields["id"] == "c":
            connection.needs_rollback = True  # what Django notes when a savepoint can't be undone
            raise StorageFailed("lost")
        return save(**fields)

    monkeypatch.setattr(lessons, "save", lose)
    with pytest.raises(StorageFailed) as info:
        lessons.seed({"id": id, "problem": f"problem {id}", "strategy": "s"} for id in "bcd")

    assert info.value.retryable
    assert {row.id for row in lessons.list()} == {"a"}
