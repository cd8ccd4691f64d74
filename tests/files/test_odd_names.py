"""Names that look like an address, a format or a folder work in every act, over REST and in the admin."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from agentstore.files import FileStore
from tests.files.admin_pages import agent_url, get, obj_of, opened, url

pytestmark = pytest.mark.django_db

ODD = [
    "new", "history", "add", "change", "delete", "a/b/c.md", "files/restore/x", "ünï.md", "100%.md",
    "%s %(name)s {0}.md", "a?b#c;d&e=f", "a b/+.md",
]  # fmt: skip
each = pytest.mark.parametrize("name", ODD)
SINCE = "?since=2020-01-01T00:00:00Z"


@pytest.fixture
def client_of_all():
    """A client whose user may do everything to their own files."""
    client = APIClient()
    client.force_authenticate(get_user_model().objects.create_superuser("root"))
    return client


@each
def test_every_act_over_rest(client_of_all, name):
    base, path = "/api/agents/bia/", quote(name)

    def post(act, path=path, **body):
        return client_of_all.post(f"{base}{act}/{path}", body, format="json")

    for text in (b"one", b"two"):
        client_of_all.put(f"{base}files/{path}", text, content_type="text/plain")
    diff = client_of_all.get(f"{base}diff/{path}?a=1").json()
    restored = post("restore", version=1)
    redacted = post("redact", version=2, reason="a key")
    moved = post("rename", to=f"{name}~")
    back = post("rename", quote(f"{name}~"), to=name)
    gone = client_of_all.delete(f"{base}files/{path}")
    undeleted = post("undelete")

    assert (diff["old_label"], diff["added"]) == (f"{name} (version 1)", 1)
    assert (restored.json()["name"], restored.json()["version"]) == (name, 3)
    assert (redacted.status_code, moved.json()["name"], back.json()["name"]) == (204, f"{name}~", name)
    assert (gone.status_code, undeleted.json()["name"]) == (204, name)
    listed = client_of_all.get(f"{base}versions/{path}").json()["results"]
    assert [item["version"] for item in listed if item["redacted"]] == [2]
    assert client_of_all.get(f"{base}files/{path}?version=1").json()["content"] == "one"
    assert {item["op"] for item in client_of_all.get(f"{base}changes/{SINCE}").json()["results"]} == {
        "created", "changed", "restored", "renamed", "deleted", "undeleted",
    }  # fmt: skip


@each
def test_every_act_in_the_admin(admin_client, name):
    files = FileStore("acme", "bia")
    admin_client.post(
        url("add"), {"tenant": "acme", "agent": "bia", "name": name, "content": "one", "_save": "x"}
    )
    admin_client.post(
        url("change", obj_of(name).pk), {**opened(admin_client, name, content="two"), "_save": "x"}
    )
    pk = obj_of(name).pk

    def post(page, *args, **values):
        response = admin_client.post(url(page, pk, *args), values)
        assert response.status_code == 302, page
        assert name in get(admin_client, response["Location"]).replace("&amp;", "&")

    post("restore", 1, version="2")
    post("redact", version="2", reason="a key")
    post("rename", name=f"{name}~", version="3")
    post("rename", name=name, version="4")
    post("delete", version="5")
    post("undelete")

    info = files.info(name)
    assert (info.version, files.read(name)) == (6, "one")
    assert [version.version for version in files.versions(name) if version.redacted] == [2]
    assert name in get(admin_client, agent_url(since="7d")).replace("&amp;", "&")
