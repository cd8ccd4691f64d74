"""The memory tool in the loop of Anthropic's own SDK, with recorded responses instead of the network."""

import json

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from asgiref.sync import async_to_sync

from agentstore.files import FileStore
from agentstore.tools import amemory_tool, memory_tool

pytestmark = pytest.mark.django_db

A = "/memories/a.txt"
CREATE = {"command": "create", "path": A, "file_text": "one\ntwo\nthree\n"}
EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
LISTED = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
MISSING = "The path /memories/a.txt does not exist. Please provide a valid path."


class Recorded:
    """Answers each request with the next recorded response, and keeps what was sent."""

    def __init__(self, commands):
        self.commands = list(commands)
        self.requests = []

    def __call__(self, request):
        self.requests.append(json.loads(request.content))
        turn = len(self.requests) - 1
        if turn >= len(self.commands):
            return self.response({"type": "text", "text": "Done."}, "end_turn")
        use = {"type": "tool_use", "id": f"toolu_{turn}", "name": "memory", "input": self.commands[turn]}
        return self.response(use, "tool_use")

    async def asynchronously(self, request):
        return self(request)

    def response(self, block, reason):
        return httpx2.Response(
            200,
            # ASCII, so that a lone surrogate stays what the model sent: an escape
            content=json.dumps(
                {
                    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-recorded",
                    "content": [block], "stop_reason": reason, "stop_sequence": None,
                    "usage": {"input_tokens": 10, "output_tokens": 10},
                }
            ),
            headers={"content-type": "application/json"},
        )  # fmt: skip

    @property
    def results(self):
        """The results of the tool that the SDK sent, in order; it may send old ones again."""
        messages = [message for request in self.requests for message in request["messages"]]
        content = [m["content"] for m in messages if m["role"] == "user" and isinstance(m["content"], list)]
        found = {block["tool_use_id"]: block for blocks in content for block in blocks}
        return list(found.values())


def options(tool):
    return {
        "model": "claude-recorded",
        "max_tokens": 1024,
        "tools": [tool],
        "messages": [{"role": "user", "content": "Remember this."}],
        "betas": ["context-management-2025-06-27"],
    }


def run_sync(recorded, **who):
    transport = httpx2.MockTransport(recorded)
    with Anthropic(api_key="none", http_client=httpx2.Client(transport=transport)) as client:
        return client.beta.messages.tool_runner(**options(memory_tool(**who))).until_done()


def run_async(recorded, **who):
    async def run():
        transport = httpx2.MockTransport(recorded.asynchronously)
        http = httpx2.AsyncClient(transport=transport)
        async with AsyncAnthropic(api_key="none", http_client=http) as client:
            return await client.beta.messages.tool_runner(**options(amemory_tool(**who))).until_done()

    return async_to_sync(run)()


@pytest.fixture(params=[run_sync, run_async], ids=["sync", "async"])
def play(request, tenant):
    """Run a conversation in which the model gives these commands; return what the tool answered."""

    def played(*commands):
        recorded = Recorded(commands)
        last = request.param(recorded, tenant=tenant, agent="bia", actor="agent:bia")
        assert last.stop_reason == "end_turn"
        assert len(recorded.results) == len(commands)
        return [(text(block), block.get("is_error", False)) for block in recorded.results]

    return played


