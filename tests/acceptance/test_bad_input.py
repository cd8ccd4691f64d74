"""Nothing that a client sends to files, strategies or tools is a 500, nor answered with a page."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Permission

from agentstore.files import FileStore
from agentstore.strategies import StrategyStore

pytestmark = pytest.mark.django_db

POSTED = [
    "agents/bia/restore/a.md", "agents/bia/redact/a.md", "agents/bia/rename/a.md", "agents/bia/undelete/a.md",
    "strategies/find/", "strategies/entries/", "strategies/prune/", "strategies/seed/",
    "tools/tasks_query/", "tools/tasks_update/", "tools/strategy_save/",
    "tools/file_write/?agent=bia&writable=*",
]  # fmt: skip
READ = [
    "agents/", "agents/bia/files/", "agents/bia/files/a.md", "agents/bia/versions/a.md",
    "agents/bia/diff/a.md", "agents/bia/changes/", "agents/bia/archive/",
    "strategies/entries/", "strategies/entries/one/", "strategies/usage/", "tools/",
]  # fmt: skip
DEEP = "[" * 200 + "]" * 200
BODIES = {
    "deep": DEEP, "null": "null", "true": "true", "text": '"x"', "list": "[]", "number": "1e400",
    "deep inside": f'{{"entries": {DEEP}, "objective": {DEEP}, "to": {DEEP}, "id": {DEEP}}}',
    "odd entries": '{"entries": [1, null, "x", [], {}, {"problem": {}, "ts": 5, "id": []}]}',
    "odd kinds": '{"version": {}, "to": 5, "reason": [], "limit": "x", "max_size": null, "name": {}}',
    "surrogates": r'{"objective": "\ud800", "problem": "\ud800", "to": "\ud800", "name": "\ud800"}',
    "nul": r'{"objective": "\u0000", "problem": "\u0000", "to": "\u0000", "version": 1, "reason": "\u0000"}',
    "odd keys": r'{"\ud800": 1, "": 2}',
    "twice": '{"version": 1, "version": 2}',
    "infinite": '{"limit": 1e400, "max_size": -1e400, "confidence": 1e400, "version": 1e400}',
    "huge": f'{{"limit": 1{"0" * 400}, "max_size": 1{"0" * 400}, "version": 1{"0" * 400}}}',
    "no utf-8": b'{"a": "\xff"}',
}  # fmt: skip
TYPES = [
    "application/json", "application/json; charset=latin-1", "text/html", "multipart/form-data", "",
    "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/", "/", ";",
]  # fmt: skip
QUERIES = [
    "%ff", "%00=1", "a=1&a=2", "version=%D9%A1", "version=1_0", "version=%00", "cursor=%00", "prefix=%00",
    "cursor=WyJ4IixOYU4sMSwxLCJ4Il0", f"cursor={'A' * 3000}", "since=%00&a=1&b=x",
    "since=9999-12-31T23:59-23:59",
    "limit=1.5", "limit=", f"limit={'9' * 400}", "&".join(f"x{number}=1" for number in range(1500)),
]  # fmt: skip
HEADERS = [
    ("X-Agentstore-Tenant", "%00"), ("X-Agentstore-Tenant", ""), ("X-Agentstore-Tenant", "%ff"),
    ("X-Agentstore-Context", "["), ("X-Agentstore-Reason", "%00"), ("Idempotency-Key", "\0"),
    ("Idempotency-Key", "é"), ("If-Match", "é\1"), ("If-Match", f'"{"9" * 400}"'), ("If-None-Match", '"'),
    ("Accept", "a/b;q=x"), ("Accept", "*"), ("Accept", ""),
]  # fmt: skip
NUMBERS = [0, -1, 2**31, -(2**31) - 1, 9_999_999_999, 2**63, 10**30]


@pytest.fixture
def client(user, api_client):
    """A client that may do everything, with a file of three versions and a strategy."""
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="agentstore"))
    for text in ("one", "two", "three"):
        FileStore(f"user:{user.pk}", "bia").write("a.md", text)
    StrategyStore(f"user:{user.pk}").save(id="one", problem="one two", strategy="s")
    client = api_client.__class__()
    client.force_authenticate(type(user).objects.get(pk=user.pk))
    return client


def check(response):
    """Fail unless this is an answer of ours."""
    assert response.status_code < 500, response.content
    if response.content and response["Content-Type"] != "application/zip":
        assert response["Content-Type"] == "application/json"
        body = response.json()
        assert response.status_code < 400 or body["code"] and body["detail"]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_bodies(client, body):
    for path in POSTED:
        check(client.generic("POST", f"/api/{path}", body, content_type="application/json"))
        for type in TYPES if body in ("null", "[]") else ():
            check(client.generic("POST", f"/api/{path}", body, content_type=type))


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:20])
def test_query_strings(client, query):
    for path in READ:
        check(client.get(f"/api/{path}?{query}"))


@pytest.mark.parametrize(("name", "value"), HEADERS, ids=ascii)
def test_headers(client, name, value):
    headers = {name: value}
    for path in READ:
        check(client.get(f"/api/{path}", headers=headers))
    for path in POSTED:
        check(client.post(f"/api/{path}", data={"version": 1, "to": "b.md"}, format="json", headers=headers))
    check(client.put("/api/agents/bia/files/a.md", "new", content_type="text/plain", headers=headers))
    check(client.delete("/api/agents/bia/files/a.md", headers=headers))


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_no_column_holds(client, number):
    tag = {"If-Match": f'"{number}"'}

    def post(path, **body):
        check(client.post(f"/api/{path}", json.dumps(body), content_type="application/json", headers=tag))

    for act in ("files", "diff"):
        check(client.get(f"/api/agents/bia/{act}/a.md?version={number}"))
        check(client.get(f"/api/agents/bia/{act}/a.md?a={number}&b={number}"))
    post("agents/bia/restore/a.md", version=number)
    post("agents/bia/redact/a.md", version=number, reason="x")
    post("agents/bia/rename/a.md", to="b.md")
    post("strategies/find/", objective="one two", limit=number)
    post("strategies/entries/", problem="x", strategy="y", confidence=number)
    post("strategies/prune/", max_size=number)
    post("tools/tasks_query/", limit=number, filter={"priority__gt": number})
    post("tools/tasks_create/", data={"text": "x", "priority": number})
    post("tools/file_write/?agent=bia&writable=*", name="a.md", content="x", expected_version=number)
    post("tools/file_read/?agent=bia", name="a.md", version=number)
    check(client.put("/api/agents/bia/files/a.md", "new", content_type="text/plain", headers=tag))
    check(client.delete("/api/agents/bia/files/a.md", headers=tag))


def test_a_condition_that_no_version_meets_says_which_there_is(client):
    response = client.put(
        "/api/agents/bia/files/a.md", "x", content_type="text/plain", headers={"If-Match": "x"}
    )

    assert response.status_code == 412 and response.json()["current_version"] == 3
    assert "not 0" not in response.json()["detail"]
