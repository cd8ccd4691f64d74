"""Erasing while others write: nothing of what is removed stays behind, and none waits in a circle."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import models

from agentstore.core.models import AuditEntry, Usage
from agentstore.files import FileStore
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.management.commands import agentstore_erase
from agentstore.strategies.store import StrategyStore
from tests.parallel import run_parallel, while_open
from tests.testapp.models import Task

pytestmark = [pytest.mark.postgres_only, pytest.mark.django_db(transaction=True)]

TABLES = (Task, AuditEntry, Usage, AgentFile, HistoricalAgentFile)


def erase(tenant):
    call_command("agentstore_erase", "--tenant", tenant, "--no-input", stdout=io.StringIO())


def left(tenant):
    return {model.__name__: model._base_manager.filter(tenant=tenant).count() for model in TABLES}


def test_what_writers_note_of_a_row_while_it_is_erased_goes_with_it(tenant):
    store, tasks = FileStore(tenant, "bia"), Task.store(tenant)
    store.write("SOUL.md", "one")
    row = tasks.create({"text": "one"})

    def write():
        store.write("SOUL.md", "a secret")
        tasks.update(row.id, {"text": "a secret"})

    assert while_open(write, lambda: erase(tenant)) is None
    assert set(left(tenant).values()) == {0}


def test_who_deletes_a_row_and_an_erasure_do_not_wait_in_a_circle(tenant):
    """The one has the row and then takes the counter: so does the other."""
    tasks, deleted = Task.store(tenant), []
    row = tasks.create({"text": "one"})

    erased = while_open(
        lambda: Task._base_manager.select_for_update().get(id=row.id),
        lambda: erase(tenant),
        at_last=lambda: deleted.append(tasks.delete(row.id)),
    )

    assert erased is None
    assert deleted == [True]
    assert set(left(tenant).values()) == {0}


def test_who_saves_a_strategy_and_an_erasure_do_not_wait_in_a_circle(tenant):
    """The one has the counter and then takes what is stored: so does the other."""
    lessons, merged = StrategyStore(tenant), []
    said = {"problem": "late parcel", "strategy": "call the depot"}
    lessons.save(**said, confidence=1)

    erased = while_open(
        lambda: lessons.save(problem="lost parcel", strategy="look again"),
        lambda: erase(tenant),
        at_last=lambda: merged.append(lessons.save(**said, confidence=3).status),
    )

    assert erased is None
    assert merged == ["merged"]
    assert lessons.usage().used == 0


@pytest.mark.parametrize("last", agentstore_erase.LAST)
def test_what_is_made_while_a_tenant_is_erased_is_there_as_a_whole_or_not_at_all(tenant, last, monkeypatch):
    FileStore(tenant, "bia").write("SOUL.md", "one")
    Task.store(tenant).create({"text": "one"})
    StrategyStore(tenant).save(problem="late parcel", strategy="call the depot")
    remove, acts = models.QuerySet._raw_delete, []

    def write():
        FileStore(tenant, "zoe").write("SOUL.md", "two")

    def removed(rows, alias):
        if rows.model is last and not acts:
            acts.extend(run_parallel(1, lambda _: write()))
        return remove(rows, alias)

    monkeypatch.setattr(models.QuerySet, "_raw_delete", removed)

    erase(tenant)

    assert acts == [None]
    assert set(left(tenant).values()) == {0}


def test_an_erasure_that_others_write_against_says_so(tenant, monkeypatch):
    remove = models.QuerySet._raw_delete

    def removed(rows, alias):
        if rows.model is HistoricalAgentFile:
            run_parallel(1, lambda _: FileStore(tenant, "zoe").write("SOUL.md", "two"))
        return remove(rows, alias)

    monkeypatch.setattr(models.QuerySet, "_raw_delete", removed)
    FileStore(tenant, "bia").write("SOUL.md", "one")

    with pytest.raises(CommandError, match="Stop whatever is writing"):
        erase(tenant)
