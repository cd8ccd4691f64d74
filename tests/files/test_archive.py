"""Bundles of files: what goes out comes back to the byte, and what would do harm is refused."""

from __future__ import annotations

import inspect
import io
import json
import os
import random
import stat
import struct
import sys
import tracemalloc
import zipfile
from contextlib import contextmanager

import pytest

from agentstore.core.errors import AgentStoreError, AlreadyExists, TooLarge, ValidationFailed
from agentstore.files import FileStore
from agentstore.files.archive import export_folder, export_zip, read_folder, read_zip
from agentstore.files.names import digest
from tests.files.test_store import KEPT

NAMES = [
    "SOUL.md",
    "notes/day.md",
    "notes",
    "ünï.md",
    "100%.md",
    "a/b/c.md",
    "manifest.json",
    ".git/x",
    "new",
]


def make_zip(*entries, compression=zipfile.ZIP_DEFLATED):
    """Return a zip of (name or ZipInfo, content) pairs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def filled(files):
    """Files with every content that must survive, and every name that is hard to pack."""
    for number, content in enumerate(KEPT.values()):
        files.write(f"kept/{number}.md", content)
    for name in NAMES:
        files.write(name, f"text of {name}\r\n")
    return files


def as_dict(store):
    return {info.name: content for info, content in store.contents()}


def test_a_zip_comes_back_to_the_byte(filled):
    assert read_zip(export_zip(filled)) == as_dict(filled)


def test_a_folder_comes_back_to_the_byte(filled, tmp_path):
    count = export_folder(filled, tmp_path / "out")

    assert count == len(KEPT) + len(NAMES)
    assert read_folder(tmp_path / "out") == as_dict(filled)
    assert (tmp_path / "out" / "ünï.md").read_bytes() == "text of ünï.md\r\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_same_files_make_the_same_zip(filled):
    assert export_zip(filled) == export_zip(filled)


def test_the_manifest_says_what_each_file_is(files):
    info = files.write("SOUL.md", "text", reason="why")

    with zipfile.ZipFile(io.BytesIO(export_zip(files))) as archive:
        manifest = json.loads(archive.read("manifest.json"))

    [entry] = manifest["files"]
    assert (manifest["format"], manifest["format_version"]) == ("agentstore-files", 1)
    assert (manifest["agent"], entry["name"], entry["path"]) == ("bia", "SOUL.md", "SOUL.md")
    assert (entry["sha256"], entry["size"], entry["version"]) == (info.sha256, 4, 1)


def test_an_agent_without_files_makes_an_empty_bundle(files, tmp_path):
    assert read_zip(export_zip(files)) == {}
    assert export_folder(files, tmp_path) == 0
    assert read_folder(tmp_path) == {}


def test_a_folder_that_is_not_empty_is_not_written_to(filled, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")

    for path in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(AlreadyExists):
            export_folder(filled, path)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_a_manifest_the_paths_are_the_names(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "u\u0308.md").write_bytes(b"a\r\n")
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    (tmp_path / ".DS_Store").write_bytes(b"\xff")

    assert read_folder(tmp_path) == {"manifest.json": '{"name": "an app"}', "notes/ü.md": "a\r\n"}
    assert read_zip(make_zip(("a.md", "x"), ("b/", ""), ("b/c.md", ""), ("__MACOSX/._a.md", b"\xff"))) == {
        "a.md": "x",
        "b/c.md": "",
    }


@pytest.mark.parametrize(
    "name",
    [
        "../x", "a/../../x", "/etc/x", "a\\b", "a//b", ".", "./a", "%2e%2e/x", "a\u202eb", "a\u200bb",
        "C:\\x", "x" * 256, "/".join("a" * 21), "notes/..", " a", "a\n",
    ],
)  # fmt: skip
def test_a_zip_with_a_path_that_is_no_file_name_is_refused(name):
    with pytest.raises(ValidationFailed):
        read_zip(make_zip(("ok.md", "x"), (name, "x")))


def test_a_path_with_a_nul_is_refused():
    data = make_zip(("ok.mdXevil", "x")).replace(b"ok.mdXevil", b"ok.md\0evil")

    with pytest.raises(ValidationFailed):
        read_zip(data)


def test_a_path_out_of_the_bundle_is_refused_even_when_a_manifest_names_it_well():
    listed = {"name": "ok.md", "path": "../x", "sha256": digest("x")}
    manifest = {"format": "agentstore-files", "format_version": 1, "files": [listed]}

    with pytest.raises(ValidationFailed, match=r"'\.\./x' is not a file name"):
        read_zip(make_zip(("manifest.json", json.dumps(manifest)), ("../x", "x")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO], ids=["link", "device", "pipe"])
def test_links_and_devices_in_a_zip_are_refused(kind):
    info = zipfile.ZipInfo("link.md")
    info.external_attr = (kind | 0o777) << 16

    with pytest.raises(ValidationFailed, match=r"'link.md' is a link or device"):
        read_zip(make_zip((info, "/etc/passwd")))


def test_links_in_a_folder_are_refused(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")

    for number, target in enumerate((outside, outside / "secret.md", tmp_path / "missing")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "link").symlink_to(target)
        with pytest.raises(ValidationFailed, match="'link' is a link or device"):
            read_folder(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_a_folder_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")

    with pytest.raises(ValidationFailed, match="'pipe.md' is a link or device"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    "names", [("memory.md", "MEMORY.md"), ("ü.md", "u\u0308.md"), ("straße", "STRASSE")], ids=" ".join
)
def test_names_that_are_the_same_but_for_capitals_are_refused(names):
    with pytest.raises(ValidationFailed, match="same name"):
        read_zip(make_zip(*((name, "x") for name in names)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_path_that_is_twice_in_a_zip_is_refused():
    with pytest.raises(ValidationFailed, match="same name"):
        read_zip(make_zip(("a.md", "x"), ("a.md", "x")))


def test_a_file_over_the_limit_is_refused_with_size_and_limit(tmp_path):
    (tmp_path / "big.md").write_bytes(b"x" * 102_401)

    for read in (lambda: read_folder(tmp_path), lambda: read_zip(make_zip(("big.md", b"x" * 102_401)))):
        with pytest.raises(TooLarge, match=r"102,401 bytes; the limit is 102,400"):
            read()


def test_a_bomb_is_refused_without_being_unpacked():
    data = make_zip(("bomb.md", b"\0" * 200_000_000))

    assert len(data) < 300_000
    with little_memory(), pytest.raises(TooLarge, match="200,000,000 bytes"):
        read_zip(data)


@contextmanager
def little_memory():
    """Assert that what is done inside never holds more than a few files' worth of memory."""
    tracemalloc.start()
    try:
        yield
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5_000_000


