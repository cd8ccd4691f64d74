"""Who may do what to which tenant: one class, asked by REST, the admin and MCP alike.

Replace it with the setting ``AGENTSTORE["ACCESS"]``. Capabilities are dotted: ``entities.reminders``,
``files``, ``strategies``, ``tools``; actions are verbs: ``view``, ``add``, ``change``, ``delete``,
``undelete``, ``restore``, ``redact``, ``import``, ``find``, ``prune``, ``seed``.
"""

from __future__ import annotations

from typing import Any

from django.utils.module_loading import import_string

from agentstore.conf import settings
from agentstore.core.errors import PermissionDenied
from agentstore.core.tenancy import check_tenant

__all__ = ["ACT_FOR_TENANT", "Access", "get_access", "not_allowed"]

#: Holders of this permission may name another tenant than their own.
ACT_FOR_TENANT = "agentstore.act_for_tenant"
#: What a user may not do to their own tenant without the named permission.
_GUARDED = {"redact": "agentstore.redact_agentfile", "prune": "agentstore.prune_strategy"}


class Access:
    """The default: each user is their own tenant, and holders of ``act_for_tenant`` may name others."""

    def tenant(self, user: Any, capability: str, wanted: str | None = None) -> str:
        """Return the tenant that a request works on; ``wanted`` is the one it named, if any.

        Raises:
            PermissionDenied: the user may not act for ``wanted``, or is nobody.
            ValidationFailed: ``wanted`` can't be a tenant.
        """
        if not user.is_authenticated:
            raise PermissionDenied("Only logged-in users have a tenant.", hint="Log in, or send a token.")
        own = f"user:{user.pk}"
        if wanted is None or check_tenant(wanted) == own:
            return own
        if not user.has_perm(ACT_FOR_TENANT):
            raise PermissionDenied(
                "You may not act for another tenant.", hint=f"It takes the permission {ACT_FOR_TENANT}."
            )
        return wanted

    def actor(self, user: Any) -> str:
        """Return the label under which a user's changes are audited."""
        return f"user:{user.get_username()}"[:255] if user.is_authenticated else ""

    def allows(self, user: Any, tenant: str, capability: str, action: str) -> bool:
        """Tell whether the user may do ``action`` to what ``tenant`` keeps."""
        if not user.is_authenticated:
            return False
        permission = _GUARDED.get(action)
        return permission is None or user.has_perm(permission)

    def admin_tenants(self, user: Any) -> set[str] | None:
        """Return the tenants whose rows a member of staff sees in the admin; None means all."""
        return None

    def label(self, tenant: str) -> str:
        """Return the name under which the admin shows a tenant."""
        return tenant


def get_access() -> Access:
    """Return an instance of the class that the settings name."""
    access: Access = import_string(settings.ACCESS)()
    return access


def not_allowed(capability: str, action: str) -> PermissionDenied:
    """Return the error for what ``Access.allows`` answered with False, in the same words on every surface."""
    return PermissionDenied(
        f"You may not {action} here.", hint=f"You need the right to {action} in {capability}."
    )
