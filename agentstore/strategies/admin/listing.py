"""The list of a tenant's strategies in rank order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.strategies.admin.base import StrategyAdminBase
from agentstore.strategies.portable import Light
from agentstore.strategies.ranking import HALF_LIFE
from agentstore.strategies.terms import normalize_text

__all__ = ["ListingAdmin", "page_links"]

ORIGINS = ("earned", "seeded")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What of the list is asked for."""

    origin: str
    search: str


def page_links(request: HttpRequest, page: Page[Any]) -> list[tuple[int, str]]:
    """Return the numbers of the pages to go to, with their addresses; 0 stands for a gap."""
    query = request.GET.copy()
    links = []
    for each in page.paginator.get_elided_page_range(page.number) if page.paginator.num_pages > 1 else ():
        number = each if isinstance(each, int) else 0
        query["p"] = str(number)
        links.append((number, f"?{query.urlencode()}"))
    return links


class ListingAdmin(StrategyAdminBase):
    """The list."""

    change_list_template = "agentstore/admin/strategies/list.html"
    list_per_page = 25

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a tenant's strategies, best first."""
        tenant = self.chosen(request)
        if tenant is None:
            return self.not_found(request, self.given_tenant(request))
        ordered = self.rows(request, tenant).ranked() if tenant else []
        wanted = self._wanted(request)
        page = Paginator(self._fitting(request, tenant, ordered, wanted), self.list_per_page).get_page(
            request.GET.get("p")
        )
        context = {
            "lines": self.lines(request, tenant, dict(page)),
            "total": len(ordered),
            "count_text": _count_text(page.paginator.count, len(ordered)),
            "page": page,
            "page_links": page_links(request, page),
            "wanted": wanted,
            "origins": [("earned", _("earned")), ("seeded", _("seeded"))],
            "bar": self.usage_bar(tenant) if tenant else None,
            "fullest": [] if self.offers(request) else self.fullest(request),
            "half_life": HALF_LIFE.days,
            "may_delete": bool(tenant) and self.allows(request, "delete", tenant),
            "may_add": bool(tenant) and self.allows(request, "add", tenant),
            "add_url": self.to("add", tenant=tenant),
            "export_url": self.to("export", tenant=tenant),
            "prune_url": self.to("prune", tenant=tenant),
            "seed_url": self.to("seed", tenant=tenant),
            "list_url": self.to("list", tenant=tenant),
        }
        title = capfirst(str(self.opts.verbose_name_plural))
        return self.strategy_page(
            request, self.change_list_template, tenant, context, title=title, current="list"
        )

    def _wanted(self, request: HttpRequest) -> Wanted:
        origin = request.GET.get("origin", "")
        search = " ".join(request.GET.get("q", "").replace("\0", " ").split())[:255]
        return Wanted(origin=origin if origin in ORIGINS else "", search=search)

    def _fitting(
        self, request: HttpRequest, tenant: str, ordered: Sequence[Light], wanted: Wanted
    ) -> list[tuple[UUID, int]]:
        """Return the keys of what is asked for with their ranks among all."""
        ranks = [(row, rank) for rank, row in enumerate(ordered, start=1)]
        rows = self.get_queryset(request).filter(tenant=tenant)
        if wanted.origin:
            pks = set(rows.filter(origin=wanted.origin).values_list("pk", flat=True))
            ranks = [(row, rank) for row, rank in ranks if row.pk in pks]
        if wanted.search and ranks:
            holding = _holding(rows, wanted.search)
            ranks = [(row, rank) for row, rank in ranks if row.pk in holding]
        return [(row.pk, rank) for row, rank in ranks]


def _holding(rows: QuerySet[Any], search: str) -> Collection[UUID]:
    """Return the keys of the strategies that contain a text, both folded as find folds."""
    needle = normalize_text(search)
    found = rows.values_list("pk", "strategy_id", "problem", "strategy")
    return {pk for pk, *texts in found if any(needle in normalize_text(str(text)) for text in texts)}


def _count_text(count: int, total: int) -> str:
    text = ngettext("%s strategy", "%s strategies", count) % f"{count:,}"
    return text if count == total else _("%(text)s of %(total)s") % {"text": text, "total": f"{total:,}"}
