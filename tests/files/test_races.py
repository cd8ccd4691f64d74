"""Races between writers, each with a connection of its own."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from django.db import connection, connections, transaction

from agentstore.core.errors import AgentStoreError, AlreadyExists, Conflict, StorageFailed
from agentstore.core.values import now
from agentstore.files import FileStore
from agentstore.files.importing import import_files
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.files.portable import PortableFiles
from tests.files.conftest import BACKENDS
from tests.parallel import run_parallel


@pytest.fixture
def store(transactional_db, backend, tenant):
    return FileStore(tenant, "bia", actor="agent:bia")


def history(store):
    """Return the numbers and texts of every kept state of all files, oldest first."""
    rows = HistoricalAgentFile._base_manager.filter(tenant=store.tenant, agent=store.agent)
    return list(rows.order_by("version").values_list("version", "content"))


@pytest.mark.parametrize("expected", [1, None])
def test_two_writers_of_one_version_lose_no_text(store, expected):
    store.write("SOUL.md", "base")

    results = run_parallel(2, lambda i: store.write("SOUL.md", f"from {i}", expected_version=expected))

    refused = [result for result in results if isinstance(result, Exception)]
    assert [type(error) for error in refused] == ([Conflict] if expected else [])
    kept = dict(history(store))
    for i, result in enumerate(results):
        if not isinstance(result, Exception):
            assert kept[result.version] == f"from {i}"
    if expected:
        assert refused[0].current_version == 2
        assert sorted(kept) == [1, 2]
    else:
        assert sorted(kept) == [1, 2, 3]


def test_eight_writers_of_a_new_file_make_one_file_and_no_version_twice(store):
    results = run_parallel(8, lambda i: store.write("SOUL.md", f"from {i}"))

    assert [error for error in results if isinstance(error, Exception)] == []
    assert AgentFile._base_manager.count() == 1
    assert sorted(info.version for info in results) == list(range(1, 9))
    assert dict(history(store)) == {info.version: f"from {i}" for i, info in enumerate(results)}
    assert len(history(store)) == 8
    assert store.read("SOUL.md") == dict(history(store))[8]


def test_of_eight_that_may_only_create_one_does(store):
    results = run_parallel(8, lambda i: store.write("SOUL.md", f"from {i}", create_only=True))

    assert Counter(type(result).__name__ for result in results) == {"FileInfo": 1, "AlreadyExists": 7}
    assert len(history(store)) == 1


def test_writers_of_names_that_differ_in_capitals_make_one_file(store):
    results = run_parallel(2, lambda i: store.write(("memory.md", "MEMORY.md")[i], "x"))

    assert Counter(type(result).__name__ for result in results) == {"FileInfo": 1, "AlreadyExists": 1}
    assert len(store.list()) == 1


def test_after_eight_writers_no_more_than_twenty_older_versions_stay(store):
    """A statement does not see the versions of those it waited for, and must count them all the same."""
    for number in range(21):
        store.write("SOUL.md", f"text {number}")

    for turn in range(4):
        results = run_parallel(8, lambda i, turn=turn: store.write("SOUL.md", f"{turn} from {i}"))
        assert [error for error in results if isinstance(error, Exception)] == []
        last = 21 + 8 * (turn + 1)
        assert [version for version, _ in history(store)] == list(range(last - 20, last + 1))


def test_replacements_of_different_words_all_survive(store):
    store.write("SOUL.md", " ".join(f"word{i}" for i in range(6)))

    results = run_parallel(6, lambda i: store.replace("SOUL.md", f"word{i}", f"done{i}"))

    assert [error for error in results if isinstance(error, Exception)] == []
    assert store.read("SOUL.md") == " ".join(f"done{i}" for i in range(6))


def test_writers_and_deleters_of_one_file_never_use_a_number_twice(store):
    store.write("SOUL.md", "base")

    def work(i):
        for number in range(6):
            try:
                if i % 4 == 3:
                    store.delete("SOUL.md")
                elif i % 4 == 2:
                    store.undelete("SOUL.md")
                else:
                    store.write("SOUL.md", f"{i} {number}")
            except AgentStoreError as error:
                assert error.code in ("exists", "not_found", "conflict")

    assert run_parallel(8, work) == [None] * 8
    assert numbers_used_twice() == []
    live = AgentFile._base_manager.filter(deleted_at__isnull=True)
    assert live.count() <= 1
    for file in live:
        newest = HistoricalAgentFile._base_manager.filter(id=file.id).order_by("-version", "-history_date")[0]
        assert (newest.version, newest.content) == (file.version, file.content)


@pytest.fixture
def between(monkeypatch):
    """Let another writer act at the moment when a change has asked for the highest number."""

    def arrange(act):
        ask, results = PortableFiles.highest, []

        def asked(self, key):
            number = ask(self, key)
            if threading.current_thread() is threading.main_thread():
                results.extend(run_parallel(1, lambda _: impatient(act)))
            return number

        monkeypatch.setattr(PortableFiles, "highest", asked)
        return results

    return arrange


def impatient(act):
    """Act, but give up soon where another holds what it takes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SET lock_timeout = '300ms'" if connection.vendor == "postgresql" else "PRAGMA busy_timeout = 300"
        )
    return act()


