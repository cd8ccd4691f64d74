"""The editor and the restore page in a real browser, which sends other bytes than it was given."""

from __future__ import annotations

import pytest
from django.urls import reverse

from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from tests.acceptance.chromium import needs_chromium, opened, press, sign_in
from tests.browser import text_of

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

#: A newline at the start, CR LF and LF, blanks at an end, odd characters, no final newline.
TEXT = (
    "\n# Soul \r\n\r\nShort, warm sentences.\nNever promise\u00a0anything.  \r\n"
    "السلام\u200f <b>&amp;</b>\r\nThe end"
)


@pytest.fixture
def browser(live_server):
    """A browser without JavaScript: the pages must not need it."""
    with opened(live_server.url, java_script_enabled=False) as browser:
        yield browser


@pytest.fixture
def files(transactional_db, tenant, actor):
    return FileStore(tenant, "bia", actor=actor)


def address(name, file, *args):
    obj = AgentFile.objects.get(name=file)
    return reverse(f"admin:agentstore_agentfile_{name}", args=[obj.pk, *args])


def test_save_keeps_every_byte_and_a_restore_brings_them_back(browser, admin_user, files):
    """The whole story: an untouched save, one changed word, its difference, and the way back."""
    files.write("SOUL.md", TEXT)
    change, versions = address("change", "SOUL.md"), address("versions", "SOUL.md")

    def save_untouched(page):
        sign_in(page)
        page.goto(change)
        press(page, "text=Save and continue editing")
        return text_of(page.content())

    assert "Nothing was changed, so no version was made." in browser.do(save_untouched)
    assert files.info("SOUL.md").version == 1
    assert files.read("SOUL.md") == TEXT

    def change_one_word(page):
        box = page.locator("textarea[name=content]")
        box.fill(box.input_value().replace("warm", "kind"))
        press(page, "input[name=_save]")
        page.goto(versions)
        press(page, "input[type=submit][value='Compare the two chosen versions']")
        rows = page.locator("tr.as-add, tr.as-del")
        return [rows.nth(n).inner_text() for n in range(rows.count())]

    rows = browser.do(change_one_word)
    assert len(rows) == 2
    assert "warm" in rows[0]
    assert "kind" in rows[1]
    assert files.read("SOUL.md") == TEXT.replace("warm", "kind")

    def restore(page):
        page.goto(versions)
        press(page, "text=Restore…")
        page.fill("#id_reason", "warm after all")
        press(page, "input[type=submit].default")
        return text_of(page.content())

    assert "Restored version 1 of SOUL.md as version 3." in browser.do(restore)
    assert files.read("SOUL.md").encode() == TEXT.encode()
    assert files.info("SOUL.md").restored_from == 1


ODD = {
    "leading newlines": "\n\n\nx\n",
    "cr lf only": "a\r\nb\r\n",
    "lone cr": "a\rb\rc",
    "mixed": "a\r\nb\nc\rd\n\r\n",
    "blanks": "  a  \n\t\n",
    "white space only": " \n ",
    "empty": "",
    "byte order mark": "\ufeffa\u2028b\u0085c\u200b\u202ed\x0c\x0be\n",
    "markup": "</textarea><script>alert(1)</script>&lt;&amp;\"'\n",
}


def test_an_untouched_form_changes_nothing_whatever_is_stored(browser, admin_user, files):
    for name, text in ODD.items():
        files.write(f"{name}.md", text)
    addresses = {name: address("change", f"{name}.md") for name in ODD}

    def save_all(page):
        sign_in(page)
        told = {}
        for name, url in addresses.items():
            page.goto(url)
            press(page, "input[name=_save]")
            told[name] = "Nothing was changed, so no version was made." in text_of(page.content())
        return told

    assert browser.do(save_all) == dict.fromkeys(ODD, True)
    assert {name: files.read(f"{name}.md") for name in ODD} == ODD


def test_a_chosen_folder_is_imported_with_its_paths_and_to_the_byte(browser, admin_user, files, tmp_path):
    wanted = {"SOUL.md": TEXT, "notes/day.md": "one", "notes/deep/day.md": "", "MEMORY.md": "\ufeffx\r\n"}
    for name, text in wanted.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    files.write("SOUL.md", "before")
    place = f"{reverse('admin:agentstore_agentfile_import')}?tenant=acme&agent=bia"

    def import_folder(page):
        sign_in(page)
        page.goto(place)
        page.set_input_files("#id_folder_files", str(tmp_path))
        page.select_option("#id_policy", "overwrite")
        press(page, "input[name=_look]")
        page.fill("#id_reason", "moved here")
        press(page, "input[name=_import]")
        return text_of(page.content())

    assert "Imported into bia: 3 created, 1 replaced." in browser.do(import_folder)
    assert {info.name: text for info, text in files.contents()} == wanted
    assert {info.reason for info in files.list()} == {"moved here"}
