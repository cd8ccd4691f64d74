"""The list of an entity: tabs, quota, columns, filters and search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any

import django
from django.db.models import Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext as _

from agentstore.core.admin import StoreAdmin, UsageBar, tenant_label, zone_name
from agentstore.core.models import Usage
from agentstore.core.tenancy import is_tenant
from agentstore.entities.admin.changelist import BoundedPaginator, EntityChangeList
from agentstore.entities.admin.columns import Column, field_columns, fixed_columns
from agentstore.entities.admin.filters import DELETED, TENANT, TenantFilter, field_filters, parameter_of
from agentstore.entities.base import EntityModel
from agentstore.entities.conditions import condition
from agentstore.entities.fields import fields_of
from agentstore.entities.query import operators_of, parse_filter
from agentstore.entities.reading import parse_id

__all__ = ["ListingAdmin"]

#: How many tenants the filter offers; the fullest first.
OFFERED = 30
#: Up to so many live rows, a list of all tenants may be sorted by anything.
SMALL = 20_000


@dataclass(frozen=True, kw_only=True)
class Tab:
    """A tab above the list: a plain link."""

    label: str
    url: str
    current: bool


class ListingAdmin(StoreAdmin):
    """The changelist of an entity."""

    model: type[EntityModel]
    change_list_template = "agentstore/admin/entity_list.html"
    paginator = BoundedPaginator

    # --- which rows ----------------------------------------------------------------------------

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[EntityChangeList]:
        return EntityChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow what the filters of this list read, and nothing of the ORM's own syntax.

        What a host's own filters read is known to the list alone, which refuses the rest.
        """
        own = bool(self.list_filter or self.date_hierarchy)
        return own or lookup == TENANT or lookup in map(parameter_of, self.model.entity.indexes)

    def chosen_tenant(self, request: HttpRequest) -> str | None:
        """Return the one tenant that the list shows, if it is one."""
        tenants = self.tenants(request)
        chosen = request.GET.get(TENANT)
        if not chosen:
            return next(iter(tenants)) if tenants is not None and len(tenants) == 1 else None
        return chosen if is_tenant(chosen) and (tenants is None or chosen in tenants) else None

    def label(self, tenant: str) -> str:
        """Return the name of a tenant."""
        return tenant_label(tenant)

    def _counters(self, request: HttpRequest) -> QuerySet[Usage]:
        counters = Usage.objects.using(self.get_queryset(request).db).filter(entity=self.model.entity.name)
        tenants = self.tenants(request)
        return counters if tenants is None else counters.filter(tenant__in=sorted(tenants))

    def live_count(self, request: HttpRequest) -> int:
        """Return how many live rows there are, by the counters: that costs no count of the table."""

        def add_up() -> int:
            chosen, counters = self.chosen_tenant(request), self._counters(request)
            counters = counters if chosen is None else counters.filter(tenant=chosen)
            return counters.aggregate(total=Sum("used"))["total"] or 0

        return self.once(request, "live", add_up)

    def sorts_freely(self, request: HttpRequest) -> bool:
        """Tell whether any order is cheap: with one tenant, or few rows."""
        return self.chosen_tenant(request) is not None or self.live_count(request) <= SMALL

    def offered_tenants(self, request: HttpRequest) -> tuple[list[tuple[str, str]], bool]:
        """Return (tenant, label) of the fullest tenants, by label, and whether there are more."""
        fullest = self._counters(request).order_by("-used", "tenant").values_list("tenant", flat=True)
        names = list(fullest[: OFFERED + 1])
        pairs = [(name, tenant_label(name)) for name in names[:OFFERED]]
        return sorted(pairs, key=lambda pair: pair[1].casefold()), len(names) > OFFERED

    # --- columns, filters, search --------------------------------------------------------------

    @cached_property
    def _field_columns(self) -> list[Column]:
        return field_columns(self.model)

    @cached_property
    def _fixed_columns(self) -> dict[str, Column]:
        return fixed_columns()

    def get_list_display(self, request: HttpRequest) -> Any:
        if tuple(self.list_display) != ("__str__",):
            return self.list_display
        fixed = self._fixed_columns
        tenant = [] if self.chosen_tenant(request) else [fixed["tenant"]]
        deleted = [fixed["deleted"], fixed["by"]] if DELETED in request.GET else []
        first, *rest = self._field_columns
        return [first, *tenant, *deleted, *rest, fixed["updated"]]

    def get_sortable_by(self, request: HttpRequest) -> Any:
        columns = self.get_list_display(request)
        if self.sorts_freely(request):
            return columns
        served = {*self.model.entity.sweep_indexes}
        return [column for column in columns if getattr(column, "__name__", column) in served]

    def get_list_filter(self, request: HttpRequest) -> Any:
        return self.list_filter or [TenantFilter, *field_filters(self.model)]

    @cached_property
    def _searched(self) -> list[str]:
        fields = fields_of(self.model.Schema).values()
        return [field.key for field in fields if "icontains" in operators_of(field) and field.base is str]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return self._searched

    @property
    def search_fields(self) -> list[str]:  # type: ignore[override]
        """Say to Django's checks what is searched: another model's form may offer rows while one types."""
        return self._searched

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        """Say where the search looks."""
        labels = ", ".join(fields_of(self.model.Schema)[key].title for key in self._searched)
        return _("Searches in: %(fields)s. Capitals and small letters are the same.") % {"fields": labels}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the rows in which every word occurs in some text field; an id finds its row.

        What another model's form offers while somebody types are live rows, last updated first.
        """
        if request.resolver_match and request.resolver_match.url_name == "autocomplete":
            queryset = queryset.filter(deleted_at__isnull=True).order_by("-updated_at", "-id")
        id_ = parse_id(search_term.strip())
        if id_ is not None:
            return queryset.filter(pk=id_), False
        for word in smart_split(search_term.replace("\0", "")):
            if word.startswith(('"', "'")) and word[0] == word[-1] and len(word) > 1:
                word = unescape_string_literal(word)
            queryset = queryset.filter(self._occurs(word))
        return queryset, False

    def _occurs(self, word: str) -> Q:
        fields = fields_of(self.model.Schema)
        clauses = [parse_filter({f"{key}__icontains": word}, fields)[0] for key in self._searched]
        return reduce(or_, (Q(condition(clause)) for clause in clauses), Q())

    # --- the page ------------------------------------------------------------------------------

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list with its tabs and the quota of the tenant chosen."""
        context = {
            "tabs": self._tabs(request),
            "bar": self._bar(request),
            "deleted_tab": DELETED in request.GET,
            "zone": zone_name(),
            "tools_in_content": django.VERSION < (6, 1),
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    def _tabs(self, request: HttpRequest) -> list[Tab]:
        if not self.has_view_permission(request):
            return []
        live, deleted = self.live_count(request), DELETED in request.GET
        return [
            Tab(
                label=_("Live (%(count)s)") % {"count": f"{live:,}"},
                url=self._tab_url(request, deleted=False),
                current=not deleted,
            ),
            Tab(
                label=self._deleted_label(request, live),
                url=self._tab_url(request, deleted=True),
                current=deleted,
            ),
        ]

    def _tab_url(self, request: HttpRequest, *, deleted: bool) -> str:
        query = request.GET.copy()
        for name in ("p", "e", "o", DELETED):
            query.pop(name, None)
        if deleted:
            query[DELETED] = "1"
        return f"?{query.urlencode()}"

    def _deleted_label(self, request: HttpRequest, live: int) -> str:
        if live > SMALL:  # counting would read the whole table
            return _("Deleted")
        rows = self.get_queryset(request).filter(deleted_at__isnull=False)
        chosen = self.chosen_tenant(request)
        found = (rows if chosen is None else rows.filter(tenant=chosen))[:1001].count()
        return _("Deleted (%(count)s)") % {"count": "1,000+" if found > 1000 else f"{found:,}"}

    def _bar(self, request: HttpRequest) -> UsageBar | None:
        tenant = self.chosen_tenant(request)
        if tenant is None or not self.has_view_permission(request):
            return None
        nouns = str(self.opts.verbose_name_plural)
        return UsageBar(
            who=tenant_label(tenant),
            usage=self.model.store(tenant).usage(),
            noun=nouns,
            full_text=_("Full: new %(nouns)s are refused. Delete some or raise the limit.")
            % {"nouns": nouns},
            left_text=_("Deleted rows take no place."),
        )
