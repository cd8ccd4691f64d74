"""What maintenance does to the rows of all tenants: recount counters, purge what was deleted long ago.

Like a back end it persists and decides nothing. It goes tenant by tenant and a batch at a time, so
that every change names its tenant and no transaction is long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models, router, transaction
from django.db.models.functions import Cast, Coalesce

from agentstore.core.models import AuditEntry, IdempotencyKey, Usage
from agentstore.core.referring import removing
from agentstore.core.storage import planned_anew, remove_rows, translate_errors
from agentstore.core.values import new_id
from agentstore.entities.base import EntityModel

__all__ = [
    "Counter",
    "Purged",
    "live_texts",
    "purge",
    "purge_keys",
    "recount",
    "wrong_counters",
]

Rows = models.QuerySet[Any]

#: Rows a statement.
BATCH = 500
#: Rows at a time where their data is read, of which each may have 256 KiB.
FEW = 100


def all_rows(model: type[models.Model], alias: str, tenant: str | None = None) -> Rows:
    """Return the rows of a model, of all tenants or of one."""
    rows: Rows = model._base_manager.using(alias)
    return rows.all() if tenant is None else rows.filter(tenant=tenant)


@translate_errors
def _batch(rows: Rows, key: str, last: Any, size: int) -> list[Any]:
    after = rows if last is None else rows.filter(**{f"{key}__gt": last})
    with planned_anew(rows.db):
        return list(after.order_by(key)[:size])


def _in_batches(rows: Rows, key: str, size: int) -> Iterator[Any]:
    """Yield rows (tuples, ``key`` first) in the order of a unique key, without a cursor left open."""
    last = None
    while True:
        found = _batch(rows, key, last, size)
        yield from found
        if len(found) < size:
            return
        last = found[-1][0]


def tenants_of(rows: Rows) -> Iterator[str]:
    """Yield each tenant that has one of these rows, once."""
    return (tenant for (tenant,) in _in_batches(rows.values_list("tenant").distinct(), "tenant", BATCH))


def live_texts(model: type[EntityModel], tenant: str | None) -> Iterator[tuple[UUID, str, str]]:
    """Yield id, tenant and stored text of each live row, of all tenants or of one."""
    rows = all_rows(model, router.db_for_write(model), tenant).filter(deleted_at__isnull=True)
    texts = rows.annotate(text=Cast("data", models.TextField()))
    return _in_batches(texts.values_list("id", "tenant", "text"), "id", FEW)


@dataclass(frozen=True, slots=True)
class Counter:
    """What a tenant's counter says, and how many live rows there are."""

    tenant: str
    used: int
    live: int


def wrong_counters(model: type[EntityModel], tenant: str | None) -> Iterator[Counter]:
    """Yield the counters that do not tell how many live rows their tenant has, also where there is none.

    Counter and rows are read by one statement, and change by one commit: writers do not disturb.
    """
    alias = router.db_for_write(model)
    live = all_rows(model, alias, tenant).filter(deleted_at__isnull=True)
    counters = all_rows(Usage, alias, tenant).filter(entity=model.entity.name)
    same = live.filter(tenant=models.OuterRef("tenant")).order_by().values("tenant")
    count = models.Subquery(same.annotate(n=models.Count("id")).values("n"), models.IntegerField())
    counted = counters.annotate(live=Coalesce(count, 0)).exclude(used=models.F("live"))
    for found in _in_batches(counted.values_list("tenant", "used", "live"), "tenant", BATCH):
        yield Counter(*found)
    known = counters.filter(tenant=models.OuterRef("tenant"))
    for owner in tenants_of(live.filter(~models.Exists(known))):
        yield Counter(owner, 0, live.filter(tenant=owner).count())


@translate_errors
def recount(model: type[EntityModel], tenant: str) -> int:
    """Set a tenant's counter to the live rows that there are, and return how many.

    Every write of the store takes the counter's row before it commits. With that row locked, what
    was written before is seen, and what is still under way counts itself afterwards.
    """
    alias, entity = router.db_for_write(model), model.entity.name
    own = all_rows(Usage, alias, tenant).filter(entity=entity)
    with transaction.atomic(alias):
        # First of all a write: SQLite would not let a transaction that has read go on to write.
        first = Usage(id=new_id(), tenant=tenant, entity=entity, used=0)
        Usage._base_manager.using(alias).bulk_create([first], ignore_conflicts=True)
        list(own.select_for_update().values_list("id"))
        live = all_rows(model, alias, tenant).filter(deleted_at__isnull=True).count()
        own.update(used=live)
    return live


@dataclass(frozen=True, slots=True)
class Purged:
    """How many rows and audit entries went, or would go."""

    rows: int
    entries: int


def purge(
    model: type[EntityModel], before: datetime, *, tenant: str | None, dry_run: bool
) -> Iterator[Purged]:
    """Remove the rows that were deleted before a time, with their audit; yield each batch's numbers.

    A row that is undeleted meanwhile stays. A dry run only counts.

    Raises:
        Conflict: a foreign key of the host's refers to one of them; the batches before it are gone.
    """
    alias = router.db_for_write(model)
    for owner in tenants_of(all_rows(model, alias, tenant).filter(deleted_at__lt=before)):
        gone = all_rows(model, alias, owner).filter(deleted_at__lt=before)
        for ids in _chunks(gone):
            if dry_run:
                yield Purged(len(ids), _count(_entries(alias, owner, ids)))
            else:
                yield _remove(gone, alias, owner, ids)


def _chunks(rows: Rows) -> Iterator[list[UUID]]:
    last = None
    while found := [id for (id,) in _batch(rows.values_list("id"), "id", last, BATCH)]:
        yield found
        last = found[-1]


def _entries(alias: str, tenant: str, ids: list[UUID]) -> Rows:
    return all_rows(AuditEntry, alias, tenant).filter(row_id__in=ids)


@translate_errors
def _count(rows: Rows) -> int:
    with planned_anew(rows.db):
        return rows.count()


@translate_errors
def _remove(gone: Rows, alias: str, tenant: str, ids: list[UUID]) -> Purged:
    with removing(gone.model), transaction.atomic(alias), planned_anew(alias):
        rows = remove_rows(gone.filter(id__in=ids))
        kept = set(all_rows(gone.model, alias, tenant).filter(id__in=ids).values_list("id", flat=True))
        entries = remove_rows(_entries(alias, tenant, [id for id in ids if id not in kept]))
    return Purged(rows, entries)


def purge_keys(alias: str, before: datetime, *, tenant: str | None, dry_run: bool) -> int:
    """Remove the idempotency keys made before a time, which no create asks for any more; return how many."""
    old = all_rows(IdempotencyKey, alias, tenant).filter(created_at__lt=before)
    if dry_run:
        return old.count()
    return sum(
        _remove_keys(old.filter(tenant=owner, id__in=ids))
        for owner in tenants_of(old)
        for ids in _chunks(old.filter(tenant=owner))
    )


@translate_errors
def _remove_keys(keys: Rows) -> int:
    with planned_anew(keys.db):
        return remove_rows(keys)
