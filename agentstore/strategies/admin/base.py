"""What the pages of strategies share: the tenant, its rows in rank order, tabs, the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import unquote
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import router
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from agentstore.core.admin import Crumb, StoreAdmin, UsageBar, tenant_label
from agentstore.core.models import Usage
from agentstore.core.tenancy import is_tenant
from agentstore.core.values import now
from agentstore.strategies.admin.reading import ShownRows
from agentstore.strategies.admin.words import Line
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.portable import COUNTER
from agentstore.strategies.store import StrategyStore

__all__ = ["Offer", "StrategyAdminBase", "Tab", "TenantAdmin", "key_of"]

#: How many tenants a choice offers; with more of them their names are typed.
OFFERED = 200
#: How many of the fullest tenants are shown where there are too many to choose from.
FULLEST = 12


@dataclass(frozen=True, kw_only=True)
class Tab:
    """A tab above a page: a plain link."""

    label: str
    url: str
    current: bool


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A tenant to choose, and how many strategies it has."""

    tenant: str
    label: str
    used: int
    capacity: int

    @property
    def text(self) -> str:
        """The label with how full the tenant is."""
        names = {"label": self.label, "used": f"{self.used:,}", "capacity": f"{self.capacity:,}"}
        return _("%(label)s (%(used)s of %(capacity)s)") % names


class TenantAdmin(StoreAdmin):
    """Pages about one tenant at a time: which one, and what stands on all of them."""

    capability = "strategies"

    # --- the tenant ----------------------------------------------------------------------------

    def offers(self, request: HttpRequest) -> list[Offer]:
        """Return the tenants to choose from, by label; none where there are too many."""
        return self.once(request, "offers", lambda: self._offers(request))

    def _offers(self, request: HttpRequest) -> list[Offer]:
        tenants = self.tenants(request)
        if tenants is not None and len(tenants) > OFFERED:
            return []
        used = dict(self._counters(request).values_list("tenant", "used")[: OFFERED + 1])
        names = set(used) | (tenants or set())
        found = self._seen(request, {name: used.get(name, 0) for name in names})
        return sorted(found, key=_by_label) if len(names) <= OFFERED else []

    def fullest(self, request: HttpRequest) -> list[Offer]:
        """Return the tenants with the most strategies, of those that the user may see."""
        rows = self._counters(request).order_by("-used", "tenant").values_list("tenant", "used")
        return self._seen(request, dict(rows[:FULLEST]))

    def _counters(self, request: HttpRequest) -> QuerySet[Any]:
        tenants = self.tenants(request)
        rows: QuerySet[Any] = Usage._base_manager.using(router.db_for_write(Usage)).filter(entity=COUNTER)
        return rows if tenants is None else rows.filter(tenant__in=sorted(tenants))

    def _seen(self, request: HttpRequest, used: Mapping[str, int]) -> list[Offer]:
        return [
            Offer(tenant=name, label=tenant_label(name), used=count, capacity=StrategyStore(name).capacity)
            for name, count in used.items()
            if is_tenant(name) and self.allows(request, "view", name)
        ]

    def given_tenant(self, request: HttpRequest) -> str:
        """Return the tenant that the address or the form names; empty text without one."""
        given = request.POST if request.method == "POST" else request.GET
        return given.get("other", "").strip() or given.get("tenant", "")

    def chosen(self, request: HttpRequest) -> str | None:
        """Return the tenant that a page is about; empty text for none, None for one that can't be seen.

        Where none is named, it is the first of those to choose from.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        given = self.given_tenant(request)
        if not given:
            offers = self.offers(request)
            return offers[0].tenant if offers else ""
        return given if is_tenant(given) and self.allows(request, "view", given) else None

    def choice(self, request: HttpRequest, tenant: str) -> dict[str, Any]:
        """Return what the field to choose a tenant shows."""
        offers = self.offers(request)
        return {
            "tenant": tenant,
            "label": tenant_label(tenant) if tenant else "",
            "offers": offers,
            "known": any(offer.tenant == tenant for offer in offers),
        }

    # --- addresses and tabs --------------------------------------------------------------------

    def to(self, name: str, *args: object, **query: object) -> str:
        """Return the address of one of the strategies' pages, or of the list of incidents."""
        model = "incident" if name == "incidents" else "strategy"
        page = "changelist" if name in ("incidents", "list") else name
        full = f"admin:{self.opts.app_label}_{model}_{page}"
        url = reverse(full, args=args, current_app=self.admin_site.name)
        params = {key: value for key, value in query.items() if value not in ("", None)}
        return f"{url}?{urlencode(params)}" if params else url

    def tabs(self, request: HttpRequest, tenant: str, current: str) -> list[Tab]:
        """Return the tabs of a tenant's strategies, of those that the user may see."""
        names: list[tuple[str, str]] = []
        if self.may_see(request, Strategy):
            names = [("list", _("List")), ("find", _("Find")), ("prune", _("Prune")), ("seed", _("Seed"))]
        if self.may_see(request, Incident):
            names.append(("incidents", _("Incidents (%s)") % f"{self._incidents(request, tenant):,}"))
        return [
            Tab(label=label, url=self.to(name, tenant=tenant), current=name == current)
            for name, label in names
            if self.admin_site.is_registered(Incident if name == "incidents" else Strategy)
        ]

    def incidents_url(self, request: HttpRequest, tenant: str) -> str:
        """Return the address of a tenant's incidents; empty text for who may not see them."""
        seen = self.may_see(request, Incident) and self.admin_site.is_registered(Incident)
        return self.to("incidents", tenant=tenant) if seen else ""

    def may_see(self, request: HttpRequest, model: type[Strategy | Incident]) -> bool:
        """Tell whether the user may see the pages of a model."""
        name = model._meta.model_name
        codes = [f"{self.opts.app_label}.{action}_{name}" for action in ("view", "change")]
        return any(request.user.has_perm(code) for code in codes)

    def _incidents(self, request: HttpRequest, tenant: str) -> int:
        rows = Incident._base_manager.using(router.db_for_write(Incident))
        tenants = self.tenants(request)
        if tenant:
            return rows.filter(tenant=tenant).count()
        return (rows if tenants is None else rows.filter(tenant__in=sorted(tenants))).count()


