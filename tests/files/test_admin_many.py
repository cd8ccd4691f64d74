"""Agents with many files in the admin: what a host's limits on forms and addresses leave possible."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agentstore.core.values import clock_at
from tests.browser import buttons, read_form, text_of
from tests.files.admin_pages import agent_url, get, messages_of, state, url

THEN = {"date": "2026-11-29", "time": "12:30"}
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
OWNER = {"tenant": "acme", "agent": "bia"}
NAMES = [f"notes/{n:02}.md" for n in range(30)]


def ticked(names):
    return "".join(f"&file={name}" for name in names)


@pytest.fixture
def moved(files, settings):
    """Thirty files that changed since, where a form may have 40 inputs."""
    settings.TIME_ZONE = "UTC"
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 40
    for moment, text in ((NOON, "then"), (NOON + timedelta(hours=2), "now")):
        with clock_at(moment):
            for name in NAMES:
                files.write(name, text)
    return files


def test_as_many_files_go_back_at_once_as_a_form_may_have_ticks(admin_client, moved):
    posted = read_form(get(admin_client, agent_url("back", **THEN)), "back_form")

    answer = admin_client.post(agent_url("back"), {**posted, "_back": "x"})

    assert messages_of(answer) == ["Put 30 files of bia back to 29 Nov 2026, 12:30."]
    assert {moved.read(name) for name in NAMES} == {"then"}


def test_more_files_than_a_form_may_have_ticks_go_back_in_turns(admin_client, moved, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 28

    for left, count in ((12, 18), (0, 12)):
        page = get(admin_client, agent_url("back", **THEN))
        assert (f"{left} files have no tick" in text_of(page)) is bool(left)
        answer = admin_client.post(agent_url("back"), {**read_form(page, "back_form"), "_back": "x"})
        assert messages_of(answer) == [f"Put {count} files of bia back to 29 Nov 2026, 12:30."]

    assert {moved.read(name) for name in NAMES} == {"then"}


def test_files_that_were_ticked_before_get_their_tick_first(admin_client, moved, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 12

    page = get(admin_client, agent_url("back", **THEN) + ticked(NAMES[-2:]))

    assert read_form(page, "back_form")["file"] == NAMES[-2:]
    assert "28 files have no tick" in text_of(page)


def test_looking_again_names_the_files_that_were_ticked_and_never_all(admin_client, moved):
    page = get(admin_client, agent_url("back", **THEN))
    chosen = get(admin_client, agent_url("back", **THEN) + ticked(NAMES[:2]))

    again, again_chosen = (each.split("<form ")[-2] for each in (page, chosen))

    assert 'value="Look again"' in again and 'name="file"' not in again
    assert again_chosen.count('name="file"') == 2


def test_without_a_limit_of_the_host_every_file_has_a_tick(admin_client, moved, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = None

    assert read_form(get(admin_client, agent_url("back", **THEN)), "back_form")["file"] == NAMES


def test_more_files_than_the_host_takes_in_a_form_are_told_to_come_as_a_zip(admin_client, files, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3
    before = state()
    uploads = [SimpleUploadedFile(f"{n}.md", b"x") for n in range(4)]

    posts = [{**OWNER, "_look": "x", "files": uploads[:count]} for count in (3, 4)]
    answers = [admin_client.post(url("import"), post) for post in posts]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert "Write 3 changes" in answers[0].content.decode()
    told = text_of(answers[1].content.decode())
    assert "This server takes at most 3 files in one form. Pack them as a zip." in told
    assert "Import files into bia" in told
    assert state() == before


def test_files_that_were_chosen_anew_are_looked_at_before_they_are_written(admin_client, files):
    files.write("SOUL.md", "one\n")
    given = {**OWNER, "policy": "overwrite"}
    first = admin_client.post(
        url("import"), {**given, "_look": "x", "files": [SimpleUploadedFile("SOUL.md", b"two\n")]}
    ).content.decode()
    posted = {**read_form(first, "import_form"), "_import": "x"}

    answer = admin_client.post(url("import"), {**posted, "files": [SimpleUploadedFile("SOUL.md", b"evil\n")]})

    page = answer.content.decode()
    assert answer.status_code == 200 and files.read("SOUL.md") == "one\n"
    assert buttons(page, "import_form")["_import"] == "Write 1 change" and "evil" in page


@pytest.mark.parametrize(("count", "told"), [(0, "0 files of 1,000"), (1, "1 file of"), (2, "2 files of")])
def test_the_usage_line_counts_as_people_do(admin_client, files, count, told):
    for name in ("gone.md", *NAMES[:count]):
        files.write(name, "x")
    files.delete("gone.md")

    assert told in text_of(get(admin_client, agent_url()))