def test_a_bomb_that_lies_about_its_size_is_not_unpacked_further():
    data = bytearray(make_zip(("bomb.md", b"x" * 50_000_000)))
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<L", data, central + 24, 10)

    with little_memory(), pytest.raises(ValidationFailed):
        read_zip(bytes(data))


def test_many_files_that_are_too_much_together_are_refused(settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 250_000}

    with pytest.raises(TooLarge, match="250,000 bytes together"):
        read_zip(make_zip(*((f"{number}.md", "x" * 100_000) for number in range(3))))


def test_more_files_than_an_agent_may_have_are_refused(tmp_path, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_FILES": 3}
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("x")

    with pytest.raises(TooLarge):
        read_folder(tmp_path)
    with pytest.raises(TooLarge):
        read_zip(make_zip(*((f"{number}/", "") for number in range(9))))


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a\0b", b"\xed\xa0\x80"], ids=["latin", "NUL", "surrogate"]
)
def test_bytes_that_are_no_text_are_refused_naming_the_file(content, tmp_path):
    (tmp_path / "bad.md").write_bytes(content)

    for read in (
        lambda: read_folder(tmp_path),
        lambda: read_zip(make_zip(("ok.md", "x"), ("bad.md", content))),
    ):
        with pytest.raises(ValidationFailed) as info:
            read()
        assert list(info.value.errors) == ["bad.md"]


