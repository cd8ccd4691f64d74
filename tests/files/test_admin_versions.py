"""Versions, differences, restore and blanking out: what the pages show, and what a POST does."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.errors import NotFound
from agentstore.core.values import clock_at
from agentstore.files import FileStore
from tests.browser import read_form, text_of
from tests.files.admin_pages import get, messages_of, obj_of, state, url

START = datetime(2026, 11, 1, 8, tzinfo=UTC)


@pytest.fixture
def files(db, tenant, actor):
    return FileStore(tenant, "bia", actor=actor, source="tool")


@pytest.fixture
def written(files):
    """SOUL.md at version 4: v2 and v3 differ from v1 in one word and one line."""
    texts = ["one\r\ntwo\n", "one\r\n2\n", "one\r\n2\nthree", "one\r\n2\nfour"]
    for hour, text in enumerate(texts):
        with clock_at(START + timedelta(hours=hour)):
            files.write("SOUL.md", text, reason=f"step {hour + 1}")
    return files


def many(files, count):
    for n in range(count):
        with clock_at(START + timedelta(minutes=n)):
            files.write("SOUL.md", f"text {n}\n")


def rows_of(page):
    """Return the words of each row of the versions table."""
    body = page.split("<tbody")[1].split("</tbody>")[0]
    return [text_of("<tr" + row) for row in body.split("<tr")[1:]]


# --- the list ------------------------------------------------------------------------------------


def test_every_version_is_told_with_time_actor_source_reason_and_growth(admin_client, written):
    written.restore("SOUL.md", 1, actor="user:maren", reason="back")

    page = get(admin_client, url("versions", obj_of("SOUL.md").pk))

    rows = rows_of(page)
    assert rows[0].startswith("5 ")
    assert rows[0].endswith("user:maren restore back Restored from version 1 9 B −2 current")
    assert "4 1 Nov 2026, 12:00 agent:bia tool step 4 11 B −1 Compare" in rows[1]
    assert "+9" in rows[4]
    assert 'title="2026-11-01 11:00:00 UTC"' in page
    assert "Times are shown in Europe/Berlin." in page


def test_from_and_to_default_to_the_previous_and_the_current(admin_client, written):
    page = get(admin_client, url("versions", obj_of("SOUL.md").pk))

    assert read_form(page)["from"] == "3"
    assert read_form(page)["to"] == "4"


def test_twenty_versions_make_a_page_and_the_trimmed_ones_are_named(admin_client, files):
    many(files, 25)
    address = url("versions", obj_of("SOUL.md").pk)

    first, second = get(admin_client, address), get(admin_client, f"{address}?p=2")

    assert [row.split()[0] for row in rows_of(first)] == [str(n) for n in range(25, 5, -1)]
    assert [row.split()[0] for row in rows_of(second)] == ["5"]
    assert "Versions 1 to 4 were trimmed." in first
    assert "21 versions kept" in text_of(first)


def test_numbers_that_belong_to_an_older_file_of_the_name_are_not_called_trimmed(admin_client, files):
    many(files, 3)
    files.delete("SOUL.md")
    with clock_at(START + timedelta(days=1)):
        files.write("SOUL.md", "new")
    for n in range(20):
        files.write("SOUL.md", str(n))

    page = get(admin_client, url("versions", obj_of("SOUL.md", deleted_at=None).pk))

    assert "trimmed." not in page


def test_one_version_says_that_there_is_no_older_one(admin_client, files):
    files.write("SOUL.md", "a")

    page = get(admin_client, url("versions", obj_of("SOUL.md").pk))

    assert "No older versions yet." in page
    assert "Restore…" not in page


def test_the_number_of_queries_does_not_grow_with_the_versions(admin_client, files):
    def queries(count):
        for n in range(count):
            files.write("SOUL.md", f"{count} {n}")
        files.redact("SOUL.md", files.info("SOUL.md").version - 1, "secret")
        with CaptureQueriesContext(connection) as found:
            get(admin_client, url("versions", obj_of("SOUL.md").pk))
        return len(found)

    queries(2)
    assert queries(2) == queries(17)


def test_the_old_history_address_leads_to_the_versions(admin_client, written):
    obj = obj_of("SOUL.md")

    assert admin_client.get(url("history", obj.pk))["Location"] == url("versions", obj.pk)


# --- differences ---------------------------------------------------------------------------------


def test_a_difference_of_any_two_marks_lines_and_words(admin_client, files):
    files.write("SOUL.md", "keep\nshort, warm words\nend\n")
    files.write("SOUL.md", "keep\nshort, kind words\nend\n")
    files.write("SOUL.md", "other\n")

    page = get(admin_client, url("diff", obj_of("SOUL.md").pk) + "?from=1&to=2")

    assert "short, <del>warm</del> words" in page
    assert "short, <ins>kind</ins> words" in page
    assert page.count('<tr class="as-add">') == page.count('<tr class="as-del">') == 1
    assert "+1 −1" in page
    assert "added:" in page
    assert "removed:" in page


def test_without_numbers_the_last_change_is_shown(admin_client, written):
    assert "version 3 to 4" in get(admin_client, url("diff", obj_of("SOUL.md").pk))


def test_from_nothing_every_line_is_added(admin_client, written):
    page = get(admin_client, url("diff", obj_of("SOUL.md").pk) + "?from=0&to=1")

    assert page.count('<tr class="as-add">') == 2


def test_a_version_compared_with_itself_has_no_difference(admin_client, written):
    assert "There is no difference." in get(admin_client, url("diff", obj_of("SOUL.md").pk) + "?from=2&to=2")


def test_unchanged_lines_are_counted_and_a_file_without_an_ending_downloads_too(admin_client, files):
    files.write("notes", "first\n" + "same\n" * 30 + "second\n" + "same\n" * 40)
    files.write("notes", "1st\n" + "same\n" * 30 + "2nd\n" + "same\n" * 40)
    obj = obj_of("notes")

    page = get(admin_client, url("diff", obj.pk))

    assert "24 unchanged lines" in page
    assert "37 unchanged lines" in page
    assert (
        'filename="notes.v1"'
        in admin_client.get(f"{url('download', obj.pk)}?version=1")["Content-Disposition"]
    )


def test_line_ends_alone_are_told_as_such(admin_client, files):
    files.write("SOUL.md", "a\nb\n")
    files.write("SOUL.md", "a\r\nb\n")

    page = get(admin_client, url("diff", obj_of("SOUL.md").pk))

    assert "Only line ends differ." in page
    assert '<span class="as-byte">LF</span>' in page
    assert '<span class="as-byte">CR LF</span>' in page


def test_a_missing_newline_at_the_end_is_told(admin_client, files):
    files.write("SOUL.md", "a\n")
    files.write("SOUL.md", "a")

    assert "no newline at the end" in get(admin_client, url("diff", obj_of("SOUL.md").pk))


@pytest.mark.parametrize(
    "texts",
    [
        ("".join(f"{n}\n" for n in range(6000)), "".join(f"{n} x\n" for n in range(6000))),
        ("'" * 102_400, "<" * 102_400),
    ],
    ids=["many lines", "much markup"],
)
def test_a_huge_difference_is_not_shown_but_offered_for_download(admin_client, files, texts):
    for text in texts:
        files.write("SOUL.md", text)

    page = get(admin_client, url("diff", obj_of("SOUL.md").pk))

    assert "The difference is too large to show." in page
    assert len(page.encode()) < 1_000_000
    for version in (1, 2):
        address = f"{url('download', obj_of('SOUL.md').pk)}?version={version}"
        assert f'href="{address}"' in page
        assert admin_client.get(address).content.decode() == texts[version - 1]


def test_characters_that_turn_text_around_are_shown_by_name(admin_client, files):
    files.write("SOUL.md", "a\n")
    files.write("SOUL.md", "a\u202eb\n")

    page = get(admin_client, url("diff", obj_of("SOUL.md").pk))

    assert "\u202e" not in page
    assert '<span class="as-byte">U+202E</span>' in page


@pytest.mark.parametrize("query", ["?from=9&to=4", "?from=1&to=99", "?to=0&from=99"])
def test_a_version_that_is_not_there_leads_to_the_list_with_a_message(admin_client, written, query):
    response = admin_client.get(url("diff", obj_of("SOUL.md").pk) + query)

    assert response.status_code == 302
    assert "There is no text of version" in messages_of(response)[0]


# --- texts ---------------------------------------------------------------------------------------


def test_every_version_can_be_downloaded_to_the_byte(admin_client, written):
    obj = obj_of("SOUL.md")

    found = {n: admin_client.get(f"{url('download', obj.pk)}?version={n}") for n in (1, 2, 3, 4)}

    assert {n: found[n].content for n in found} == {n: written.read("SOUL.md", n).encode() for n in found}
    assert found[1]["Content-Disposition"] == 'attachment; filename="SOUL.v1.md"'
    assert found[4]["Content-Disposition"] == 'attachment; filename="SOUL.md"'


def test_the_raw_text_is_plain_text_that_no_browser_takes_for_markup(admin_client, files):
    files.write("a/ünï.md", "<script>alert(1)</script>\r\n")

    response = admin_client.get(url("raw", obj_of("a/ünï.md").pk))

    assert response.content == b"<script>alert(1)</script>\r\n"
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]


@pytest.mark.parametrize("version", ["0", "99", "x", "-1", "9" * 30, ""])
def test_a_text_that_is_not_there_is_not_sent(admin_client, written, version):
    assert admin_client.get(f"{url('raw', obj_of('SOUL.md').pk)}?version={version}").status_code == 302


# --- restore -------------------------------------------------------------------------------------


def restore_form(client, version, **values):
    page = get(client, url("restore", obj_of("SOUL.md").pk, version))
    return {**read_form(page, "restore_form"), **values}


def restore(client, version, posted):
    return client.post(url("restore", obj_of("SOUL.md").pk, version), posted)


def test_a_text_over_a_lowered_limit_is_not_restored(admin_client, written, settings):
    posted = restore_form(admin_client, 1)
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_BYTES": 5}

    response = restore(admin_client, 1, posted)

    assert "the limit is 5" in messages_of(response)[0]
    assert written.info("SOUL.md").version == 4


def test_the_restore_page_shows_the_way_from_current_to_chosen(admin_client, written):
    before = state()

    page = get(admin_client, url("restore", obj_of("SOUL.md").pk, 1))

    assert "The text of version 1 becomes version 5, which bia reads from its next run on." in text_of(page)
    assert "Versions 2 to 4 stay, so you can go back." in text_of(page)
    assert re.search(r'<tr class="as-add">.*two', page)
    assert 'value="Restore version 1 as version 5"' in page
    assert state() == before


def test_restoring_writes_the_bytes_of_then_as_a_new_version(admin_client, written):
    response = restore(admin_client, 1, restore_form(admin_client, 1, reason="it was better"))

    info = written.info("SOUL.md")
    assert written.read("SOUL.md") == "one\r\ntwo\n"
    assert (info.version, info.restored_from, info.source, info.actor) == (5, 1, "restore", "user:admin")
    assert info.reason == "it was better"
    assert [each.version for each in written.versions("SOUL.md")] == [4, 3, 2, 1]
    assert messages_of(response) == ["Restored version 1 of SOUL.md as version 5."]
    assert LogEntry.objects.get().change_message.startswith("Restored version 1 as version 5.")


def test_a_restore_is_refused_when_the_file_changed_since_the_page_was_opened(admin_client, written):
    posted = restore_form(admin_client, 1, reason="keep me")
    written.write("SOUL.md", "one\r\nnewer\n")

    response = restore(admin_client, 1, posted)

    page = response.content.decode()
    assert response.status_code == 409
    assert "SOUL.md is now at version 5, saved by agent:bia while you were looking." in text_of(page)
    assert "newer" in page
    assert read_form(page, "restore_form")["version"] == "5"
    assert read_form(page, "restore_form")["reason"] == "keep me"
    assert written.info("SOUL.md").version == 5
    assert not LogEntry.objects.exists()


def test_restoring_what_is_current_already_makes_no_version(admin_client, written):
    written.restore("SOUL.md", 1)

    for method in ("get", "post"):
        response = getattr(admin_client, method)(url("restore", obj_of("SOUL.md").pk, 1), {"version": "5"})
        assert messages_of(response)[-1] == "Version 1 is what is current already. Nothing to restore."
    assert written.info("SOUL.md").version == 5


def test_restoring_the_current_number_says_that_there_is_nothing_to_do(admin_client, written):
    response = restore(admin_client, 4, {"version": "4"})

    assert messages_of(response) == ["Version 4 is what is current already. Nothing to restore."]


@pytest.mark.parametrize("version", [9, 0, 10**9, 10**25])
def test_a_version_that_is_gone_is_not_restored(admin_client, written, version):
    assert admin_client.get(url("restore", obj_of("SOUL.md").pk, version)).status_code == 302
    assert restore(admin_client, version, {"version": "4"}).status_code == 302
    assert written.info("SOUL.md").version == 4


def test_a_post_that_does_not_say_what_it_saw_restores_nothing(admin_client, written):
    response = restore(admin_client, 1, {})

    assert "Restore version 1 of SOUL.md?" in response.content.decode()
    assert written.info("SOUL.md").version == 4


# --- blanking out --------------------------------------------------------------------------------


def redact(client, **posted):
    return client.post(url("redact", obj_of("SOUL.md").pk), posted)


def test_blanking_out_removes_the_text_of_one_older_version_for_good(admin_client, written):
    page = get(admin_client, url("redact", obj_of("SOUL.md").pk) + "?version=2")
    posted = {**read_form(page, "redact_form"), "reason": "held a phone number"}

    response = redact(admin_client, **posted)

    assert "The text of version 2 is removed for good." in text_of(page)
    assert 'value="Blank out version 2 of SOUL.md"' in page
    assert "Blanked out version 2 of SOUL.md." in messages_of(response)[0]
    (gone,) = [each for each in written.versions("SOUL.md") if each.version == 2]
    assert (gone.redacted, gone.redacted_by) == (True, "user:admin")
    assert gone.redacted_reason == "held a phone number"
    assert LogEntry.objects.get().change_message.startswith("Blanked out version 2.")


def test_a_blanked_out_row_keeps_number_author_and_reason_and_has_nothing_to_press(admin_client, written):
    written.redact("SOUL.md", 2, "a secret", actor="user:maren")

    page = get(admin_client, url("versions", obj_of("SOUL.md").pk))
    row = page.split("<tbody")[1].split("<tr")[3]

    assert "blanked out by user:maren" in text_of("<tr" + row)
    assert "“a secret” gone" in text_of("<tr" + row)
    assert "<input" not in row
    assert "<a " not in row


def test_a_blanked_out_version_is_neither_shown_nor_restored(admin_client, written):
    written.redact("SOUL.md", 2, "a secret")
    obj = obj_of("SOUL.md")

    for address in (
        url("restore", obj.pk, 2),
        f"{url('raw', obj.pk)}?version=2",
        f"{url('diff', obj.pk)}?from=2",
    ):
        assert "There is no text of version 2" in messages_of(admin_client.get(address))[-1]
    assert restore(admin_client, 2, {"version": "4"}).status_code == 302
    assert redact(admin_client, version="2", reason="again").status_code == 302
    assert written.info("SOUL.md").version == 4


def test_the_current_version_is_not_blanked_out(admin_client, written):
    page = redact(admin_client, version="4", reason="x").content.decode()

    assert "Save a version without the secret first, then blank out the older ones." in page
    assert written.read("SOUL.md") == "one\r\n2\nfour"


def test_a_version_that_was_trimmed_while_it_was_blanked_out_says_so(admin_client, written, monkeypatch):
    def gone(*args):
        raise NotFound("There is no version 2 of SOUL.md.")

    monkeypatch.setattr(FileStore, "redact", gone)

    page = redact(admin_client, version="2", reason="x").content.decode()

    assert "There is no version 2 of SOUL.md." in page
    assert not LogEntry.objects.exists()


def test_blanking_out_needs_a_reason(admin_client, written):
    page = redact(admin_client, version="2", reason="  ").content.decode()

    assert "Say why the text is blanked out." in page
    assert written.read("SOUL.md", 2) == "one\r\n2\n"
