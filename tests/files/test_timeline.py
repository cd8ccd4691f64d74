"""All files of an agent over time: what changed, and going back to a time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentstore.core.errors import Conflict, NotFound, QuotaExceeded, ValidationFailed
from agentstore.core.values import clock_at
from agentstore.files import FileStore
from agentstore.files.models import AgentFile, HistoricalAgentFile
from tests.files.conftest import START


def at(hours):
    return START + timedelta(hours=hours)


def told(plan):
    return {step.name: (step.action, step.version) for step in plan}


def contents(store):
    return {info.name: text for info, text in store.contents()}


@pytest.fixture
def story(files):
    """A day in the life of an agent's files; hour 2 is the time to go back to."""
    with clock_at(at(0)):
        files.write("SOUL.md", "soul 1", actor="user:7", reason="begin")
        files.write("same.md", "same")
        files.write("gone.md", "gone 1")
    with clock_at(at(1)):
        files.write("SOUL.md", "soul 2")
        files.write("renamed.md", "text")
    with clock_at(at(3)):
        files.write("SOUL.md", "soul 3!", reason="worse")
        files.delete("gone.md", actor="user:8", reason="not needed")
        files.write("born.md", "born")
    with clock_at(at(4)):
        files.rename("renamed.md", "other.md")
        files.restore("SOUL.md", 1)
    return files


# --- changes ------------------------------------------------------------------------------------


def test_changes_are_told_newest_first_with_who_and_why(story, actor):
    changes = story.changes(at(2))

    assert [(change.op, change.name, change.version) for change in changes] == [
        ("renamed", "other.md", 2),
        ("restored", "SOUL.md", 4),
        ("deleted", "gone.md", 1),
        ("created", "born.md", 1),
        ("changed", "SOUL.md", 3),
    ]
    soul = changes[-1]
    assert (soul.previous, soul.size, soul.previous_size) == (2, 7, 6)
    assert (soul.actor, soul.reason, soul.source, soul.at) == (actor, "worse", "python", at(3))
    assert (changes[0].old_name, changes[0].previous) == ("renamed.md", 1)
    assert changes[1].restored_from == 1
    assert (changes[2].actor, changes[2].reason) == ("user:8", "not needed")
    assert (changes[3].previous, changes[3].previous_size) == (None, None)


def test_since_is_exclusive_and_until_inclusive(story):
    assert story.changes(at(4)) == []
    assert len(story.changes(at(4) - timedelta(microseconds=1))) == 2
    assert [change.name for change in story.changes(at(0), at(1))] == ["renamed.md", "SOUL.md"]
    assert len(story.changes("2026-01-01T00:00:00Z")) == 10


def test_an_undeletion_is_told(story):
    with clock_at(at(5)):
        story.undelete("gone.md")

    [change] = story.changes(at(4))

    assert (change.op, change.name, change.version, change.previous) == ("undeleted", "gone.md", 2, 1)


@pytest.mark.parametrize("when", ["yesterday", "2026-11-01T08:00:00", START.replace(tzinfo=None), 5, None])
def test_a_time_that_is_none_is_refused(files, when):
    for call in (
        lambda: files.changes(when),
        lambda: files.changes(START, when or "x"),
        lambda: files.restore_as_of(when),
    ):
        with pytest.raises(ValidationFailed):
            call()


# --- restore_as_of ------------------------------------------------------------------------------


def test_going_back_puts_every_file_of_then_back(story):
    plan = story.restore_as_of(at(2), reason="bad day")

    assert told(plan) == {
        "SOUL.md": ("restore", 2),
        "born.md": ("born", None),
        "gone.md": ("undelete", 1),
        "other.md": ("born", None),
        "renamed.md": ("restore", 1),
        "same.md": ("same", 1),
    }
    assert contents(story) == {
        "SOUL.md": "soul 2", "born.md": "born", "gone.md": "gone 1", "other.md": "text", "renamed.md": "text",
        "same.md": "same",
    }  # fmt: skip
    info = story.info("SOUL.md")
    assert (info.version, info.restored_from, info.source, info.reason) == (5, 2, "restore", "bad day")
    assert story.info("same.md").version == 1


