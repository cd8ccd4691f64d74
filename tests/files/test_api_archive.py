"""An agent's files as a zip over REST, and back."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from agentstore.core.access import Access
from agentstore.files import FileStore
from agentstore.files.archive import export_zip, read_zip
from tests.files.test_archive import make_zip

pytestmark = pytest.mark.django_db

URL = "/api/agents/bia/archive/"


@pytest.fixture
def own(user):
    """The files that the client's user owns."""
    return FileStore(f"user:{user.pk}", "bia")


@pytest.fixture
def upload(api_client):
    def post(data, query="", type="application/zip", client=api_client):
        return client.generic("POST", URL + query, data, content_type=type)

    return post


@pytest.mark.parametrize(
    ("type", "status"),
    [
        ("application/zip", 200),
        ("application/x-zip-compressed", 200),
        ("application/octet-stream", 415),
        ("multipart/form-data; boundary=x", 415),
    ],
)
def test_a_zip_is_taken_under_the_name_that_windows_gives_it_too(own, upload, type, status):
    response = upload(make_zip(("a.md", "x")), type=type)

    assert response.status_code == status
    assert own.read("a.md") == ("x" if status == 200 else None)


def test_what_is_downloaded_can_be_uploaded(api_client, own, upload):
    own.write("SOUL.md", "\ntext\r\n")
    own.write("notes/ünï.md", "")

    response = api_client.get(URL)
    own.delete("SOUL.md")
    done = upload(response.content, "?reason=back")

    assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("application/zip", "nosniff")
    assert response["Content-Disposition"] == 'attachment; filename="bia.zip"'
    assert [(step["name"], step["action"]) for step in done.json()["results"]] == [
        ("SOUL.md", "create"),
        ("notes/ünï.md", "same"),
    ]
    info = own.info("SOUL.md")
    assert (own.read("SOUL.md"), info.source, info.reason, info.actor) == (
        "\ntext\r\n",
        "import",
        "back",
        "user:ursula",
    )


def test_conflicts_follow_the_policy_and_a_dry_run_writes_nothing(own, upload):
    own.write("SOUL.md", "mine")
    own.write("more.md", "more")
    data = make_zip(("SOUL.md", "theirs"), ("new.md", "x"))

    assert upload(data).status_code == 409
    dry = upload(data, "?policy=overwrite&prune=true&dry_run=true")

    assert {step["name"]: step["action"] for step in dry.json()["results"]} == {
        "more.md": "delete",
        "SOUL.md": "update",
        "new.md": "create",
    }
    assert [info.version for info in own.list()] == [1, 1]
    assert upload(data, "?policy=skip").status_code == 200
    assert own.read("SOUL.md") == "mine"
    assert upload(data, "?policy=overwrite&prune=true").status_code == 200
    assert read_zip(export_zip(own)) == {"SOUL.md": "theirs", "new.md": "x"}


@pytest.mark.parametrize(
    ("query", "data", "status"),
    [
        ("?policy=merge", make_zip(), 400),
        ("?prune=yes", make_zip(), 400),
        ("?nope=1", make_zip(), 400),
        ("", b"no zip", 400),
        ("", b"", 400),
        ("", make_zip(("../x", "x")), 400),
        ("", make_zip(("big.md", "x" * 102_401)), 413),
    ],
)
def test_what_does_not_hold_is_refused(own, upload, query, data, status):
    response = upload(data, query)

    assert response.status_code == status
    assert set(response.json()) >= {"code", "detail"}
    assert own.list() == []


def test_another_type_of_body_is_refused(upload):
    assert upload(b"{}", type="application/json").status_code == 415


def test_nobody_gets_or_sends_files(upload):
    assert APIClient().get(URL).status_code in (401, 403)
    assert upload(make_zip(("a.md", "x")), client=APIClient()).status_code in (401, 403)


class Writers(Access):
    """Lets everybody change, and nobody delete."""

    def allows(self, user, tenant, capability, action):
        return action != "delete"


class Hands(Access):
    """Lets everybody change files one by one, and nobody import."""

    def allows(self, user, tenant, capability, action):
        return action != "import"


class Importers(Access):
    """Lets everybody import, and nobody change."""

    def allows(self, user, tenant, capability, action):
        return action != "change"


@pytest.mark.parametrize("kind", [Hands, Importers])
def test_importing_takes_the_right_to_import_and_to_change(own, upload, api_client, settings, kind):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.{kind.__name__}"}

    assert upload(make_zip(("a.md", "x"))).status_code == 403
    assert api_client.get(URL).status_code == 200
    assert own.list() == []


def test_pruning_takes_the_right_to_delete(own, upload, settings):
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Writers"}

    assert upload(make_zip(("a.md", "x"))).status_code == 200
    assert upload(make_zip(("b.md", "x")), "?prune=true").status_code == 403
    assert [info.name for info in own.list()] == ["a.md"]


def test_a_zip_holds_the_user_s_own_files_alone(api_client, tenant):
    FileStore(tenant, "bia").write("theirs.md", "x")

    assert read_zip(api_client.get(URL).content) == {}
