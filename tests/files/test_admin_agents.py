"""The list, an agent's page, deleted files, deleting and renaming."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.values import clock_at, now
from agentstore.files import FileStore
from tests.browser import read_form, text_of
from tests.files.admin_pages import agent_url, get, messages_of, obj_of, rows_of, url


@pytest.fixture
def files(db, tenant, actor):
    return FileStore(tenant, "bia", actor=actor, source="tool")


# --- the list -------------------------------------------------------------------------------------


def test_the_list_groups_files_by_agent_with_size_version_and_last_change(admin_client, files, other_tenant):
    files.write("SOUL.md", "é\n")
    files.write("a.md", "x")
    FileStore(other_tenant, "ada", actor="user:tobi").write("SOUL.md", "abc")

    page = get(admin_client, url("changelist"))

    words = text_of(page)
    assert "bia acme 2 files, 4 B" in words
    assert "ada globex 1 file, 3 B" in words
    assert rows_of(page)[1].startswith("SOUL.md 1 3 B")
    assert rows_of(page)[1].endswith("agent:bia tool Versions SOUL.md Edit SOUL.md")
    assert agent_url() in page


def test_the_list_is_narrowed_by_tenant_and_by_words(admin_client, files, other_tenant):
    files.write("SOUL.md", "x")
    files.write("notes/day.md", "x")
    FileStore(other_tenant, "ada").write("SOUL.md", "x")

    assert "ada" not in text_of(get(admin_client, url("changelist") + "?tenant=acme").split("as-section")[1])
    assert len(rows_of(get(admin_client, url("changelist") + "?tenant=acme&q=DAY"))) == 1
    assert "No file fits." in get(admin_client, url("changelist") + "?q=nothing")
    assert "No file fits." in get(admin_client, url("changelist") + "?tenant=nobody")


def test_an_empty_list_says_what_to_do(admin_client, db):
    assert "No agent has files yet." in get(admin_client, url("changelist"))


def test_many_agents_make_pages_and_many_files_a_link(admin_client, files):
    for n in range(30):
        files.write(f"{n:02}.md", "x")
    for n in range(25):
        FileStore("acme", f"agent-{n:02}").write("SOUL.md", "x")

    first, second = get(admin_client, url("changelist")), get(admin_client, url("changelist") + "?p=2")

    assert first.count("as-section") == 20
    assert second.count("as-section") == 6
    assert "and 5 more" in second


def test_very_many_pages_of_agents_are_elided(admin_client, db, monkeypatch):
    monkeypatch.setattr("agentstore.files.admin.listing.AGENTS", 1)
    for n in range(15):
        FileStore("acme", f"agent-{n:02}").write("SOUL.md", "x")

    links = get(admin_client, url("changelist") + "?q=soul&p=7").split('class="paginator"')[1]

    assert "?q=soul&amp;p=15" in links
    assert "p=12" not in links


def test_the_queries_of_list_and_agent_page_do_not_grow_with_rows(admin_client, files):
    def queries(address):
        with CaptureQueriesContext(connection) as found:
            get(admin_client, address)
        return len(found)

    def grow(count, agents):
        for agent in range(agents):
            for n in range(count):
                store = FileStore("acme", f"b{agent}" if agent else "bia", actor=f"a{n}")
                store.write(f"{n}.md", f"{count} {agents}")
        files.write("gone.md", "x")
        files.delete("gone.md")

    addresses = [
        url("changelist"),
        agent_url(),
        agent_url("deleted"),
        agent_url("back", date="2026-11-29", time="12:30"),
    ]
    grow(2, 1)
    before = [queries(address) for address in addresses]
    grow(9, 4)

    assert [queries(address) for address in addresses] == before


# --- an agent's page ------------------------------------------------------------------------------


@pytest.fixture
def lived(files):
    """Files of bia with changes long ago, two days ago and now."""
    with clock_at(now() - timedelta(days=40)):
        files.write("SOUL.md", "one\ntwo\n")
        files.write("gone.md", "a\nb\n", actor="user:maren")
        files.write("old.md", "x")
    with clock_at(now() - timedelta(days=2, hours=1)):
        files.write("SOUL.md", "one\n2\n", reason="two days ago")
    with clock_at(now() - timedelta(minutes=30)):
        files.write("SOUL.md", "one\n2\n3\n", reason="just now")
        files.write("new.md", "x\ny\n")
        files.delete("gone.md", actor="user:maren", reason="moved")
    return files


def test_the_agent_page_shows_usage_with_both_limits_and_the_versions_kept(admin_client, lived):
    words = text_of(get(admin_client, agent_url()))

    assert "3 files of 1,000 · 13 B of 16 MiB 2 older versions kept" in words
    assert "Files (3) Deleted files (1)" in words


def test_changes_are_told_with_who_source_reason_lines_and_links(admin_client, lived):
    page = get(admin_client, agent_url(since="24h"))

    told = {re.split(r" \d{4}, \d\d:\d\d ", row)[1].split()[0]: row for row in rows_of(page, 1)}
    assert "2 → 3 agent:bia tool just now +1 −0 See the change" in told["SOUL.md"]
    assert "new, 1 agent:bia tool none given +2 −0 See the change" in told["new.md"]
    assert "1, deleted user:maren tool moved +0 −2 Undelete…" in told["gone.md"]
    assert f"{url('diff', obj_of('SOUL.md').pk)}?from=2&amp;to=3" in page
    assert url("undelete", obj_of("gone.md").pk) in page
    assert "3 changes by 2 actors." in text_of(page)


def test_the_files_carry_tags_for_the_chosen_span(admin_client, lived):
    files = rows_of(get(admin_client, agent_url(since="24h")))

    assert files[0].startswith("new.md new ")
    assert files[1].startswith("old.md 1 ")
    assert files[2].startswith("SOUL.md changed ")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"since": "24h"}, 3),
        ({"since": "7d"}, 4),
        ({"since": "date", "date": "2000-01-01"}, 7),
        ({"since": "x"}, 3),
    ],
)
def test_changes_since_a_span_or_a_date(admin_client, lived, query, count):
    assert len(rows_of(get(admin_client, agent_url(**query)), 1)) >= count


@pytest.mark.parametrize("date", ["", "x", "0001-01-01", "9999-12-31", "2026-02-30"])
def test_no_date_breaks_the_page(admin_client, lived, date):
    get(admin_client, agent_url(since="date", date=date))
    get(admin_client, agent_url("back", date=date, time="12:00"))


def test_nothing_changed_is_said_with_the_time(admin_client, files):
    with clock_at(now() - timedelta(days=9)):
        files.write("SOUL.md", "x")

    assert "Nothing changed since yesterday, " in text_of(get(admin_client, agent_url()))


def test_an_agent_whose_files_are_all_deleted_says_what_to_do(admin_client, files):
    files.write("SOUL.md", "x")
    files.delete("SOUL.md")

    assert "bia has no files. Add one, or import a folder." in get(admin_client, agent_url())


def test_a_blanked_out_version_has_no_counted_lines(admin_client, lived):
    lived.redact("SOUL.md", 2, "a secret")

    rows = rows_of(get(admin_client, agent_url(since="24h")), 1)

    assert any("2 → 3 agent:bia tool just now – See" in row for row in rows)


def test_the_export_is_a_zip_of_the_live_files(admin_client, lived):
    response = admin_client.get(agent_url("export"))

    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.read("SOUL.md") == b"one\n2\n3\n"
        assert "gone.md" not in archive.namelist()


def test_texts_that_are_too_much_for_one_page_are_not_read(admin_client, lived, monkeypatch):
    monkeypatch.setattr("agentstore.files.admin.base.MAX_TEXTS", 3)

    rows = rows_of(get(admin_client, agent_url(since="24h")), 1)

    assert any("just now – See the change" in row for row in rows)
    page = get(admin_client, agent_url("back", date="2026-11-29", time="00:00"))
    assert "The difference is too large to show." in page


def test_a_deletion_that_was_undone_since_is_still_told_with_its_lines(admin_client, lived):
    lived.undelete("gone.md")
    lived.write("gone.md", "later\n")

    rows = rows_of(get(admin_client, agent_url(since="24h")), 1)

    assert any("1, deleted user:maren tool moved +0 −2" in row for row in rows)
    assert any("1 → 2, undeleted agent:bia" in row for row in rows)


# --- deleted files --------------------------------------------------------------------------------


def test_a_deleted_file_is_undeleted_with_a_new_number(admin_client, lived):
    obj = obj_of("gone.md")
    assert "gone.md" in rows_of(get(admin_client, agent_url("deleted")))[0]
    assert "Undelete gone.md?" in get(admin_client, url("undelete", obj.pk))

    response = admin_client.post(url("undelete", obj.pk), {"reason": "needed"})

    assert messages_of(response) == ["Undeleted gone.md as version 2."]
    assert lived.read("gone.md") == "a\nb\n"
    assert lived.info("gone.md").reason == "needed"
    assert LogEntry.objects.get().change_message == "Undeleted as version 2. Reason: needed"


def test_a_taken_name_says_so_and_links_to_the_live_file(admin_client, lived):
    deleted = obj_of("gone.md")
    lived.write("gone.md", "new")
    live = obj_of("gone.md", deleted_at=None)

    page = get(admin_client, agent_url("deleted"))

    assert "The name is taken. Rename the live gone.md first." in text_of(page)
    assert url("rename", live.pk) in page
    assert url("undelete", deleted.pk) not in page
    response = admin_client.post(url("undelete", deleted.pk))
    assert messages_of(response) == ["The name is taken: rename the live gone.md first."]
    assert lived.read("gone.md") == "new"


def test_of_two_deleted_files_of_a_name_only_the_later_can_be_undeleted(admin_client, lived):
    first = obj_of("gone.md")
    lived.write("gone.md", "second")
    lived.delete("gone.md")
    second = obj_of("gone.md")

    page = get(admin_client, agent_url("deleted"))

    assert url("undelete", second.pk) in page
    assert url("undelete", first.pk) not in page
    assert "deleted later" in messages_of(admin_client.post(url("undelete", first.pk)))[0]
    assert lived.info("gone.md") is None


def test_undeleting_into_a_full_agent_is_refused_with_the_numbers(admin_client, lived, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 3}

    response = admin_client.post(url("undelete", obj_of("gone.md").pk))

    assert "3 of 3 files" in messages_of(response)[0]
    assert lived.info("gone.md") is None
    assert "Full: new and longer files are refused." in get(admin_client, agent_url())


def test_no_deleted_files_is_said(admin_client, files):
    files.write("SOUL.md", "x")

    assert "No deleted files." in get(admin_client, agent_url("deleted"))


# --- delete and rename ----------------------------------------------------------------------------


def test_deleting_asks_and_then_deletes_what_was_seen(admin_client, lived):
    address = url("delete", obj_of("SOUL.md").pk)
    posted = read_form(get(admin_client, address))
    assert lived.info("SOUL.md") is not None

    response = admin_client.post(address, {"version": posted["version"], "reason": "tidy"})

    assert lived.info("SOUL.md") is None
    assert messages_of(response) == ["Deleted SOUL.md at version 3. It can be undeleted."]
    assert LogEntry.objects.get().is_deletion()


@pytest.mark.parametrize("posted", [{}, {"version": "x"}, {"version": "2"}])
def test_deleting_another_version_than_was_seen_asks_again(admin_client, lived, posted):
    response = admin_client.post(url("delete", obj_of("SOUL.md").pk), posted)

    assert response.status_code == (409 if posted.get("version") == "2" else 200)
    assert "Delete SOUL.md?" in response.content.decode()
    assert lived.info("SOUL.md").version == 3


def test_a_file_that_went_while_it_was_deleted_is_not_found(admin_client, lived, monkeypatch):
    monkeypatch.setattr(FileStore, "delete", lambda *args, **kwargs: False)

    response = admin_client.post(url("delete", obj_of("SOUL.md").pk), {"version": "3"})

    assert response["Location"] == "/admin/"
    assert not LogEntry.objects.exists()


def rename(client, file, **changed):
    address = url("rename", obj_of(file).pk)
    return client.post(address, {**read_form(get(client, address), "rename_form"), **changed})


def test_renaming_keeps_text_and_versions_and_address(admin_client, lived):
    address = url("change", obj_of("SOUL.md").pk)

    response = rename(admin_client, "SOUL.md", name="a/b/ünï 100%.md")

    assert response["Location"] == address
    assert lived.read("a/b/ünï 100%.md") == "one\n2\n3\n"
    assert [each.version for each in lived.versions("a/b/ünï 100%.md")] == [3, 2, 1]
    assert LogEntry.objects.get().change_message == "Renamed from SOUL.md to a/b/ünï 100%.md as version 4."
    assert "Its name was SOUL.md" in get(admin_client, url("versions", obj_of("a/b/ünï 100%.md").pk))


@pytest.mark.parametrize("name", ["../x", "", "new.md", "NEW.md", "a\u202eb"])
def test_a_name_that_is_wrong_or_taken_is_refused(admin_client, lived, name):
    response = rename(admin_client, "SOUL.md", name=name)

    assert response.status_code == 200
    assert 'class="errornote"' in response.content.decode()
    assert lived.info("SOUL.md").version == 3


def test_renaming_another_version_than_was_seen_is_refused(admin_client, lived):
    response = rename(admin_client, "SOUL.md", name="x.md", version="2")

    assert response.status_code == 409
    assert lived.info("SOUL.md").version == 3


def test_a_rename_that_does_not_say_what_it_saw_asks_again(admin_client, lived):
    response = admin_client.post(url("rename", obj_of("SOUL.md").pk), {"name": "x.md"})

    assert 'value="x.md"' in response.content.decode()
    assert lived.info("SOUL.md").version == 3


def test_renaming_to_the_same_name_makes_no_version(admin_client, lived):
    response = rename(admin_client, "SOUL.md")

    assert messages_of(response) == ["Nothing was changed, so no version was made."]
    assert lived.info("SOUL.md").version == 3
