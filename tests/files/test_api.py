from urllib.parse import quote, unquote

import pytest
from django.contrib.auth.models import Permission

from agentstore.core.values import clock_at
from agentstore.files import FileStore
from tests.files.conftest import START

pytestmark = pytest.mark.django_db

BASE = "/api/agents/bia/"


@pytest.fixture
def own(user):
    """The files that the client's user owns."""
    return FileStore(f"user:{user.pk}", "bia")


def put(client, name, body, *, type="text/markdown", **headers):
    return client.put(f"{BASE}files/{quote(name)}", data=body, content_type=type, headers=headers)


def post(client, act, name, **body):
    return client.post(f"{BASE}{act}/{quote(name)}", data=body, format="json")


@pytest.mark.parametrize("type", ["text/markdown", "text/plain", "text/markdown; charset=utf-8"])
def test_a_text_is_kept_to_the_byte(api_client, type):
    body = "\ufeff\n# hé\r\n\rx  \u2028\u202e ".encode()

    response = put(api_client, "SOUL.md", body, type=type)
    read = api_client.get(f"{BASE}files/SOUL.md", headers={"accept": "text/markdown"})

    assert response.status_code == 201 and response["ETag"] == '"1"'
    assert response["Location"].endswith(f"{BASE}files/SOUL.md")
    assert read.content == body
    assert read["Content-Type"] == "text/markdown; charset=utf-8"
    assert "Accept" in read["Vary"] and read["X-Content-Type-Options"] == "nosniff"


def test_a_text_inside_json_is_kept_to_the_byte_and_can_be_put_back(api_client):
    content = "\n a\r\n"
    url = f"{BASE}files/SOUL.md"
    api_client.put(url, data={"content": content, "reason": "first"}, format="json")
    shown = api_client.get(url).json()

    again = api_client.put(url, data=shown, format="json")

    assert shown["content"] == content and shown["reason"] == "first"
    assert again.status_code == 200 and again.json()["changed"] is False and again.json()["version"] == 1


@pytest.mark.parametrize(
    "name", ["new", "history", "a/b/c.md", "ünï.md", "100%.md", "versions/x", "a b.md", "a?b#c;d&e=f"]
)
def test_odd_names_work_in_every_address(api_client, name):
    created = put(api_client, name, b"one")
    assert created.status_code == 201
    assert api_client.get(created["Location"]).json()["name"] == name
    assert put(api_client, name, b"two").status_code == 200

    listed = api_client.get(f"{BASE}versions/{quote(name)}").json()["results"]
    shown = api_client.get(f"{BASE}files/{quote(name)}").json()
    assert [item["version"] for item in listed] == [1]
    assert shown["name"] == name and shown["content"] == "two"
    assert api_client.delete(f"{BASE}files/{quote(name)}").status_code == 204


NO_NAMES = {
    "%2e%2e/x", "/etc/x", "a%5Cb", "a//b", ".", "%252e%252e/x", "a%E2%80%AEb", "a%E2%80%8Bb", "x" * 256,
    "/".join("a" * 21), "a/", "%20a", "a%00b",
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(NO_NAMES))
def test_names_that_are_none_are_refused(api_client, own, path):
    response = api_client.put(f"{BASE}files/{path}", data=b"x", content_type="text/plain")

    assert response.status_code == 400 and "name" in response.json()["errors"]
    own.write("a.md", "x")
    to = api_client.post(f"{BASE}rename/a.md", {"to": unquote(path)}, format="json")
    assert to.status_code == 400 and "name" in to.json()["errors"]
    assert [info.name for info in own.list()] == ["a.md"]


def test_a_decomposed_name_finds_the_same_file_and_capitals_make_no_other(api_client, own):
    assert put(api_client, "u\u0308.md", b"one").json()["name"] == "\u00fc.md"
    assert put(api_client, "\u00fc.md", b"two").status_code == 200
    assert put(api_client, "\u00dc.md", b"three").json()["code"] == "exists"
    own.write("memory.md", "x")

    response = put(api_client, "MEMORY.md", b"y")

    assert (response.status_code, response.json()["code"]) == (409, "exists")
    assert own.read("memory.md") == "x"


