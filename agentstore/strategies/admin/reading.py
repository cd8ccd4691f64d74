"""How the pages read strategies: in a way that no row spoiled by hand breaks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agentstore.core.values import now
from agentstore.strategies.models import Strategy
from agentstore.strategies.portable import Light, PortableStrategies, RawStrategy
from agentstore.strategies.rows import order_of

__all__ = ["ShownRows"]


class ShownRows(PortableStrategies):
    """The strategies of one tenant in a queryset, which may be narrower than the table."""

    def __init__(self, shown: QuerySet[Any], tenant: str) -> None:
        super().__init__(shown.db, tenant)
        self._shown = shown

    def rows(self) -> QuerySet[Strategy]:
        return self._shown.filter(tenant=self.tenant)

    def ranked(self) -> list[Light]:
        """Return what the order depends on, of every strategy, best first."""
        at = now()
        return sorted(self.light(), key=lambda light: order_of(light, now=at))

    def instances(self, pks: Collection[UUID] | None = None) -> list[Strategy]:
        """Return the strategies of these keys, or all of them, as they are stored."""
        rows = self.rows() if pks is None else self.rows().filter(pk__in=list(pks))
        return [self._instance(raw) for raw in self._raw(rows)] if pks is None or pks else []

    def _instance(self, raw: RawStrategy) -> Strategy:
        return Strategy(tenant=self.tenant, **raw._asdict())
