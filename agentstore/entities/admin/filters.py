"""The list's filters: the tenant, and what the declared indexes serve (times, booleans, enums)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentstore.core.tenancy import is_tenant
from agentstore.core.values import JSONObject
from agentstore.entities.base import EntityModel
from agentstore.entities.conditions import condition
from agentstore.entities.fields import fields_of
from agentstore.entities.forms.shape import Shape, shapes_of
from agentstore.entities.query import parse_filter

__all__ = ["DELETED", "NOTHING", "TENANT", "TenantFilter", "field_filters", "matching", "parameter_of"]

#: The query string's name of the tenant, and of the tab with deleted rows.
TENANT, DELETED = "tenant", "deleted"
#: The value that stands for "no value".
NOTHING = "__none__"
_TAKEN = frozenset({TENANT, DELETED, "all", "e", "o", "p", "q"})

Choices = list[tuple[str, str]]


def parameter_of(key: str) -> str:
    """Return the query string's name of a field, which is no other parameter's."""
    return f"{key}__eq" if key in _TAKEN else key


def matching(
    rows: models.QuerySet[Any], model: type[EntityModel], filter: JSONObject
) -> models.QuerySet[Any]:
    """Return the rows that match a filter in the store's own syntax."""
    return rows.filter(*(condition(clause) for clause in parse_filter(filter, fields_of(model.Schema))))


class TenantFilter(SimpleListFilter):
    """Rows of one tenant; with many tenants the fullest are offered, and any other can be typed."""

    title = gettext_lazy("tenant")
    parameter_name = TENANT
    template = "agentstore/admin/tenant_filter.html"
    #: More tenants than offered: there is a field to type one.
    more = False

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        offered: Choices
        offered, self.more = model_admin.offered_tenants(request)
        chosen = self.value()
        if chosen and chosen not in dict(offered):
            offered = [*offered, (chosen, model_admin.label(chosen))]
        return offered

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any] | None:
        chosen = self.value()
        if not chosen:
            return None
        return queryset.filter(tenant=chosen) if is_tenant(chosen) else queryset.none()

    def choices(self, changelist: Any) -> Iterator[Any]:
        self.hidden = [
            (name, value)
            for name, values in changelist.filter_params.items()
            for value in values
            if name != self.parameter_name
        ]
        return super().choices(changelist)


class FieldFilter(SimpleListFilter, ABC):
    """One declared index; ``filters`` maps each choice to a filter in the store's syntax."""

    shape: Shape
    title: Any = ""
    parameter_name = ""

    @abstractmethod
    def filters(self) -> dict[str, tuple[str, JSONObject]]:
        """Return what can be chosen: value -> (label, filter)."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        found = {value: label for value, (label, _filter) in self.filters().items()}
        if self.shape.nullable:
            found[NOTHING] = _("No value")
        return list(found.items())

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any] | None:
        value = self.value()
        if value is None:
            return None
        if value == NOTHING:
            return matching(queryset, queryset.model, {f"{self.shape.key}__isnull": True})
        if value not in self.filters():
            return queryset.none()
        return matching(queryset, queryset.model, self.filters()[value][1])


class BooleanFilter(FieldFilter):
    """Yes or no."""

    def filters(self) -> dict[str, tuple[str, JSONObject]]:
        key = f"{self.shape.key}__eq"
        return {"yes": (_("Yes"), {key: True}), "no": (_("No"), {key: False})}


class ChoiceFilter(FieldFilter):
    """One of the values that an enum or a literal allows."""

    def filters(self) -> dict[str, tuple[str, JSONObject]]:
        key = f"{self.shape.key}__eq"
        return {choice.text: (choice.label, {key: choice.value}) for choice in self.shape.choices}


class TimeFilter(FieldFilter):
    """Spans around now, in days of the viewer's zone."""

    def filters(self) -> dict[str, tuple[str, JSONObject]]:
        key, now = self.shape.key, self.now()
        today, tomorrow, next_week = self.day(0), self.day(1), self.day(7)
        return {
            "overdue": (_("Overdue"), {f"{key}__lt": now}),
            "today": (_("Today"), {f"{key}__gte": today, f"{key}__lt": tomorrow}),
            "week": (_("Next 7 days"), {f"{key}__gte": today, f"{key}__lt": next_week}),
            "later": (_("Later"), {f"{key}__gte": next_week}),
        }

    def now(self) -> datetime | date:
        """Return what is overdue when it lies before."""
        return timezone.now()

    def day(self, ahead: int) -> datetime | date:
        """Return the first moment of the day that is ``ahead`` days from today."""
        day = timezone.localdate() + timedelta(days=ahead)
        return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001 - made aware

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *rest = super().choices(changelist)
        yield {**first, "display": _("Any time")}
        yield from rest


class DayFilter(TimeFilter):
    """The same spans for a date."""

    def now(self) -> date:
        return timezone.localdate()

    def day(self, ahead: int) -> date:
        return timezone.localdate() + timedelta(days=ahead)


_CLASSES: dict[str, type[FieldFilter]] = {
    "boolean": BooleanFilter,
    "choice": ChoiceFilter,
    "moment": TimeFilter,
    "day": DayFilter,
}


def field_filters(model: type[EntityModel]) -> list[Callable[..., Any]]:
    """Return a filter class for each declared index that has few enough values to choose from."""
    shapes = {shape.key: shape for shape in shapes_of(model.Schema)}
    declared = [shapes[key] for key in model.entity.indexes if key in shapes]
    return [_filter(shape) for shape in declared if shape.kind in _CLASSES]


def _filter(shape: Shape) -> type[FieldFilter]:
    names = {"shape": shape, "title": _lower(shape.label), "parameter_name": parameter_of(shape.key)}
    return type("Filter", (_CLASSES[shape.kind],), names)


def _lower(label: str) -> str:
    """Return a label inside a sentence: "By due", but "By SKU"."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]
