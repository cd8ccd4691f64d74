"""``assemble``: what an agent is given, and what it was made of."""

from __future__ import annotations

import hashlib

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.files import FileStore
from agentstore.files.names import digest


@pytest.fixture
def base(tenant):
    return FileStore(tenant, "base")


def test_files_are_joined_in_order_by_a_blank_line(files):
    files.write("b.md", "B\n")
    files.write("a.md", "\nA")

    prompt = files.assemble(["b.md", "a.md"])

    assert prompt.text == "B\n\n\n\nA"
    assert [part.name for part in prompt.parts] == ["b.md", "a.md"]


def test_parts_and_digest_identify_what_was_given(files, tenant):
    files.write("a.md", "one")
    info = files.write("a.md", "zwei ü")

    prompt = files.assemble(["a.md"])

    [part] = prompt.parts
    assert (part.name, part.tenant, part.agent, part.version) == ("a.md", tenant, "bia", 2)
    assert (part.sha256, part.length) == (info.sha256, 6)
    assert part.sha256 == digest(files.read(part.name, part.version))
    assert prompt.digest == hashlib.sha256("zwei ü".encode()).hexdigest()
    assert files.assemble(["a.md"]) == prompt


def test_blank_and_missing_files_are_left_out(files):
    for name, text in (("a.md", "A"), ("blank.md", " \n\t"), ("empty.md", "")):
        files.write(name, text)
    files.write("gone.md", "gone")
    files.delete("gone.md")

    prompt = files.assemble(["missing.md", "blank.md", "gone.md", "a.md", "empty.md"])

    assert (prompt.text, [part.name for part in prompt.parts]) == ("A", ["a.md"])
    assert files.assemble([]).text == files.assemble(["x"]).text == ""


def test_the_agents_own_file_goes_before_that_of_the_base(files, base, other_tenant):
    files.write("SOUL.md", "own soul")
    base.write("SOUL.md", "base soul")
    base.write("TOOLS.md", "base tools")

    prompt = files.assemble(["SOUL.md", "TOOLS.md"], base=base)

    assert prompt.text == "own soul\n\nbase tools"
    assert [(part.agent, part.name) for part in prompt.parts] == [("bia", "SOUL.md"), ("base", "TOOLS.md")]
    elsewhere = FileStore(other_tenant, "base")
    elsewhere.write("TOOLS.md", "shared")
    assert files.assemble(["TOOLS.md"], base=elsewhere).parts[0].tenant == other_tenant


def test_an_emptied_file_hides_that_of_the_base_and_a_deleted_one_does_not(files, base):
    base.write("SOUL.md", "base")
    files.write("SOUL.md", "")

    assert files.assemble(["SOUL.md"], base=base).text == ""
    files.delete("SOUL.md")
    assert files.assemble(["SOUL.md"], base=base).text == "base"


def test_a_file_named_twice_is_given_once_and_names_match_as_everywhere(files):
    files.write("ü.md", "text")

    prompt = files.assemble(["ü.md", "u\u0308.md", "Ü.md"])

    assert (prompt.text, len(prompt.parts)) == ("text", 1)


def test_nothing_is_read_from_the_disk(files, tmp_path, monkeypatch):
    (tmp_path / "SOUL.md").write_text("from the disk")
    monkeypatch.chdir(tmp_path)

    assert files.assemble(["SOUL.md"]).text == ""


def test_nothing_is_cut(files):
    files.write("a.md", "x" * 102_400)
    files.write("b.md", "y" * 102_400)

    assert len(files.assemble(["a.md", "b.md"]).text) == 204_802


@pytest.mark.parametrize("order", ["SOUL.md", None, 5, [5], ["../x"]], ids=repr)
def test_an_order_that_is_no_list_of_names_is_refused(files, order):
    with pytest.raises(ValidationFailed):
        files.assemble(order)
