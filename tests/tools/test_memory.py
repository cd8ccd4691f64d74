import asyncio

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from anthropic.types.beta import BetaMemoryTool20250818ViewCommand
from asgiref.sync import async_to_sync

from agentstore.core.errors import ValidationFailed
from agentstore.files import FileStore
from agentstore.tools import amemory_tool, memory_tool

pytestmark = pytest.mark.django_db


@pytest.fixture
def memory(tenant):
    return memory_tool(tenant, "bia", actor="agent:bia")


@pytest.fixture
def files(tenant):
    return FileStore(tenant, "bia")


def outcome(tool, **command):
    """Return what a call gives, a tool error marked as such."""
    try:
        return tool.call(command)
    except ToolError as error:
        return f"error: {error.content}"


A = "/memories/a.txt"
CREATE = {"command": "create", "path": A, "file_text": "one\ntwo\ntwo\nfour\nfive\n"}


@pytest.mark.parametrize(
    "commands",
    [
        [CREATE, {"command": "view", "path": A}],
        [CREATE, {"command": "view", "path": A, "view_range": [2, 3]}],
        [CREATE, {"command": "view", "path": A, "view_range": [4, -1]}],
        [CREATE, {"command": "view", "path": A, "view_range": [90, 99]}],
        [CREATE, CREATE],
        [{"command": "view", "path": A}],
        [CREATE, {"command": "str_replace", "path": A, "old_str": "four", "new_str": "4\n4"}],
        [CREATE, {"command": "str_replace", "path": A, "old_str": "two", "new_str": "2"}],
        [CREATE, {"command": "str_replace", "path": A, "old_str": "o", "new_str": "0"}],
        [CREATE, {"command": "str_replace", "path": A, "old_str": "\n", "new_str": ""}],
        [CREATE, {"command": "str_replace", "path": A, "old_str": "six", "new_str": "6"}],
        [{"command": "str_replace", "path": A, "old_str": "a", "new_str": "b"}],
        [CREATE, {"command": "insert", "path": A, "insert_line": 0, "insert_text": "zero\n"}],
        [
            CREATE,
            {"command": "insert", "path": A, "insert_line": 5, "insert_text": "six"},
            {"command": "view", "path": A},
        ],
        [CREATE, {"command": "insert", "path": A, "insert_line": 9, "insert_text": "x"}],
        [CREATE, {"command": "insert", "path": A, "insert_line": -1, "insert_text": "x"}],
        [CREATE, {"command": "delete", "path": A}, {"command": "delete", "path": A}],
        [{"command": "delete", "path": "/memories"}],
        [CREATE, {"command": "rename", "old_path": A, "new_path": "/memories/n/b.txt"}],
        [CREATE, {"command": "rename", "old_path": A, "new_path": A}],
        [{"command": "rename", "old_path": A, "new_path": "/memories/b.txt"}],
        [{"command": "rename", "old_path": "/memories", "new_path": "/memories/b.txt"}],
        [{"command": "create", "path": "/memories", "file_text": "x"}],
        [CREATE, {"command": "rename", "old_path": A, "new_path": "/memories"}],
        [{"command": "rename", "old_path": "/memories", "new_path": "/memories"}],
        [{"command": "view", "path": "/etc/passwd"}],
        [{"command": "view", "path": "/memories/../etc"}],
    ],
    ids=lambda commands: "-".join(command["command"] for command in commands),
)
def test_the_texts_are_those_of_the_sdks_own_tool(memory, tmp_path, commands):
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path))

    for command in commands:
        assert outcome(memory, **command) == outcome(reference, **command)


def test_of_very_many_occurrences_the_first_hundred_are_told(memory):
    memory.call({"command": "create", "path": A, "file_text": "ab" * 50 + "\n" + "a" * 90_000})

    told = outcome(memory, command="str_replace", path=A, old_str="a", new_str="b")

    assert f" in lines: {'1, ' * 50}{'2, ' * 50}…. Please ensure it is unique" in told


