"""What the pages of agent files share: rows, stores, addresses, tabs, words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.admin import Crumb, StoreAdmin, tenant_label, time_tag
from agentstore.core.guards import printable
from agentstore.core.tenancy import AGENT_RE, is_tenant
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.files.rows import MARKER
from agentstore.files.store import FileStore

__all__ = ["FileAdminBase", "Tab", "number", "size_text", "words_of"]

#: How many bytes of texts one page reads to compare them.
MAX_TEXTS = 32 * 1024 * 1024
_UNITS = ("KiB", "MiB", "GiB")


@dataclass(frozen=True, kw_only=True)
class Tab:
    """A tab above a page: a plain link."""

    label: str
    url: str
    current: bool


def number(text: str | None) -> int | None:
    """Return the whole number that a form or an address holds, if it holds one that can be a version."""
    if text is None or not (text.isascii() and text.isdecimal() and len(text) < 10):
        return None
    return int(text)


def size_text(size: int) -> str:
    """Return a size as usage lines show it: 612 B, 35.5 KiB, 16 MiB."""
    if size < 1024:
        return f"{size} B"
    power = min(len(_UNITS), (size.bit_length() - 1) // 10)
    return f"{size / 1024**power:.1f}".removesuffix(".0") + f" {_UNITS[power - 1]}"


def words_of(error: errors.AgentStoreError) -> str:
    """Return what a page says of a store's refusal."""
    return printable(error.full_message)


