"""An agent's files as resources: their addresses, their texts, and nobody else's."""

from urllib.parse import unquote

import pytest
from mcp import MCPError

from agentstore.core.errors import NotFound, StorageFailed, ValidationFailed
from agentstore.files import FileStore
from agentstore.tools import toolset
from agentstore.tools.mcp import mcp_server, resources
from agentstore.tools.mcp.resources import locate, uri_of
from tests.testapp.models import Task
from tests.tools.mcp_clients import MODES, run

PREFIX = "agentstore://files/"
NAMES = [
    "SOUL.md", "notes/day one.md", "Übung/straße.md", "日本/メモ.md", "100%.md", "a%41b%zz.md", "😀.md",
    "what?version=2.md", "#1 & more; a+b=c.md", "(draft) 'x' \"y\" [z] {q}.md", "~home/-._.txt",
    "e-mail@x:y,z!$*.md",
]  # fmt: skip


@pytest.fixture
def files(tenant):
    return FileStore(tenant, "bia", actor="user:maren")


@pytest.fixture
def server(tenant):
    return mcp_server(toolset(tenant, agent="bia"))


def refused(server, uri, mode):
    async def work(client):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return caught.value

    return run(server, work, mode=mode)


# --- addresses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_address_is_plain_ascii_and_leads_back_to_its_file(name):
    uri = uri_of(name)

    assert uri.isascii() and uri.startswith(PREFIX) and not {"?", "#", " "} & set(uri)
    assert locate(uri) == {"name": name} and unquote(uri) == PREFIX + name


@pytest.mark.parametrize(
    ("uri", "wanted"),
    [
        (f"{PREFIX}notes%2Fday.md", {"name": "notes/day.md"}),
        (f"{PREFIX}Übung.md", {"name": "Übung.md"}),
        (f"{PREFIX}%C3%9Cbung.md", {"name": "Übung.md"}),
        (f"{PREFIX}%c3%9cbung.md", {"name": "Übung.md"}),
        (f"{PREFIX}SOUL.md?version=3", {"name": "SOUL.md", "version": 3}),
        (f"{PREFIX}SOUL.md?", {"name": "SOUL.md"}),
        (f"{PREFIX}a+b.md", {"name": "a+b.md"}),
    ],
)
def test_an_address_may_be_written_in_several_ways(uri, wanted):
    assert locate(uri) == wanted


@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("", NotFound),
        ("SOUL.md", NotFound),
        ("file:///etc/passwd", NotFound),
        ("agentstore://files", NotFound),
        (PREFIX, NotFound),
        ("agentstore://other/SOUL.md", NotFound),
        (f"{PREFIX}%ff.md", NotFound),
        (f"{PREFIX}\ud800.md", NotFound),
        (f"{PREFIX}SOUL.md?agent=rex", NotFound),
        (f"{PREFIX}SOUL.md?version=1&version=2", NotFound),
        (f"{PREFIX}SOUL.md?version=one", ValidationFailed),
        (f"{PREFIX}SOUL.md?version=%ff", ValidationFailed),
    ],
    ids=ascii,
)
def test_what_is_no_address_of_a_file_is_refused(uri, error):
    with pytest.raises(error):
        locate(uri)


# --- through a client ---------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_files_are_listed_and_read_to_the_byte(server, files, mode):
    texts = {name: f"{name}\r\n\tline two\u2028\n" for name in NAMES}
    for name, text in texts.items():
        files.write(name, text)

    async def work(client):
        listed = (await client.list_resources()).resources
        return listed, {one.name: (await client.read_resource(one.uri)).contents for one in listed}

    listed, read = run(server, work, mode=mode)

    assert [one.name for one in listed] == sorted(NAMES)
    assert {one.mime_type for one in listed} == {"text/markdown"}
    assert {one.name: one.size for one in listed} == {
        name: len(text.encode()) for name, text in texts.items()
    }
    assert all(one.annotations.last_modified.endswith("Z") for one in listed)
    assert {name: [part.text for part in parts] for name, parts in read.items()} == {
        name: [text] for name, text in texts.items()
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_an_older_version_has_an_address_of_its_own(server, files, mode):
    for text in ("one", "two"):
        files.write("SOUL.md", text)

    async def work(client):
        uris = [f"{PREFIX}SOUL.md{query}" for query in ("", "?version=1", "?version=2")]
        return [(await client.read_resource(uri)).contents[0] for uri in uris]

    found = run(server, work, mode=mode)

    assert [part.text for part in found] == ["two", "one", "two"]
    assert [part.meta["agentstore/version"] for part in found] == [2, 1, 2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_a_template_says_how_addresses_are_made(server, mode):
    async def work(client):
        return (await client.list_resource_templates()).resource_templates

    (template,) = run(server, work, mode=mode)

    assert template.uri_template == "agentstore://files/{+name}{?version}"
    assert template.mime_type == "text/markdown" and template.description


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "uri",
    [f"{PREFIX}{name}" for name in ("none.md", "../SOUL.md", "globex/SOUL.md", "SOUL.md?version=9")]
    + ["file:///etc/passwd", f"{PREFIX}SOUL.md?version=one"],
)
def test_what_is_not_there_is_an_error_that_says_so(server, files, mode, uri):
    files.write("SOUL.md", "x")

    error = refused(server, uri, mode)

    assert error.code == -32602 and error.data["code"] in ("not_found", "validation")
    assert error.data["uri"] == uri and error.message


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_nothing_of_another_tenant_or_agent_is_there(tenant, other_tenant, server, files, mode):
    FileStore(other_tenant, "bia").write("THEIRS.md", "secret")
    FileStore(tenant, "rex").write("REX.md", "secret")
    files.write("SOUL.md", "mine")

    async def work(client):
        return (await client.list_resources()).resources

    assert [one.name for one in run(server, work, mode=mode)] == ["SOUL.md"]
    for uri in (f"{PREFIX}THEIRS.md", f"{PREFIX}REX.md", f"{PREFIX}rex/REX.md"):
        assert refused(server, uri, mode).data["code"] == "not_found"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_many_files_come_page_by_page(server, files, mode, monkeypatch):
    monkeypatch.setattr(resources, "PAGE", 2)
    for n in range(5):
        files.write(f"{n}.md", "x")

    async def work(client):
        pages, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            pages.append([one.name for one in page.resources])
            cursor = page.next_cursor
            if cursor is None:
                return pages

    assert run(server, work, mode=mode) == [["0.md", "1.md"], ["2.md", "3.md"], ["4.md"]]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_without_an_agent_there_are_no_resources(tenant, mode):
    async def work(client):
        with pytest.raises(MCPError) as caught:
            await client.list_resources()
        return client.server_capabilities.resources, caught.value.code

    assert run(mcp_server(toolset(tenant, entities=[Task])), work, mode=mode) == (None, -32601)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_trouble_in_the_database_is_no_fault_of_the_client(tenant, mode, monkeypatch):
    def fail(*args, **options):
        raise StorageFailed("The database did not carry out the operation.", hint="Try again later.")

    tools = toolset(tenant, agent="bia")
    monkeypatch.setattr(tools, "run", fail)

    error = refused(mcp_server(tools), f"{PREFIX}SOUL.md", mode)

    assert error.code == -32603 and error.data["code"] == "storage"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", MODES)
def test_a_redacted_version_says_that_it_is_gone(server, files, mode):
    for text in ("a secret", "none"):
        files.write("SOUL.md", text)
    files.redact("SOUL.md", 1, "a secret")

    error = refused(server, f"{PREFIX}SOUL.md?version=1", mode)

    assert "a secret" not in str(error.data) and error.data["detail"]
