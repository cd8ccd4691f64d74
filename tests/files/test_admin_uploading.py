"""What browsers and operating systems send beside the files, and as their names."""

from __future__ import annotations

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.files.archive import read_folder, read_zip
from tests.files.test_admin_transfer import as_browser_posts, steps_of
from tests.files.test_archive import make_zip

#: How macOS begins the file ``._SOUL.md`` that it writes beside SOUL.md on a disk of another kind.
FORK = b"\0\5\x16\7\0\2\0\0Mac OS X        "


@pytest.mark.parametrize("path", ["C:\\fakepath\\a.md", "C:\\Users\\me/x\\a.md", "\\\\server\\share\\a.md"])
def test_the_path_that_some_programs_send_of_a_single_file_is_left_out(admin_client, files, path):
    page = as_browser_posts(admin_client, ("files", path, "x")).content.decode()

    assert [line.split(" ")[0] for line in steps_of(page)] == ["a.md"]


def test_what_macos_keeps_of_a_file_beside_it_is_left_out(tmp_path):
    (tmp_path / "notes").mkdir()
    for path, content in (("SOUL.md", b"x"), ("._SOUL.md", FORK), ("notes/._day.md", FORK)):
        (tmp_path / path).write_bytes(content)

    assert read_folder(tmp_path) == {"SOUL.md": "x"}
    assert read_zip(make_zip(("SOUL.md", "x"), ("._SOUL.md", FORK), ("notes/._day.md", FORK))) == {
        "SOUL.md": "x"
    }


def test_a_name_like_that_of_a_resource_fork_is_a_file_where_it_holds_text():
    assert read_zip(make_zip(("._a.md", "text"), ("._", ""))) == {"._a.md": "text", "._": ""}
    with pytest.raises(ValidationFailed):
        read_zip(make_zip(("a.md", FORK)))