class FileAdminBase(StoreAdmin):
    """One file or agent: where its pages are, and what stands on all of them."""

    capability = "files"
    model: type[AgentFile]

    # --- rows ----------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the files, deleted ones included, without their contents."""
        return super().get_queryset(request).exclude(name=MARKER).defer("content")

    def of_agent(self, request: HttpRequest, tenant: str, agent: str) -> QuerySet[Any]:
        """Return the files of one agent, deleted ones included."""
        return self.get_queryset(request).filter(tenant=tenant, agent=agent)

    def live(self, request: HttpRequest, object_id: str) -> Any:
        """Return the live file of that id if there is one that the user may see, else None."""
        found = self.get_object(request, object_id)
        return found if found is not None and found.deleted_at is None else None

    def states(self, tenant: str, agent: str, request: HttpRequest) -> QuerySet[Any]:
        """Return the kept states of all files of an agent."""
        rows = HistoricalAgentFile._base_manager.using(self.get_queryset(request).db)
        found: QuerySet[Any] = rows.filter(tenant=tenant, agent=agent)
        return found

    def contents(
        self, request: HttpRequest, tenant: str, agent: str, wanted: Collection[tuple[UUID, int]]
    ) -> dict[tuple[UUID, int], str]:
        """Return the texts of some (file, version), as far as they are kept and not too much together."""
        rows = self.states(tenant, agent, request).filter(id__in={id_ for id_, _version in wanted})
        rows = rows.filter(redacted_at__isnull=True).exclude(history_type="-").order_by("-version")
        keys, left = {}, MAX_TEXTS
        for key, id_, version, size in rows.values_list("history_id", "id", "version", "size"):
            if (id_, version) in wanted and size <= left:
                keys[key], left = (id_, version), left - size
        texts = self.states(tenant, agent, request).filter(history_id__in=list(keys))
        return {keys[key]: text for key, text in texts.values_list("history_id", "content")}

    def store(self, request: HttpRequest, tenant: str, agent: str) -> FileStore:
        """Return the agent's store, with the user as the actor."""
        return FileStore(tenant, agent, actor=self.actor(request), source="admin")

    def store_of(self, request: HttpRequest, obj: Any) -> FileStore:
        """Return the store of the agent that a file belongs to."""
        return self.store(request, obj.tenant, obj.agent)

    def tenant_of(self, request: HttpRequest, agent: str) -> str | None:
        """Return the tenant that an agent's page was asked for; None unless the user may see both."""
        tenant = request.GET.get("tenant", "")
        if not (is_tenant(tenant) and AGENT_RE.fullmatch(agent)):
            return None
        return tenant if self.allows(request, "view", tenant) else None

    def may_restore(self, request: HttpRequest, tenant: str) -> bool:
        """Tell whether the user may change files and go back to older texts."""
        return all(self.allows(request, action, tenant) for action in ("change", "restore"))

    def has_import_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell whether the user may import files (those of that one's tenant)."""
        return self._may(request, "import", obj)

    def may_redact(self, request: HttpRequest, tenant: str) -> bool:
        """Tell whether the user may change files and blank out older versions."""
        return all(self.allows(request, action, tenant) for action in ("change", "redact"))

    def require_all(self, request: HttpRequest, tenant: str, *actions: str) -> None:
        """Raise Django's ``PermissionDenied`` unless the user may do all of that."""
        for action in actions:
            self.require(request, action, tenant)

    # --- addresses -----------------------------------------------------------------------------

    def agent_url(self, tenant: str, agent: str, name: str = "agent", **query: object) -> str:
        """Return the address of one of an agent's pages."""
        return f"{self.url(name, agent)}?{urlencode({'tenant': tenant, **query}, doseq=True)}"

    def file_url(self, obj: Any, name: str = "change", *args: object, **query: object) -> str:
        """Return the address of one of a file's pages."""
        url = self.url(name, obj.pk, *args)
        return f"{url}?{urlencode(query)}" if query else url

    def add_url(self, tenant: str, agent: str, name: str = "add") -> str:
        """Return the address of the form for a new file of an agent, or of the one to import some."""
        return f"{self.url(name)}?{urlencode({'tenant': tenant, 'agent': agent})}"

    # --- frames --------------------------------------------------------------------------------

    def file_tabs(self, request: HttpRequest, obj: Any, current: str) -> list[Tab]:
        """Return the tabs of a file."""
        edit = _("Edit") if self.has_change_permission(request, obj) else _("View")
        names = [("change", edit), ("versions", _("Versions")), ("raw", _("Raw text"))]
        return [
            Tab(label=label, url=self.file_url(obj, name), current=name == current) for name, label in names
        ]

    def file_context(self, request: HttpRequest, obj: Any, current: str) -> dict[str, Any]:
        """Return what every page of a file shows."""
        return {
            "original": obj,
            "tabs": self.file_tabs(request, obj, current),
            "may_change": self.has_change_permission(request, obj),
            "change_url": self.file_url(obj),
            "versions_url": self.file_url(obj, "versions"),
            "agent_url": self.agent_url(obj.tenant, obj.agent),
        }

    def file_crumbs(self, obj: Any, *steps: Crumb) -> list[Crumb]:
        """Return the breadcrumbs to a page of a file."""
        owner = f"{tenant_label(obj.tenant)} / {obj.agent}"
        url = self.file_url(obj) if steps else ""
        agent = Crumb(label=owner, url=self.agent_url(obj.tenant, obj.agent))
        return self.crumbs(agent, Crumb(label=obj.name, url=url), *steps)

    def agent_crumbs(self, tenant: str, agent: str, *steps: Crumb) -> list[Crumb]:
        """Return the breadcrumbs to a page of an agent."""
        label = f"{tenant_label(tenant)} / {agent}"
        return self.crumbs(Crumb(label=label, url=self.agent_url(tenant, agent) if steps else ""), *steps)

    def owner_text(self, tenant: str, agent: str) -> str:
        """Return whose a file is: the line below the title."""
        return _("%(tenant)s, agent %(agent)s") % {"tenant": tenant_label(tenant), "agent": agent}

    def log_act(self, request: HttpRequest, obj: Any, flag: int, text: str) -> None:
        """Write the ``LogEntry`` of one act, with its reason."""
        self.log(request, [obj], flag, self.with_reason(request, text))

    def with_reason(self, request: HttpRequest, text: str) -> str:
        """Return what the log says of an act, with the reason that the form gave."""
        reason = self.reason(request)
        return f"{text} {_('Reason: %s') % reason}" if reason else text

    def last_change(self, at: Any, actor: str, source: str) -> SafeString:
        """Return when, by whom and by which way something was last changed."""
        return format_html(
            _("{when} by {actor}, {source}"), when=time_tag(at), actor=actor or "–", source=source
        )

    def file_page(
        self,
        request: HttpRequest,
        template: str,
        obj: Any,
        context: dict[str, Any],
        *,
        title: str,
        current: str = "",
        step: str = "",
        status: int = 200,
    ) -> HttpResponse:
        """Answer with a page of one file."""
        steps = [] if not step else [Crumb(label=step)]
        if steps and current not in ("versions", "change"):
            steps.insert(0, Crumb(label=_("Versions"), url=self.file_url(obj, "versions")))
        return self.page(
            request, template, {**self.file_context(request, obj, current), **context}, title=title,
            subtitle=self.owner_text(obj.tenant, obj.agent), crumbs=self.file_crumbs(obj, *steps),
            status=status,
        )  # fmt: skip
