"""What is kept of a file's past: the newest twenty, the last of each day, and no number twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.errors import AgentStoreError
from agentstore.core.values import clock_at, new_id
from agentstore.files import FileStore, gone
from agentstore.files.models import AgentFile, HistoricalAgentFile
from tests.files.conftest import BACKENDS, START

pytestmark = pytest.mark.usefixtures("one_day")


def numbers(store, name="SOUL.md"):
    return [version.version for version in store.versions(name)]


def test_twenty_five_distinct_writes_keep_the_latest_twenty(files):
    for number in range(1, 26):
        files.write("SOUL.md", f"text {number}")

    assert numbers(files) == list(range(24, 4, -1))
    assert files.read("SOUL.md", 5) == "text 5"
    assert files.read("SOUL.md", 4) is None


def test_only_the_own_file_is_trimmed(files, tenant, other_tenant):
    others = [FileStore(tenant, "zoe"), FileStore(other_tenant, "bia")]
    for store in others:
        store.write("SOUL.md", "one")
        store.write("SOUL.md", "two")
    files.write("other.md", "one")
    files.write("other.md", "two")

    for number in range(30):
        files.write("SOUL.md", f"text {number}")

    assert [numbers(store) for store in others] == [[1], [1]]
    assert numbers(files, "other.md") == [1]


def test_twenty_five_writes_within_a_minute_keep_yesterdays_last_version(files):
    with clock_at(START):
        files.write("SOUL.md", "yesterday, early")
        files.write("SOUL.md", "yesterday, late")
    with clock_at(START + timedelta(days=1)):
        for number in range(25):
            files.write("SOUL.md", f"today {number}")

    assert numbers(files) == [*range(26, 6, -1), 2]
    assert files.read("SOUL.md", 2) == "yesterday, late"


def test_the_last_version_of_each_of_the_past_seven_days_is_kept(files):
    for day in range(10):
        for hour in range(2):
            with clock_at(START + timedelta(days=day, hours=hour)):
                files.write("SOUL.md", f"day {day} {hour}")
    with clock_at(START + timedelta(days=10)):
        for number in range(25):
            files.write("SOUL.md", f"busy {number}")

    kept = files.versions("SOUL.md")

    assert [version.version for version in kept[:20]] == list(range(44, 24, -1))
    assert [files.read("SOUL.md", version.version) for version in kept[20:]] == [
        f"day {day} 1" for day in range(9, 2, -1)
    ]


def test_days_are_those_of_utc(files):
    """23:59 and 00:01 UTC are two days wherever the server stands."""
    midnight = START.replace(hour=0) + timedelta(days=1)
    with clock_at(midnight - timedelta(minutes=1)):
        files.write("SOUL.md", "before midnight")
    with clock_at(midnight + timedelta(minutes=1)):
        files.write("SOUL.md", "after midnight")
    with clock_at(midnight + timedelta(days=1)):
        for number in range(25):
            files.write("SOUL.md", f"busy {number}")

    assert numbers(files)[20:] == [2, 1]


def test_a_daily_version_goes_when_its_day_is_too_old(files):
    with clock_at(START):
        files.write("SOUL.md", "old")
    for days, kept in ((7, True), (8, False)):
        with clock_at(START + timedelta(days=days)):
            for number in range(25):
                files.write("SOUL.md", f"{days} {number}")
        assert (files.read("SOUL.md", 1) is not None) == kept


def test_without_daily_retention_only_the_newest_twenty_stay(files, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_DAILY_KEPT": 0}
    with clock_at(START):
        files.write("SOUL.md", "yesterday")
    with clock_at(START + timedelta(days=1)):
        for number in range(25):
            files.write("SOUL.md", f"today {number}")

    assert numbers(files) == list(range(25, 5, -1))


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_lowered_number_takes_effect_at_the_next_write(files, settings, kept):
    for number in range(10):
        files.write("SOUL.md", f"text {number}")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_VERSIONS_KEPT": kept}

    files.write("SOUL.md", "last")

    assert numbers(files) == list(range(10, 10 - kept, -1))
    assert HistoricalAgentFile._base_manager.count() == kept + 1


def test_deletions_and_undeletions_are_trimmed_along(files):
    for number in range(30):
        files.write("SOUL.md", f"text {number}")
        files.delete("SOUL.md")
        files.undelete("SOUL.md")

    assert len(files.versions("SOUL.md")) == 20
    assert HistoricalAgentFile._base_manager.filter(history_type="-").count() <= 21


def test_renames_and_restores_are_trimmed_too(files):
    for number in range(15):
        files.write(f"{number}.md", f"text {number}")
        files.rename(f"{number}.md", f"{number + 1}.md")
        files.write(f"{number + 1}.md", "same")
        files.restore(f"{number + 1}.md", files.info(f"{number + 1}.md").version - 1)

    assert len(files.versions("15.md")) == 20


def test_the_memory_of_names_is_bounded_and_still_right(files, monkeypatch):
    """Beyond so many names one number stands for all of them."""
    monkeypatch.setattr(gone, "MAX_MARKERS", 15)
    files.write("a.md", "x")
    for number in range(25):
        files.rename("a.md" if number == 0 else f"{number}.md", f"{number + 1}.md")

    markers = AgentFile._base_manager.filter(name="").count()
    assert markers == 15 + 1
    assert files.write("a.md", "new").version > 1
    assert files.write("5.md", "new").version > 6
    assert len(files.list()) == 3
    assert files.deleted() == []


# Every step works on a few names, so that they meet.
NAMES = st.sampled_from(["a.md", "b.md", "c.md"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.integers(0, 50)),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("undelete"), NAMES),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("restore"), NAMES, st.integers(1, 12)),
)


@pytest.mark.parametrize("backend", BACKENDS)
@given(steps=st.lists(STEPS, max_size=40), kept=st.integers(0, 3), deleted=st.integers(0, 2))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_number_of_a_name_ever_stands_for_another_text(db, backend, steps, kept, deleted):
    """Whatever happens, a number that a name once had never comes back with another content."""
    from django.test import override_settings

    limits = {"FILE_VERSIONS_KEPT": kept, "FILE_DELETED_KEPT": deleted, "FILE_DAILY_KEPT": 0}
    seen = {}
    with override_settings(AGENTSTORE={"BACKEND": backend, **limits}):
        store = FileStore(f"run-{new_id()}", "bia")
        for op, *operands in steps:
            if op == "write":
                operands[1] = f"text {operands[1]}"
            try:
                getattr(store, op)(*operands)
            except AgentStoreError:
                continue
            for info in store.list():
                versions = store.versions(info.name)
                for state in (info, *versions):
                    known = seen.setdefault((state.name, state.version), (state.sha256, state.at))
                    assert known == (state.sha256, state.at)
                older = [version.version for version in versions]
                assert older == sorted(set(older), reverse=True)
                assert len(older) <= kept
                assert all(number < info.version for number in older)
