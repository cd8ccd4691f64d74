"""Who may do what in the demo."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Group

from agentstore.core.access import get_access
from agentstore.core.errors import PermissionDenied, ValidationFailed
from project import settings as demo_settings
from project.access import CompanyAccess
from project.companies import BRIGHTQUILL, KESTERLY, TANNHOLLOW
from project.desk.models import Reminder

WHAT = "entities.reminders"


@pytest.fixture
def access(settings):
    settings.AGENTSTORE = demo_settings.AGENTSTORE
    return get_access()


@pytest.fixture
def colleague(user):
    """A user who belongs to Brightquill Dental."""
    user.groups.add(Group.objects.create(name=BRIGHTQUILL))
    return user


def test_the_demos_settings_name_this_class(access):
    assert type(access) is CompanyAccess


def test_people_of_a_company_work_on_its_rows(access, colleague):
    assert access.tenant(colleague, WHAT) == BRIGHTQUILL
    assert access.tenant(colleague, WHAT, BRIGHTQUILL) == BRIGHTQUILL
    assert access.admin_tenants(colleague) == {BRIGHTQUILL}


def test_another_company_is_refused(access, colleague):
    with pytest.raises(PermissionDenied) as caught:
        access.tenant(colleague, WHAT, TANNHOLLOW)

    assert BRIGHTQUILL in caught.value.hint


def test_the_admin_begins_with_the_first_company_and_may_name_any_tenant(access, admin_user):
    assert access.tenant(admin_user, WHAT) == TANNHOLLOW
    assert access.tenant(admin_user, WHAT, KESTERLY) == KESTERLY
    assert access.tenant(admin_user, WHAT, "acme") == "acme"
    assert access.admin_tenants(admin_user) is None


def test_what_can_be_no_tenant_is_refused(access, admin_user):
    with pytest.raises(ValidationFailed):
        access.tenant(admin_user, WHAT, " ")


def test_who_is_in_no_company_has_a_tenant_of_their_own(access, user):
    assert access.tenant(user, WHAT) == f"user:{user.pk}"
    assert access.admin_tenants(user) == set()


def test_nobody_has_no_tenant(access):
    with pytest.raises(PermissionDenied):
        access.tenant(AnonymousUser(), WHAT)


def test_tenants_are_shown_by_the_companys_name(access):
    assert access.label(TANNHOLLOW) == "Tannhollow Freight"
    assert access.label("acme") == "acme"


def test_rest_gives_a_colleague_the_companys_rows_and_no_others(access, colleague, api_client):
    due = "2027-01-01T00:00:00Z"
    Reminder.store(BRIGHTQUILL).create({"text": "Ours", "due_at": due})
    Reminder.store(TANNHOLLOW).create({"text": "Theirs", "due_at": due})

    own = api_client.get("/api/entities/reminders/").json()
    other = api_client.get("/api/entities/reminders/", headers={"X-Agentstore-Tenant": TANNHOLLOW})

    assert [row["data"]["text"] for row in own["results"]] == ["Ours"]
    assert other.status_code == 403
