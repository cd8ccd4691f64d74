"""``agentstore_mcp``: its options, its errors, and that standard output carries the protocol alone."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from agentstore.files import FileStore
from agentstore.tools import mcp, toolset
from tests.isolated import ROOT, run_python
from tests.testapp.models import Task
from tests.tools.mcp_clients import HELLO, MODES, error_of, other_sessions, run, server_environ, stdio_server


@pytest.fixture
def started(transactional_db, tenant):
    """Start the command with pipes of our own; it is ended with the test."""
    servers = []

    def start(*options, **environ):
        server = subprocess.Popen(
            [sys.executable, "manage.py", "agentstore_mcp", "--tenant", tenant, *options],
            cwd=ROOT, env=server_environ(**environ),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        servers.append(server)
        send(server, "initialize", HELLO, id=0)
        json.loads(server.stdout.readline())
        send(server, "notifications/initialized")
        return server

    yield start
    for server in servers:
        server.kill()
        server.wait()
        for pipe in (server.stdin, server.stdout, server.stderr):
            with suppress(BrokenPipeError):
                pipe.close()


def send(server, method, params=None, **more):
    message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


@pytest.mark.parametrize("mode", MODES)
def test_a_client_starts_it_and_works_with_the_tenants_rows(transactional_db, tenant, other_tenant, mode):
    Task.store(other_tenant).create({"text": "theirs"})
    FileStore(tenant, "bia").write("SOUL.md", "You are Bia.")
    server = stdio_server("--tenant", tenant, "--agent", "bia", "--writable", "notes/*", "todo.md")

    async def work(client):
        made = await client.call_tool("tasks_create", {"data": {"text": "mine"}})
        found = await client.call_tool("tasks_query", {})
        wrote = await client.call_tool("file_write", {"name": "notes/day.md", "content": "x"})
        refused = await client.call_tool("file_write", {"name": "SOUL.md", "content": "x"})
        read = await client.read_resource("agentstore://files/SOUL.md")
        return made, found, wrote, refused, read

    made, found, wrote, refused, read = run(server, work, mode=mode)

    assert [row["id"] for row in found.structured_content["rows"]] == [made.structured_content["row"]["id"]]
    assert wrote.structured_content["changed"] and error_of(refused)["code"] == "permission"
    assert read.contents[0].text == "You are Bia."
    assert Task.store(tenant).history(made.structured_content["row"]["id"])[0].actor == "agent:bia"


def test_read_only_offers_nothing_that_writes(transactional_db, tenant):
    server = stdio_server("--tenant", tenant, "--agent", "bia", "--read-only", "--writable", "*")

    tools = run(server, lambda client: client.list_tools()).tools

    assert {"tasks_query", "file_read", "strategy_find"} <= {tool.name for tool in tools}
    assert all(tool.annotations.read_only_hint for tool in tools)


def test_the_generic_set_and_the_actor_can_be_asked_for(transactional_db, tenant):
    server = stdio_server("--tenant", tenant, "--generic", "--actor", "desk:maren")

    async def work(client):
        return await client.call_tool("entity_create", {"entity": "tasks", "data": {"text": "x"}})

    row = run(server, work).structured_content["row"]

    assert Task.store(tenant).history(row["id"])[0].actor == "desk:maren"


# --- standard output ----------------------------------------------------------------------------

#: Settings of a host that prints where it should not.
LOUD = """
import sys
from tests.settings import *
print("printed while settings load")
LOGGING = {"version": 1, "handlers": {"out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout"}},
           "root": {"handlers": ["out"], "level": "DEBUG"}}
"""


def test_standard_output_carries_the_protocol_alone(started, tmp_path):
    (tmp_path / "loud_settings.py").write_text(LOUD)
    host = {"DJANGO_SETTINGS_MODULE": "loud_settings", "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    server = started("--agent", "bia", **host)

    send(server, "tools/call", {"name": "tasks_query", "arguments": {}}, id=1)
    send(server, "nonsense", id=2)
    lines = [json.loads(server.stdout.readline()) for _ in range(2)]
    server.stdin.close()
    rest, logged = server.stdout.read(), server.stderr.read()

    assert {line["id"] for line in lines} == {1, 2} and rest == b""
    assert b"printed while settings load" in logged


def test_every_line_is_one_message_whatever_the_texts_hold(started, tenant):
    text = "one\ntwo\r\nthree\u2028four\x85five 😀"
    Task.store(tenant).create({"text": text})
    server = started()

    send(server, "tools/call", {"name": "tasks_query", "arguments": {}}, id=1)
    answer = json.loads(server.stdout.readline())

    assert answer["result"]["structuredContent"]["rows"][0]["data"]["text"] == text


@contextmanager
def client_of_this_process(monkeypatch, said, out):
    """Let what a client said be this process's standard input, and a descriptor its standard output."""
    said.write_text(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}) + "\n")
    kept = os.dup(1)
    os.dup2(out, 1)
    try:
        with said.open() as opened:
            monkeypatch.setattr(sys, "stdin", opened)
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def test_what_is_printed_besides_goes_elsewhere(monkeypatch, tmp_path, tenant):
    with (
        (tmp_path / "answered").open("w") as answered,
        client_of_this_process(monkeypatch, tmp_path / "said", answered.fileno()),
    ):
        mcp.serve_stdio(toolset(tenant, entities=[]))
        os.write(1, b"printed")

    answer = json.loads((tmp_path / "answered").read_text())
    assert answer["result"]["serverInfo"]["name"] == "agentstore"


