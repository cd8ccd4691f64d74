"""The latest incidents: trouble that the stores of strategies survived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from agentstore.core.admin import tenant_label, time_tag
from agentstore.core.guards import printable
from agentstore.overview.admin.kinds import Sight
from agentstore.strategies.admin.incidents import KINDS
from agentstore.strategies.models import Incident, Strategy

__all__ = ["Trouble", "latest_incidents"]

#: How many incidents the page shows, and how many are read to find them.
LATEST, READ = 10, 40


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One incident in the table; ``row_url`` leads to the strategy that it is about."""

    obj: Incident
    row_url: str
    list_url: str

    @property
    def kind(self) -> str:
        return str(KINDS[self.obj.op][0]) if self.obj.op in KINDS else self.obj.op

    @property
    def label(self) -> str:
        return tenant_label(self.obj.tenant)

    @property
    def error(self) -> str:
        return printable(self.obj.error)

    @property
    def count(self) -> str:
        return f"{self.obj.count:,}"

    @property
    def last(self) -> SafeString:
        return time_tag(self.obj.last_at)


def latest_incidents(sight: Sight, tenants: list[str] | None) -> list[Trouble]:
    """Return the latest incidents that the user may see; ``tenants`` None stands for all."""
    kind = sight.incidents
    if kind is None:
        return []
    rows = sight.rows(Incident).order_by("-last_at", "-pk")
    rows = rows if tenants is None else rows.filter(tenant__in=tenants)
    shown = [obj for obj in rows[:READ] if sight.shows(kind, obj.tenant)][:LATEST]
    about = _strategies(sight, shown)
    return [
        Trouble(
            obj=obj,
            row_url=about.get((obj.tenant, obj.strategy_id), ""),
            list_url=sight.url(kind, "changelist", tenant=obj.tenant, kind=obj.op),
        )
        for obj in shown
    ]


def _strategies(sight: Sight, incidents: list[Incident]) -> dict[tuple[str, str], str]:
    kind, ids = sight.strategies, {obj.strategy_id for obj in incidents} - {""}
    if kind is None or not ids:
        return {}
    tenants = sorted({obj.tenant for obj in incidents})
    rows: Any = sight.rows(Strategy).filter(tenant__in=tenants, strategy_id__in=sorted(ids))
    found = rows.values_list("tenant", "strategy_id", "pk")
    return {(tenant, id): sight.url(kind, "change", pk) for tenant, id, pk in found}
