"""The rules for file names, in Python; the surfaces' tests show that they use them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core.errors import AlreadyExists, ValidationFailed
from agentstore.files.names import check_name, name_key

GOOD = [
    "SOUL.md", "new", "history", "a/b/c.md", "ünï.md", "100%.md", "%41",
    "a b.md", "...", "..a", "a..", ".hidden",
    "日本語/メモ.md", "😀.md",
    "a?b#c&d=e+f;g", "'\"<script>", "x" * 255, "ü" * 127, "/".join("a" * 20), "$HOME", "~",
]  # fmt: skip
BAD = [
    "", "../x", "x/..", "a/../b", "/etc/x", "a/", "/", "a\\b", "a//b", ".", "..", "./a", "a/.",
    "%2e%2e/x", "%2E", "a%2Fb",
    "a%5cb", "a\u202eb", "a\u200bb", "a\u200db", "a\ufeffb", "a\u2028b", "a\u2029b",
    "a\nb", "a\tb", "a\0b", "a\x7fb", "a\x85b",
    "a\u00adb", "\ud800", " a", "a ", "\u3000a", "x" * 256, "ü" * 128, "/".join("a" * 21), "a\u2066b",
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD, ids=ascii)
def test_an_ordinary_name_is_kept_as_it_is(files, name):
    assert check_name(name) == name

    files.write(name, "text")

    assert [info.name for info in files.list()] == [name]
    assert files.read(name) == "text"


@pytest.mark.parametrize("name", BAD, ids=ascii)
def test_a_name_that_is_no_path_is_refused_by_every_method(files, name):
    files.write("a.md", "x")
    calls = [
        lambda: files.write(name, "x"),
        lambda: files.read(name),
        lambda: files.info(name),
        lambda: files.versions(name),
        lambda: files.delete(name),
        lambda: files.undelete(name),
        lambda: files.rename(name, "b.md"),
        lambda: files.rename("a.md", name),
        lambda: files.replace(name, "a", "b"),
        lambda: files.diff(name, 1),
        lambda: files.restore(name, 1),
        lambda: files.redact(name, 1, "why"),
        lambda: files.restore_as_of("2026-01-01T00:00:00Z", [name]),
        lambda: files.assemble([name]),
    ]

    for call in calls:
        with pytest.raises(ValidationFailed):
            call()

    assert [info.name for info in files.list()] == ["a.md"]


@pytest.mark.parametrize("name", [None, 5, b"a.md", ["a.md"]], ids=repr)
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(ValidationFailed, match="text"):
        check_name(name)


def test_a_refusal_says_what_is_wrong_and_what_would_do():
    with pytest.raises(ValidationFailed) as info:
        check_name("a\u202eb")

    assert "U+202E" in info.value.message
    assert "notes/day.md" in info.value.hint
    assert list(info.value.errors) == ["name"]


def test_a_decomposed_name_is_stored_composed_and_finds_the_same_file(files):
    files.write("u\u0308.md", "one")

    assert files.list()[0].name == "ü.md"
    assert files.read("ü.md") == files.read("u\u0308.md") == "one"
    assert files.write("u\u0308.md", "two").version == 2


@pytest.mark.parametrize(
    ("there", "new"), [("memory.md", "MEMORY.md"), ("straße.md", "STRASSE.md"), ("Ä.md", "a\u0308.md")]
)
def test_a_name_that_differs_in_capitals_only_is_refused(files, there, new):
    files.write(there, "text")

    with pytest.raises(AlreadyExists, match=there) as info:
        files.write(new, "other")

    assert "capitals" in info.value.hint
    assert [(file.name, file.version) for file in files.list()] == [(unicodedata.normalize("NFC", there), 1)]
    assert files.read(new) == "text"


@given(st.text(max_size=40))
def test_every_text_is_a_name_or_refused_and_a_name_stays_one(text):
    try:
        name = check_name(text)
    except ValidationFailed:
        return

    assert check_name(name) == name
    assert check_name(unicodedata.normalize("NFD", name)) == name
    assert name_key(name) == name_key(unicodedata.normalize("NFD", name))
    assert len(name_key(name)) <= 765


@given(st.lists(st.text(alphabet="ab./\\%2eE \u202e", min_size=1, max_size=6), max_size=4))
def test_no_name_leads_out_of_a_folder(segments):
    import posixpath

    text = "/".join(segments)
    try:
        name = check_name(text)
    except ValidationFailed:
        return

    assert posixpath.normpath(posixpath.join("/root", name)) == f"/root/{name}"