@pytest.mark.parametrize(
    ("body", "type", "status", "code"),
    [
        (b"\xff", "text/markdown", 400, "validation"),
        (b"a\0b", "text/markdown", 400, "validation"),
        ("Ã©".encode("latin-1"), "text/markdown; charset=iso-8859-1", 400, "validation"),
        ("表格".encode("iso-2022-jp"), "text/plain;charset=ISO-2022-JP", 400, "validation"),
        ("慡慡".encode("utf-16-le"), 'text/plain; charset="utf-16le"', 400, "validation"),
        (b"x" * 102_401, "text/markdown", 413, "too_large"),
        (b"x" * 3_000_000, "text/markdown", 413, "too_large"),
        (b'{"content": {"content": "x"}}', "application/json", 400, "validation"),
        (b'{"content": null}', "application/json", 400, "validation"),
        (b'{"content": 3}', "application/json", 400, "validation"),
        (b'{"content": ["x"]}', "application/json", 400, "validation"),
        (b'{"content": "a\\u0000b"}', "application/json", 400, "validation"),
        (b'{"content": "\\ud800"}', "application/json", 400, "validation"),
        (b'{"contents": "x"}', "application/json", 400, "validation"),
        (b'"a text"', "application/json", 400, "validation"),
        (b'"{\\"content\\": \\"wrapped twice\\"}"', "application/json; charset=utf-8", 400, "validation"),
        (b"{}", "application/json", 400, "validation"),
        (b"[]", "application/json", 400, "validation"),
        (b"{", "application/json", 400, "validation"),
        (b'{"content": "x", "reason": 5}', "application/json", 400, "validation"),
        (b"<a/>", "application/xml", 415, "unsupported_media_type"),
    ],
)
def test_bodies_that_hold_no_text_are_refused_and_change_nothing(api_client, own, body, type, status, code):
    response = put(api_client, "SOUL.md", body, type=type)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert own.list() == []


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("ü", 'text/markdown; charset="UTF-8"'),
        ("ü", "text/plain;charset=utf8"),
        ("u", "text/plain; charset=US-ASCII"),
        ("u", "text/plain; charset=ISO-8859-1"),
        ("ü", "text/plain; format=flowed"),
    ],
)
def test_a_charset_that_says_what_the_bytes_are_is_taken(api_client, own, text, type):
    assert put(api_client, "SOUL.md", text.encode(), type=type).status_code == 201
    assert own.read("SOUL.md") == text


def test_an_empty_body_is_the_empty_text(api_client, own):
    assert put(api_client, "SOUL.md", b"").status_code == 201
    assert own.read("SOUL.md") == ""


def test_conditions_guard_a_write(api_client, own):
    own.write("SOUL.md", "one")

    stale = put(api_client, "SOUL.md", b"two", **{"If-Match": '"7"'})
    taken = put(api_client, "SOUL.md", b"two", **{"If-None-Match": "*"})
    missing = put(api_client, "none.md", b"two", **{"If-Match": "*"})
    good = put(api_client, "SOUL.md", b"two", **{"If-Match": 'W/"1"'})
    other_capitals = put(api_client, "soul.md", b"two")

    assert stale.status_code == 412 and stale.json()["current_version"] == 1
    assert taken.status_code == 412 and missing.status_code == 404
    assert good.status_code == 200 and good["ETag"] == '"2"'
    assert other_capitals.status_code == 409 and other_capitals.json()["code"] == "exists"
    assert own.read("SOUL.md") == "two"


@pytest.mark.parametrize("act", ["put", "delete", "restore", "rename"])
def test_a_condition_on_a_file_that_is_gone_never_hits_the_new_one_of_its_name(api_client, own, act):
    for text in ("one", "two"):
        own.write("SOUL.md", text)
    seen = api_client.get(f"{BASE}files/SOUL.md")["ETag"]
    own.delete("SOUL.md")
    for text in ("new", "newer"):
        own.write("SOUL.md", text)
    kind, body = {
        "put": ("files", {"content": "mine"}),
        "delete": ("files", None),
        "restore": ("restore", {"version": 3}),
        "rename": ("rename", {"to": "b.md"}),
    }[act]
    method = act if kind == "files" else "post"

    response = getattr(api_client, method)(
        f"{BASE}{kind}/SOUL.md", body, format="json", headers={"if-match": seen}
    )

    assert (response.status_code, response.json()["current_version"]) == (412, 4)
    assert own.read("SOUL.md") == "newer"


def test_a_reader_that_has_the_version_gets_304(api_client, own):
    own.write("SOUL.md", "one")

    response = api_client.get(f"{BASE}files/SOUL.md", headers={"if-none-match": '"1"'})

    assert response.status_code == 304 and not response.content


