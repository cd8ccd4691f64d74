"""The latest changes of all kinds: of rows by the audit, of files by their versions, and lessons saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db import connections
from django.db.models import Q, QuerySet
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from agentstore.core.admin import tenant_label, time_tag
from agentstore.core.guards import printable
from agentstore.core.models import AuditEntry
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.overview.admin.kinds import Kind, Sight
from agentstore.strategies.models import Strategy

__all__ = ["LATEST", "Change", "latest_changes"]

#: How many changes the page shows, and how many of each kind are read to find them.
LATEST, READ = 12, 36


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change in the table; ``why`` is None where reasons are not recorded."""

    at: datetime
    tenant: str
    word: str
    what: str
    url: str
    action: str
    actor: str
    why: str | None

    @property
    def when(self) -> SafeString:
        return time_tag(self.at)

    @property
    def label(self) -> str:
        return tenant_label(self.tenant)


def latest_changes(sight: Sight, tenants: Sequence[str] | None) -> list[Change]:
    """Return the latest changes that the user may see, newest first.

    ``tenants`` are those to look at; None stands for all of them, which are too many to ask for each.
    """
    rows, versions = _audited(sight, tenants), _versions(sight, tenants)
    saves = _saves(sight, tenants)
    found = [("row", each["at"], each) for each in rows]
    found += [("version", each["at"], each) for each in versions]
    found += [("save", each["ts"], each) for each in saves]
    shown = sorted(found, key=lambda each: each[1], reverse=True)[:LATEST]
    of = {name: [row for kind, _at, row in shown if kind == name] for name in ("row", "version", "save")}
    told = [
        *_rows_told(sight, of["row"]),
        *_files_told(sight, of["version"]),
        *_saves_told(sight, of["save"]),
    ]
    return sorted(told, key=lambda change: change.at, reverse=True)


def _newest(rows: QuerySet[Any], parts: Sequence[Q], *order: str) -> list[dict[str, Any]]:
    """Return the first rows of all parts together, each part by its own index where the database can."""
    if not parts:
        return []
    if len(parts) > 1 and connections[rows.db].features.supports_slicing_ordering_in_compound:
        first, *rest = (rows.filter(part).order_by(*order)[:READ] for part in parts)
        return list(first.union(*rest, all=True).order_by())  # none by default either
    return list(rows.filter(reduce(or_, parts)).order_by(*order)[:READ])


# --- rows of entities --------------------------------------------------------------------------


def _audited(sight: Sight, tenants: Sequence[str] | None) -> list[dict[str, Any]]:
    kinds = {kind.counter: kind for kind in sight.entities}
    if not kinds:
        return []
    rows = sight.rows(AuditEntry).values(
        "pk", "tenant", "entity", "row_id", "op", "version", "actor", "reason", "at"
    )
    if tenants is None:  # keys are made in the order of time
        found = _newest(rows, [Q(entity__in=kinds)], "-pk")
    else:
        seen = {name: [key for key, kind in kinds.items() if sight.shows(kind, name)] for name in tenants}
        parts = [Q(tenant=name, entity__in=names) for name, names in seen.items() if names]
        found = _newest(rows, parts, "-at", "-pk")
    return [row for row in found if sight.shows(kinds[row["entity"]], row["tenant"])]


def _rows_told(sight: Sight, entries: Sequence[dict[str, Any]]) -> Iterator[Change]:
    kinds = {kind.counter: kind for kind in sight.entities}
    wanted = defaultdict(list)
    for entry in entries:
        wanted[entry["entity"]].append(entry["row_id"])
    named = {key: sight.rows(kinds[key].model).in_bulk(ids) for key, ids in wanted.items()}
    words = {
        "create": _("created"),
        "update": _("changed"),
        "delete": _("deleted"),
        "undelete": _("undeleted"),
    }
    for entry in entries:
        kind, row = kinds[entry["entity"]], named[entry["entity"]].get(entry["row_id"])
        name = str(entry["row_id"] if row is None else row)
        moved = entry["op"] in ("delete", "undelete")
        yield Change(
            at=entry["at"],
            tenant=entry["tenant"],
            word=kind.word,
            what=name if moved else _versioned(name, entry["version"]),
            url="" if row is None else sight.url(kind, "history", entry["row_id"]),
            action=words.get(entry["op"], entry["op"]),
            actor=entry["actor"],
            why=entry["reason"],
        )