def numbers_used_twice():
    rows = HistoricalAgentFile._base_manager.exclude(history_type="-").values_list("version", flat=True)
    return [number for number, count in Counter(rows).items() if count > 1]


def test_a_file_made_and_deleted_during_an_undelete_does_not_have_its_number(store, between):
    store.write("SOUL.md", "old")
    store.delete("SOUL.md")
    others = between(lambda: (store.write("SOUL.md", "new"), store.delete("SOUL.md")))

    store.undelete("SOUL.md")

    assert [type(error) for error in others] == [StorageFailed]
    assert numbers_used_twice() == []


def test_a_file_made_and_deleted_during_a_rename_to_its_name_does_not_have_its_number(store, between):
    store.write("OLD.md", "old")
    others = between(
        lambda: (store.write("NEW.md", "new"), store.write("NEW.md", "2"), store.delete("NEW.md"))
    )

    store.rename("OLD.md", "NEW.md")

    assert [type(error) for error in others] == [StorageFailed]
    assert numbers_used_twice() == []


def test_of_two_that_bring_one_file_back_one_does_and_the_other_is_told_of_it(store):
    for number in range(10):
        store.write(f"{number}.md", "text")
        store.delete(f"{number}.md")

        results = run_parallel(2, lambda _, number=number: store.undelete(f"{number}.md"))

        assert Counter(type(result).__name__ for result in results) == {"FileInfo": 1, "AlreadyExists": 1}


def test_a_deletion_leaves_alone_what_another_is_bringing_back(store, settings, between):
    """It would wait for the other, who may be waiting for it."""
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_DELETED_KEPT": 1}
    for name in ("a.md", "b.md", "c.md"):
        store.write(name, "text")
    store.delete("a.md")
    others = between(lambda: (store.delete("b.md"), store.delete("c.md")))

    store.undelete("a.md")

    if connection.vendor == "postgresql":
        assert [type(result) for result in others] == [tuple]
    assert store.read("a.md") == "text"


def test_an_undelete_and_a_write_of_the_name_leave_one_live_file(store):
    store.write("SOUL.md", "old")
    store.delete("SOUL.md")

    results = run_parallel(
        2, lambda i: store.undelete("SOUL.md") if i else store.write("SOUL.md", "new", create_only=True)
    )

    assert Counter(type(result).__name__ for result in results) == {"FileInfo": 1, "AlreadyExists": 1}
    assert len(store.list()) == 1


def test_two_renames_to_one_name_leave_both_texts(store):
    store.write("a.md", "a")
    store.write("b.md", "b")

    results = run_parallel(2, lambda i: store.rename("ab"[i] + ".md", "c.md"))

    assert Counter(type(result).__name__ for result in results) == {"FileInfo": 1, "AlreadyExists": 1}
    assert sorted(text for _, text in store.contents()) == ["a", "b"]


def test_restores_of_a_time_and_writes_leave_a_whole_history(store):
    for name in ("a.md", "b.md", "c.md"):
        store.write(name, "then")
    moment = now()

    def work(i):
        if i:
            return [store.write(name, f"late {i}") for name in ("c.md", "b.md", "a.md")]
        return store.restore_as_of(moment)

    results = run_parallel(3, work)

    assert all(not isinstance(result, Exception) or isinstance(result, Conflict) for result in results)
    for name in ("a.md", "b.md", "c.md"):
        numbers = [store.info(name).version, *(version.version for version in store.versions(name))]
        assert numbers == list(range(len(numbers), 0, -1))


