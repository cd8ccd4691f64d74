"""The default access class: who may do what to which tenant."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User

from agentstore.core.access import Access, get_access
from agentstore.core.errors import PermissionDenied, ValidationFailed


class Companies(Access):
    def tenant(self, user, capability, wanted=None):
        return "company"


@pytest.fixture
def agent_of_others(user):
    """A user who holds the permission to name tenants."""
    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    return User.objects.get(pk=user.pk)


def test_each_user_is_a_tenant(user):
    assert Access().tenant(user, "entities.tasks") == f"user:{user.pk}"
    assert Access().tenant(user, "entities.tasks", f"user:{user.pk}") == f"user:{user.pk}"


def test_nobody_has_no_tenant():
    with pytest.raises(PermissionDenied, match="logged-in users"):
        Access().tenant(AnonymousUser(), "entities.tasks")
    with pytest.raises(PermissionDenied):
        Access().tenant(AnonymousUser(), "entities.tasks", "acme")


def test_naming_another_tenant_takes_the_permission(user):
    with pytest.raises(PermissionDenied) as info:
        Access().tenant(user, "entities.tasks", "acme")

    assert "agentstore.act_for_tenant" in info.value.hint


def test_a_holder_may_name_any_tenant(agent_of_others):
    assert Access().tenant(agent_of_others, "entities.tasks", "acme") == "acme"
    assert Access().tenant(agent_of_others, "entities.tasks") == f"user:{agent_of_others.pk}"


def test_a_holder_names_only_what_can_be_a_tenant(agent_of_others):
    with pytest.raises(ValidationFailed):
        Access().tenant(agent_of_others, "entities.tasks", " acme")


def test_the_actor_is_the_users_name(user):
    assert Access().actor(user) == "user:ursula"
    assert Access().actor(AnonymousUser()) == ""
    assert len(Access().actor(User(username="x" * 300))) == 255


@pytest.mark.parametrize("action", ["view", "add", "change", "delete", "undelete"])
def test_known_users_may_do_what_is_their_own(user, action):
    assert Access().allows(user, "t", "entities.tasks", action)
    assert not Access().allows(AnonymousUser(), "t", "entities.tasks", action)


@pytest.mark.parametrize("action", ["redact", "prune"])
def test_some_actions_take_their_own_permission(user, admin_user, action):
    assert not Access().allows(user, "t", "files", action)
    assert Access().allows(admin_user, "t", "files", action)


def test_the_admin_shows_every_tenant_by_its_name(staff):
    assert Access().admin_tenants(staff) is None
    assert Access().label("acme") == "acme"


def test_the_setting_names_the_class(settings, user):
    assert type(get_access()) is Access

    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Companies"}

    assert get_access().tenant(user, "files") == "company"
