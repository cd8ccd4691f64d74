"""The list of all files, grouped by agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.core.admin import tenant_label, time_tag
from agentstore.core.tenancy import AGENT_RE, is_tenant
from agentstore.files.admin.base import FileAdminBase, size_text

__all__ = ["FileLine", "ListingAdmin", "file_order"]

#: How many agents a page shows, how many files of each, and how many tenants the choice offers.
AGENTS, FILES, OFFERED = 20, 25, 200


@dataclass(frozen=True, kw_only=True)
class FileLine:
    """One file in a table."""

    obj: Any
    when: SafeString
    url: str
    versions_url: str
    tag: str = ""
    ticked: bool = False

    @property
    def size(self) -> str:
        """The size with its unit, as tables write it."""
        return f"{self.obj.size:,} B"


@dataclass(frozen=True, kw_only=True)
class Group:
    """One agent of one tenant with its files, or the first of them."""

    agent: str
    tenant: str
    label: str
    url: str
    count: int
    size: str
    lines: Sequence[FileLine]

    @property
    def more(self) -> int:
        """How many files are on the agent's own page only."""
        return self.count - len(self.lines)


def file_order(obj: Any) -> tuple[str, str]:
    """Return the key by which tables sort files: by name, capitals aside."""
    return (obj.name.casefold(), obj.name)


class ListingAdmin(FileAdminBase):
    """The list of agents and files."""

    change_list_template = "agentstore/admin/files/list.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the agents of the tenants that the user may see, and their files."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows, search = self._wanted(request)
        found = rows.order_by("tenant", "agent").values("tenant", "agent")
        totals = found.annotate(files=Count("id"), bytes=Sum("size"), last=Max("at"))
        page = Paginator(totals, AGENTS).get_page(request.GET.get("p"))
        groups = self._groups(request, rows, page)
        chosen = self.chosen(request)
        context = {
            "groups": groups,
            "pages": page,
            "page_links": self._page_links(request, page),
            "search": search,
            "chosen": chosen or "",
            "tenants": self._offered(request),
            "new_agent": self._new_agent(request),
            "may_import": self.has_import_permission(request),
            "add_tenant": self._tenant_for_new(request),
            "show_tenant": chosen is None,
        }
        title = _("Agents and files")
        crumbs = self.crumbs()
        return self.page(request, self.change_list_template, context, title=title, crumbs=crumbs)

    def chosen(self, request: HttpRequest) -> str | None:
        """Return the tenant that the list was asked for, if the user may see it."""
        tenant = request.GET.get("tenant", "")
        tenants = self.tenants(request)
        return tenant if is_tenant(tenant) and (tenants is None or tenant in tenants) else None

    def _wanted(self, request: HttpRequest) -> tuple[QuerySet[Any], str]:
        rows = self.get_queryset(request).filter(deleted_at__isnull=True)
        chosen, search = self.chosen(request), request.GET.get("q", "").replace("\0", "").strip()[:255]
        if chosen is not None:
            rows = rows.filter(tenant=chosen)
        elif request.GET.get("tenant"):
            rows = rows.none()
        if search:
            rows = rows.filter(Q(name__icontains=search) | Q(agent__icontains=search))
        return rows, search

    def _groups(self, request: HttpRequest, rows: QuerySet[Any], page: Page[Any]) -> list[Group]:
        totals = list(page)
        if not totals:
            return []
        wanted = Q()
        for total in totals:
            wanted |= Q(tenant=total["tenant"], agent=total["agent"])
        found: dict[tuple[str, str], list[Any]] = defaultdict(list)
        for obj in rows.filter(wanted):
            found[obj.tenant, obj.agent].append(obj)
        return [self._group(total, found[total["tenant"], total["agent"]]) for total in totals]

    def _group(self, total: dict[str, Any], files: list[Any]) -> Group:
        tenant, agent = total["tenant"], total["agent"]
        return Group(
            agent=agent,
            tenant=tenant,
            label=tenant_label(tenant),
            url=self.agent_url(tenant, agent),
            count=total["files"],
            size=size_text(total["bytes"] or 0),
            lines=[self.line(obj) for obj in sorted(files, key=file_order)[:FILES]],
        )

    def line(self, obj: Any, **details: Any) -> FileLine:
        """Return a file as tables show it."""
        return FileLine(
            obj=obj,
            when=time_tag(obj.at),
            url=self.file_url(obj),
            versions_url=self.file_url(obj, "versions"),
            **details,
        )

    def _offered(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return (tenant, label) of the tenants to choose from, by label; none where there are too many."""
        rows = self.get_queryset(request).filter(deleted_at__isnull=True).order_by("tenant")
        names = list(rows.values_list("tenant", flat=True).distinct()[: OFFERED + 1])
        pairs = [(name, tenant_label(name)) for name in names] if len(names) <= OFFERED else []
        return sorted(pairs, key=lambda pair: pair[1].casefold())

    def _tenant_for_new(self, request: HttpRequest) -> str:
        """Return the tenant to which a new agent would belong: the one chosen, or the only one."""
        tenants = self.tenants(request)
        only = next(iter(tenants)) if tenants is not None and len(tenants) == 1 else ""
        return self.chosen(request) or only

    def _new_agent(self, request: HttpRequest) -> bool:
        return self.has_add_permission(request)

    def _page_links(self, request: HttpRequest, page: Page[Any]) -> list[tuple[int, str]]:
        query: QueryDict = request.GET.copy()
        links = []
        for each in page.paginator.get_elided_page_range(page.number) if page.paginator.num_pages > 1 else ():
            if isinstance(each, int):
                query["p"] = str(each)
                links.append((each, f"?{query.urlencode()}"))
        return links

    def valid_agent(self, agent: str) -> bool:
        """Tell whether that can be the id of an agent."""
        return bool(AGENT_RE.fullmatch(agent))
