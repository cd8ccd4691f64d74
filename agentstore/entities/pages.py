"""Pages of rows: which ranges make one, in which order; how each range is fetched is the back end's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models.functions import Cast

from agentstore.entities.backend import PageRequest, RawRow
from agentstore.entities.conditions import after, condition, has_value, ordering
from agentstore.entities.expressions import Condition
from agentstore.entities.query import Clause, Order

__all__ = ["COLUMNS", "as_utc", "fetch_rows", "live_rows", "raw_row", "read_page"]

#: Operators that only a value of the field's own type passes.
VALUE_OPERATORS = ("lt", "lte", "gt", "gte", "startswith")
COLUMNS = ("id", "tenant", "version", "created_at", "updated_at", "deleted_at", "text")


def as_utc(at: datetime) -> datetime:
    """Return a time in UTC, whatever the time zone of the connection."""
    return at if at.tzinfo is UTC else at.astimezone(UTC)


def raw_row(row: Sequence[Any]) -> RawRow:
    """Return a row that the ORM read as the ``COLUMNS``."""
    id, tenant, version, created_at, updated_at, deleted_at, text = row
    gone = None if deleted_at is None else as_utc(deleted_at)
    return RawRow(id, tenant, version, as_utc(created_at), as_utc(updated_at), gone, text)


def live_rows(rows: models.QuerySet[Any], clauses: Sequence[Clause]) -> models.QuerySet[Any]:
    """Return the live rows of a queryset that match every clause."""
    return rows.filter(*(condition(clause) for clause in clauses), deleted_at__isnull=True)


#: Reads up to so many live rows that match all conditions, in order.
Fetch = Callable[[Sequence[Condition], Order, int], list[RawRow]]


def read_page(fetch: Fetch, request: PageRequest) -> list[RawRow]:
    """Return one page: rows with a value of the ordered field first, then those without.

    Two index ranges, since "nulls last in either direction" is no order that one index has.
    """
    where, place = [condition(clause) for clause in request.clauses], _place(request)
    order, size = request.order, request.size
    if order.kind is None:
        return fetch([*where, *place], order, size)
    found: list[RawRow] = []
    without = request.position is not None and request.position.value is None
    if not without and not _asks(request, "isnull"):
        found = fetch([*where, has_value(order.field, order.kind), *place], order, size)
    if len(found) < size and not _asks(request, *VALUE_OPERATORS):
        # ``isnull`` says it already; said twice, it would count twice in the planner's estimate.
        missing = [] if _asks(request, "isnull") else [has_value(order.field, order.kind, negate=True)]
        rest = [*where, *missing, *(place if without else ())]
        found += fetch(rest, order, size)[: size - len(found)]
    return found


def _asks(request: PageRequest, *operators: str) -> bool:
    """Tell whether a clause on the ordered field itself leaves one of the two ranges empty."""
    return any(
        clause.field == request.order.field and clause.op in operators and clause.value is not False
        for clause in request.clauses
    )


def _place(request: PageRequest) -> list[Condition]:
    place = request.position
    if place is None:
        return []
    return [
        after(
            request.order,
            value=place.value,
            created_at=place.created_at,
            updated_at=place.updated_at,
            id=place.id,
        )
    ]


def fetch_rows(
    rows: models.QuerySet[Any], where: Sequence[Condition], order: Order, size: int
) -> list[RawRow]:
    """Be the ``Fetch`` of a queryset, which ``partial`` binds."""
    found = rows.filter(*where, deleted_at__isnull=True).order_by(*ordering(order))
    texts = found.annotate(text=Cast("data", models.TextField()))
    return [raw_row(row) for row in texts.values_list(*COLUMNS)[:size]]
