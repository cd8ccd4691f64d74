"""Zips as other programs make them, and as nobody should."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib

import pytest

from agentstore.core.errors import AgentStoreError, ValidationFailed
from agentstore.files.archive import FORMAT, read_zip
from tests.files.test_archive import make_zip

LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def renamed(name, *, flag=False):
    """Return a zip with one file of this raw name, as a program writes it that knows no more than bytes."""
    data = make_zip(("x" * len(name), "text")).replace(b"x" * len(name), name)
    return data if not flag else flagged(data)


def flagged(data):
    """Return the zip with the flag that says: names are UTF-8."""
    found = bytearray(data)
    for mark, offset in ((LOCAL, 6), (CENTRAL, 8)):
        found[data.index(mark) + offset + 1] |= 8
    return bytes(found)


def with_unicode_path(name, raw="plain.md", *, format_version=1, crc=None):
    info = zipfile.ZipInfo(raw)
    field = struct.pack("<BL", format_version, zlib.crc32(raw.encode()) if crc is None else crc) + name
    info.extra = struct.pack("<HH", 0x5455, 1) + b"x" + struct.pack("<HH", 0x7075, len(field)) + field
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "text")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (renamed("ünï.md".encode()), "ünï.md"),
        (renamed("ünï.md".encode(), flag=True), "ünï.md"),
        (renamed("u\u0308.md".encode()), "ü.md"),
        (renamed("日本.md".encode()), "日本.md"),
        (renamed(b"\x81.md"), "ü.md"),
        (with_unicode_path("ünï.md".encode()), "ünï.md"),
        (with_unicode_path("ünï.md".encode(), format_version=2), "plain.md"),
        (with_unicode_path("ünï.md".encode(), crc=5), "plain.md"),
    ],
    ids=["utf8-unsaid", "utf8-said", "decomposed", "cjk", "cp437", "extra", "extra-later", "extra-other"],
)
def test_a_name_is_what_whoever_packed_it_wrote(data, name):
    assert read_zip(data) == {name: "text"}


@pytest.mark.parametrize("name", [b"../x.md", b"a\xe2\x80\xae.md", b"/etc/x"])
def test_a_name_in_another_place_is_checked_like_every_name(name):
    for data in (with_unicode_path(name), renamed(name)):
        with pytest.raises(ValidationFailed, match="is not a file name"):
            read_zip(data)


def test_an_entry_without_a_name_is_refused():
    data = bytearray(make_zip(("abcd", "text")))
    for mark, offset in ((LOCAL, 26), (CENTRAL, 28)):
        place = data.index(mark) + offset
        data[place : place + 2] = b"\0\0"

    with pytest.raises(ValidationFailed):
        read_zip(bytes(data))
    with pytest.raises(ValidationFailed, match="NUL"):
        read_zip(renamed(b"\0\0\0\0"))


def test_a_place_beyond_all_numbers_is_refused():
    info = zipfile.ZipInfo("a.md")
    info.extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "text")
    data = bytearray(buffer.getvalue())
    place = data.index(CENTRAL) + 42
    data[place : place + 4] = b"\xff\xff\xff\xff"

    with pytest.raises(ValidationFailed, match="can't be read"):
        read_zip(bytes(data))


def test_nothing_that_is_made_of_a_zip_gives_anything_but_our_errors():
    rng = random.Random(7)
    good = make_zip(("ü.md", "some text " * 9), ("d/", ""), ("b/c.md", "x"))

    for _ in range(3000):
        data = bytearray(good)
        for _ in range(rng.randint(1, 5)):
            place = rng.randrange(len(data))
            data[place : place + rng.choice([1, 2, 4, 8])] = rng.choice(
                [b"\0\0", b"\xff" * 4, b"\xff" * 8, b"z"]
            )
        try:
            read_zip(bytes(data))
        except AgentStoreError:
            continue


def test_a_second_manifest_is_a_file_that_the_first_one_does_not_list():
    manifest = f'{{"format": "{FORMAT}", "format_version": 1, "files": []}}'
    data = make_zip(("manifest.json", manifest), ("manifest.jso_", "{}")).replace(b"jso_", b"json")

    with pytest.raises(ValidationFailed, match="does not list it"):
        read_zip(data)