def test_every_problem_is_told_at_once():
    with pytest.raises(ValidationFailed) as info:
        read_zip(make_zip(("../a", "x"), ("bad.md", b"\xff"), ("ok.md", "x"), ("OK.md", "y")))

    assert set(info.value.errors) == {"../a", "bad.md", "OK.md"}


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all" * 100, b"PK\x05\x06"])
def test_what_is_no_zip_is_refused(data):
    with pytest.raises(ValidationFailed, match="can't be read"):
        read_zip(data)


def test_an_encrypted_or_oddly_compressed_zip_is_refused():
    data = bytearray(make_zip(("a.md", "x")))
    data[data.index(b"PK\x01\x02") + 8] |= 1

    with pytest.raises(ValidationFailed, match="encrypted"):
        read_zip(bytes(data))
    with pytest.raises(ValidationFailed, match="not supported"):
        read_zip(make_zip(("a.md", "x"), compression=zipfile.ZIP_LZMA))


def test_a_damaged_zip_never_gives_anything_but_our_errors():
    rng = random.Random(3)
    good = make_zip(("a.md", "some text " * 50), ("b/c.md", "x\r\n"), ("manifest.json", "{}"))

    for _ in range(1500):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            read_zip(bytes(data))
        except AgentStoreError:
            continue


def packed(*, name="a.md", content="x", **changes):
    """Return the parts of a bundle with a manifest, changed as told."""
    from agentstore.files.names import digest

    entry = {"name": name, "path": "a.md", "sha256": digest("x"), **changes}
    return {"format": "agentstore-files", "format_version": 1, "files": [entry]}


def test_what_a_manifest_says_must_be_so(tmp_path):
    cases = {
        "changed since": make_zip(("manifest.json", json.dumps(packed())), ("a.md", "y")),
        "does not list it": make_zip(("manifest.json", json.dumps(packed())), ("a.md", "x"), ("b.md", "x")),
        "it is missing": make_zip(("manifest.json", json.dumps(packed(path="b.md")))),
        "format version is 9": make_zip(("manifest.json", json.dumps({**packed(), "format_version": 9}))),
        "not a list of objects": make_zip(("manifest.json", json.dumps({**packed(), "files": [1]}))),
        "not a file name": make_zip(("manifest.json", json.dumps(packed(name="../x"))), ("a.md", "x")),
        "is text": make_zip(("manifest.json", json.dumps(packed(name=5))), ("a.md", "x")),
    }

    for problem, data in cases.items():
        with pytest.raises(ValidationFailed, match=problem):
            read_zip(data)
    assert read_zip(make_zip(("manifest.json", json.dumps(packed(name="new.md"))), ("a.md", "x"))) == {
        "new.md": "x"
    }


def test_a_manifest_that_an_editor_gave_a_byte_order_mark_is_still_one():
    manifest = b"\xef\xbb\xbf" + json.dumps(packed(name="new.md")).encode()

    assert read_zip(make_zip(("manifest.json", manifest), ("a.md", "x"))) == {"new.md": "x"}


def test_folders_may_stand_in_each_other_deeper_than_calls_may(tmp_path):
    deep = tmp_path.joinpath(*["x"] * 300)
    deep.mkdir(parents=True)
    (tmp_path / "a.md").write_text("text")
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)

    try:
        found = read_folder(tmp_path)
    finally:
        sys.setrecursionlimit(usual)
    assert found == {"a.md": "text"}


def test_a_path_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(ValidationFailed, match="not a folder"):
        read_folder(tmp_path / "missing")


def test_a_bundle_holds_one_agent_of_one_tenant(filled, other_tenant, tenant):
    FileStore(other_tenant, "bia").write("theirs.md", "x")
    FileStore(tenant, "zoe").write("hers.md", "x")

    names = set(read_zip(export_zip(filled)))

    assert not names & {"theirs.md", "hers.md"}


def test_a_manifest_of_another_kind_or_size_is_a_file_like_the_rest():
    for text in ("[1]", "no json", '{"format": "other"}', ""):
        assert read_zip(make_zip(("manifest.json", text))) == {"manifest.json": text}
    with pytest.raises(TooLarge):
        read_zip(make_zip(("manifest.json", " " * 5_000_000)))