def test_a_dry_run_lists_what_is_done_and_does_nothing(story):
    before, versions = story.contents(), HistoricalAgentFile._base_manager.count()

    plan = story.restore_as_of(at(2), dry_run=True)

    assert (story.contents(), HistoricalAgentFile._base_manager.count()) == (before, versions)
    assert not any(step.changed for step in plan)
    done = story.restore_as_of(at(2))
    assert told(done) == told(plan)
    assert {step.name for step in done if step.changed} == {"SOUL.md", "gone.md", "renamed.md"}
    assert {step.action for step in story.restore_as_of(at(2), dry_run=True)} == {"same", "born"}


def test_named_files_alone_are_put_back_and_born_ones_deleted(story):
    plan = story.restore_as_of(at(2), ["born.md", "SOUL.md", "SOUL.md"])

    assert told(plan) == {"born.md": ("delete", None), "SOUL.md": ("restore", 2)}
    assert contents(story) == {"SOUL.md": "soul 2", "other.md": "text", "same.md": "same"}
    assert [gone.name for gone in story.deleted()] == ["born.md", "gone.md"]


def test_no_names_put_nothing_back(story):
    assert story.restore_as_of(at(2), []) == []


def test_a_file_named_twice_is_put_back_once(story):
    plan = story.restore_as_of(at(2), ["soul.md", "SOUL.md", "same.md", "SOUL.md"])

    assert [(step.name, step.changed) for step in plan] == [("SOUL.md", True), ("same.md", False)]
    assert story.read("SOUL.md") == "soul 2"


@pytest.mark.parametrize("who", [{"actor": 7}, {"reason": "a\0"}, {"context": [1]}])
def test_who_can_not_be_is_refused_even_where_nothing_changes(story, who):
    with pytest.raises(ValidationFailed):
        story.restore_as_of(at(9), **who)


def test_room_that_going_back_makes_is_enough(story, settings):
    """The agent is full, and what was born since goes before what was deleted comes back."""
    story.write("born.md", "x" * 60)
    used = story.usage()[1]
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 4, "FILE_MAX_AGENT_BYTES": used}

    story.restore_as_of(at(2), ["gone.md", "born.md"])

    assert contents(story)["gone.md"] == "gone 1"
    assert "born.md" not in contents(story)