NAMES = [f"{letter}.md" for letter in "abcdefghij"]


@pytest.mark.parametrize("what", ["restore_as_of", "import"])
def test_who_writes_several_files_never_waits_in_a_circle(store, what):
    """Named in opposite orders, and growing in opposite orders: one goes first, the others are told."""
    moments = []
    for sizes in (range(1, 20, 2), range(19, 0, -2)):
        for name, size in zip(NAMES, sizes, strict=True):
            store.write(name, f"then {len(moments)}" * size)
        moments.append(now())

    def work(i):
        if what == "restore_as_of":
            return store.restore_as_of(moments[i % 2], NAMES[:: 1 if i % 2 else -1])
        sizes = range(10) if i % 2 else range(10, 0, -1)
        wanted = {name: f"{i}{turn}" * (size + 1) for name, size in zip(NAMES, sizes, strict=True)}
        wanted |= {f"{turn}-{name}": "x" * size for name, size in zip(NAMES, sizes, strict=True)}
        return import_files(store, wanted, policy="overwrite")

    for turn in range(4):
        for name in NAMES:
            store.write(name, f"late {turn}" * 10)

        results = run_parallel(4, work)

        assert {type(result).__name__ for result in results} <= {"list", "Conflict"}
        assert any(isinstance(result, list) for result in results)


def test_names_are_taken_last_and_in_one_order(store, monkeypatch):
    """Empty or not: two that take the same names in opposite orders would wait for each other."""
    for name, text in {"z.md": "", "m.md": "text", "a.md": "a longer text"}.items():
        store.write(name, text)
    moment = now()
    store.rename("z.md", "1.md")
    store.rename("a.md", "2.md")
    store.write("m.md", "longer than it was")
    carried, order = FileStore._carry_out, []

    def carry_out(self, step, *rest):
        order.append(step.planned.name)
        return carried(self, step, *rest)

    monkeypatch.setattr(FileStore, "_carry_out", carry_out)

    store.restore_as_of(moment)

    assert order == ["m.md", "a.md", "z.md"]
    assert store.read("z.md") == ""


@pytest.mark.postgres_only
@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
def test_writers_of_different_files_never_wait_for_each_other(store, tenant):
    """One file is locked by an open transaction: every operation on the others goes through."""
    for name in ("locked.md", "free.md", "gone.md", "move.md"):
        store.write(name, "base")
    store.delete("gone.md")
    locked, release = threading.Event(), threading.Event()

    def hold():
        try:
            with transaction.atomic():
                store.write("locked.md", "uncommitted")
                locked.set()
                release.wait(60)
        finally:
            connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(60)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '20s'")
        store.write("free.md", "written")
        store.write("new.md", "created")
        store.restore("free.md", 1)
        store.rename("move.md", "moved.md")
        store.undelete("gone.md")
        store.delete("new.md")
        FileStore(tenant, "zoe").write("locked.md", "another agent's")
        assert store.read("locked.md") == "base"
    finally:
        release.set()
        holder.join(60)
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")

    assert store.read("locked.md") == "uncommitted"
    assert store.read("free.md") == "base"


@pytest.mark.postgres_only
@pytest.mark.parametrize("how", ["write", "create_only", "delete"])
def test_a_writer_who_waited_sees_what_it_waited_for(store, how):
    """The other's transaction ends while this one waits for the file's row, or for its name."""
    if how != "create_only":
        store.write("SOUL.md", "base")
    held, release = threading.Event(), threading.Event()

    def hold():
        try:
            with transaction.atomic():
                store.write("SOUL.md", "first")
                held.set()
                release.wait(60)
        finally:
            connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    threading.Timer(0.3, release.set).start()
    if how == "write":
        assert store.write("SOUL.md", "second").version == 3
        assert store.read("SOUL.md", 2) == "first"
    elif how == "create_only":
        with pytest.raises(AlreadyExists):
            store.write("SOUL.md", "second", create_only=True)
        assert store.read("SOUL.md") == "first"
    else:
        assert store.delete("SOUL.md")
        assert store.deleted()[0].version == 2
    holder.join(60)