def test_older_versions_are_read_compared_and_restored(api_client, own):
    for text in ("one\n", "two\n", "three\n"):
        own.write("SOUL.md", text)

    old = api_client.get(f"{BASE}files/SOUL.md?version=1").json()
    diff = api_client.get(f"{BASE}diff/SOUL.md?a=1").json()
    restored = post(api_client, "restore", "SOUL.md", version=1, reason="better")
    same = post(api_client, "restore", "SOUL.md", version=1)

    assert old["content"] == "one\n" and old["version"] == 1
    assert "-one\n+three\n" in diff["unified"] and (diff["added"], diff["removed"]) == (1, 1)
    assert restored.json()["version"] == 4 and restored.json()["restored_from"] == 1
    assert restored.json()["source"] == "restore" and restored.json()["reason"] == "better"
    assert same.json()["changed"] is False
    assert own.read("SOUL.md") == "one\n"


def test_a_file_is_renamed_deleted_and_undeleted(api_client, own):
    own.write("a.md", "one")

    renamed = post(api_client, "rename", "a.md", to="b.md")
    first = api_client.delete(f"{BASE}files/b.md?reason=old")
    second = api_client.delete(f"{BASE}files/b.md")
    undeleted = post(api_client, "undelete", "b.md")
    taken = post(api_client, "undelete", "b.md")

    assert renamed.json()["name"] == "b.md" and renamed["ETag"] == '"2"'
    assert (first.status_code, second.status_code) == (204, 404)
    assert undeleted.json()["version"] == 3 and taken.status_code in (404, 409)
    ops = [
        item["op"] for item in api_client.get(f"{BASE}changes/?since=2020-01-01T00:00:00Z").json()["results"]
    ]
    assert ops == ["undeleted", "deleted", "renamed", "created"]


def test_blanking_out_a_version_takes_a_permission_of_its_own(api_client, own, user):
    own.write("a.md", "secret")
    own.write("a.md", "clean")

    refused = post(api_client, "redact", "a.md", version=1, reason="key")
    user.user_permissions.add(Permission.objects.get(codename="redact_agentfile"))
    done = api_client.__class__()
    done.force_authenticate(type(user).objects.get(pk=user.pk))
    response = post(done, "redact", "a.md", version=1, reason="key")

    assert refused.status_code == 403 and refused.json()["code"] == "permission"
    assert response.status_code == 204
    assert own.versions("a.md")[0].redacted
    assert post(done, "restore", "a.md", version=1).status_code == 400
    assert done.get(f"{BASE}files/a.md?version=1").status_code == 400


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "files/none.md", None),
        ("delete", "files/none.md", None),
        ("get", "versions/none.md", None),
        ("get", "diff/none.md?a=1", None),
        ("post", "restore/none.md", {"version": 1}),
        ("post", "undelete/none.md", {}),
        ("post", "rename/none.md", {"to": "x.md"}),
        ("get", "files/theirs.md", None),
        ("get", "files/theirs.md?version=1", None),
    ],
)
def test_what_is_not_there_is_404_and_so_is_another_tenants(api_client, other_tenant, method, path, body):
    FileStore(other_tenant, "bia").write("theirs.md", "secret")

    response = getattr(api_client, method)(
        BASE + path, data=body, format="json" if body is not None else None
    )

    assert response.status_code == 404 and response.json()["code"] == "not_found"
    assert "secret" not in response.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "files/a.md?version=x", None),
        ("get", "files/a.md?versoin=1", None),
        ("get", "diff/a.md", None),
        ("get", "changes/", None),
        ("get", "changes/?since=yesterday", None),
        ("get", "changes/?since=2026-01-01T00:00:00", None),
        ("post", "restore/a.md", {}),
        ("post", "restore/a.md", {"version": "1"}),
        ("post", "restore/a.md", {"version": True}),
        ("post", "rename/a.md", {"to": "../x"}),
        ("post", "rename/a.md", {"to": "x.md", "from": "a.md"}),
        ("get", "../b a d/files/", None),
    ],
)
def test_what_a_request_gets_wrong_is_told_by_name(api_client, own, method, path, body):
    own.write("a.md", "x")
    url = f"/api/agents/{path[3:]}" if path.startswith("../") else BASE + path

    response = getattr(api_client, method)(url, data=body, format="json" if body is not None else None)

    assert response.status_code == 400 and response.json()["errors"]