def test_files_deleted_on_the_way_back_push_out_none_that_comes_back(story, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_DELETED_KEPT": 1}

    story.restore_as_of(at(2), ["born.md", "gone.md", "other.md"])

    assert story.read("gone.md") == "gone 1"
    assert len(story.deleted()) == 1


def test_an_unknown_name_is_refused_and_nothing_done(story):
    before = story.contents()

    with pytest.raises(NotFound, match="nope"):
        story.restore_as_of(at(2), ["SOUL.md", "nope.md"])
    for names in ("SOUL.md", 5, [5], ["../x"]):
        with pytest.raises(ValidationFailed):
            story.restore_as_of(at(2), names)

    assert story.contents() == before


def test_going_back_to_before_everything_deletes_nothing_unnamed(story):
    assert {step.action for step in story.restore_as_of(at(-1))} == {"born"}


def test_a_moment_counts_as_the_state_right_after_it(story):
    assert told(story.restore_as_of(at(1), ["SOUL.md"], dry_run=True)) == {"SOUL.md": ("restore", 2)}
    earlier = at(1) - timedelta(microseconds=1)
    assert told(story.restore_as_of(earlier, ["SOUL.md"], dry_run=True)) == {"SOUL.md": ("same", 1)}


def test_a_file_that_was_deleted_at_that_time_was_not_there(story):
    with clock_at(at(5)):
        story.undelete("gone.md")

    assert told(story.restore_as_of(at(3.5), dry_run=True))["gone.md"] == ("born", None)
    assert told(story.restore_as_of(at(3.5), ["gone.md"]))["gone.md"] == ("delete", None)


def test_a_file_deleted_and_written_anew_goes_back_to_its_old_text(story):
    with clock_at(at(5)):
        story.write("gone.md", "another file")

    story.restore_as_of(at(2), ["gone.md"])

    assert story.read("gone.md") == "gone 1"


def test_a_file_deleted_twice_comes_back_with_the_text_of_then(story):
    with clock_at(at(5)):
        story.write("gone.md", "another file")
        story.delete("gone.md")

    story.restore_as_of(at(2), ["gone.md"])

    assert story.read("gone.md") == "gone 1"


def test_a_trimmed_text_is_told_and_left_alone(files):
    with clock_at(at(0)):
        files.write("SOUL.md", "first")
        files.write("kept.md", "kept")
    with clock_at(at(1)):
        for number in range(25):
            files.write("SOUL.md", f"text {number}")
        files.write("kept.md", "later")

    plan = files.restore_as_of(at(0.5))

    lost = next(step for step in plan if step.name == "SOUL.md")
    assert (lost.action, lost.why, lost.changed) == ("lost", "trimmed", False)
    assert contents(files) == {"SOUL.md": "text 24", "kept.md": "kept"}


@pytest.mark.parametrize("rename", [False, True])
def test_a_gap_behind_a_daily_version_is_told(files, rename):
    """Yesterday's last is kept, what came right after it is not: that state is unknown."""
    with clock_at(at(0)):
        files.write("SOUL.md", "yesterday")
    for number in range(25):
        with clock_at(at(24) + timedelta(minutes=number)):
            files.write("SOUL.md", f"text {number}")
    if rename:
        with clock_at(at(25)):
            files.rename("SOUL.md", "b.md")
            for number in range(20):
                files.write("b.md", f"more {number}")

    plan = files.restore_as_of(at(24) + timedelta(minutes=1), dry_run=True)

    lost = next(step for step in plan if step.name == "SOUL.md")
    assert (lost.action, lost.why, lost.version) == ("lost", "trimmed", 1)


def test_numbers_that_a_rename_skipped_are_no_gap(files):
    with clock_at(at(0)):
        for number in range(5):
            files.write("b.md", f"old {number}")
        files.delete("b.md")
        files.write("a.md", "text")
    with clock_at(at(2)):
        files.rename("a.md", "b.md")

    assert told(files.restore_as_of(at(1), dry_run=True)) == {"a.md": ("restore", 1), "b.md": ("born", None)}


def test_a_redacted_text_is_told_and_left_alone(story):
    story.redact("SOUL.md", 2, "held a key")

    plan = story.restore_as_of(at(2))

    assert [(step.action, step.why) for step in plan if step.name == "SOUL.md"] == [("lost", "redacted")]
    assert story.read("SOUL.md") == "soul 1"


def test_versions_numbered_against_the_clock_are_read_by_their_numbers(files):
    """A writer that had to wait has an earlier time than the version before its own."""
    with clock_at(at(0)):
        files.write("SOUL.md", "one")
    with clock_at(at(2)):
        files.write("SOUL.md", "two")
    with clock_at(at(1)):
        files.write("SOUL.md", "three")

    assert told(files.restore_as_of(at(1.5), dry_run=True)) == {"SOUL.md": ("restore", 1)}
    assert told(files.restore_as_of(at(2), dry_run=True)) == {"SOUL.md": ("same", 3)}


def _written(store, name):
    store.write(name, "quick")


def _gone(store, name):
    """Delete the file, or what is left of it."""
    if not store.delete(name):
        AgentFile._base_manager.filter(name=name)._raw_delete("default")


@pytest.mark.parametrize("act", [_written, _gone])
@pytest.mark.parametrize("name", ["SOUL.md", "renamed.md", "gone.md"])
def test_a_change_in_the_middle_undoes_all(story, monkeypatch, name, act):
    """The last file meets another writer's change: the files before it are as they were."""
    rival = FileStore(story.tenant, story.agent)
    carried = FileStore._carry_out

    def carry_out(self, step, *rest):
        if step.planned.name == name:
            act(rival, name)
        return carried(self, step, *rest)

    before, versions = story.contents(), HistoricalAgentFile._base_manager.count()
    monkeypatch.setattr(FileStore, "_carry_out", carry_out)

    if name == "renamed.md" and act is _gone:  # it was not there, and was not to be
        carried_all = story.restore_as_of(at(2))
        assert {step.name for step in carried_all if step.changed} == {"SOUL.md", "renamed.md", "gone.md"}
        return
    with pytest.raises(Conflict, match="changed while it was being put back|is at version"):
        story.restore_as_of(at(2))

    assert (story.contents(), HistoricalAgentFile._base_manager.count()) == (before, versions)


def test_a_text_trimmed_between_plan_and_write_is_a_conflict(story, monkeypatch):
    planned = FileStore._plan

    def plan(self, *arguments):
        steps = planned(self, *arguments)
        HistoricalAgentFile._base_manager.filter(version=2).delete()
        return steps

    monkeypatch.setattr(FileStore, "_plan", plan)

    with pytest.raises(Conflict, match=r"SOUL\.md changed while it was being put back"):
        story.restore_as_of(at(2))


@pytest.mark.parametrize(
    ("step", "after"),
    [("_plan", True), ("_text", True), ("_carry_out", False)],
    ids=["after the plan", "after its text was read", "while others are put back"],
)
def test_a_text_that_is_blanked_out_meanwhile_does_not_come_back(story, monkeypatch, step, after):
    original, before = getattr(FileStore, step), contents(story)

    def redact():
        monkeypatch.setattr(FileStore, step, original)
        story.redact("SOUL.md", 2, "held a key")

    def beset(self, *arguments):
        if not after:
            redact()
        result = original(self, *arguments)
        if after:
            redact()
        return result

    monkeypatch.setattr(FileStore, step, beset)

    with pytest.raises(Conflict, match=r"SOUL\.md changed while it was being put back"):
        story.restore_as_of(at(2))

    assert contents(story) == before


@pytest.mark.parametrize("method", ["all", "fetch"])
def test_a_file_deleted_while_the_plan_is_made_keeps_its_history(files, monkeypatch, method):
    """A plan of two moments would make a new file beside the deleted one."""
    with clock_at(at(0)):
        files.write("SOUL.md", "one")
    with clock_at(at(1)):
        files.write("SOUL.md", "two")
    owner = type(files._files)
    original = getattr(owner, method)

    def preceded(self, *arguments):
        monkeypatch.setattr(owner, method, original)
        files.delete("SOUL.md")
        return original(self, *arguments)

    monkeypatch.setattr(owner, method, preceded)

    try:
        files.restore_as_of(at(0))
    except Conflict:
        files.undelete("SOUL.md")

    assert 1 in [version.version for version in files.versions("SOUL.md")]


def test_no_room_undoes_all(story, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 4}
    before = story.contents()

    with pytest.raises(QuotaExceeded):
        story.restore_as_of(at(2))

    assert story.contents() == before


def test_a_deletion_stamped_before_what_it_deleted_comes_after_it_all_the_same(files):
    """Two servers' clocks differ: the second one deletes what the first one has just written."""
    with clock_at(at(1)):
        files.write("SOUL.md", "one")
    with clock_at(at(2)):
        files.write("SOUL.md", "two")
    with clock_at(at(2) - timedelta(seconds=1)):
        files.delete("SOUL.md")

    [step] = files.restore_as_of(at(1), dry_run=True)
    ops = {(change.op, change.version, change.previous) for change in files.changes(at(0))}

    assert (step.action, step.version) == ("undelete", 1)
    assert ops == {("created", 1, None), ("changed", 2, 1), ("deleted", 2, 2)}
    assert files.restore_as_of(at(3)) == []


def test_what_happens_at_one_moment_is_told_last_first(files):
    with clock_at(at(1)):
        files.write("SOUL.md", "one")
        files.delete("SOUL.md")
        files.undelete("SOUL.md")

    assert [change.op for change in files.changes(at(0))] == ["undeleted", "deleted", "created"]


def test_a_file_that_changed_its_capitals_before_it_was_deleted_comes_back(files):
    with clock_at(at(1)):
        files.write("Notes.md", "then")
    with clock_at(at(2)):
        files.rename("Notes.md", "notes.md")
        files.write("notes.md", "later")
        files.delete("notes.md")

    [step] = files.restore_as_of(at(1))

    assert (step.name, step.action, step.changed) == ("notes.md", "undelete", True)
    assert files.read("notes.md") == "then"


def test_a_file_that_was_renamed_before_it_was_deleted_comes_back_under_its_name_of_then(files):
    with clock_at(at(1)):
        files.write("a.md", "then")
        files.write("other.md", "then")
    with clock_at(at(2)):
        files.rename("a.md", "b.md")
        files.delete("b.md")
        files.write("other.md", "now")

    steps = files.restore_as_of(at(1))

    assert [(step.name, step.action, step.changed) for step in steps] == [
        ("a.md", "restore", True),
        ("other.md", "restore", True),
    ]
    assert (files.read("a.md"), files.read("other.md")) == ("then", "then")
    assert [gone.name for gone in files.deleted()] == ["b.md"]


def test_of_two_deleted_files_of_a_name_the_one_of_then_comes_back_with_its_versions(files):
    with clock_at(at(1)):
        files.write("a.md", "first")
        files.write("a.md", "then")
    with clock_at(at(2)):
        files.delete("a.md")
        files.write("a.md", "another")
        files.delete("a.md")

    files.restore_as_of(at(1))

    assert [files.read("a.md", version.version) for version in files.versions("a.md")] == ["then", "first"]
    assert (files.read("a.md"), files.info("a.md").version) == ("then", 4)  # the other one had version 3
