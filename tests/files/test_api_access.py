"""What holds for every REST call on files: what the access class is asked, whose files, what is unknown."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import get_resolver

from agentstore.files import FileStore
from agentstore.files.api.base import FilesCapabilityView
from tests.files.admin_pages import state
from tests.files.test_archive import make_zip
from tests.recording import Recording, sender

pytestmark = pytest.mark.django_db

BASE = "/api/agents/"
ZIP = make_zip(("new.md", "x"))
#: What each call, (method, path below the agents, body), takes.
CALLS = [
    (("get", "", None), ["view"]),
    (("get", "bia/files/", None), ["view"]),
    (("get", "bia/files/a.md", None), ["view"]),
    (("get", "bia/files/a.md?version=1", None), ["view"]),
    (("get", "bia/versions/a.md", None), ["view"]),
    (("get", "bia/diff/a.md?a=1", None), ["view"]),
    (("get", "bia/changes/?since=2020-01-01T00:00:00Z", None), ["view"]),
    (("get", "bia/archive/", None), ["view"]),
    (("put", "bia/files/a.md", {"content": "three"}), ["change"]),
    (("put", "bia/files/new.md", {"content": "one"}), ["change"]),
    (("delete", "bia/files/a.md", None), ["delete"]),
    (("post", "bia/restore/a.md", {"version": 1}), ["restore"]),
    (("post", "bia/undelete/gone.md", {}), ["undelete"]),
    (("post", "bia/rename/a.md", {"to": "b.md"}), ["change"]),
    (("post", "bia/redact/a.md", {"version": 1, "reason": "key"}), ["redact"]),
    (("post", "bia/archive/", ZIP), ["import", "change"]),
    (("post", "bia/archive/?prune=true", ZIP), ["import", "change", "delete"]),
]
IDS = [f"{number} {call[0]} {call[1].partition('?')[0]}" for number, (call, _) in enumerate(CALLS)]
each = pytest.mark.parametrize(("call", "actions"), CALLS, ids=IDS)


@pytest.fixture
def send(api_client, settings, monkeypatch):
    """Send a call of ``CALLS`` while the access class is ``Recording``."""
    return sender(BASE, api_client, settings, monkeypatch)


@pytest.fixture
def own(user):
    """a.md at version 2 and a deleted file, both of the client's user."""
    return filled(f"user:{user.pk}")


def filled(tenant):
    files = FileStore(tenant, "bia")
    files.write("a.md", "one")
    files.write("a.md", "two")
    files.write("gone.md", "x")
    files.delete("gone.md")
    return files


@each
def test_every_call_asks_for_its_own_actions_on_the_users_own_tenant(send, own, call, actions):
    response = send(call)

    assert response.status_code in (200, 201, 204)
    assert Recording.asked == [(own.tenant, "files", action) for action in actions]


@each
def test_a_call_without_one_of_its_actions_is_403_and_changes_nothing(send, own, call, actions):
    before = state()

    answers = [send(call, missing=action) for action in actions]

    assert {(each.status_code, each.json()["code"]) for each in answers} == {(403, "permission")}
    assert state() == before


@each
def test_only_what_says_so_changes_anything(send, own, call, actions):
    before = state()

    send(call)

    assert (state() == before) is (actions == ["view"])


@each
def test_a_call_may_name_another_tenant_with_the_permission_alone(send, own, user, call, actions):
    other, named = filled("Zürich, 2"), {"X-Agentstore-Tenant": "Z%C3%BCrich%2C%202"}
    before, mine = state(), own.contents()

    refused = send(call, **named)
    assert (refused.status_code, refused.json()["code"], state() == before) == (403, "permission", True)

    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    del user._perm_cache, user._user_perm_cache
    assert send(call, **named).status_code in (200, 201, 204)
    assert {asked[0] for asked in Recording.asked} == {other.tenant}
    assert own.contents() == mine


@each
def test_what_no_call_knows_is_told_by_name_and_nothing_is_done(send, own, call, actions):
    method, path, body = call
    before = state()

    answers = [send((method, f"{path}{'&' if '?' in path else '?'}nonsense=1", body))]
    if isinstance(body, dict):
        answers.append(send((method, path, {**body, "nonsense": 1})))

    assert [(answer.status_code, list(answer.json()["errors"])) for answer in answers] == [
        (400, ["nonsense"])
    ] * len(answers)
    assert state() == before


def test_every_view_of_files_is_among_the_calls():
    tried = {get_resolver().resolve(BASE + path.split("?")[0]).func.view_class for (_, path, _), _ in CALLS}

    assert tried >= set(leaves(FilesCapabilityView))


def leaves(view):
    """Return the views below a base that are none themselves."""
    below = [leaf for each in view.__subclasses__() for leaf in leaves(each)]
    return below or [view]