def text(block):
    content = block["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture
def files(tenant):
    return FileStore(tenant, "bia")


def test_the_six_commands_answer_in_the_documented_words(play, files):
    answers = play(
        CREATE,
        {"command": "view", "path": A},
        {"command": "view", "path": A, "view_range": [2, -1]},
        {"command": "str_replace", "path": A, "old_str": "two", "new_str": "2"},
        {"command": "insert", "path": A, "insert_line": 0, "insert_text": "zero"},
        {"command": "rename", "old_path": A, "new_path": "/memories/b.txt"},
        {"command": "view", "path": "/memories"},
        {"command": "delete", "path": "/memories/b.txt"},
    )

    assert [error for _, error in answers] == [False] * 8
    assert [answer for answer, _ in answers] == [
        f"File created successfully at: {A}",
        f"Here's the content of {A} with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t",
        f"Here's the content of {A} with line numbers:\n     2\ttwo\n     3\tthree\n     4\t",
        f"{EDITED}\n     1\tone\n     2\t2\n     3\tthree\n     4\t",
        f"The file {A} has been edited.",
        f"Successfully renamed {A} to /memories/b.txt",
        f"{LISTED}\n17B\t/memories\n17B\t/memories/b.txt",
        "Successfully deleted /memories/b.txt",
    ]
    assert files.list() == []


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ([CREATE], f"File {A} already exists"),
        ([{"command": "view", "path": "/memories/none"}], "The path /memories/none does not exist."),
        (
            [{"command": "str_replace", "path": A, "old_str": "six", "new_str": "6"}],
            f"No replacement was performed, old_str `six` did not appear verbatim in {A}.",
        ),
        (
            [{"command": "str_replace", "path": A, "old_str": "o", "new_str": "0"}],
            "No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2. "
            "Please ensure it is unique",
        ),
        (
            [{"command": "insert", "path": A, "insert_line": 4, "insert_text": "x"}],
            "Invalid `insert_line` parameter: 4. It should be within the range [0, 3].",
        ),
        (
            [{"command": "str_replace", "path": A, "old_str": "\ud800"}],
            "No replacement was performed, old_str `\\ud800` did not appear",
        ),
        ([{"command": "delete", "path": "/memories/none"}], "The path /memories/none does not exist"),
        ([{"command": "delete", "path": "/memories"}], "Cannot delete the /memories directory itself"),
        (
            [{"command": "rename", "old_path": A, "new_path": A}],
            f"The destination {A} already exists",
        ),
        ([{"command": "view", "path": "/etc/passwd"}], "Path must start with /memories, got: /etc/passwd"),
        (
            [{"command": "view", "path": "/memories/../etc"}],
            "Path /memories/../etc would escape /memories directory",
        ),
    ],
    ids=[
        "exists",
        "view",
        "absent",
        "twice",
        "line",
        "surrogate",
        "delete",
        "root",
        "rename",
        "outside",
        "dots",
    ],
)
def test_an_error_is_a_result_in_the_documented_words(play, files, commands, words):
    (_, created), *rest = play(CREATE, *commands)

    ((answer, error),) = rest
    assert error and not created
    assert answer.startswith(words)
    assert files.info("memories/a.txt").version == 1


@pytest.mark.parametrize(
    "command",
    [
        {"command": "view", "path": "/memories_backup/x"},
        {"command": "view", "path": "/memories/%2e%2e/x"},
        {"command": "view", "path": "/memories/a\0b"},
        {"command": "view", "path": "/memories/\ud800"},
        {"command": "create", "path": A, "file_text": "a\0b"},
        {"command": "create", "path": A, "file_text": "\ud800"},
        {"command": "create", "path": A},
        {"command": "create", "file_text": "x"},
        {"command": "create", "path": f"{A}/below", "file_text": 5},
        {"command": "insert", "path": A, "insert_text": "x"},
        {"command": "rename", "old_path": A},
        {"command": "\ud800", "path": A},
        {"command": "destroy", "path": A},
        {"path": A},
        {},
    ],
    ids=[
        "prefix", "percent", "nul", "surrogate", "nul-text", "surrogate-text", "no-text", "no-path",
        "number", "no-line", "no-target", "surrogate-command", "unknown", "no-command", "nothing",
    ],
)  # fmt: skip
def test_what_no_tool_can_do_is_a_result_too_and_names_nothing_of_the_host(play, files, command):
    ((answer, error),) = play(command)

    assert error and answer
    assert not any(trace in answer for trace in ("Traceback", "/site-packages/", "Error("))
    assert files.list() == []


def test_the_conversation_goes_on_after_an_error(play, files):
    answers = play({"command": "view", "path": A}, CREATE)

    assert answers == [(MISSING, True), (f"File created successfully at: {A}", False)]
    assert files.read("memories/a.txt") == CREATE["file_text"]


def test_each_writing_command_is_one_version_of_the_agents_from_a_tool(play, files):
    play(
        CREATE,
        {"command": "str_replace", "path": A, "old_str": "two", "new_str": "2"},
        {"command": "view", "path": A},
        {"command": "insert", "path": A, "insert_line": 0, "insert_text": "zero"},
        {"command": "rename", "old_path": A, "new_path": "/memories/b.txt"},
    )

    info = files.info("memories/b.txt")
    versions = [info, *files.versions("memories/b.txt")]
    assert [version.version for version in versions] == [4, 3, 2, 1]
    assert {(version.source, version.actor) for version in versions} == {("tool", "agent:bia")}


def test_a_delete_can_be_undone_by_an_operator(play, files):
    play(CREATE, {"command": "delete", "path": A})

    files.undelete("memories/a.txt")

    assert files.read("memories/a.txt") == CREATE["file_text"]


def test_another_tenants_memory_is_out_of_reach(play, other_tenant):
    FileStore(other_tenant, "bia").write("memories/a.txt", "theirs")

    ((answer, error),) = play({"command": "view", "path": A})

    assert (answer, error) == (MISSING, True)


def test_the_request_names_the_tool_and_no_tenant(tenant):
    recorded = Recorded([])

    run_sync(recorded, tenant=tenant, agent="bia")

    assert recorded.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert tenant not in json.dumps(recorded.requests)
