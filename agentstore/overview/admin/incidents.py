"""The latest incidents: trouble that the stores of strategies survived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentstore.core.admin import tenant_label
from agentstore.overview.admin.kinds import Sight
from agentstore.strategies.admin.incidents import Line
from agentstore.strategies.models import Incident, Strategy

__all__ = ["Trouble", "latest_incidents"]

#: How many incidents the page shows, and how many are read to find them.
LATEST, READ = 10, 40


@dataclass(frozen=True, kw_only=True)
class Trouble(Line):
    """One incident in the table; ``url`` leads to the strategy that it is about, ``list_url`` to its like."""

    list_url: str


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
            label=tenant_label(obj.tenant),
            url=about.get((obj.tenant, obj.strategy_id), ""),
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
