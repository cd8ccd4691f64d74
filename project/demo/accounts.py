"""The demo's accounts: an admin for everything, and two people who see their own company only."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

from project.companies import COMPANIES, TANNHOLLOW

__all__ = ["ADMIN", "PASSWORD", "PEOPLE", "make_accounts"]

ADMIN = "admin"
#: Known to everybody: the demo listens on this machine only.
PASSWORD = "agentstore-demo"  # noqa: S105
#: User name -> tenant.
PEOPLE = {"maren": TANNHOLLOW, "tobi": TANNHOLLOW}

#: What the people of a company may do: everything with its rows, files and strategies.
_OF_A_COMPANY = Q(content_type__app_label__in=["desk", "reference"]) | Q(
    content_type__app_label="agentstore", content_type__model__in=["agentfile", "strategy", "incident"]
)


@transaction.atomic
def make_accounts() -> None:
    """Make the groups and users that are missing, and let every one of them have the password."""
    for tenant in COMPANIES:
        group, _ = Group.objects.get_or_create(name=tenant)
        group.permissions.set(Permission.objects.filter(_OF_A_COMPANY))
    _make_user(ADMIN, is_superuser=True)
    for name, tenant in PEOPLE.items():
        _make_user(name, is_superuser=False, tenant=tenant)


def _make_user(name: str, *, is_superuser: bool, tenant: str | None = None) -> None:
    wanted = {"is_staff": True, "is_superuser": is_superuser, "is_active": True}
    user, _ = get_user_model().objects.update_or_create(username=name, defaults=wanted)
    if not user.check_password(PASSWORD):
        user.set_password(PASSWORD)
        user.save()
    if tenant:
        user.groups.add(Group.objects.get(name=tenant))
