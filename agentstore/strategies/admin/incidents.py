"""The list of incidents: trouble that a strategy store survived. Nothing here changes anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy, ngettext

from agentstore.core.admin import tenant_label, time_tag
from agentstore.core.guards import printable
from agentstore.strategies.admin.base import TenantAdmin
from agentstore.strategies.admin.listing import page_links
from agentstore.strategies.models import Incident, Strategy

__all__ = ["IncidentAdmin"]

#: Each kind with its name and what it means.
KINDS = {
    "find": (gettext_lazy("find failed"), gettext_lazy("Agents got nothing for an objective.")),
    "save": (gettext_lazy("save failed"), gettext_lazy("A lesson was not stored; the agent was told.")),
    "evict": (
        gettext_lazy("no room made"),
        gettext_lazy("A lesson was stored, but none was removed for it."),
    ),
    "parse": (
        gettext_lazy("skipped"),
        gettext_lazy("A stored strategy can’t be read, so find leaves it out. It is still stored."),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One incident in the table."""

    obj: Incident
    label: str
    url: str

    @property
    def kind(self) -> str:
        return str(KINDS[self.obj.op][0]) if self.obj.op in KINDS else self.obj.op

    @property
    def error(self) -> str:
        return printable(self.obj.error)

    @property
    def count(self) -> str:
        return f"{self.obj.count:,}"

    @property
    def first(self) -> SafeString:
        return time_tag(self.obj.first_at)

    @property
    def last(self) -> SafeString:
        return time_tag(self.obj.last_at)


class IncidentAdmin(TenantAdmin):
    """Incidents, read only: the store writes and counts them."""

    model: type[Incident]
    actions = None
    change_list_template = "agentstore/admin/strategies/incidents.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Tell that nobody adds incidents."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that nobody changes incidents."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that nobody deletes incidents here."""
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the incidents of one tenant or of all that the user may see, the latest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        given = self.given_tenant(request)
        tenant = self.chosen(request) if given else ""
        if tenant is None:
            return self.not_found(request, given)
        if request.method == "POST":
            raise PermissionDenied
        kind = request.GET.get("kind", "") if request.GET.get("kind") in KINDS else ""
        page = Paginator(self._wanted(request, tenant, kind), self.list_per_page).get_page(
            request.GET.get("p")
        )
        context = {
            "lines": self._lines(request, list(page)),
            "page": page,
            "count_text": ngettext("%s incident", "%s incidents", page.paginator.count)
            % f"{page.paginator.count:,}",
            "page_links": page_links(request, page),
            "kinds": [(name, *texts) for name, texts in KINDS.items()],
            "kind": kind,
            "search": self._search(request),
            "tenant": tenant,
            **self.choice(request, tenant),
            "tabs": self.tabs(request, tenant, "incidents"),
        }
        title = capfirst(str(self.opts.verbose_name_plural))
        return self.page(request, self.change_list_template, context, title=title, crumbs=self.crumbs())

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Lead to the incident in the list, which shows all of it."""
        obj = self.get_object(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        if request.method == "POST":
            raise PermissionDenied
        return HttpResponseRedirect(self.to("incidents", tenant=obj.tenant, kind=obj.op, q=obj.strategy_id))

    def _search(self, request: HttpRequest) -> str:
        return request.GET.get("q", "").replace("\0", "").strip()[:64]

    def _wanted(self, request: HttpRequest, tenant: str, kind: str) -> QuerySet[Any]:
        rows, search = self.get_queryset(request).order_by("-last_at", "-pk"), self._search(request)
        rows = rows.filter(tenant=tenant) if tenant else rows
        rows = rows.filter(op=kind) if kind else rows
        return rows.filter(strategy_id=search) if search else rows

    def _lines(self, request: HttpRequest, incidents: list[Incident]) -> list[Line]:
        pks = self._strategies(request, incidents)
        return [
            Line(
                obj=obj,
                label=tenant_label(obj.tenant),
                url=self.to("change", pks[key]) if (key := (obj.tenant, obj.strategy_id)) in pks else "",
            )
            for obj in incidents
        ]

    def _strategies(self, request: HttpRequest, incidents: list[Incident]) -> dict[tuple[str, str], Any]:
        """Return the keys of the strategies that the incidents name, of those that are stored."""
        if not self.may_see(request, Strategy) or not self.admin_site.is_registered(Strategy):
            return {}
        tenants, ids = {obj.tenant for obj in incidents}, {obj.strategy_id for obj in incidents} - {""}
        rows = Strategy._base_manager.using(self.get_queryset(request).db)
        found = rows.filter(tenant__in=sorted(tenants), strategy_id__in=sorted(ids))
        return {(tenant, id): pk for pk, tenant, id in found.values_list("pk", "tenant", "strategy_id")}