class StrategyAdminBase(TenantAdmin):
    """The strategies of one tenant: rows, store, usage, frames, log."""

    model: type[Strategy]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that no form changes a strategy: it is added, pruned or deleted."""
        return False

    # --- rows ----------------------------------------------------------------------------------

    def rows(self, request: HttpRequest, tenant: str) -> ShownRows:
        """Return what reads the strategies of one tenant."""
        return ShownRows(self.get_queryset(request), tenant)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the strategy if there is one that the user may see, else None."""
        key = key_of(unquote(object_id))
        if key is None:
            return None
        tenant = self.get_queryset(request).filter(pk=key).values_list("tenant", flat=True).first()
        if tenant is None or not self.allows(request, "view", tenant):
            return None
        return next(iter(self.rows(request, tenant).instances([key])), None)

    def lines(self, request: HttpRequest, tenant: str, ranks: Mapping[UUID, int]) -> list[Line]:
        """Return the strategies of these keys as tables show them, by rank."""
        found = self.rows(request, tenant).instances(ranks.keys())
        return sorted((self.line(obj, ranks[obj.pk]) for obj in found), key=lambda line: line.rank)

    def line(self, obj: Any, rank: int = 0) -> Line:
        """Return a strategy as tables show it."""
        return Line(obj=obj, rank=rank, url=self.to("change", obj.pk), at=now())

    def store(self, request: HttpRequest, tenant: str) -> StrategyStore:
        """Return the tenant's store, with the user as the actor."""
        return StrategyStore(tenant, actor=self.actor(request))

    # --- frames and log ------------------------------------------------------------------------

    def usage_bar(self, tenant: str) -> UsageBar:
        """Return how full a tenant is; being full is normal here, and nothing is refused."""
        usage = StrategyStore(tenant).usage()
        return UsageBar(who=tenant_label(tenant), usage=usage, noun=_("strategies"))

    def strategy_page(
        self,
        request: HttpRequest,
        template: str,
        tenant: str,
        context: Mapping[str, Any],
        *,
        title: str,
        current: str,
        step: str = "",
        status: int = 200,
    ) -> HttpResponse:
        """Answer with a page about a tenant's strategies, its tabs above."""
        frame = {**self.choice(request, tenant), "tabs": self.tabs(request, tenant, current)}
        crumbs = self.crumbs(*([Crumb(label=step)] if step else []))
        return self.page(request, template, {**frame, **context}, title=title, crumbs=crumbs, status=status)

    def with_reason(self, request: HttpRequest, text: str) -> str:
        """Return what the log says of an act: what was done and, if one was given, why."""
        reason = self.reason(request)
        return f"{text} {_('Reason: %s') % reason}" if reason else text

    def log_for(self, request: HttpRequest, tenant: str, flag: int, text: str) -> None:
        """Write the ``LogEntry`` of an act on many strategies of a tenant."""
        LogEntry.objects.create(
            user_id=cast(int, request.user.pk),
            content_type=ContentType.objects.get_for_model(self.model, for_concrete_model=False),
            object_id=None,
            object_repr=tenant_label(tenant)[:200],
            action_flag=flag,
            change_message=self.with_reason(request, text),
        )


def _by_label(offer: Offer) -> tuple[str, str]:
    return (offer.label.casefold(), offer.tenant)


def key_of(text: str) -> UUID | None:
    """Return the key of a row that an address or a form names, if it can be one."""
    try:
        return UUID(text)
    except ValueError:
        return None