def test_a_folder_is_shown_two_levels_deep_without_hidden_names(memory):
    for name in ("a.txt", "d/b.txt", "d/e/c.txt", "d/e/f/deep.txt", ".hidden", "d/.hidden"):
        memory.call({"command": "create", "path": f"/memories/{name}", "file_text": "x" * 1536})

    shown = memory.call({"command": "view", "path": "/memories"}).split("\n")

    assert (
        shown[0]
        == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    )
    assert [line.split("\t")[1] for line in shown[2:]] == [
        "/memories/a.txt",
        "/memories/d/",
        "/memories/d/b.txt",
        "/memories/d/e/",
    ]
    assert shown[2].startswith("1.5K\t") and shown[1] == "9K\t/memories"


def test_a_folder_is_shown_in_the_order_of_the_sdks_own_tool(memory, tmp_path):
    reference = BetaLocalFilesystemMemoryTool(str(tmp_path))
    for name in ("a.txt", "a/x.txt", "a-b", "a b/y.txt", "B.txt", "ab"):
        for tool in (memory, reference):
            tool.call({"command": "create", "path": f"/memories/{name}", "file_text": ""})

    ours, theirs = (tool.call({"command": "view", "path": "/memories"}) for tool in (memory, reference))

    assert [line.split("\t")[-1] for line in ours.split("\n")] == [
        line.split("\t")[-1] for line in theirs.split("\n")
    ]


@pytest.mark.parametrize("root", ["/memories/", "../", "a//", "/", "a\0", None, 5], ids=str)
def test_a_root_that_can_begin_no_name_is_refused_at_once(tenant, root):
    with pytest.raises(ValidationFailed):
        memory_tool(tenant, "bia", root=root)


def test_a_file_of_too_many_lines_is_told_as_the_sdks_own_tool_does(memory, files, settings):
    settings.AGENTSTORE = {"FILE_MAX_BYTES": 2_000_000}
    files.write("memories/a.txt", "\n" * 999_999)

    told = outcome(memory, command="view", path=A)

    assert told == f"error: File {A} exceeds maximum line limit of 999,999 lines."


def test_an_empty_memory_is_an_empty_folder(memory):
    assert memory.call({"command": "view", "path": "/memories"}).endswith("\n0B\t/memories")


