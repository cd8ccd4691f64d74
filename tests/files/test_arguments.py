"""What a call of the store gets wrong is refused before anything is looked up, read or written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.files import FileStore
from agentstore.files.importing import import_files

CALLS = {
    "rename-to-no-name": lambda files, name: files.rename(name, "../x"),
    "rename-version": lambda files, name: files.rename(name, "b.md", expected_version="1"),
    "rename-reason": lambda files, name: files.rename(name, name, reason=5),
    "restore-version": lambda files, name: files.restore(name, "1"),
    "restore-expected": lambda files, name: files.restore(name, 1, expected_version=1.0),
    "restore-actor": lambda files, name: files.restore(name, 1, actor=7),
    "redact-version": lambda files, name: files.redact(name, True, "a key"),
    "redact-reason": lambda files, name: files.redact(name, 1, " "),
    "redact-actor": lambda files, name: files.redact(name, 1, "a key", actor=7),
    "replace-version": lambda files, name: files.replace(name, "one", "two", expected_version="1"),
    "replace-reason": lambda files, name: files.replace(name, "one", "two", reason=5),
    "delete-reason": lambda files, name: files.delete(name, reason=5),
    "undelete-reason": lambda files, name: files.undelete(name, reason=5),
    "diff-a": lambda files, name: files.diff(name, "1"),
    "diff-b": lambda files, name: files.diff(name, 1, 1.5),
    "write-context": lambda files, name: files.write(name, "one", context=[]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", ["there.md", "nowhere.md"])
def test_arguments_that_can_not_hold_are_told_whether_there_is_a_file_or_not(files, name, call):
    files.write("there.md", "one")
    files.write("there.md", "two")

    with pytest.raises(ValidationFailed):
        call(files, name)

    assert files.read("there.md") == "two" and files.read("there.md", 1) == "one"


@pytest.mark.parametrize("base", ["bia", 5, {}, FileStore], ids=["text", "int", "dict", "class"])
def test_a_base_that_is_no_store_is_refused(files, base):
    with pytest.raises(ValidationFailed, match="base: Expected another agent's store"):
        files.assemble(["SOUL.md"], base=base)


@pytest.mark.parametrize("who", [{"actor": 5}, {"reason": "x" * 2001}, {"context": "run"}], ids=str)
def test_a_dry_run_refuses_what_the_run_would(files, who):
    files.write("SOUL.md", "one")

    with pytest.raises(ValidationFailed):
        files.restore_as_of(datetime.now(UTC), dry_run=True, **who)
    for dry_run in (True, False):
        with pytest.raises(ValidationFailed):
            import_files(files, {"SOUL.md": "one"}, dry_run=dry_run, **who)


def test_blanking_out_again_keeps_who_did_it_first_and_why(files):
    files.write("SOUL.md", "the secret")
    files.write("SOUL.md", "clean")
    files.redact("SOUL.md", 1, "held a key", actor="user:1")

    files.redact("SOUL.md", 1, "nothing to see", actor="user:2")

    [version] = files.versions("SOUL.md")
    assert (version.redacted_by, version.redacted_reason) == ("user:1", "held a key")
