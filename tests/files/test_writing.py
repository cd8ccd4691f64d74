"""What a write does when others write the same file at that very moment."""

from __future__ import annotations

import pytest

import agentstore.files
from agentstore.core.errors import AlreadyExists, Conflict, NotFound, ValidationFailed
from agentstore.core.values import now
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


@pytest.fixture
def three(files):
    """The files, SOUL.md among them in three versions."""
    for text in ("one", "two", "three"):
        files.write("SOUL.md", text)
    return files


def test_a_text_that_is_blanked_out_meanwhile_does_not_come_back(three, rival, interfere):
    interfere("write", lambda: rival.redact("SOUL.md", 1, "a secret"))

    with pytest.raises(ValidationFailed, match=r"version 1 of SOUL\.md was blanked out"):
        three.restore("SOUL.md", 1)

    assert (three.read("SOUL.md"), three.info("SOUL.md").version) == ("three", 3)


def test_a_text_that_is_blanked_out_meanwhile_makes_no_file_either(three, rival, interfere):
    """The file that had it has another name by now: going back would make one of the old name."""
    moment = now()
    three.rename("SOUL.md", "b.md")
    interfere("create", lambda: rival.redact("b.md", 3, "a secret"))

    with pytest.raises(Conflict, match=r"SOUL\.md changed while it was being put back"):
        three.restore_as_of(moment)

    assert [info.name for info in three.list()] == ["b.md"]


def test_a_text_that_is_trimmed_meanwhile_is_not_restored(three, rival, interfere, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_VERSIONS_KEPT": 2}
    interfere("write", lambda: rival.write("SOUL.md", "four"))

    with pytest.raises(NotFound, match=r"no version 1 of SOUL\.md"):
        three.restore("SOUL.md", 1)

    assert (three.read("SOUL.md"), three.info("SOUL.md").version) == ("four", 4)


def test_no_version_is_blanked_out_that_is_yet_to_be_written(three, rival, monkeypatch):
    """The version is the current one by the time that it would be blanked out."""
    need = FileStore._need

    def needed(self, name):
        row = need(self, name)
        monkeypatch.setattr(FileStore, "_need", need)
        rival.write("SOUL.md", "four")
        return row

    monkeypatch.setattr(FileStore, "_need", needed)

    with pytest.raises(NotFound, match=r"no version 4 of SOUL\.md"):
        three.redact("SOUL.md", 4, "a secret")

    three.write("SOUL.md", "five")
    assert three.read("SOUL.md", 4) == "four"


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files.restore("SOUL.md", 1),
        lambda files: files.replace("SOUL.md", "three", "one"),
    ],
    ids=["restore", "replace"],
)
def test_a_file_given_other_capitals_meanwhile_is_changed_under_those(three, rival, interfere, change):
    interfere("write", lambda: rival.rename("SOUL.md", "Soul.md"))

    info = change(three)

    assert (info.name, info.version, info.changed) == ("Soul.md", 5, True)
    assert three.read("Soul.md") == "one"


def test_a_restore_of_what_is_given_other_capitals_each_time_gives_up(three, rival, interfere, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_VERSIONS_KEPT": 2 * ATTEMPTS}
    names = iter(["soul.md", "SOUL.md"] * ATTEMPTS)
    interfere("write", lambda: rival.rename("SOUL.md", next(names)), always=True)

    with pytest.raises(Conflict, match="changed 50 times"):
        three.restore("SOUL.md", 1)


def test_a_difference_shows_the_text_of_the_version_that_it_names(three, rival, interfere):
    interfere("read", lambda: rival.write("SOUL.md", "four"))

    diff = three.diff("SOUL.md", 1)

    assert "+++ SOUL.md (version 3)" in str(diff)
    assert "+three" in str(diff)


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("delete", lambda files: files.delete("SOUL.md")),
        ("rename", lambda files: files.rename("SOUL.md", "b.md").version == 2),
    ],
    ids=["delete", "rename"],
)
def test_a_file_that_has_taken_the_name_meanwhile_is_the_one_that_is_meant(
    files, monkeypatch, method, change
):
    """A statement that waited for who moved the one file away does not see the other."""
    files.write("SOUL.md", "one")
    original, asked = getattr(PortableFiles, method), []

    def refused_once(self, *arguments):
        asked.append(1)
        if len(asked) == 1:
            return Refusal.STALE
        return original(self, *arguments)

    monkeypatch.setattr(PortableFiles, method, refused_once)

    assert change(files)
    assert (len(asked), files.read("SOUL.md")) == (2, None)


@pytest.mark.parametrize(
    "change",
    [lambda files: files.delete("SOUL.md"), lambda files: files.rename("SOUL.md", "b.md")],
    ids=["delete", "rename"],
)
def test_who_finds_another_file_each_time_gives_up(files, monkeypatch, change):
    files.write("SOUL.md", "one")
    for method in ("delete", "rename"):
        monkeypatch.setattr(PortableFiles, method, lambda self, *arguments: Refusal.STALE)

    with pytest.raises(Conflict, match="changed 50 times"):
        change(files)
