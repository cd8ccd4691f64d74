"""Tokenising stored strategies anew, after a change of the tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.db import router, transaction

from agentstore.core.storage import translate_errors
from agentstore.core.values import now
from agentstore.strategies.merging import merge
from agentstore.strategies.models import Strategy
from agentstore.strategies.portable import PortableStrategies, RawStrategy
from agentstore.strategies.ranking import in_order
from agentstore.strategies.rows import read_row
from agentstore.strategies.terms import TOKENIZER_VERSION
from agentstore.strategies.values import StoredStrategy

__all__ = ["reindex", "tenants_to_reindex"]


@translate_errors
def tenants_to_reindex(tenant: str | None = None) -> list[str]:
    """Return the tenants that have strategies of an older tokenizer; an operator's view across tenants."""
    rows = Strategy._base_manager.using(router.db_for_write(Strategy)).exclude(
        tokenizer_version=TOKENIZER_VERSION
    )
    chosen = rows if tenant is None else rows.filter(tenant=tenant)
    return sorted(chosen.values_list("tenant", flat=True).distinct())


@translate_errors
def reindex(tenant: str) -> tuple[int, int, int]:
    """Tokenise a tenant's older rows anew, in one transaction.

    Rows that have the same content under the new rules become one, the best, as if it had been saved
    again with the others' values. Returns how many were tokenised, how many went as repeats, and how
    many were left alone because they can't be read.

    Raises:
        StorageFailed: the database failed; nothing of this tenant was changed.
    """
    rows = PortableStrategies(router.db_for_write(Strategy), tenant)
    with transaction.atomic(rows.alias):
        rows.lock()
        readable = dict(_readable(rows.all()))
        keys = {row.id: pk for pk, row in readable.items()}
        first: dict[str, StoredStrategy] = {}
        for row in in_order(readable.values(), now()):
            best = first.get(row.dedup_key)
            first[row.dedup_key] = row if best is None else merge(best, row)
        kept = {row.id for row in first.values()}
        repeats = [pk for pk, row in readable.items() if row.id not in kept]
        rows.remove(repeats)
        rows.rewrite((keys[row.id], row) for row in first.values())
        return len(first), len(repeats), len(rows.all()) - len(first)


def _readable(raws: list[RawStrategy]) -> Iterator[tuple[UUID, StoredStrategy]]:
    for raw in raws:
        try:
            yield raw.id, read_row(raw)
        except ValueError:
            continue
