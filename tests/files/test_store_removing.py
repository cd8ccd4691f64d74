"""Deleting files, bringing them back and renaming them: texts, histories and numbers."""

from __future__ import annotations

import pytest

from agentstore.core.errors import AlreadyExists, Conflict, NotFound
from agentstore.core.values import clock_at
from agentstore.files.models import HistoricalAgentFile
from tests.files.conftest import START, texts


def test_delete_says_whether_there_was_a_file(files):
    files.write("SOUL.md", "text")

    assert files.delete("SOUL.md") is True
    assert files.delete("SOUL.md") is False
    assert files.read("SOUL.md") is None
    assert (files.list(), files.versions("SOUL.md")) == ([], [])


def test_a_stale_delete_is_refused(files):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")

    with pytest.raises(Conflict) as info:
        files.delete("SOUL.md", expected_version=1)

    assert info.value.current_version == 2
    assert files.delete("SOUL.md", expected_version=2)
    assert not files.delete("SOUL.md", expected_version=2)


def test_a_deleted_file_is_listed_with_who_and_why(files):
    files.write("SOUL.md", "text")
    with clock_at(START):
        files.delete("SOUL.md", actor="user:7", reason="obsolete")

    [gone] = files.deleted()

    assert (gone.name, gone.version, gone.size, gone.deleted_at) == ("SOUL.md", 1, 4, START)
    assert (gone.actor, gone.reason, gone.name_taken) == ("user:7", "obsolete", False)


def test_undelete_brings_text_and_versions_back_under_a_new_number(files):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")
    files.delete("SOUL.md")

    info = files.undelete("SOUL.md")

    assert (info.version, info.changed, files.read("SOUL.md")) == (3, True, "two")
    assert texts(files, "SOUL.md") == {2: "two", 1: "one"}
    assert files.deleted() == []


def test_a_file_written_anew_has_no_history_and_a_number_that_the_old_one_never_had(files):
    for text in ("one", "two", "three"):
        files.write("SOUL.md", text)
    files.delete("SOUL.md")

    info = files.write("SOUL.md", "new")

    assert info.version == 4
    assert files.versions("SOUL.md") == []
    for stale in (1, 2, 3):
        with pytest.raises(Conflict):
            files.write("SOUL.md", "stale", expected_version=stale)


def test_undelete_is_refused_while_the_name_is_taken_and_says_so(files):
    files.write("SOUL.md", "old")
    files.delete("SOUL.md")
    files.write("SOUL.md", "new")

    with pytest.raises(AlreadyExists) as info:
        files.undelete("SOUL.md")

    assert "SOUL.md" in info.value.message
    assert "Rename or delete it first" in info.value.hint
    assert files.deleted()[0].name_taken
    files.rename("SOUL.md", "NEW.md")
    files.undelete("SOUL.md")
    assert (files.read("SOUL.md"), files.read("NEW.md")) == ("old", "new")


def test_the_newest_deleted_file_of_a_name_is_undeleted(files):
    for text in ("old", "new"):
        files.write("SOUL.md", text)
        files.delete("SOUL.md")

    files.undelete("SOUL.md")

    assert files.read("SOUL.md") == "new"
    assert [gone.name_taken for gone in files.deleted()] == [True]


def test_there_is_nothing_to_undelete_where_nothing_was_deleted(files):
    with pytest.raises(NotFound):
        files.undelete("SOUL.md")

    files.write("SOUL.md", "x")
    with pytest.raises(AlreadyExists):
        files.undelete("SOUL.md")


def test_twenty_deleted_files_are_kept(files):
    for number in range(23):
        files.write(f"{number}.md", "x")
        files.delete(f"{number}.md")

    assert [gone.name for gone in files.deleted()] == [f"{number}.md" for number in range(22, 2, -1)]
    assert HistoricalAgentFile._base_manager.values("id").distinct().count() == 20
    with pytest.raises(NotFound):
        files.undelete("2.md")


def test_no_deleted_file_is_kept_where_none_may_be(files, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_DELETED_KEPT": 0}
    files.write("SOUL.md", "x")

    assert files.delete("SOUL.md")

    assert files.deleted() == []
    assert files.write("SOUL.md", "y").version == 2


def test_rename_keeps_text_and_history_and_is_a_version(files):
    files.write("a.md", "one")
    files.write("a.md", "two")

    info = files.rename("a.md", "notes/b.md", reason="tidy")

    assert (info.name, info.version, info.reason) == ("notes/b.md", 3, "tidy")
    assert (files.read("a.md"), files.read("notes/b.md")) == (None, "two")
    assert [(version.version, version.name) for version in files.versions("notes/b.md")] == [
        (2, "a.md"),
        (1, "a.md"),
    ]


def test_rename_over_a_file_is_refused(files):
    files.write("a.md", "a")
    files.write("B.md", "b")

    with pytest.raises(AlreadyExists):
        files.rename("a.md", "b.md")

    assert (files.read("a.md"), files.read("B.md")) == ("a", "b")


def test_rename_can_change_capitals_alone(files):
    files.write("memory.md", "text")

    files.rename("memory.md", "MEMORY.md")

    assert [info.name for info in files.list()] == ["MEMORY.md"]
    assert not files.rename("MEMORY.md", "MEMORY.md").changed


def test_rename_of_an_unknown_file_or_a_stale_one_is_refused(files):
    files.write("a.md", "one")
    files.write("a.md", "two")

    with pytest.raises(NotFound):
        files.rename("x.md", "y.md")
    with pytest.raises(Conflict):
        files.rename("a.md", "b.md", expected_version=1)

    assert files.rename("a.md", "b.md", expected_version=2).version == 3


def test_a_name_left_by_a_rename_gets_no_old_number_again(files):
    """Otherwise a stale If-Match of the renamed file would hit the new one."""
    for text in ("one", "two", "three"):
        files.write("a.md", text)
    files.rename("a.md", "b.md")

    assert files.write("a.md", "new").version == 4
    assert files.write("c.md", "other").version == 1
