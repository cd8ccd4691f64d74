"""The doctor's look at strategies: counters that are wrong, rows that can't be read, older terms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.db import DatabaseError, connections, models, router
from django.db.models.functions import Coalesce

from agentstore.core.findings import Examined, Finding, miscounted
from agentstore.core.models import Usage
from agentstore.core.storage import atomic
from agentstore.strategies.models import Strategy
from agentstore.strategies.portable import COUNTER, PortableStrategies
from agentstore.strategies.rows import read_row
from agentstore.strategies.terms import TOKENIZER_VERSION

__all__ = ["NAME", "examine"]

#: What findings call the rows; no entity's table is meant.
NAME = "strategies"
TABLES = {"agentstore_strategy", "agentstore_usage"}


class Counter(NamedTuple):
    """What a tenant's counter says, and how many strategies there are."""

    tenant: str
    used: int
    stored: int


def examine(examined: Examined) -> Iterator[Finding]:
    """Yield what is wrong with the strategies of all tenants, or of one; recount if asked to.

    A database that can't be read, or lacks the tables, is told of elsewhere.
    """
    alias = router.db_for_write(Strategy)
    try:
        tables = set(connections[alias].introspection.table_names())
    except DatabaseError:
        return
    if tables >= TABLES:
        yield from _spoiled(alias, examined)
        yield from _counters(alias, examined)


def _spoiled(alias: str, examined: Examined) -> Iterator[Finding]:
    older = 0
    for tenant in _tenants(_of(Strategy, alias, examined.tenant)):
        for raw in PortableStrategies(alias, tenant).all():
            examined.rows += 1
            older += raw.tokenizer_version != TOKENIZER_VERSION
            try:
                read_row(raw)
            except ValueError as error:
                field, _, issue = str(error).partition(": ")
                yield Finding(
                    kind="misfit", message="The strategy can't be read.", entity=NAME, tenant=tenant,
                    row=raw.id, errors={field: [issue]},
                    hint="It is skipped on reading. Save its content again, or delete it.",
                )  # fmt: skip
    if older:
        message = f"{older:,} strategies were tokenised by other rules, and are tokenised anew whenever read."
        yield Finding(kind="tokenizer", message=message, hint="Run agentstore_reindex.", problem=False)


def _counters(alias: str, examined: Examined) -> Iterator[Finding]:
    for counter in _wrong_counters(alias, examined.tenant):
        yield miscounted(
            entity=NAME,
            tenant=counter.tenant,
            used=counter.used,
            there=f"{counter.stored:,} strategies",
            recounted=_recount(alias, counter.tenant) if examined.repair else None,
        )


def _wrong_counters(alias: str, tenant: str | None) -> Iterator[Counter]:
    """Yield the counters that do not tell how many strategies their tenant has, also where there is none.

    Counter and rows are read by one statement, and change by one commit: writers do not disturb.
    """
    stored = _of(Strategy, alias, tenant)
    counters = _of(Usage, alias, tenant).filter(entity=COUNTER)
    same = stored.filter(tenant=models.OuterRef("tenant")).order_by().values("tenant")
    count = models.Subquery(same.annotate(n=models.Count("id")).values("n"), models.IntegerField())
    wrong = counters.annotate(stored=Coalesce(count, 0)).exclude(used=models.F("stored"))
    yield from (Counter(*found) for found in list(wrong.values_list("tenant", "used", "stored")))
    known = counters.filter(tenant=models.OuterRef("tenant"))
    for owner in _tenants(stored.filter(~models.Exists(known))):
        yield Counter(owner, 0, stored.filter(tenant=owner).count())


def _recount(alias: str, tenant: str) -> int:
    """Set a tenant's counter to the strategies that there are, no writer in between."""
    rows = PortableStrategies(alias, tenant)
    with atomic(alias):
        rows.lock()
        return rows.recount()


def _of(model: type[models.Model], alias: str, tenant: str | None) -> models.QuerySet[models.Model]:
    rows = model._base_manager.using(alias)
    return rows.all() if tenant is None else rows.filter(tenant=tenant)


def _tenants(rows: models.QuerySet[models.Model]) -> list[str]:
    return sorted(rows.order_by().values_list("tenant", flat=True).distinct())
