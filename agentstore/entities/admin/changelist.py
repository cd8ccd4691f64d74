"""The list's query: live or deleted rows, an order that the declared indexes serve, a bounded count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Page, Paginator
from django.db import models
from django.db.models import F
from django.db.models.expressions import OrderBy
from django.http import HttpRequest
from django.utils.http import urlencode

from agentstore.core.models import AuditEntry
from agentstore.core.tenancy import is_tenant
from agentstore.entities.admin.filters import DELETED, TENANT
from agentstore.entities.conditions import has_value
from agentstore.indexes import FieldValue

__all__ = ["COUNTED", "BoundedPaginator", "EntityChangeList", "SortKey"]

#: The most rows that are counted one by one; beyond, the counters are asked, or "more than" is said.
COUNTED = 10_000

if TYPE_CHECKING:
    _Paginator = Paginator[Any]
else:
    _Paginator = Paginator


class SortKey(FieldValue):
    """A field's value as an order: rows without one come last in either direction, as in the store."""

    def asc(self, **kwargs: Any) -> OrderBy:
        return OrderBy(self, nulls_last=True)

    def desc(self, **kwargs: Any) -> OrderBy:
        return OrderBy(self, descending=True, nulls_last=True)


class BoundedPaginator(_Paginator):
    """Counts up to a bound, so that a list costs the same however large the table is."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found: int = rows.order_by()[: COUNTED + 1].count()
        return found if found <= COUNTED else max(COUNTED, getattr(rows, "known_count", 0))

    def page(self, number: int | str) -> Page[Any]:
        """Return a page; where it is sorted by a field, highest first, it is read from two index ranges."""
        page = super().page(number)
        rows: Any = self.object_list
        first, *rest = rows.query.order_by or [None]
        if isinstance(first, OrderBy) and first.descending and isinstance(first.expression, SortKey):
            start = (page.number - 1) * self.per_page
            page.object_list = _in_two_ranges(rows, first.expression, rest, start, self.per_page)
        return page


def _in_two_ranges(
    rows: models.QuerySet[Any], key: SortKey, rest: Sequence[Any], start: int, size: int
) -> list[Any]:
    """Read rows with a value, then those without: "last when descending" is no order of an index."""
    have = rows.filter(has_value(key.key, key.kind)).order_by(OrderBy(key, descending=True), *rest)
    found = list(have[start : start + size])
    if len(found) < size:
        skip = 0 if found else max(start - have.order_by().count(), 0)
        without = rows.filter(has_value(key.key, key.kind, negate=True)).order_by(*rest)
        found += without[skip : skip + size - len(found)]
    return found


class EntityChangeList(ChangeList):
    """The rows of one tab; ``?deleted=1`` is the tab of deleted ones."""

    #: True where more rows match than were counted.
    capped = False
    model_admin: Any

    @property
    def deleted(self) -> bool:
        """True on the tab of deleted rows."""
        return DELETED in self.params

    def get_filters_params(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)  # type: ignore[arg-type]
        return {name: value for name, value in found.items() if name != DELETED}

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Return the query string of a link: parameters are removed by name, or all lookups of ``name__``."""
        names, parts = set(remove or ()), tuple(name for name in remove or () if name.endswith("__"))
        kept = {
            name: values
            for name, values in self.filter_params.items()
            if name not in names and not name.startswith(parts)
        }
        kept = {**kept, **(new_params or {})}
        pairs = sorted((name, value) for name, value in kept.items() if value is not None)
        return f"?{urlencode(pairs, doseq=True)}"

    def get_filters(self, request: HttpRequest) -> Any:
        """Return the filters; of what none of them reads, only the tenant and the span of dates are known."""
        found: Any = super().get_filters(request)
        known = {f"{self.date_hierarchy}__{end}" for end in ("gte", "lt")}
        if all(map(is_tenant, found[2].get(TENANT, ()))):
            known.add(TENANT)
        if unknown := set(found[2]) - known:
            raise IncorrectLookupParameters(unknown)
        return found

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> models.QuerySet[Any]:
        names = self.get_filters_params()
        if not all(self.model_admin.lookup_allowed(name, "", request) for name in names):
            raise IncorrectLookupParameters(names)
        self.root_queryset = self.root_queryset.filter(deleted_at__isnull=not self.deleted)
        return super().get_queryset(request, exclude_parameters)

    # --- order ---------------------------------------------------------------------------------

    def get_ordering(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> list[Any]:
        asked = [key for key in super().get_ordering(request, queryset) if key != "-pk"]
        if not asked:
            return self.usual_order(request)
        last = asked[-1]
        descending = last.descending if isinstance(last, OrderBy) else str(last).startswith("-")
        sign = "-" if descending else ""
        names = [key for key in asked if isinstance(key, str)]
        ties = [name for name in ("updated_at", "id") if name not in names and f"-{name}" not in names]
        return [*asked, *(f"{sign}{name}" for name in ties)]

    def usual_order(self, request: HttpRequest) -> list[Any]:
        """Return the order without a choice: last updated first, where that sorts no large table."""
        if self.deleted:
            return ["-deleted_at", "-id"]
        return ["-updated_at", "-id"] if self.model_admin.sorts_freely(request) else ["-id"]

    def get_ordering_field(self, field_name: Any) -> Any:
        if self.sortable_by is not None and field_name not in self.sortable_by:
            return None
        return super().get_ordering_field(field_name)

    # --- results -------------------------------------------------------------------------------

    def get_results(self, request: HttpRequest) -> None:
        unfiltered = not self.query and set(self.get_filters_params()) <= {TENANT} and not self.deleted
        if unfiltered:
            self.queryset.known_count = self.model_admin.live_count(request)
        super().get_results(request)
        self.capped = self.result_count >= COUNTED and not unfiltered
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count  # the search says nothing of results then
        if self.deleted:
            self.result_list = list(self.result_list)
            _name_who_deleted(self.result_list)


def _name_who_deleted(rows: list[Any]) -> None:
    """Set ``deleted_by`` on each row, with one query for all of them."""
    if not rows:
        return
    entries = AuditEntry.objects.using(rows[0]._state.db).filter(
        tenant__in={row.tenant for row in rows}, row_id__in=[row.pk for row in rows], op="delete"
    )
    last = dict(entries.order_by(F("version"), F("id")).values_list("row_id", "actor"))
    for row in rows:
        row.deleted_by = last.get(row.pk, "")
