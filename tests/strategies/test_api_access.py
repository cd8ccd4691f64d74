"""What holds for every REST call on strategies: what ACCESS is asked, whose they are, what is unknown."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import get_resolver

from agentstore.strategies import StrategyStore
from agentstore.strategies.api import StrategiesView
from tests.recording import Recording, sender
from tests.strategies.admin_pages import state

pytestmark = pytest.mark.django_db

BASE = "/api/strategies/"
#: What each call, (method, path, body), takes.
CALLS = [
    (("get", "entries/", None), "view"),
    (("get", "entries/s1/", None), "view"),
    (("get", "usage/", None), "view"),
    (("post", "find/", {"objective": "problem"}), "view"),
    (("post", "entries/", {"problem": "new one", "strategy": "s"}), "add"),
    (("delete", "entries/s1/", None), "delete"),
    (("post", "prune/", {"max_size": 1}), "prune"),
    (("post", "prune/", {"max_size": 1, "dry_run": True}), "prune"),
    (("post", "seed/", {"entries": [{"problem": "new one", "strategy": "s"}]}), "seed"),
]
IDS = [f"{number} {call[0]} {call[1]}" for number, (call, _) in enumerate(CALLS)]


@pytest.fixture
def send(api_client, settings, monkeypatch):
    """Send a call of ``CALLS`` while the access class is ``Recording``."""
    return sender(BASE, api_client, settings, monkeypatch)


@pytest.fixture
def own(user):
    """Two strategies of the client's user."""
    return filled(f"user:{user.pk}")


def filled(tenant):
    store = StrategyStore(tenant)
    store.save(id="s1", problem="problem one", strategy="s", confidence=3)
    store.save(id="s2", problem="problem two", strategy="s", confidence=1)
    return store


@pytest.mark.parametrize(("call", "action"), CALLS, ids=IDS)
def test_every_call_asks_for_its_own_action_on_the_users_own_tenant(send, own, call, action):
    response = send(call)

    assert response.status_code in (200, 201, 204)
    assert Recording.asked == [(own.tenant, "strategies", action)]


@pytest.mark.parametrize(("call", "action"), CALLS, ids=IDS)
def test_a_call_without_its_action_is_403_and_changes_nothing(send, own, call, action):
    before = state()

    response = send(call, missing=action)

    assert (response.status_code, response.json()["code"]) == (403, "permission")
    assert state() == before


@pytest.mark.parametrize(("call", "action"), CALLS, ids=IDS)
def test_only_what_says_so_changes_anything(send, own, call, action):
    before = state()

    send(call)

    assert (state() == before) is (action == "view" or "dry_run" in (call[2] or {}))


@pytest.mark.parametrize(("call", "action"), CALLS, ids=IDS)
def test_a_call_may_name_another_tenant_with_the_permission_alone(send, own, user, call, action):
    other, named = filled("Zürich, 2"), {"X-Agentstore-Tenant": "Z%C3%BCrich%2C%202"}
    before, mine = state(), [(row.id, row.problem) for row in own.list()]

    refused = send(call, **named)
    assert (refused.status_code, refused.json()["code"], state() == before) == (403, "permission", True)

    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    del user._perm_cache, user._user_perm_cache
    assert send(call, **named).status_code in (200, 201, 204)
    assert {asked[0] for asked in Recording.asked} == {other.tenant}
    assert [(row.id, row.problem) for row in own.list()] == mine


@pytest.mark.parametrize(("call", "action"), CALLS, ids=IDS)
def test_what_no_call_knows_is_told_by_name_and_nothing_is_done(send, own, call, action):
    method, path, body = call
    before = state()

    answers = [send((method, f"{path}?nonsense=1", body))]
    if body is not None:
        answers.append(send((method, path, {**body, "nonsense": 1})))

    assert [(answer.status_code, list(answer.json()["errors"])) for answer in answers] == [
        (400, ["nonsense"])
    ] * len(answers)
    assert state() == before


def test_every_view_of_strategies_is_among_the_calls():
    tried = {get_resolver().resolve(BASE + path).func.view_class for (_, path, _), _ in CALLS}

    assert tried >= set(StrategiesView.__subclasses__())
