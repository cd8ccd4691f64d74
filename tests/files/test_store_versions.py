"""Older versions: restoring, replacing, redacting and comparing them."""

from __future__ import annotations

import pytest

from agentstore.core.errors import Conflict, NotFound, TooLarge, ValidationFailed
from agentstore.core.values import clock_at
from agentstore.files.models import HistoricalAgentFile
from tests.files.conftest import START, texts

# --- restore --------------------------------------------------------------------------------------


def test_restoring_is_a_new_version_and_removes_nothing(files):
    for text in ("\none\r\n", "two", "three"):
        files.write("SOUL.md", text)

    info = files.restore("SOUL.md", 1, reason="better before")

    assert files.read("SOUL.md") == "\none\r\n"
    assert (info.version, info.restored_from, info.source, info.reason) == (4, 1, "restore", "better before")
    assert texts(files, "SOUL.md") == {3: "three", 2: "two", 1: "\none\r\n"}
    assert files.restore("SOUL.md", 3).version == 5
    assert files.restore("SOUL.md", 2).version == 6


def test_a_write_after_a_restore_names_no_source(files):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")
    files.restore("SOUL.md", 1)

    assert files.write("SOUL.md", "three").restored_from is None
    assert [version.restored_from for version in files.versions("SOUL.md")] == [1, None, None]


def test_restoring_what_is_current_makes_no_version(files):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")
    files.restore("SOUL.md", 1)

    assert not files.restore("SOUL.md", 1).changed
    assert not files.restore("SOUL.md", 3).changed
    assert files.info("SOUL.md").version == 3


def test_restoring_a_trimmed_version_or_an_unknown_file_is_not_found(files, one_day):
    for number in range(25):
        files.write("SOUL.md", f"text {number}")

    for name, version in (("SOUL.md", 1), ("SOUL.md", 99), ("OTHER.md", 1)):
        with pytest.raises(NotFound):
            files.restore(name, version)


@pytest.mark.parametrize("number", [0, -1, 99])
def test_a_number_that_no_version_has_is_told_as_it_was_asked_for(files, number):
    files.write("SOUL.md", "one")

    for ask in (files.need_content, files.restore):
        with pytest.raises(NotFound, match=f"There is no version {number} of SOUL.md"):
            ask("SOUL.md", number)


def test_a_stale_restore_is_refused(files):
    for text in ("one", "two", "three"):
        files.write("SOUL.md", text)

    with pytest.raises(Conflict) as info:
        files.restore("SOUL.md", 1, expected_version=2)

    assert info.value.current_version == 3
    assert files.restore("SOUL.md", 1, expected_version=3).version == 4


def test_restoring_what_has_become_too_large_is_refused(files, settings):
    files.write("SOUL.md", "x" * 100)
    files.write("SOUL.md", "y")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_BYTES": 50}

    with pytest.raises(TooLarge):
        files.restore("SOUL.md", 1)


# --- replace, redact, diff ------------------------------------------------------------------------


def test_replace_is_literal(files):
    files.write("SOUL.md", "a.c abc \\1")

    info = files.replace("SOUL.md", "a.c", "\\1 \\g<0> $&")

    assert (files.read("SOUL.md"), info.version) == ("\\1 \\g<0> $& abc \\1", 2)


@pytest.mark.parametrize("old", ["x", "", "aa", "a"], ids=["missing", "empty", "overlapping", "twice"])
def test_replace_needs_exactly_one_occurrence(files, old):
    files.write("SOUL.md", "aaa")

    with pytest.raises(ValidationFailed):
        files.replace("SOUL.md", old, "y")

    assert files.read("SOUL.md") == "aaa"


def test_replace_checks_file_version_and_size(files):
    files.write("SOUL.md", "one" + "x" * 102_000)
    files.replace("SOUL.md", "one", "two")

    with pytest.raises(NotFound):
        files.replace("OTHER.md", "a", "b")
    with pytest.raises(Conflict):
        files.replace("SOUL.md", "two", "three", expected_version=1)
    with pytest.raises(TooLarge):
        files.replace("SOUL.md", "two", "y" * 1000)
    with pytest.raises(ValidationFailed):
        files.replace("SOUL.md", "two", None)


def test_redaction_blanks_one_older_version_for_good(files):
    with clock_at(START):
        files.write("SOUL.md", "the secret", actor="user:7", reason="oops")
    files.write("SOUL.md", "clean")

    files.redact("SOUL.md", 1, "held a key", actor="user:1")

    [version] = files.versions("SOUL.md")
    assert (version.redacted, version.size, version.sha256) == (True, 0, "")
    assert (version.redacted_by, version.redacted_reason) == ("user:1", "held a key")
    assert (version.version, version.actor, version.reason, version.at) == (1, "user:7", "oops", START)
    for call in (lambda: files.read("SOUL.md", 1), lambda: files.restore("SOUL.md", 1)):
        with pytest.raises(ValidationFailed, match="blanked out"):
            call()
    with pytest.raises(ValidationFailed, match="blanked out"):
        files.diff("SOUL.md", 1)
    assert files.read("SOUL.md") == "clean"


def test_a_redacted_text_is_nowhere_in_the_tables(files):
    """A deletion's own history row holds the text, too."""
    files.write("SOUL.md", "the secret")
    files.delete("SOUL.md")
    files.undelete("SOUL.md")
    files.write("SOUL.md", "clean")

    for version in (1, 2):
        files.redact("SOUL.md", version, "held a key")

    assert not HistoricalAgentFile._base_manager.filter(content__contains="secret").exists()


def test_redaction_of_the_current_or_an_unknown_version_is_refused(files):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")

    with pytest.raises(ValidationFailed, match="current"):
        files.redact("SOUL.md", 2, "secret")
    with pytest.raises(NotFound):
        files.redact("SOUL.md", 3, "secret")
    with pytest.raises(NotFound):
        files.redact("SOUL.md", 0, "secret")
    with pytest.raises(NotFound):
        files.redact("OTHER.md", 1, "secret")
    for reason in ("", "  ", None):
        with pytest.raises(ValidationFailed):
            files.redact("SOUL.md", 1, reason)

    assert files.read("SOUL.md", 1) == "one"


def test_diff_compares_any_two_versions(files):
    for text in ("a\nb\n", "a\nc\n", "x\n"):
        files.write("SOUL.md", text)

    older, current = files.diff("SOUL.md", 1, 2), files.diff("SOUL.md", 2)

    assert str(older) == ("--- SOUL.md (version 1)\n+++ SOUL.md (version 2)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
    assert (current.new_label, current.added, current.removed) == ("SOUL.md (version 3)", 1, 2)
    assert files.diff("SOUL.md", 2, 2).equal
    with pytest.raises(NotFound):
        files.diff("SOUL.md", 1, 9)
    with pytest.raises(NotFound):
        files.diff("OTHER.md", 1, 2)
