"""The cards: how much each tenant keeps of each kind, and of how much it may."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.conf import settings
from agentstore.core.admin import tenant_label
from agentstore.core.models import Usage
from agentstore.entities.base import EntityModel
from agentstore.files.admin.base import size_text
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.overview.admin.kinds import Kind, Sight
from agentstore.strategies.models import Incident
from agentstore.strategies.store import StrategyStore

__all__ = ["Card", "Line", "cards_of"]

#: From how full on a line says its per cent.
NEARLY = 90
#: From how many of its files on an agent's number of them is told instead of their size.
HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class Line:
    """How full a tenant is of one kind; ``share`` is 1 where it is full."""

    label: str
    url: str
    used: str
    of: str
    share: float
    refuses: bool

    @property
    def tag(self) -> str:
        """A word where there is little room left."""
        if self.share >= 1:
            return _("full")
        percent = int(self.share * 100)
        return _("%d\u00a0%%") % percent if percent >= NEARLY else ""

    @property
    def width(self) -> str:
        """The width of the filled part, as an SVG attribute."""
        return f"{min(100.0, 100 * self.share):.2f}%"

    @property
    def alarming(self) -> bool:
        """Whether writes are refused."""
        return self.share >= 1 and self.refuses


@dataclass(frozen=True, kw_only=True)
class Card:
    """One tenant."""

    tenant: str
    label: str
    lines: Sequence[Line]
    files_text: str = ""
    incidents_text: str = ""
    incidents_url: str = ""


class Held(NamedTuple):
    """The live files of one agent."""

    agent: str
    files: int
    size: int

    @property
    def share(self) -> float:
        """How near the agent is to its limit of bytes, or to that of files where it ``counts``."""
        return self._files if self.counts else _share(self.size, settings.FILE_MAX_AGENT_BYTES)

    @property
    def counts(self) -> bool:
        """Whether the number of files is what will stop the agent: it is the nearer limit, and near."""
        return self._files >= max(HALF, _share(self.size, settings.FILE_MAX_AGENT_BYTES))

    @property
    def _files(self) -> float:
        return _share(self.files, settings.FILE_MAX_FILES)


def cards_of(sight: Sight, tenants: Sequence[str], most: int) -> list[Card]:
    """Return the cards of the fullest of some tenants, the fullest first, at most so many."""
    used, held = _used(sight, tenants), _held(sight, tenants)
    lines = {name: list(_lines(sight, name, used, held[name])) for name in tenants}
    order = sorted(lines, key=lambda name: (-max(line.share for line in lines[name]), name))[:most]
    versions, trouble = _versions(sight, order), _trouble(sight, order)
    return [
        Card(
            tenant=name,
            label=tenant_label(name),
            lines=lines[name],
            files_text=_files_text(held[name], versions.get(name, 0)),
            incidents_text=_incidents_text(trouble.get(name, 0)),
            incidents_url=sight.url(sight.incidents, "changelist", tenant=name) if sight.incidents else "",
        )
        for name in order
    ]


# --- counts ------------------------------------------------------------------------------------


def _used(sight: Sight, tenants: Sequence[str]) -> dict[tuple[str, str], int]:
    names = [kind.counter for kind in sight.kinds if kind.counter]
    rows = sight.rows(Usage).filter(tenant__in=tenants, entity__in=names)
    return {(tenant, name): used for tenant, name, used in rows.values_list("tenant", "entity", "used")}


def _held(sight: Sight, tenants: Sequence[str]) -> dict[str, list[Held]]:
    found: dict[str, list[Held]] = defaultdict(list)
    if sight.files is None:
        return found
    rows = sight.rows(AgentFile).filter(tenant__in=tenants, deleted_at__isnull=True)
    sums = rows.order_by().values("tenant", "agent").annotate(files=Count("pk"), bytes=Sum("size"))
    for row in sums:
        if sight.shows(sight.files, row["tenant"]):
            found[row["tenant"]].append(Held(row["agent"], row["files"], row["bytes"]))
    return found


def _versions(sight: Sight, tenants: Sequence[str]) -> dict[str, int]:
    if sight.files is None:
        return {}
    rows = sight.rows(HistoricalAgentFile).filter(tenant__in=tenants).exclude(history_type="-")
    return _by_tenant(rows)


def _trouble(sight: Sight, tenants: Sequence[str]) -> dict[str, int]:
    kind = sight.incidents
    if kind is None:
        return {}
    seen = [name for name in tenants if sight.shows(kind, name)]
    return _by_tenant(sight.rows(Incident).filter(tenant__in=seen))


def _by_tenant(rows: Any) -> dict[str, int]:
    return dict(rows.order_by().values_list("tenant").annotate(Count("pk")))


# --- lines -------------------------------------------------------------------------------------


def _lines(
    sight: Sight, tenant: str, used: dict[tuple[str, str], int], held: Iterable[Held]
) -> Iterator[Line]:
    for kind in sight.kinds:
        if not sight.shows(kind, tenant):
            continue
        url = sight.url(kind, "changelist", tenant=tenant)
        if kind.counter:
            count, capacity = used.get((tenant, kind.counter), 0), _capacity(kind, tenant)
            yield Line(
                label=kind.plural,
                url=url,
                used=f"{count:,}",
                of=_("of %s") % f"{capacity:,}",
                share=_share(count, capacity),
                refuses=kind is not sight.strategies,
            )
        else:
            yield _file_line(kind, url, max(held, key=lambda each: (each.share, each.agent), default=None))


def _capacity(kind: Kind, tenant: str) -> int:
    if issubclass(kind.model, EntityModel):
        return kind.model.entity.capacity(tenant)
    return StrategyStore(tenant).capacity


def _share(used: int, capacity: int) -> float:
    """Return which part is used; where there is no room at all, it is full."""
    return used / capacity if capacity else 1.0


def _file_line(kind: Kind, url: str, largest: Held | None) -> Line:
    of = _("of %s") % size_text(settings.FILE_MAX_AGENT_BYTES)
    if largest is None:
        return Line(label=kind.plural, url=url, used="0", of=of, share=0, refuses=True)
    used = f"{largest.agent} ≈ {size_text(largest.size)}"
    if largest.counts:
        used, of = f"{largest.agent} {largest.files:,}", _("of %s files") % f"{settings.FILE_MAX_FILES:,}"
    return Line(label=kind.plural, url=url, used=used, of=of, share=largest.share, refuses=True)


def _files_text(held: Sequence[Held], versions: int) -> str:
    if not held:
        return ""
    files = sum(each.files for each in held)
    counts = [
        ngettext("%s agent", "%s agents", len(held)) % f"{len(held):,}",
        ngettext("%s file", "%s files", files) % f"{files:,}",
        ngettext("%s version", "%s versions", versions) % f"{versions:,}",
    ]
    return _("%s. The bar shows the agent nearest to its limit.") % ", ".join(counts)


def _incidents_text(count: int) -> str:
    return ngettext("%s incident", "%s incidents", count) % f"{count:,}" if count else ""