def test_a_folder_is_renamed_and_deleted_with_what_is_in_it(memory, files):
    for name in ("d/a.txt", "d/e/b.txt"):
        memory.call({"command": "create", "path": f"/memories/{name}", "file_text": "x"})

    memory.call({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/n"})
    renamed = [info.name for info in files.list()]
    memory.call({"command": "delete", "path": "/memories/n"})

    assert renamed == ["memories/n/a.txt", "memories/n/e/b.txt"]
    assert files.list() == []


def test_a_folder_is_renamed_whole_or_not_at_all(memory, files):
    for name in ("d/a.txt", f"d/{'b' * 240}"):
        memory.call({"command": "create", "path": f"/memories/{name}", "file_text": "x"})
    before = files.list()

    text = outcome(memory, command="rename", old_path="/memories/d", new_path="/memories/longer/folder")

    assert text.startswith("error: ") and "the limit is 255" in text
    assert files.list() == before


def test_a_folder_does_not_go_into_itself(memory, files):
    memory.call({"command": "create", "path": "/memories/d/a.txt", "file_text": "x"})

    text = outcome(memory, command="rename", old_path="/memories/d", new_path="/memories/d/e")

    assert text == "error: Cannot move /memories/d into itself"
    assert [info.name for info in files.list()] == ["memories/d/a.txt"]


def test_a_file_can_get_other_capitals(memory, files):
    memory.call(CREATE)

    text = outcome(memory, command="rename", old_path=A, new_path="/memories/A.txt")

    assert text == f"Successfully renamed {A} to /memories/A.txt"
    assert [info.name for info in files.list()] == ["memories/A.txt"]


@pytest.mark.parametrize(
    "command",
    [
        {"command": "create", "path": f"{A}/b.txt", "file_text": "x"},
        {"command": "create", "path": f"{A}/c/b.txt", "file_text": "x"},
        {"command": "rename", "old_path": "/memories/z", "new_path": f"{A}/z"},
        {"command": "rename", "old_path": A, "new_path": f"{A}/z"},
    ],
    ids=["create", "create-deep", "rename", "rename-itself"],
)
def test_a_file_is_no_folder(memory, files, command):
    memory.call(CREATE)
    memory.call({"command": "create", "path": "/memories/z", "file_text": "z"})

    text = outcome(memory, **command)

    assert text == f"error: The path {A} is a file, not a directory."
    assert [info.name for info in files.list()] == ["memories/a.txt", "memories/z"]


@pytest.fixture
def meanwhile(monkeypatch, tenant):
    """Let somebody else write or change a file at the moment at which a method of the store begins."""

    def write(files, name):
        files.write(name, "theirs")

    def arrange(method, name, act=write):
        original = getattr(FileStore, method)

        def slower(self, *args, **kwargs):
            monkeypatch.setattr(FileStore, method, original)
            act(FileStore(tenant, "bia"), name)
            return original(self, *args, **kwargs)

        monkeypatch.setattr(FileStore, method, slower)

    return arrange


def test_a_name_that_somebody_takes_meanwhile_exists(memory, files, meanwhile):
    memory.call(CREATE)
    meanwhile("rename", "memories/b.txt")

    text = outcome(memory, command="rename", old_path=A, new_path="/memories/b.txt")

    assert text == "error: The destination /memories/b.txt already exists"
    assert files.read("memories/a.txt") == CREATE["file_text"]


@pytest.mark.parametrize(
    "command",
    [
        {"command": "str_replace", "path": A, "old_str": "four", "new_str": "4"},
        {"command": "insert", "path": A, "insert_line": 0, "insert_text": "zero"},
    ],
    ids=["str_replace", "insert"],
)
def test_what_somebody_writes_meanwhile_is_not_lost(memory, files, meanwhile, command):
    memory.call(CREATE)
    meanwhile("write", "memories/a.txt")

    text = outcome(memory, **command)

    assert text == "error: The file was changed by someone else meanwhile. View it again."
    assert files.read("memories/a.txt") == "theirs"


@pytest.mark.parametrize(
    ("command", "method", "told"),
    [
        (
            {"command": "str_replace", "path": A, "old_str": "four", "new_str": "4"},
            "write",
            f"The path {A} does not exist. Please provide a valid path.",
        ),
        (
            {"command": "insert", "path": A, "insert_line": 0, "insert_text": "zero"},
            "write",
            f"The path {A} does not exist. Please provide a valid path.",
        ),
        (
            {"command": "rename", "old_path": A, "new_path": "/memories/b.txt"},
            "rename",
            f"The path {A} does not exist",
        ),
    ],
    ids=["str_replace", "insert", "rename"],
)
def test_what_somebody_deletes_meanwhile_does_not_exist(memory, meanwhile, command, method, told):
    memory.call(CREATE)
    meanwhile(method, "memories/a.txt", lambda theirs, name: theirs.delete(name))

    assert outcome(memory, **command) == f"error: {told}"


def test_what_gets_other_capitals_meanwhile_was_changed(memory, files, meanwhile):
    memory.call(CREATE)
    meanwhile("write", "memories/a.txt", lambda theirs, name: theirs.rename(name, "memories/A.txt"))

    text = outcome(memory, command="str_replace", path=A, old_str="four", new_str="4")

    assert text == "error: The file was changed by someone else meanwhile. View it again."


def test_the_methods_of_the_sdks_class_take_its_commands(memory, tenant):
    memory.call(CREATE)
    command = BetaMemoryTool20250818ViewCommand(command="view", path="/memories")

    assert memory.view(command).endswith("/memories/a.txt")
    assert async_to_sync(amemory_tool(tenant, "bia").view)(command).endswith("/memories/a.txt")


def test_each_command_is_one_version_by_the_agent_from_a_tool(memory, files):
    memory.call(CREATE)
    memory.call({"command": "str_replace", "path": A, "old_str": "four", "new_str": "4"})

    info = files.info("memories/a.txt")
    assert (info.version, info.source, info.actor) == (2, "tool", "agent:bia")
    assert [version.version for version in files.versions("memories/a.txt")] == [1]


def test_blank_lines_at_the_end_of_an_insert_are_kept(memory, files):
    memory.call({"command": "create", "path": A, "file_text": "a\n"})

    memory.call({"command": "insert", "path": A, "insert_line": 1, "insert_text": "b\n\n\n"})

    assert files.read("memories/a.txt") == "a\nb\n\n\n"


def test_a_missing_new_text_means_nothing(memory, files):
    memory.call(CREATE)

    memory.call({"command": "str_replace", "path": A, "old_str": "four\n"})

    assert "four" not in files.read("memories/a.txt")


def test_a_whole_number_is_one_however_it_is_written(memory, files):
    memory.call({"command": "create", "path": A, "file_text": "one\ntwo\nthree\n"})

    shown = memory.call({"command": "view", "path": A, "view_range": [2.0, 2.0]})
    memory.call({"command": "insert", "path": A, "insert_line": 1.0, "insert_text": "more"})

    assert shown.splitlines()[1:] == ["     2\ttwo"]
    assert files.read("memories/a.txt") == "one\nmore\ntwo\nthree\n"


@pytest.mark.parametrize(("line", "told"), [("1", "'1'"), (1.5, "1.5"), (None, "None"), (-1, "-1")])
def test_a_line_that_is_none_is_told_as_it_came(memory, files, line, told):
    """A text is shown as one: else 1 would be said to lie outside of [0, 1]."""
    memory.call({"command": "create", "path": A, "file_text": "one\n"})

    text = outcome(memory, command="insert", path=A, insert_line=line, insert_text="x")

    range_ = "It should be within the range [0, 1]."
    assert text == f"error: Invalid `insert_line` parameter: {told}. {range_}"


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"command": "destroy", "path": A},
        {"command": "view"},
        {"command": "view", "path": 5},
        {"command": "view", "path": "/memories_backup/x"},
        {"command": "view", "path": "/memories/a\0b"},
        {"command": "view", "path": "/memories/\ud800"},
        {"command": "view", "path": "/memories/%2e%2e/x"},
        {"command": "view", "path": "/memories/a\\b"},
        {"command": "create", "path": A},
        {"command": "create", "path": "/memories", "file_text": "x"},
        {"command": "create", "path": A, "file_text": "a\0b"},
        {"command": "create", "path": A, "file_text": "\ud800"},
        {"command": "create", "path": A, "file_text": "x" * 102_401},
        {"command": "create", "path": "/memories/folder", "file_text": "x"},
        {"command": "str_replace", "path": "/memories/folder", "old_str": "a"},
        {"command": "str_replace", "path": "/memories/folder/x", "old_str": ""},
        {"command": "insert", "path": "/memories/folder/x", "insert_line": "1", "insert_text": "x"},
        {"command": "insert", "path": "/memories/folder/x", "insert_line": True, "insert_text": "x"},
        {"command": "rename", "old_path": A},
        {"command": "\ud800", "path": A},
        {"command": "str_replace", "path": "/memories/folder/x", "old_str": "\ud800"},
        {"command": "insert", "path": "/memories/folder/x", "insert_line": "\ud800", "insert_text": "x"},
    ],
    ids=str,
)
def test_what_can_not_be_done_is_a_tool_error_and_changes_nothing(memory, files, command):
    memory.call({"command": "create", "path": "/memories/folder/x", "file_text": "x"})
    before = files.list()

    text = outcome(memory, **command)

    assert text.startswith("error: ")
    assert "Traceback" not in text and "site-packages" not in text
    assert text.encode()
    assert files.list() == before