def test_a_client_that_is_gone_is_no_error(monkeypatch, tmp_path, tenant):
    reading, writing = os.pipe()
    os.close(reading)

    with os.fdopen(writing, "w"), client_of_this_process(monkeypatch, tmp_path / "said", writing):
        mcp.serve_stdio(toolset(tenant, entities=[]))


# --- how it ends --------------------------------------------------------------------------------


def test_it_ends_when_the_client_closes_its_end(started):
    server = started()

    server.stdin.close()

    assert server.wait(60) == 0
    assert server.stdout.read() == server.stderr.read() == b""


def test_it_ends_when_nobody_reads_its_answers(started):
    server = started()
    server.stdout.close()

    for number in range(1, 50):
        try:
            send(server, "tools/list", id=number)
        except BrokenPipeError:
            break
        if server.poll() is not None:
            break

    assert server.wait(60) == 0
    assert server.stderr.read() == b""


@pytest.mark.postgres_only
def test_it_ends_when_the_client_dies_in_the_middle_of_calls(started, tenant):
    count = other_sessions()
    server = started()
    for number in range(1, 31):
        arguments = {"data": {"text": str(number)}}
        send(server, "tools/call", {"name": "tasks_create", "arguments": arguments}, id=number)

    server.stdout.close()
    server.stdin.close()

    assert server.wait(60) == 0
    assert server.stderr.read() == b""
    assert asyncio.run(count()) == 0


def test_a_line_that_is_no_message_does_not_end_it(started):
    server = started()

    server.stdin.write(b"no json\n\xff\xfe\n{}\n")
    send(server, "ping", id=7)
    answers = []
    while not any(answer.get("id") == 7 for answer in answers):
        answers.append(json.loads(server.stdout.readline()))

    assert answers[-1]["result"] == {}


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tenant", " x"], "white space"),
        (["--tenant", ""], "is empty"),
        (["--tenant", "x" * 256], "255"),
        (["--tenant", "acme", "--agent", "no agent"], "is not an agent id"),
        (["--tenant", "acme", "--actor", "x" * 256], "255"),
        (["--tenant", "acme", "--writable", "*"], "--agent"),
        ([], "--tenant"),
    ],
    ids=["space", "empty", "long", "agent", "actor", "writable", "none"],
)
def test_options_that_do_not_hold_are_refused_before_anything_is_served(options, words):
    with pytest.raises(CommandError, match=words):
        call_command("agentstore_mcp", *options)


@pytest.fixture
def served(monkeypatch):
    """Collect what the command would serve, instead of serving it."""
    found = []
    monkeypatch.setattr(mcp, "serve_stdio", found.append, raising=False)
    handler = signal.getsignal(signal.SIGINT)
    yield found
    signal.signal(signal.SIGINT, handler)


def test_what_the_options_say_is_what_is_served(served, tenant):
    call_command("agentstore_mcp", tenant=tenant, agent="bia", writable=["*.md"])
    call_command("agentstore_mcp", "--tenant", tenant, "--read-only", "--generic")

    (files, generic) = ({tool.name for tool in tools} for tools in served)
    assert {"tasks_create", "file_write", "strategy_save"} <= files
    assert {"entity_query", "strategy_find"} <= generic and not {"entity_create", "file_read"} & generic


def test_tools_that_cannot_be_told_apart_are_refused(served, monkeypatch):
    def fail(*args, **options):
        raise ImproperlyConfigured("Two tools are named 'x_get'.")

    monkeypatch.setattr("agentstore.management.commands.agentstore_mcp.toolset", fail)

    with pytest.raises(CommandError, match="x_get"):
        call_command("agentstore_mcp", tenant="acme")


def test_what_is_missing_is_told_before_anything_is_served(monkeypatch):
    def fail(name):
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")

    monkeypatch.setattr(mcp, "import_module", fail)

    with pytest.raises(CommandError, match="pip install"):
        call_command("agentstore_mcp", tenant="acme")


#: Without the extra there is neither the SDK nor what it stands on.
WITHOUT = "import sys; sys.modules.update(dict.fromkeys(['mcp', 'mcp_types', 'anyio', 'starlette'])); "


def test_without_the_sdk_everything_else_imports():
    run_python(
        WITHOUT
        + "import django; django.setup(); import agentstore.tools, agentstore.tools.mcp, project.asgi",
        DJANGO_SETTINGS_MODULE="tests.settings",
    )


def test_without_the_sdk_the_command_says_what_to_install():
    done = run_python(
        WITHOUT + "from django.core.management import execute_from_command_line as run; "
        "run(['manage.py', 'agentstore_mcp', '--tenant', 'acme'])",
        check=False,
        DJANGO_SETTINGS_MODULE="tests.settings",
        AGENTSTORE_TEST_BINDING="",
    )

    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("CommandError:") and 'pip install "django-agentstore[mcp]"' in done.stderr


def test_without_the_sdk_an_import_says_what_to_install():
    done = run_python(
        WITHOUT + "import django; django.setup(); from agentstore.tools.mcp import mcp_server",
        check=False,
        DJANGO_SETTINGS_MODULE="tests.settings",
    )

    assert 'pip install "django-agentstore[mcp]"' in done.stderr


@pytest.mark.parametrize(
    ("missing", "error"),
    [("mcp", ImportError), ("mcp.server", ImportError), ("other", ModuleNotFoundError)],
)
def test_only_the_sdk_itself_is_said_to_be_missing(monkeypatch, missing, error):
    def fail(name):
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(mcp, "import_module", fail)

    with pytest.raises(error) as caught:
        _ = mcp.mcp_server
    assert ("pip install" in str(caught.value)) is (missing != "other")


def test_what_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="nothing_of_it"):
        _ = mcp.nothing_of_it
