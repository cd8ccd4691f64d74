"""Taking an agent's files back to a time, from the admin: one, several or all of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry

from agentstore.core.values import clock_at
from agentstore.files import FileStore
from tests.browser import read_form
from tests.files.admin_pages import agent_url, get, messages_of, obj_of, rows_of, state, url

NOON = datetime(2026, 11, 29, 11, tzinfo=UTC)  # 12:00 in the demo's zone
THEN = {"date": "2026-11-29", "time": "12:30"}


@pytest.fixture
def files(db, tenant, actor):
    return FileStore(tenant, "bia", actor=actor, source="tool")


@pytest.fixture
def moved(files):
    """Files of which each has another way back to 29 Nov, 12:30."""
    with clock_at(NOON):
        for name in ("SOUL.md", "TOOLS.md", "gone.md", "same.md", "lost.md"):
            files.write(name, f"{name} then\r\n")
    with clock_at(NOON + timedelta(hours=2)):
        for name in ("SOUL.md", "TOOLS.md", "lost.md"):
            files.write(name, f"{name} now\n")
        files.write("born.md", "x\n")
        files.delete("gone.md")
    files.redact("lost.md", 1, "a secret")
    return files


def back_form(client, *ticked, **query):
    page = get(client, agent_url("back", **THEN, **query))
    posted = read_form(page, "back_form")
    return {**posted, "file": list(ticked), "_back": "x"} if ticked else {**posted, "_back": "x"}


def go_back(client, posted):
    return client.post(agent_url("back"), posted)


def test_going_back_tells_what_will_happen_to_each_file(admin_client, moved):
    before = state()

    page = get(admin_client, agent_url("back", **THEN))

    told = {row.split()[1] if row[0] == "–" else row.split()[0]: row for row in rows_of(page)}
    assert "Text of version 1 comes back 2 → 3 +1 −1 See the change" in told["SOUL.md"]
    assert "Deleted since. Will be undeleted" in told["gone.md"]
    assert "Did not exist then. Will be deleted if ticked" in told["born.md"]
    assert "The same as then" in told["same.md"]
    assert "cannot be restored Its version of that time was blanked out" in told["lost.md"]
    assert set(read_form(page, "back_form")["file"]) == {"SOUL.md", "TOOLS.md", "gone.md"}
    assert page.count("<details") == 4
    assert page.count("open>") == 1
    assert state() == before


def test_ticks_of_the_agent_page_arrive(admin_client, moved):
    page = get(admin_client, agent_url("back", **THEN) + "&file=born.md&file=SOUL.md")

    assert set(read_form(page, "back_form")["file"]) == {"SOUL.md", "born.md"}


def test_the_ticked_files_go_back_together_and_the_others_stay(admin_client, moved):
    posted = back_form(admin_client, "SOUL.md", "gone.md", "born.md")

    response = go_back(admin_client, {**posted, "reason": "undo the night"})

    assert messages_of(response) == ["Put 3 files of bia back to 29 Nov 2026, 12:30."]
    assert moved.read("SOUL.md") == "SOUL.md then\r\n"
    assert moved.read("gone.md") == "gone.md then\r\n"
    assert moved.info("born.md") is None
    assert moved.read("TOOLS.md") == "TOOLS.md now\n"
    assert moved.info("SOUL.md").reason == "undo the night"
    assert LogEntry.objects.count() == 3


def test_without_a_tick_nothing_is_written(admin_client, moved):
    posted = back_form(admin_client)
    before = state()

    page = go_back(admin_client, {**posted, "file": []}).content.decode()

    assert "Tick at least one file." in page
    assert state() == before


@pytest.mark.parametrize("change", ["write", "delete", "undelete"])
def test_nothing_is_written_when_one_of_the_files_changed_meanwhile(admin_client, moved, change):
    posted = back_form(admin_client, "SOUL.md", "TOOLS.md", "gone.md")
    if change == "write":
        moved.write("TOOLS.md", "newer")
    elif change == "delete":
        moved.delete("TOOLS.md")
    else:
        moved.undelete("gone.md")
    before = state()

    response = go_back(admin_client, posted)

    assert response.status_code == 409
    assert "Files changed while you were looking. Nothing was written." in response.content.decode()
    assert state() == before
    assert not LogEntry.objects.exists()


def test_a_file_that_never_was_is_refused_and_nothing_written(admin_client, moved):
    posted = back_form(admin_client, "SOUL.md")
    before = state()

    page = go_back(admin_client, {**posted, "file": ["SOUL.md", "never.md"]}).content.decode()

    assert "There is no file" in page
    assert state() == before


def test_a_file_that_is_the_same_as_then_makes_no_version(admin_client, moved):
    posted = back_form(admin_client, "SOUL.md", "same.md")

    response = go_back(admin_client, {**posted, "seen": [posted["seen"], "same:1:1:same.md"]})

    assert messages_of(response) == ["Put 1 file of bia back to 29 Nov 2026, 12:30."]
    assert moved.info("same.md").version == 1
    assert LogEntry.objects.count() == 1


def test_a_text_over_a_lowered_limit_stops_all(admin_client, moved, settings):
    posted = back_form(admin_client, "SOUL.md", "TOOLS.md")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_BYTES": 5}
    before = state()

    page = go_back(admin_client, posted).content.decode()

    assert "the limit is 5" in page
    assert state() == before


def test_a_page_of_many_large_differences_stays_small(admin_client, files):
    for hours, mark in ((0, "a"), (2, "b")):
        with clock_at(NOON + timedelta(hours=hours)):
            for n in range(14):
                files.write(f"{n:02}.md", f"{mark} some words of a line\n" * 2000)

    page = get(admin_client, agent_url("back", **THEN))

    assert len(page.encode()) < 1_000_000
    assert page.count("The difference is too large to show.") == 14
    assert page.count("+2,000 −2,000") == 28
    assert f"{url('download', obj_of('00.md').pk)}?version=1" in page


def test_differences_are_shown_as_long_as_the_page_has_room(admin_client, files):
    for hours, mark in ((0, "a"), (2, "b")):
        with clock_at(NOON + timedelta(hours=hours)):
            for n in range(3):
                files.write(f"{n:02}.md", f"{mark}\n" * 700)

    page = get(admin_client, agent_url("back", **THEN))

    assert page.count('class="as-diff"') == 2
    assert page.count("The difference is too large to show.") == 1
    assert page.count("+700 −700") == 6
