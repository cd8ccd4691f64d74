"""The editor: bytes a browser can't carry are kept, nothing typed is lost, what is odd is told."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from hypothesis import given
from hypothesis import strategies as st

from agentstore.files import FileStore
from agentstore.files.admin.editing import looks_wrapped
from agentstore.files.admin.lineends import as_browser_sends, fit
from tests.browser import buttons, read_form, text_of
from tests.files.admin_pages import agent_url, get, messages_of, obj_of, opened, url

NOTHING = "Nothing was changed, so no version was made."


@pytest.fixture
def files(db, tenant, actor):
    return FileStore(tenant, "bia", actor=actor, source="tool")


def save(client, posted, name="SOUL.md", button="_save"):
    return client.post(url("change", obj_of(name).pk), {**posted, button: "x"})


ODD = {
    "leading newline": "\n\nx\n",
    "trailing blanks": "  a  \n\t\n\n",
    "cr lf": "a\r\nb\r\n",
    "lone cr": "a\rb\rc",
    "mixed": "a\r\nb\nc\rd\n\r\n\r",
    "no final newline": "a\nb",
    "white space only": " \n ",
    "newline only": "\n",
    "empty": "",
    "odd characters": "\ufeffa\u2028b\u0085c\u200b\u202ed\x0b\x0ce\u00a0\n",
    "emoji and right to left": "👩‍👩‍👧 السلام\u200f\n",
    "markup": "</textarea><script>alert(1)</script>&lt;&amp;\"'",
    "one long line": "x" * 102_400,
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_untouched_form_makes_no_version(admin_client, files, text):
    files.write("SOUL.md", text)

    response = save(admin_client, opened(admin_client, "SOUL.md"))

    assert messages_of(response) == [NOTHING]
    assert files.read("SOUL.md") == text
    assert files.info("SOUL.md").version == 1
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize(
    "text",
    ["\nwarm\r\nb\r\nend", "warm\rb\n\r\n", "a\nwarm  \r\n\r\nb\rc", "a\r\nb\r\nwarm"],
    ids=["cr lf", "lone cr", "mixed", "last line"],
)
def test_changing_one_word_changes_one_line(admin_client, files, text):
    files.write("SOUL.md", text)
    posted = opened(admin_client, "SOUL.md")

    save(admin_client, {**posted, "content": posted["content"].replace("warm", "kind")})

    assert files.read("SOUL.md") == text.replace("warm", "kind")
    diff = files.diff("SOUL.md", 1, 2)
    assert (diff.added, diff.removed) == (1, 1)


@pytest.mark.parametrize(
    ("base", "posted", "expected"),
    [
        ("a\r\nb\r\nc\n", "a\r\nnew\r\nb\r\nc\r\n", "a\r\nnew\r\nb\r\nc\n"),
        ("a\nb\nc\r\n", "a\r\nb\r\nnew\r\nc\r\n", "a\nb\nnew\nc\r\n"),
        ("a\r\nb", "a\r\nb\r\n", "a\r\nb\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "a\r\nb"),
        ("a\r\nb\r\n", "b\r\n", "b\r\n"),
        ("", "a\r\nb", "a\nb"),
        ("a\r\n", "", ""),
        ("a\n", "\r\na\r\n", "\na\n"),
        ("x\ry\rz", "x\r\nY\r\nz", "x\rY\rz"),
        ("\nx\r", "\r\nx\r\n\r\nnew", "\nx\r\r\nnew"),
    ],
)
def test_lines_keep_their_ends_and_new_ones_take_the_usual(base, posted, expected):
    assert fit(posted, base) == expected


TEXTS = st.lists(st.sampled_from(["a", "b", "\r", "\n", "\r\n", "\n\r", "\x85"]), max_size=12).map("".join)


@given(TEXTS, TEXTS)
def test_what_is_saved_shows_as_what_was_typed_and_an_untouched_text_is_the_same(base, typed):
    """A lone CR and an LF that follows it would be one line end, where a browser shows two."""
    posted = as_browser_sends(typed).replace("\n", "\r\n")

    assert as_browser_sends(fit(posted, base)) == as_browser_sends(typed)
    assert fit(as_browser_sends(base), base) == base


def test_saving_tells_and_logs_who_why_and_which_version(admin_client, files):
    files.write("SOUL.md", "a\n")

    response = save(admin_client, opened(admin_client, "SOUL.md", content="b\r\n", reason="softer"))

    info = files.info("SOUL.md")
    assert (info.version, info.actor, info.source, info.reason) == (2, "user:admin", "admin", "softer")
    assert messages_of(response) == ["Saved SOUL.md as version 2."]
    entry = LogEntry.objects.get()
    assert (entry.action_flag, entry.change_message) == (CHANGE, "Saved version 2. Reason: softer")
    assert entry.object_id == str(obj_of("SOUL.md").pk)


def test_looking_at_the_changes_first_writes_nothing_and_keeps_the_text(admin_client, files):
    files.write("SOUL.md", "a\r\nb\r\n")

    page = save(
        admin_client, opened(admin_client, "SOUL.md", content="a\r\nc\r\n"), button="_look"
    ).content.decode()

    assert "Your changes, not saved yet" in page
    assert page.count('class="as-add"') == page.count('class="as-del"') == 1
    assert "\na\r\nc\r\n</textarea>" in page
    assert 'name="version" value="1"' in page
    assert files.info("SOUL.md").version == 1


def test_a_stale_save_keeps_the_text_and_shows_the_way_from_theirs(admin_client, files):
    files.write("SOUL.md", "one\r\ntwo\r\n")
    posted = opened(admin_client, "SOUL.md", content="one\r\nmine\r\n")
    files.write("SOUL.md", "theirs\r\ntwo\r\n", reason="nightly")

    response = save(admin_client, posted)

    page, words = response.content.decode(), text_of(response.content.decode())
    assert response.status_code == 409
    assert "agent:bia saved version 2" in words
    assert "nightly" in words
    assert "From version 2 to your text" in words
    assert "\none\r\nmine\r\n</textarea>" in page
    assert buttons(page, "agentfile_form")["_save"] == "Save on top of version 2"
    assert files.read("SOUL.md") == "theirs\r\ntwo\r\n"


def test_a_stale_form_saves_on_top_at_the_second_try(admin_client, files):
    files.write("SOUL.md", "one\r\n")
    posted = opened(admin_client, "SOUL.md", content="mine\r\n")
    files.write("SOUL.md", "theirs\r\n")

    again = read_form(save(admin_client, posted).content.decode(), "agentfile_form")
    save(admin_client, again)

    assert files.read("SOUL.md") == "mine\r\n"
    assert files.read("SOUL.md", 2) == "theirs\r\n"


def test_a_stale_form_that_nobody_touched_changes_nothing(admin_client, files):
    files.write("SOUL.md", "one\r\n")
    posted = opened(admin_client, "SOUL.md")
    files.write("SOUL.md", "theirs\r\n")

    response = save(admin_client, posted)

    assert messages_of(response) == [NOTHING]
    assert files.read("SOUL.md") == "theirs\r\n"


def test_saving_a_file_that_was_deleted_meanwhile_keeps_the_text_on_the_page(admin_client, files):
    files.write("SOUL.md", "one\n")
    posted = opened(admin_client, "SOUL.md", content="mine\r\n")
    files.delete("SOUL.md")

    response = save(admin_client, posted)

    assert response.status_code == 409
    assert "\nmine\n</textarea>" in response.content.decode()
    assert "Somebody deleted SOUL.md meanwhile." in text_of(response.content.decode())
    assert files.info("SOUL.md") is None


def test_a_form_whose_version_was_blanked_out_meanwhile_is_stale(admin_client, files):
    files.write("SOUL.md", "one\r\n")
    posted = opened(admin_client, "SOUL.md", content="mine\r\n")
    files.write("SOUL.md", "theirs\r\n")
    files.redact("SOUL.md", 1, "a secret")

    response = save(admin_client, posted)

    assert response.status_code == 409
    assert files.read("SOUL.md") == "theirs\r\n"


def test_the_editor_of_a_deleted_file_leads_to_the_deleted_files(admin_client, files):
    files.write("SOUL.md", "one\n")
    files.delete("SOUL.md")

    response = admin_client.get(url("change", obj_of("SOUL.md").pk))

    assert response["Location"] == agent_url("deleted")


def test_a_text_over_the_limit_is_refused_with_both_numbers_and_kept_on_the_page(admin_client, files):
    files.write("SOUL.md", "a")

    page = save(admin_client, opened(admin_client, "SOUL.md", content="é" * 55_156)).content.decode()

    assert "This text has 110,312 bytes; the limit is 102,400. Nothing was saved." in page
    assert "é" * 55_156 in page
    assert files.read("SOUL.md") == "a"


def test_a_nul_is_refused_and_nothing_is_written(admin_client, files):
    files.write("SOUL.md", "a")

    page = save(admin_client, opened(admin_client, "SOUL.md", content="a\0b")).content.decode()

    assert "Nothing was saved." in page
    assert files.info("SOUL.md").version == 1


@pytest.mark.parametrize("missing", ["content", "version"])
def test_an_incomplete_form_writes_nothing(admin_client, files, missing):
    files.write("SOUL.md", "a")
    posted = opened(admin_client, "SOUL.md", content="b")
    del posted[missing]

    response = save(admin_client, posted)

    assert response.status_code == 400
    assert files.read("SOUL.md") == "a"


WRAPPED = [
    "[object Object]",
    "FileInfo(name='SOUL.md', version=3)",
    "<agentstore.files.values.FileInfo object at 0x7f3703b28a90>",
    "{'content': 'x', 'version': 3}",
    '{"content": "x"}',
    '[{"type": "text", "text": "x"}]',
    "b'text'",
]


@pytest.mark.parametrize(
    "text", WRAPPED, ids=["object", "call", "repr", "dict", "json", "json list", "bytes"]
)
def test_what_looks_like_a_wrapped_object_is_saved_only_when_confirmed(admin_client, files, text):
    files.write("SOUL.md", "a")
    posted = opened(admin_client, "SOUL.md", content=text)

    page = save(admin_client, posted).content.decode()

    assert "This looks like a data structure, not text. Save anyway?" in page
    assert buttons(page, "agentfile_form")["_anyway"] == "Save anyway"
    assert files.read("SOUL.md") == "a"
    save(admin_client, posted, button="_anyway")
    assert files.read("SOUL.md") == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"a": 1}'),
        ("a.md", "# {a}\n"),
        ("a.md", "[link](x)"),
        ("a.md", "[1, 2]"),
        ("a.md", ""),
        ("a.md", "{a}"),
    ],
)
def test_ordinary_texts_do_not_look_wrapped(name, text):
    assert not looks_wrapped(name, text)


def test_unusual_bytes_are_told_with_place_look_and_what_saving_does(admin_client, files):
    files.write("SOUL.md", "# T\nGET\r\nEUR,\u00a0two.   \n\u202ex\u200b\nend")

    words = text_of(get(admin_client, url("change", obj_of("SOUL.md").pk)).split("Unusual bytes")[2])

    assert "CR LF line ends line 2 GETCR LF Kept, on lines that you change too." in words
    assert "Blanks at the end line 3" in words
    assert "3 blanks" in words
    assert "No final newline line 5 endend of file Kept. None is added." in words
    assert "No-break space line 3, character 5 EUR,U+00A0two." in words
    assert "Direction mark line 4, character 1 U+202E" in words
    assert "Zero-width character line 4, character 3" in words


def test_more_than_five_places_are_counted(admin_client, files):
    files.write("SOUL.md", "a\r\n" * 17)

    assert "lines 1, 2, 3, 4, 5 and 12 more" in get(admin_client, url("change", obj_of("SOUL.md").pk))


def test_an_ordinary_file_has_no_table_of_unusual_bytes(admin_client, files):
    files.write("SOUL.md", "# Soul\n\ntext\n")

    assert "Unusual bytes" not in get(admin_client, url("change", obj_of("SOUL.md").pk))


# --- a new file ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["new", "history", "add", "a/b/c.md", "ünï.md", "100%.md", "change"])
def test_a_file_of_any_name_is_added_edited_and_shown(admin_client, files, name):
    posted = {"tenant": "acme", "agent": "bia", "name": name, "content": "\r\na\r\n", "reason": "why"}

    response = admin_client.post(url("add"), {**posted, "_save": "x"})

    assert response.status_code == 302
    assert files.read(name) == "\na\n"
    assert LogEntry.objects.get().action_flag == ADDITION
    save(admin_client, opened(admin_client, name, content="b"), name=name)
    assert files.read(name) == "b"
    for page in ("versions", "diff", "raw", "download", "rename", "delete", "redact"):
        get(admin_client, url(page, obj_of(name).pk))
    get(admin_client, url("restore", obj_of(name).pk, 1))


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a\\b", "a//b", ".", "%2e%2e/x", "a\u202eb", "x" * 256, "", "SOUL.MD"]
)
def test_a_name_that_is_no_file_name_is_refused_and_the_text_kept(admin_client, files, name):
    files.write("SOUL.md", "a")

    posted = {"tenant": "acme", "agent": "bia", "name": name, "content": "mine", "_save": "x"}
    page = admin_client.post(url("add"), posted)

    assert page.status_code == 200
    assert "\nmine</textarea>" in page.content.decode()
    assert "Nothing was saved." in page.content.decode()
    assert [info.name for info in files.list()] == ["SOUL.md"]


@pytest.mark.parametrize(
    "given", [{"tenant": " "}, {"agent": "a b"}, {"content": "x" * 102_401}, {"content": "{'a': 1}"}]
)
def test_a_new_file_that_does_not_fit_is_not_written(admin_client, files, given):
    posted = {"tenant": "acme", "agent": "bia", "name": "a.md", "content": "x", "_save": "x", **given}

    assert admin_client.post(url("add"), posted).status_code == 200
    assert files.list() == []


def test_a_wrapped_new_file_is_written_when_confirmed(admin_client, files):
    posted = {"tenant": "acme", "agent": "bia", "name": "a.md", "content": "{'a': 1}", "_anyway": "x"}

    admin_client.post(url("add"), posted)

    assert files.read("a.md") == "{'a': 1}"


def test_saving_and_continuing_leads_back_to_the_editor(admin_client, files):
    files.write("SOUL.md", "a")

    response = save(admin_client, opened(admin_client, "SOUL.md", content="b"), button="_continue")

    assert response["Location"] == url("change", obj_of("SOUL.md").pk)