def _versioned(name: str, version: int) -> str:
    return _("%(name)s, version %(version)d") % {"name": name, "version": version}


# --- versions of files -------------------------------------------------------------------------


def _versions(sight: Sight, tenants: Sequence[str] | None) -> list[dict[str, Any]]:
    kind = sight.files
    if kind is None:
        return []
    rows = sight.rows(HistoricalAgentFile).values(
        "pk", "id", "tenant", "agent", "name", "version", "history_type", "at", "actor", "reason",
        "restored_from", "created_at",
    )  # fmt: skip
    found = _newest(rows, _parts(sight, kind, tenants), *(["-pk"] if tenants is None else ["-at", "-pk"]))
    return [row for row in found if sight.shows(kind, row["tenant"])]


def _parts(sight: Sight, kind: Kind, tenants: Sequence[str] | None) -> list[Q]:
    if tenants is None:
        return [Q()]
    return [Q(tenant=name) for name in tenants if sight.shows(kind, name)]


def _files_told(sight: Sight, versions: Sequence[dict[str, Any]]) -> Iterator[Change]:
    kind = sight.files
    if kind is None or not versions:
        return
    ids = {each["id"] for each in versions}
    live = set(sight.rows(AgentFile).filter(pk__in=ids, deleted_at__isnull=True).values_list("pk", flat=True))
    older = _older(sight, ids, {each["tenant"] for each in versions})
    for each in versions:
        before = max((old for old in older[each["id"]] if old[0] < each["version"]), default=None)
        action = _action(each, before)
        yield Change(
            at=each["at"],
            tenant=each["tenant"],
            word=kind.word,
            what=_versioned(f"{each['agent']}: {each['name']}", each["version"]),
            url=_file_url(sight, kind, each, before, live=each["id"] in live),
            action=action,
            actor=each["actor"],
            why=each["reason"],
        )


def _older(sight: Sight, ids: set[Any], tenants: set[str]) -> dict[Any, list[tuple[int, str]]]:
    found: dict[Any, list[tuple[int, str]]] = defaultdict(list)
    # With its tenants, by which they are indexed.
    rows = sight.rows(HistoricalAgentFile).filter(tenant__in=tenants, id__in=ids).exclude(history_type="-")
    for id_, version, name in rows.values_list("id", "version", "name"):
        found[id_].append((version, name))
    return found


def _action(version: dict[str, Any], before: tuple[int, str] | None) -> str:
    if version["history_type"] == "-":
        return _("deleted")
    if version["history_type"] == "+":
        return _("created") if version["created_at"] == version["at"] else _("undeleted")
    if version["restored_from"] is not None:
        return _("restored")
    return _("renamed") if before is not None and before[1] != version["name"] else _("changed")


def _file_url(
    sight: Sight, kind: Kind, version: dict[str, Any], before: tuple[int, str] | None, *, live: bool
) -> str:
    if not live:
        return sight.url(kind, "deleted", version["agent"], tenant=version["tenant"])
    if version["history_type"] == "~" and before is not None:
        return sight.url(kind, "diff", version["id"], **{"from": before[0], "to": version["version"]})
    return sight.url(kind, "versions", version["id"])


# --- strategies --------------------------------------------------------------------------------


def _saves(sight: Sight, tenants: Sequence[str] | None) -> list[dict[str, Any]]:
    kind = sight.strategies
    if kind is None:
        return []
    rows = sight.rows(Strategy).values("pk", "tenant", "problem", "origin", "ts")
    found = _newest(rows, _parts(sight, kind, tenants), "-ts", "-pk")
    return [row for row in found if sight.shows(kind, row["tenant"])]


def _saves_told(sight: Sight, saves: Sequence[dict[str, Any]]) -> Iterator[Change]:
    kind = sight.strategies
    if kind is None:
        return
    for each in saves:
        yield Change(
            at=each["ts"],
            tenant=each["tenant"],
            word=kind.word,
            what=Truncator(printable(str(each["problem"]))).chars(80),
            url=sight.url(kind, "change", each["pk"]),
            action=_("seeded") if each["origin"] == "seeded" else _("saved"),
            actor="",
            why=None,
        )
