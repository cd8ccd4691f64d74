"""Who has to wait for another writer, or must not: each with a transaction of its own, on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from threading import Barrier

import pytest
from django.db import transaction

from agentstore.core.errors import AlreadyExists, ValidationFailed
from agentstore.core.values import now
from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from agentstore.files.timeline import Timeline
from agentstore.tools.memory import MemoryCommands, MemoryFailed
from tests.parallel import run_parallel, while_open

pytestmark = pytest.mark.postgres_only


@pytest.fixture
def store(transactional_db, backend, tenant):
    return FileStore(tenant, "bia", actor="agent:bia")


def numbers(store, name):
    return [store.info(name).version, *(version.version for version in store.versions(name))]


def test_a_restore_waits_for_who_blanks_its_text_out_and_is_refused(store):
    for text in ("a secret", "two"):
        store.write("SOUL.md", text)

    result = while_open(lambda: store.redact("SOUL.md", 1, "held a key"), lambda: store.restore("SOUL.md", 1))

    assert isinstance(result, ValidationFailed)
    assert (store.read("SOUL.md"), numbers(store, "SOUL.md")) == ("two", [2, 1])


def test_who_blanks_a_text_out_waits_for_its_restore(store):
    for text in ("a secret", "two"):
        store.write("SOUL.md", text)

    result = while_open(lambda: store.restore("SOUL.md", 1), lambda: store.redact("SOUL.md", 1, "held a key"))

    assert result is None
    assert [version.redacted for version in store.versions("SOUL.md")] == [False, True]
    assert (store.read("SOUL.md"), store.info("SOUL.md").restored_from) == ("a secret", 1)


def test_a_writer_who_waited_while_numbers_were_skipped_trims_no_version(store):
    """The other's versions are not in the statement's snapshot: their number can't be told by the numbers."""
    for number in range(30):
        store.write("b.md", f"{number}")
    store.delete("b.md")
    for text in ("one", "two", "three"):
        store.write("a.md", text)

    def there_and_back():
        store.rename("a.md", "b.md")
        store.rename("b.md", "a.md")

    info = while_open(there_and_back, lambda: store.write("a.md", "four"))

    assert info.version == 33
    assert numbers(store, "a.md") == [33, 32, 31, 3, 2, 1]
    assert store.read("a.md", 1) == "one"


@pytest.mark.parametrize("what", ["delete", "rename", "write"])
def test_who_waited_for_a_rename_means_the_file_that_has_the_name_then(store, what):
    store.write("a.md", "one")

    def another():
        store.rename("a.md", "b.md")
        store.write("a.md", "another")
        store.write("a.md", "another one")

    change = {
        "delete": lambda: store.delete("a.md"),
        "rename": lambda: store.rename("a.md", "z.md").changed,
        "write": lambda: store.write("a.md", "two").changed,
    }[what]

    assert while_open(another, change) is True
    found = {info.name: text for info, text in store.contents()}
    changed = {"delete": {}, "rename": {"z.md": "another one"}, "write": {"a.md": "two"}}[what]
    assert found == {"b.md": "one", **changed}


def test_a_rename_to_a_name_that_another_gives_up_does_not_wait_in_a_circle(store):
    """It waits before it holds its own file, which the other takes next."""
    store.write("a.md", "a")
    store.write("b.md", "b")

    info = while_open(
        lambda: store.rename("a.md", "c.md"),
        lambda: store.rename("b.md", "a.md"),
        at_last=lambda: store.write("b.md", "theirs"),
    )

    assert (info.name, info.changed) == ("a.md", True)
    assert [(found.name, text) for found, text in store.contents()] == [("a.md", "theirs"), ("c.md", "a")]


def test_of_two_that_swap_names_each_is_told_that_the_other_is_there(store):
    store.write("a.md", "a")
    store.write("b.md", "b")

    results = run_parallel(4, lambda i: store.rename(*(("a.md", "b.md") if i % 2 else ("b.md", "a.md"))))

    assert Counter(map(type, results)) == {AlreadyExists: 4}


def test_who_notes_numbers_of_names_waits_for_nobody(store):
    """Two that forget or rename several files meet the same names in opposite orders."""
    names, both = ("a.md", "b.md"), Barrier(2, timeout=60)
    with transaction.atomic():
        for name in names:
            store._files.remember(name, 1)

    def work(i):
        with transaction.atomic():
            store._files.remember(names[i], 10 + i)
            both.wait()
            store._files.remember(names[1 - i], 20 + i)
            both.wait()

    assert run_parallel(2, work) == [None, None]
    assert [store._files.highest(name) for name in names] == [21, 20]
    with transaction.atomic():
        store._files.remember("a.md", 5)
    assert AgentFile._base_manager.filter(name="", name_key="a.md").count() == 1
    assert store._files.highest("a.md") == 21


def test_what_a_restore_will_bring_back_is_not_forgotten_meanwhile(store, settings, monkeypatch):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_DELETED_KEPT": 1}
    for name in ("a.md", "x.md", "c.md"):
        store.write(name, "then")
    moment = now()
    store.delete("x.md")
    store.write("a.md", "later")
    carried, others = Timeline._carry_out, []

    def carry_out(self, step, *rest):
        if not others:
            others.extend(run_parallel(1, lambda _: store.delete("c.md")))
        return carried(self, step, *rest)

    monkeypatch.setattr(Timeline, "_carry_out", carry_out)

    plan = store.restore_as_of(moment, ["a.md", "x.md"])

    assert others == [True]
    assert [(step.name, step.action, step.changed) for step in plan] == [
        ("a.md", "restore", True),
        ("x.md", "undelete", True),
    ]


@pytest.mark.parametrize(
    "command",
    [
        {"command": "delete", "path": "/memories/f"},
        {"command": "rename", "old_path": "/memories/f", "new_path": "/memories/g"},
    ],
    ids=["delete", "rename"],
)
def test_who_moves_or_deletes_a_folder_does_not_wait_in_a_circle(store, command):
    """The other holds one of its files and then takes another, in the order of the lock, not of names."""
    for name in ("memories/f/z.md", "memories/f/b.md"):
        store.write(name, "text")

    told = while_open(
        lambda: store.write("memories/f/z.md", "theirs"),
        lambda: MemoryCommands(store).run(command),
        at_last=lambda: store.write("memories/f/b.md", "theirs"),
    )

    assert str(told).startswith("Successfully")
    assert store.list("memories/f") == []


def test_a_folder_s_deletion_leaves_a_file_alone_that_takes_a_name_meanwhile(store, monkeypatch):
    """To wait for who holds it, with the others held, could be to wait in a circle."""
    names = ["memories/f/a.md", "memories/f/b.md"]
    for name in names:
        store.write(name, "text")
    delete, acts = FileStore.delete, []

    def deleted(self, name, **options):
        if name in names and not acts:
            other = names[1 - names.index(name)]
            acts.append(delete(self, other) and store.write(other, "theirs").version)
        return delete(self, name, **options)

    monkeypatch.setattr(FileStore, "delete", deleted)

    with pytest.raises(MemoryFailed, match="is at version 2, not 1"):
        MemoryCommands(store).run({"command": "delete", "path": "/memories/f"})

    assert acts == [2]
    assert [info.version for info in store.list()] == [1, 1]