def test_agents_and_files_are_listed(api_client, own):
    own.write("b.md", "x")
    own.write("notes/a.md", "xy")

    agents = api_client.get("/api/agents/").json()
    every = api_client.get(f"{BASE}files/").json()
    some = api_client.get(f"{BASE}files/?prefix=notes/").json()

    assert agents["results"] == [{"agent": "bia"}]
    assert [item["name"] for item in every["results"]] == ["b.md", "notes/a.md"]
    assert some["results"][0]["size"] == 2 and "content" not in some["results"][0]
    assert {"results", "next", "next_cursor", "limit"} == every.keys()


def test_nobody_gets_in_without_credentials(client):
    for path in (
        "/api/agents/",
        f"{BASE}files/",
        f"{BASE}files/a.md",
        f"{BASE}changes/?since=2020-01-01T00:00:00Z",
    ):
        response = client.get(path)
        assert response.status_code in (401, 403) and response.json()["code"]


def test_an_actor_and_a_source_are_recorded(api_client, own, user):
    put(api_client, "a.md", b"x")

    info = own.info("a.md")
    assert info.actor == f"user:{user.username}" and info.source == "api"


@pytest.mark.parametrize("type", ["Application/JSON", "APPLICATION/JSON; charset=utf-8", "application/json"])
def test_a_media_type_means_the_same_in_capitals(api_client, own, type):
    assert put(api_client, "SOUL.md", b'{"content": "one"}', type=type).status_code == 201
    assert put(api_client, "TOOLS.md", b"two", type="TEXT/Plain").status_code == 201

    assert (own.read("SOUL.md"), own.read("TOOLS.md")) == ("one", "two")


@pytest.mark.parametrize(
    ("accept", "type"),
    [
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/plain, application/json;q=0.5", "text/plain; charset=utf-8"),
        ("text/*", "text/markdown; charset=utf-8"),
        ("application/json, text/plain", "application/json"),
        ("text/html", "application/json"),
    ],
)
def test_a_text_comes_as_the_type_that_was_asked_for(api_client, own, accept, type):
    own.write("SOUL.md", "one")

    assert api_client.get(f"{BASE}files/SOUL.md", headers={"accept": accept})["Content-Type"] == type


@pytest.mark.parametrize(("version", "tag", "status"), [(9, '"9"', 404), (9, "*", 404), (1, '"1"', 400)])
def test_what_can_not_be_read_is_not_unchanged_either(api_client, own, version, tag, status):
    own.write("SOUL.md", "one")
    own.write("SOUL.md", "two")
    own.redact("SOUL.md", 1, "a key")

    response = api_client.get(f"{BASE}files/SOUL.md?version={version}", headers={"if-none-match": tag})

    assert response.status_code == status


def test_an_older_version_that_the_reader_has_is_304(api_client, own):
    own.write("SOUL.md", "one")
    own.write("SOUL.md", "two")

    response = api_client.get(f"{BASE}files/SOUL.md?version=1", headers={"if-none-match": '"1"'})

    assert (response.status_code, response["ETag"], response.content) == (304, '"1"', b"")
    assert "Accept" in response["Vary"]


@pytest.mark.parametrize("there", [True, False], ids=["there", "nowhere"])
@pytest.mark.parametrize(
    ("act", "body"), [("delete", None), ("restore", {"version": 1}), ("rename", {"to": "b.md"})]
)
def test_what_wants_no_file_to_be_there_does_nothing_to_one(api_client, own, act, body, there):
    if there:
        own.write("SOUL.md", "one")
        own.write("SOUL.md", "two")
    send, kind = (api_client.delete, "files") if act == "delete" else (api_client.post, act)

    response = send(f"{BASE}{kind}/SOUL.md", body, format="json", headers={"if-none-match": "*"})

    assert response.status_code == (412 if there else 404)
    assert own.read("SOUL.md") == ("two" if there else None)


def test_only_the_write_that_makes_a_file_is_201(api_client, own):
    with clock_at(START):
        statuses = [put(api_client, "SOUL.md", text).status_code for text in (b"one", b"two", b"two")]

    assert statuses == [201, 200, 200]


def test_a_version_that_is_trimmed_while_it_is_read_is_not_found(api_client, own, monkeypatch):
    own.write("SOUL.md", "one")
    own.write("SOUL.md", "two")
    monkeypatch.setattr(FileStore, "versions", lambda self, name: [])

    response = api_client.get(f"{BASE}files/SOUL.md?version=1")

    assert (response.status_code, response.json()["code"]) == (404, "not_found")
