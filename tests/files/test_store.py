"""The file store as callers use it: writing, reading, listing, and the limits of an agent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentstore import acting
from agentstore.core.errors import (
    AlreadyExists,
    Conflict,
    NotFound,
    QuotaExceeded,
    TooLarge,
    ValidationFailed,
)
from agentstore.core.values import clock_at
from agentstore.files import FileStore, agents
from agentstore.files.models import HistoricalAgentFile
from agentstore.files.names import digest
from tests.files.conftest import START

KEPT = {
    "empty": "",
    "white space only": " \t \n  ",
    "byte order mark": "\ufeff# Hi",
    "lone CR": "a\rb\r",
    "CR LF": "a\r\nb\r\n",
    "mixed ends": "a\r\nb\nc\rd",
    "leading and trailing newlines": "\n\n# Hi\n\n\n",
    "line separators": "a\u2028b\u2029c\x85d",
    "emoji": "👩\u200d🚀 🇧🇷",
    "right to left": "\u202eabc\u202c \u200f",
    "decomposed": "u\u0308 and ü",
    "100 KiB in one line": "x" * 102_400,
    "100 KiB of two bytes each": "ü" * 51_200,
    "SQL and templates": "'; DROP TABLE x; -- %s %(a)s {{ x }} {% y %} \\",
    "controls": "\x01\x02\x1b[0m\x7f",
}


@pytest.mark.parametrize("what", KEPT)
def test_content_is_kept_to_the_byte(files, what):
    content = KEPT[what]

    info = files.write("SOUL.md", content)

    assert files.read("SOUL.md") == content
    assert (info.size, info.sha256) == (len(content.encode()), digest(content))


@pytest.mark.parametrize("what", KEPT)
def test_an_older_version_is_kept_to_the_byte_and_restored_so(files, what):
    files.write("SOUL.md", KEPT[what])
    files.write("SOUL.md", "later")

    assert files.read("SOUL.md", 1) == KEPT[what]
    files.restore("SOUL.md", 1)

    assert files.read("SOUL.md") == KEPT[what]


class Wrapper:
    """An object whose text would look like content."""

    def __str__(self):
        return "content"


@pytest.mark.parametrize(
    "content",
    [None, 5, 1.5, True, b"x", bytearray(b"x"), {"content": "x"}, ["x"], ("x",), Wrapper()],
    ids=lambda value: type(value).__name__,
)
def test_content_that_is_no_text_is_refused_naming_file_agent_and_type(files, content):
    with pytest.raises(ValidationFailed) as info:
        files.write("SOUL.md", content)

    for word in ("'SOUL.md'", "'bia'", type(content).__name__):
        assert word in info.value.message
    assert files.list() == []


def test_the_store_s_own_info_is_no_content(files):
    info = files.write("SOUL.md", "text")

    with pytest.raises(ValidationFailed, match="FileInfo"):
        files.write("COPY.md", info)


def test_a_text_of_a_subclass_is_kept_as_plain_text(files):
    from django.utils.safestring import mark_safe

    files.write("SOUL.md", mark_safe("<b>"))  # noqa: S308 - no page

    assert files.read("SOUL.md") == "<b>"


@pytest.mark.parametrize("content", ["a\0b", "\ud800", "ok \udfff"], ids=["NUL", "high", "low"])
def test_text_that_no_database_keeps_is_refused(files, content):
    with pytest.raises(ValidationFailed):
        files.write("SOUL.md", content)

    assert files.list() == []


def test_content_over_the_limit_is_refused_with_size_and_limit(files):
    with pytest.raises(TooLarge) as info:
        files.write("SOUL.md", "ü" * 51_200 + "x")

    assert "102,401 bytes" in info.value.message
    assert "102,400" in info.value.message
    assert files.list() == []


def test_the_first_write_is_version_one(files, actor):
    with clock_at(START):
        info = files.write("SOUL.md", "text", reason="begin", context={"run": "r1"})

    assert (info.version, info.changed, info.actor, info.source) == (1, True, actor, "python")
    assert (info.reason, info.context, info.at, info.created_at) == ("begin", {"run": "r1"}, START, START)
    assert files.versions("SOUL.md") == []


def test_a_version_says_who_wrote_it_when_and_why(files):
    with clock_at(START):
        files.write("SOUL.md", "one", actor="user:7", reason="first", context={"run": 1})
    files.write("SOUL.md", "two!")

    [version] = files.versions("SOUL.md")

    assert (version.version, version.at, version.actor, version.reason) == (1, START, "user:7", "first")
    assert (version.source, version.size, version.sha256) == ("python", 3, digest("one"))
    assert (version.redacted, version.context, version.name) == (False, {"run": 1}, "SOUL.md")


def test_who_acts_can_be_ambient(files, tenant):
    with acting(actor="user:9", reason="why", context={"run": 2}):
        info = FileStore(tenant, "bia", source="tool").write("SOUL.md", "text")

    assert (info.actor, info.reason, info.context, info.source) == ("user:9", "why", {"run": 2}, "tool")


def test_an_unknown_source_is_refused(tenant):
    with pytest.raises(ValidationFailed, match="not a source"):
        FileStore(tenant, "bia", source="magic")


def test_identical_content_makes_no_version(files):
    first = files.write("SOUL.md", "text")

    again = files.write("SOUL.md", "text", actor="user:7", reason="again")

    assert (again.changed, again.version, again.actor, again.at) == (False, 1, first.actor, first.at)
    assert files.versions("SOUL.md") == []


def test_twenty_five_identical_writes_leave_the_history_alone(files):
    for number in range(5):
        files.write("SOUL.md", f"text {number}")
    before = files.versions("SOUL.md")

    for _ in range(25):
        files.write("SOUL.md", "text 4")

    assert files.versions("SOUL.md") == before


def test_a_write_with_the_expected_version_is_done(files):
    files.write("SOUL.md", "one")

    assert files.write("SOUL.md", "two", expected_version=1).version == 2


@pytest.mark.parametrize("content", ["three", "two"], ids=["other", "identical"])
def test_a_stale_write_is_refused_with_the_current_version(files, content):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")

    with pytest.raises(Conflict) as info:
        files.write("SOUL.md", content, expected_version=1)

    assert info.value.current_version == 2
    assert files.read("SOUL.md") == "two"


@pytest.mark.parametrize("version", [0, -1, 2**31, 10**30])
def test_a_version_that_can_not_be_is_a_conflict(files, version):
    files.write("SOUL.md", "one")

    with pytest.raises(Conflict):
        files.write("SOUL.md", "two", expected_version=version)
    with pytest.raises(Conflict):
        files.delete("SOUL.md", expected_version=version)
    with pytest.raises(NotFound):
        files.restore("SOUL.md", version)

    assert files.read("SOUL.md", version) is None


@pytest.mark.parametrize("version", ["1", 1.0, True, b"1"], ids=repr)
def test_a_version_that_is_no_int_is_refused(files, version):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")

    calls = [
        lambda: files.write("SOUL.md", "x", expected_version=version),
        lambda: files.replace("SOUL.md", "two", "x", expected_version=version),
        lambda: files.delete("SOUL.md", expected_version=version),
        lambda: files.rename("SOUL.md", "x.md", expected_version=version),
        lambda: files.restore("SOUL.md", version),
        lambda: files.restore("SOUL.md", 1, expected_version=version),
        lambda: files.redact("SOUL.md", version, "secret"),
        lambda: files.read("SOUL.md", version),
        lambda: files.diff("SOUL.md", version),
    ]
    for call in calls:
        with pytest.raises(ValidationFailed):
            call()

    assert (files.read("SOUL.md"), len(files.versions("SOUL.md"))) == ("two", 1)


def test_an_expected_version_of_a_file_that_is_not_there_is_not_found(files):
    with pytest.raises(NotFound):
        files.write("SOUL.md", "text", expected_version=1)

    assert files.list() == []


def test_create_only_leaves_an_existing_file_alone(files):
    files.write("SOUL.md", "", create_only=True)

    with pytest.raises(AlreadyExists):
        files.write("SOUL.md", "other", create_only=True)

    assert files.read("SOUL.md") == ""


def test_an_unknown_file_reads_as_none(files):
    assert files.read("SOUL.md") is None
    assert files.read("SOUL.md", 3) is None
    assert files.info("SOUL.md") is None
    assert files.versions("SOUL.md") == []


def test_the_list_is_in_code_point_order_and_has_no_content(files):
    for name in ("b.md", "a/b.md", "Z.md", "ä.md", "a.md", "😀.md", "\uffee.md"):
        files.write(name, "x")

    listed = files.list()

    assert [info.name for info in listed] == [
        "Z.md", "a.md", "a/b.md", "b.md", "ä.md", "\uffee.md", "😀.md",
    ]  # fmt: skip
    assert not hasattr(listed[0], "content")


def test_a_prefix_is_taken_literally(files):
    for name in ("notes/a.md", "notes/b.md", "notes_c.md", "NOTES.md", "ü/d.md"):
        files.write(name, "x")

    assert [info.name for info in files.list("notes/")] == ["notes/a.md", "notes/b.md"]
    assert [info.name for info in files.list("notes_")] == ["notes_c.md"]
    assert files.list("%") == files.list("notes/%") == []
    assert [info.name for info in files.list("u\u0308/")] == ["ü/d.md"]


def test_agents_are_those_with_live_files(files, tenant, other_tenant):
    FileStore(tenant, "zoe").write("a.md", "x")
    FileStore(tenant, "Ann").write("a.md", "x")
    FileStore(other_tenant, "eve").write("a.md", "x")
    gone = FileStore(tenant, "gone")
    gone.write("a.md", "x")
    gone.delete("a.md")

    assert agents(tenant) == ["Ann", "zoe"]


# --- limits ---------------------------------------------------------------------------------------


def test_an_agent_has_room_for_so_many_files(files, settings, tenant):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 2}
    files.write("a.md", "x")
    files.write("b.md", "x")

    with pytest.raises(QuotaExceeded, match="2 of 2 files"):
        files.write("c.md", "x")

    assert files.write("a.md", "longer").version == 2
    assert FileStore(tenant, "other").write("c.md", "x").version == 1
    files.delete("a.md")
    files.write("c.md", "x")
    with pytest.raises(QuotaExceeded):
        files.undelete("a.md")
    assert [info.name for info in files.list()] == ["b.md", "c.md"]


def test_an_agent_has_room_for_so_many_bytes(files, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 10}
    files.write("a.md", "12345")
    files.write("b.md", "12345")

    for name, text in (("a.md", "123456"), ("c.md", "x")):
        with pytest.raises(QuotaExceeded, match="10 of 10 bytes"):
            files.write(name, text)

    assert files.write("a.md", "54321").version == 2
    assert files.write("a.md", "1").version == 3
    files.delete("b.md")
    files.write("c.md", "123456789")
    with pytest.raises(QuotaExceeded):
        files.undelete("b.md")
    assert files.usage() == (2, 10)


def test_a_full_agent_can_still_shrink_when_the_limit_was_lowered(files, settings):
    files.write("a.md", "123456789")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 5}

    assert files.write("a.md", "12345678").version == 2
    with pytest.raises(QuotaExceeded):
        files.write("a.md", "123456789")


def test_a_refusal_leaves_the_caller_s_block_usable(files, settings):
    from django.db import transaction

    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 2}
    files.write("a.md", "one")
    with transaction.atomic():
        files.write("b.md", "x")
        for call, error in (
            (lambda: files.write("a.md", "x", expected_version=9), Conflict),
            (lambda: files.write("A.md", "x"), AlreadyExists),
            (lambda: files.write("c.md", "x"), QuotaExceeded),
            (lambda: files.rename("b.md", "a.md"), AlreadyExists),
            (lambda: files.undelete("c.md"), NotFound),
        ):
            with pytest.raises(error):
                call()
        files.write("b.md", "kept")

    assert files.read("b.md") == "kept"


def test_what_the_caller_rolls_back_is_gone(files):
    from django.db import transaction

    files.write("a.md", "one")

    with pytest.raises(RuntimeError), transaction.atomic():
        files.write("a.md", "two")
        files.write("b.md", "x")
        raise RuntimeError

    assert [(info.name, info.version) for info in files.list()] == [("a.md", 1)]
    assert HistoricalAgentFile._base_manager.count() == 1


def test_times_are_those_of_the_writes(files):
    with clock_at(START):
        files.write("a.md", "one")
    with clock_at(START + timedelta(days=3)):
        info = files.write("a.md", "two")

    assert (info.created_at, info.at - START) == (START, timedelta(days=3))
    assert HistoricalAgentFile._base_manager.get(version=2).history_date == info.at


def test_a_store_can_mark_its_writes_with_another_source(files):
    files.with_source("tool").write("a.md", "x")

    assert files.info("a.md").source == "tool" and files.source == "python"
    with pytest.raises(ValidationFailed, match="not a source"):
        files.with_source("nowhere")


def test_a_deleted_text_over_a_lowered_limit_stays_deleted(files, settings):
    files.write("a.md", "x" * 20)
    files.delete("a.md")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_BYTES": 10}

    with pytest.raises(TooLarge, match="20 bytes"):
        files.undelete("a.md")

    assert files.list() == []
