"""``AgentFileAdmin``: the admin of agent files. Every change goes through the store.

simple-history's own admin pages are not used: they know nothing of tenants, and whoever may view may revert.
"""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import admin
from django.http import HttpResponse
from django.urls import URLPattern, path

from agentstore.files.admin.transfer import TransferAdmin
from agentstore.files.models import AgentFile

__all__ = ["AgentFileAdmin", "register_missing"]


class AgentFileAdmin(TransferAdmin):
    """Agents and files: list, editor, versions, differences, restore, deleted files.

    A subclass may set every template's name.
    """

    actions = None

    def get_urls(self) -> list[URLPattern]:
        """Return the admin's own addresses and ours; files go by id, so that every name works."""
        pages: dict[str, tuple[str, Callable[..., HttpResponse]]] = {
            "import": ("import/", self.import_view),
            "agent": ("agent/<str:agent>/", self.agent_view),
            "deleted": ("agent/<str:agent>/deleted/", self.deleted_view),
            "export": ("agent/<str:agent>/export/", self.export_view),
            "back": ("agent/<str:agent>/back/", self.back_view),
            "versions": ("<path:object_id>/versions/", self.versions_view),
            "diff": ("<path:object_id>/diff/", self.diff_view),
            "raw": ("<path:object_id>/raw/", self.raw_view),
            "download": ("<path:object_id>/download/", self.download_view),
            "restore": ("<path:object_id>/restore/<int:version>/", self.restore_view),
            "redact": ("<path:object_id>/redact/", self.redact_view),
            "rename": ("<path:object_id>/rename/", self.rename_view),
            "undelete": ("<path:object_id>/undelete/", self.undelete_view),
        }
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path(route, self.admin_site.admin_view(view), name=f"{prefix}_{name}")
            for name, (route, view) in pages.items()
        ]
        return [*own, *super().get_urls()]


def register_missing(site: admin.AdminSite) -> None:
    """Register agent files unless the host did: its own registration wins."""
    if not site.is_registered(AgentFile):
        site.register(AgentFile, AgentFileAdmin)
