"""Who may do what in the demo: the people of a company share the company's rows."""

from __future__ import annotations

from typing import Any

from agentstore.core.access import ACT_FOR_TENANT, Access
from agentstore.core.errors import PermissionDenied
from agentstore.core.tenancy import check_tenant
from project.companies import COMPANIES

__all__ = ["CompanyAccess"]


class CompanyAccess(Access):
    """A group per company, named like its tenant; whoever is in none has a tenant of their own.

    Who may act for others (the demo's admin) starts with the first company and may name any tenant.
    """

    def tenant(self, user: Any, capability: str, wanted: str | None = None) -> str:
        """Return the user's company, or the tenant that the request named.

        Raises:
            PermissionDenied: the user may not act for ``wanted``, or is nobody.
            ValidationFailed: ``wanted`` can't be a tenant.
        """
        companies = self._companies(user)
        if not companies:
            return super().tenant(user, capability, wanted)
        if wanted is None or check_tenant(wanted) in companies:
            return wanted or companies[0]
        if not user.has_perm(ACT_FOR_TENANT):
            raise PermissionDenied(
                "You are not of that company.", hint=f"You may name: {', '.join(companies)}."
            )
        return wanted

    def admin_tenants(self, user: Any) -> set[str] | None:
        """Return the user's companies; None, which means all, for who may act for others."""
        return None if user.has_perm(ACT_FOR_TENANT) else set(self._companies(user))

    def label(self, tenant: str) -> str:
        """Return a company's name."""
        return COMPANIES.get(tenant, tenant)

    def _companies(self, user: Any) -> list[str]:
        if not user.is_authenticated:
            return []
        if user.has_perm(ACT_FOR_TENANT):
            return list(COMPANIES)
        return sorted(user.groups.filter(name__in=COMPANIES).values_list("name", flat=True))
