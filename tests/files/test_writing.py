"""What a write does when others write the same file at that very moment."""

from __future__ import annotations

import pytest

import agentstore.files
from agentstore.core.errors import AlreadyExists, Conflict, NotFound
from agentstore.files import FileStore
from agentstore.files.backend import Refusal
from agentstore.files.portable import PortableFiles
from agentstore.files.reading import backend_of
from agentstore.files.writing import ATTEMPTS


@pytest.fixture
def interfere(monkeypatch, files):
    """Let something happen right before the back end's next call of ``method``."""

    def before(method, happens, *, always=False):
        owner = type(backend_of(files.tenant, files.agent))
        original = getattr(owner, method)
        calls = []

        def interfered(self, *arguments, **options):
            calls.append(1)
            if always or len(calls) == 1:
                monkeypatch.setattr(owner, method, original)
                happens()
                monkeypatch.setattr(owner, method, interfered)
            return original(self, *arguments, **options)

        monkeypatch.setattr(owner, method, interfered)
        return calls

    return before


@pytest.fixture
def rival(tenant):
    return FileStore(tenant, "bia", actor="user:7")


def test_a_file_deleted_meanwhile_is_written_anew(files, rival, interfere):
    files.write("SOUL.md", "one")
    interfere("write", lambda: rival.delete("SOUL.md"))

    assert files.write("SOUL.md", "two").version == 2
    assert files.versions("SOUL.md") == []


def test_a_file_deleted_meanwhile_is_not_restored(files, rival, interfere):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")
    interfere("write", lambda: rival.delete("SOUL.md"))

    with pytest.raises(NotFound):
        files.restore("SOUL.md", 1)

    assert files.read("SOUL.md") is None


def test_a_file_created_meanwhile_is_written_over_or_refused(files, rival, interfere):
    interfere("create", lambda: rival.write("SOUL.md", "theirs"))

    assert files.write("SOUL.md", "ours").version == 2
    assert files.read("SOUL.md", 1) == "theirs"
    interfere("create", lambda: rival.write("TOOLS.md", "theirs"))
    with pytest.raises(AlreadyExists):
        files.write("TOOLS.md", "ours", create_only=True)


def test_a_replacement_is_made_in_what_the_file_is_by_then(files, rival, interfere):
    files.write("SOUL.md", "a b")
    interfere("write", lambda: rival.replace("SOUL.md", "a", "A"))

    files.replace("SOUL.md", "b", "B")

    assert files.read("SOUL.md") == "A B"


def test_a_replacement_of_an_expected_version_is_not_made_in_another(files, rival, interfere):
    files.write("SOUL.md", "a b")
    interfere("write", lambda: rival.replace("SOUL.md", "a", "A"))

    with pytest.raises(Conflict) as info:
        files.replace("SOUL.md", "b", "B", expected_version=1)

    assert info.value.current_version == 2
    assert files.read("SOUL.md") == "A b"


def test_a_rename_of_an_expected_version_is_not_made_of_another(files, rival, interfere):
    files.write("a.md", "one")
    interfere("rename", lambda: rival.write("a.md", "two"))

    with pytest.raises(Conflict) as info:
        files.rename("a.md", "b.md", expected_version=1)

    assert info.value.current_version == 2
    assert [file.name for file in files.list()] == ["a.md"]


def test_a_rename_of_a_file_deleted_meanwhile_is_not_found(files, rival, interfere):
    files.write("a.md", "one")
    interfere("rename", lambda: rival.delete("a.md"))

    with pytest.raises(NotFound):
        files.rename("a.md", "b.md")


def test_an_undelete_that_somebody_else_was_quicker_with_is_refused(files, rival, interfere):
    files.write("a.md", "one")
    files.delete("a.md")
    interfere("undelete", lambda: rival.undelete("a.md"))

    with pytest.raises((NotFound, AlreadyExists)):
        files.undelete("a.md")

    assert files.info("a.md").version == 2


def test_a_name_taken_meanwhile_refuses_an_undelete(files, rival, interfere):
    files.write("a.md", "old")
    files.delete("a.md")
    interfere("undelete", lambda: rival.write("a.md", "new"))

    with pytest.raises(AlreadyExists):
        files.undelete("a.md")

    assert files.read("a.md") == "new"


def test_a_delete_of_an_expected_version_leaves_another_alone(files, rival, interfere):
    files.write("a.md", "one")
    interfere("delete", lambda: rival.write("a.md", "two"))

    with pytest.raises(Conflict):
        files.delete("a.md", expected_version=1)

    assert files.read("a.md") == "two"


def test_a_writer_gives_up_after_so_many_tries(files, monkeypatch):
    files.write("SOUL.md", "one")
    tries = []
    for owner in (PortableFiles, type(backend_of(files.tenant, files.agent))):
        monkeypatch.setattr(owner, "write", lambda self, write: tries.append(write) or Refusal.STALE)

    with pytest.raises(Conflict, match=f"changed {ATTEMPTS} times"):
        files.write("SOUL.md", "two")

    assert len(tries) == ATTEMPTS


def test_a_replacement_gives_up_after_so_many_tries(files, rival, interfere):
    files.write("SOUL.md", "a")
    numbers = iter(range(1000))
    interfere("write", lambda: rival.write("SOUL.md", f"a {next(numbers)}"), always=True)

    with pytest.raises(Conflict, match=f"changed {ATTEMPTS} times"):
        files.replace("SOUL.md", "a", "b")


def test_a_store_can_be_had_with_another_source(files):
    assert files.with_source("tool").write("a.md", "x").source == "tool"
    assert files.write("b.md", "x").source == "python"


def test_a_store_says_whose_files_it_has(files):
    assert repr(files) == "<FileStore 'bia' of 'acme'>"


def test_the_package_offers_the_store_and_nothing_by_chance():
    assert sorted(agentstore.files.__all__) == ["FileStore", "agents"]
    with pytest.raises(AttributeError, match="Nope"):
        _ = agentstore.files.Nope
