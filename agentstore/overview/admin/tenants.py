"""Which tenants the page is about: all that the user may see, or those that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Max, QuerySet
from django.http import HttpRequest

from agentstore.core.admin import tenant_label
from agentstore.core.models import Usage
from agentstore.files.models import AgentFile
from agentstore.overview.admin.kinds import Sight

__all__ = ["MANY", "SHOWN", "Asked", "Tenants"]

#: How many tenants have a card.
SHOWN = 12
#: Among how many tenants the fullest are looked for; of more, it is those with the most rows.
MANY = 1000


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the address asks for: one tenant, or those that a text fits."""

    tenant: str
    search: str

    @classmethod
    def of(cls, request: HttpRequest) -> Asked:
        """Return what a request asks for."""
        search = " ".join(request.GET.get("q", "").replace("\0", " ").split())[:255]
        return cls(tenant=request.GET.get("tenant", "").replace("\0", ""), search=search)

    def __bool__(self) -> bool:
        return bool(self.tenant or self.search)


class Tenants:
    """The tenants that have something stored, of those that the user may see and asked for."""

    def __init__(self, sight: Sight, asked: Asked) -> None:
        self._sight, self._asked = sight, asked

    @cached_property
    def all(self) -> list[str]:
        """Every one of them, by name, but no more than ``MANY`` and one more."""
        return self._names(lambda rows: rows)

    @property
    def count(self) -> int:
        """How many were asked for; more than ``MANY`` stand for any number."""
        return len(self.found if self._asked else self.all)

    @cached_property
    def found(self) -> list[str]:
        """Those that were asked for; of more than ``MANY``, those with the most rows."""
        asked = self._asked
        if asked.tenant:
            return self._names(lambda rows: rows.filter(tenant=asked.tenant))
        if len(self.all) <= MANY:
            return [name for name in self.all if _fits(name, asked.search)]
        if asked.search:
            return self._names(lambda rows: rows.filter(tenant__icontains=asked.search))
        rows = self._counters().values("tenant").annotate(most=Max("used")).order_by("-most", "tenant")
        return [row["tenant"] for row in rows[:MANY] if self._seen(row["tenant"])]

    def _names(self, narrow: Callable[[QuerySet[Any]], QuerySet[Any]]) -> list[str]:
        tables = [self._counters(), self._files()]
        names: set[str] = set()
        for rows in tables:
            found = narrow(rows).order_by("tenant").values_list("tenant", flat=True).distinct()
            names.update(found[: MANY + 1])
        return [name for name in sorted(names)[: MANY + 1] if self._seen(name)]

    def _seen(self, tenant: str) -> bool:
        return any(self._sight.shows(kind, tenant) for kind in self._sight.kinds)

    def _counters(self) -> QuerySet[Any]:
        return self._sight.rows(Usage).filter(entity__in=[kind.counter for kind in self._sight.kinds])

    def _files(self) -> QuerySet[Any]:
        rows = self._sight.rows(AgentFile).filter(deleted_at__isnull=True)
        return rows if self._sight.files else rows.none()


def _fits(tenant: str, search: str) -> bool:
    wanted = search.casefold()
    return wanted in tenant.casefold() or wanted in tenant_label(tenant).casefold()
