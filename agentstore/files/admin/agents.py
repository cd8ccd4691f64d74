"""An agent's page: its files, what changed since; and its deleted files."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from agentstore.conf import settings
from agentstore.core.admin import Crumb, tenant_label, time_tag
from agentstore.core.values import now
from agentstore.files.admin.base import Tab, size_text
from agentstore.files.admin.changes import MOST, ChangesAdmin, Span
from agentstore.files.admin.listing import file_order
from agentstore.files.archive import export_zip
from agentstore.files.values import FileChange

__all__ = ["AgentsAdmin"]


class AgentsAdmin(ChangesAdmin):
    """The pages of one agent."""

    agent_template = "agentstore/admin/files/agent.html"
    deleted_template = "agentstore/admin/files/deleted.html"

    def agent_view(self, request: HttpRequest, agent: str) -> HttpResponse:
        """Show the files of an agent, and what changed since a time."""
        tenant = self.tenant_of(request, agent)
        files = [] if tenant is None else list(self.of_agent(request, tenant, agent))
        if tenant is None or not files:
            return self.not_found(request, agent)
        live = sorted((obj for obj in files if obj.deleted_at is None), key=file_order)
        span = self.span(request)
        changes = self.store(request, tenant, agent).changes(span.since)
        tags = _tags(changes)
        lines = self.change_lines(request, tenant, agent, changes, files)
        context = {
            **self._usage(request, tenant, agent, live),
            "tabs": self.agent_tabs(request, tenant, agent, "agent", live, files),
            "lines": [self.line(obj, tag=tags.get(obj.name, "")) for obj in live],
            "agent": agent,
            "tenant": tenant,
            "span": span,
            "spans": self._span_links(tenant, agent, span),
            "changes": lines,
            "change_count": len(changes),
            "changes_hidden": max(0, len(changes) - MOST),
            "actor_count": len({change.actor for change in changes}),
            "may_add": self.allows(request, "add", tenant),
            "may_change": self.allows(request, "change", tenant),
            "add_url": self.add_url(tenant, agent),
            "may_import": self.allows(request, "import", tenant),
            "import_url": self.add_url(tenant, agent, "import"),
            "export_url": self.agent_url(tenant, agent, "export"),
            "back_url": self.url("back", agent),
            "as_of": timezone.localtime(span.since),
        }
        title = _("Agent %s") % agent
        return self._agent_page(request, self.agent_template, tenant, agent, context, title=title)

    def agent_tabs(
        self, request: HttpRequest, tenant: str, agent: str, current: str, live: Any, files: Any
    ) -> list[Tab]:
        """Return the tabs of an agent, with their counts."""
        texts = [
            ("agent", _("Files (%d)") % len(live)),
            ("deleted", _("Deleted files (%d)") % (len(files) - len(live))),
        ]
        return [
            Tab(label=label, url=self.agent_url(tenant, agent, name), current=name == current)
            for name, label in texts
        ]

    def _agent_page(
        self,
        request: HttpRequest,
        template: str,
        tenant: str,
        agent: str,
        context: Any,
        *,
        title: str,
        step: str = "",
    ) -> HttpResponse:
        steps = [Crumb(label=step)] if step else []
        crumbs = self.agent_crumbs(tenant, agent, *steps)
        return self.page(
            request, template, context, title=title, subtitle=tenant_label(tenant), crumbs=crumbs
        )

    def _usage(self, request: HttpRequest, tenant: str, agent: str, live: list[Any]) -> dict[str, Any]:
        used = sum(obj.size for obj in live)
        most_files, most_bytes = settings.FILE_MAX_FILES, settings.FILE_MAX_AGENT_BYTES
        part = max(len(live) / max(1, most_files), used / max(1, most_bytes))
        states = self.states(tenant, agent, request).exclude(history_type="-")
        kept = states.filter(id__in=[obj.pk for obj in live]).count() - len(live)
        return {
            "usage": {
                "files": f"{len(live):,}",
                "most_files": f"{most_files:,}",
                "bytes": size_text(used),
                "most_bytes": size_text(most_bytes),
                "full": part >= 1,
                "width": f"{min(100.0, 100 * part):.2f}%",
            },
            "older": max(0, kept),
        }

    def _span_links(self, tenant: str, agent: str, span: Span) -> list[tuple[str, str, bool]]:
        choices = [
            ("24h", _("24 hours")),
            ("yesterday", _("yesterday")),
            ("7d", _("7 days")),
            ("date", _("another date…")),
        ]
        return [
            (label, self.agent_url(tenant, agent, since=choice) + "#changes", choice == span.choice)
            for choice, label in choices
        ]

    # --- deleted files and export --------------------------------------------------------------

    def deleted_view(self, request: HttpRequest, agent: str) -> HttpResponse:
        """Show the deleted files of an agent, the last deleted first."""
        tenant = self.tenant_of(request, agent)
        files = [] if tenant is None else list(self.of_agent(request, tenant, agent))
        if tenant is None or not files:
            return self.not_found(request, agent)
        live = [obj for obj in files if obj.deleted_at is None]
        context = {
            "tabs": self.agent_tabs(request, tenant, agent, "deleted", live, files),
            "lines": list(self._deleted_lines(request, tenant, agent, files)),
            "kept": settings.FILE_DELETED_KEPT,
            "may_undelete": self.allows(request, "undelete", tenant),
        }
        title = _("Deleted files of %s") % agent
        return self._agent_page(
            request, self.deleted_template, tenant, agent, context, title=title, step=_("Deleted files")
        )

    def _deleted_lines(self, request: HttpRequest, tenant: str, agent: str, files: list[Any]) -> Any:
        live = {obj.name_key: obj for obj in files if obj.deleted_at is None}
        gone = [obj for obj in files if obj.deleted_at is not None]
        states = self.states(tenant, agent, request).exclude(history_type="-").order_by()
        counts = dict(states.values_list("id").annotate(Count("history_id")))
        seen: set[str] = set()
        for obj in sorted(gone, key=lambda obj: (obj.deleted_at, obj.pk), reverse=True):
            taken = live.get(obj.name_key)
            yield {
                "obj": obj,
                "when": time_tag(obj.deleted_at),
                "size": f"{obj.size:,} B",
                "kept": counts.get(obj.pk, 0),
                "taken": taken,
                "rename_url": self.file_url(taken, "rename") if taken else "",
                "newer": obj.name_key in seen,
                "undelete_url": self.file_url(obj, "undelete"),
            }
            seen.add(obj.name_key)

    def export_view(self, request: HttpRequest, agent: str) -> HttpResponse:
        """Send the live files of an agent as a zip."""
        tenant = self.tenant_of(request, agent)
        if tenant is None or not self.of_agent(request, tenant, agent).exists():
            return self.not_found(request, agent)
        answer = HttpResponse(export_zip(self.store(request, tenant, agent)), content_type="application/zip")
        name = f"{agent}-{timezone.localtime(now()):%Y-%m-%d}.zip"
        answer["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
        return answer


def _tags(changes: list[FileChange]) -> dict[str, str]:
    """Return the tag of each file that changed: what is told first of it wins."""
    words = {"created": _("new"), "undeleted": _("new")}
    tags: dict[str, str] = {}
    for change in reversed(changes):
        tags.setdefault(change.name, words.get(change.op, _("changed")))
    return tags