def test_files_outside_the_root_are_out_of_reach(memory, files):
    files.write("SOUL.md", "secret")

    assert "does not exist" in outcome(memory, command="view", path="/memories/SOUL.md")
    assert "SOUL" not in memory.call({"command": "view", "path": "/memories"})


def test_another_agents_memory_is_out_of_reach(tenant, other_tenant, memory):
    memory_tool(other_tenant, "bia").call(CREATE)
    memory_tool(tenant, "other").call(CREATE)

    assert "does not exist" in outcome(memory, command="view", path=A)


def test_clearing_deletes_the_memory_alone(memory, files):
    files.write("SOUL.md", "me")
    memory.call(CREATE)

    assert memory.clear_all_memory() == "All memory cleared"
    assert [info.name for info in files.list()] == ["SOUL.md"]


def test_it_says_what_tool_it_is(memory):
    assert memory.to_dict() == {"type": "memory_20250818", "name": "memory"}


@pytest.mark.django_db(transaction=True)
def test_the_async_tool_does_the_same(tenant):
    tool = amemory_tool(tenant, "bia")

    async def play():
        return (
            await tool.call(CREATE),
            await tool.call({"command": "view", "path": A}),
            await tool.clear_all_memory(),
        )

    created, shown, cleared = asyncio.run(play())

    assert created == f"File created successfully at: {A}"
    assert "     1\tone" in shown and cleared == "All memory cleared"
