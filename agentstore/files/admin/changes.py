"""What changed in all files of an agent since a time, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.core.admin import time_tag, time_text
from agentstore.core.values import now
from agentstore.files.admin.comparing import LineCounter, lines_text
from agentstore.files.admin.listing import ListingAdmin
from agentstore.files.values import FileChange

__all__ = ["ChangeLine", "ChangesAdmin", "Span", "at_day"]

#: How many changes the table shows; the newest of them.
MOST = 200


@dataclass(frozen=True, kw_only=True)
class Span:
    """The time since which changes are shown, and the words for it."""

    since: datetime
    words: str
    choice: str
    day: str

    @property
    def since_text(self) -> str:
        """The time in the viewer's zone; yesterday is named besides."""
        text = time_text(self.since)
        return _("yesterday, %s") % text if self.choice == "yesterday" else text


@dataclass(frozen=True, kw_only=True)
class ChangeLine:
    """One change in the table."""

    change: FileChange
    when: SafeString
    version: str
    lines: str
    url: str
    file_url: str
    undelete_url: str


def at_day(day: date, clock: time = time.min) -> datetime | None:
    """Return that time in the viewer's zone; None where no such time can be told in UTC."""
    try:
        moment = timezone.make_aware(datetime.combine(day, clock))
        moment.astimezone(timezone.get_fixed_timezone(0))
    except (OverflowError, ValueError):
        return None
    return moment


class ChangesAdmin(ListingAdmin):
    """The changes of an agent's files since a time."""

    def span(self, request: HttpRequest) -> Span:
        """Return the span that the page was asked for: since yesterday, if it was not."""
        choice, day = request.GET.get("since", ""), request.GET.get("date", "")
        moment = now()
        if choice == "24h":
            words = _("What changed in the last 24 hours")
            return Span(since=moment - timedelta(hours=24), words=words, choice=choice, day="")
        if choice == "7d":
            words = _("What changed in the last 7 days")
            return Span(since=moment - timedelta(days=7), words=words, choice=choice, day="")
        since = _date(day) if choice == "date" else None
        if since is not None:
            words = _("What changed since %s") % time_text(since)
            return Span(since=since, words=words, choice=choice, day=day)
        today = timezone.localtime(moment).date()
        yesterday = at_day(today - timedelta(days=1)) or moment - timedelta(hours=24)
        words = _("What changed since yesterday, %s") % time_text(yesterday)
        return Span(since=yesterday, words=words, choice=choice if choice == "date" else "yesterday", day="")

    def change_lines(
        self,
        request: HttpRequest,
        tenant: str,
        agent: str,
        changes: Sequence[FileChange],
        files: Sequence[Any],
    ) -> list[ChangeLine]:
        """Return the newest changes for the table; ``files`` are the agent's, deleted ones included."""
        shown = list(changes[:MOST])
        if not shown:
            return []
        states = self.states(tenant, agent, request).filter(at__gte=shown[-1].at)
        ids = {(name, version): id_ for id_, name, version in states.values_list("id", "name", "version")}
        for obj in files:
            ids.setdefault((obj.name, obj.version), obj.pk)
        known = {obj.pk: obj for obj in files}
        taken = {obj.name_key for obj in files if obj.deleted_at is None}
        texts = self._texts(request, tenant, agent, shown, ids)
        counter, may = LineCounter(), self.allows(request, "undelete", tenant)
        lines = []
        for change in shown:
            obj = known.get(ids.get((change.name, change.version)))
            lines.append(self._line(change, obj, _count(counter, change, texts, ids), taken, may=may))
        return lines

    def _texts(
        self, request: HttpRequest, tenant: str, agent: str, shown: list[FileChange], ids: dict[Any, UUID]
    ) -> dict[tuple[UUID, int], str]:
        """Return the texts that the shown changes went from and to; blanked-out ones are left out."""
        known = [(ids[key], change) for change in shown if (key := (change.name, change.version)) in ids]
        wanted = {(id_, each) for id_, change in known for each in (change.version, change.previous or 0)}
        return self.contents(request, tenant, agent, wanted)

    def _line(
        self, change: FileChange, obj: Any, counted: tuple[int, int] | None, taken: set[str], *, may: bool
    ) -> ChangeLine:
        live = obj is not None and obj.deleted_at is None
        url = ""
        if live and change.op not in ("deleted", "undeleted") and (change.previous or change.op == "created"):
            url = self.file_url(obj, "diff", **{"from": change.previous or 0, "to": change.version})
        gone = obj is not None and not live and change.op == "deleted" and obj.name_key not in taken
        return ChangeLine(
            change=change,
            when=time_tag(change.at),
            version=_version(change),
            lines="–" if counted is None else lines_text(*counted),
            url=url,
            file_url=self.file_url(obj) if live else "",
            undelete_url=self.file_url(obj, "undelete") if gone and may else "",
        )


def _date(text: str) -> datetime | None:
    try:
        return at_day(date.fromisoformat(text))
    except ValueError:
        return None


def _version(change: FileChange) -> str:
    words = {
        "created": _("new, %(new)d"),
        "deleted": _("%(new)d, deleted"),
        "undeleted": _("%(old)s\u00a0→\u00a0%(new)d, undeleted"),
        "restored": _("%(old)s\u00a0→\u00a0%(new)d, restored from %(source)s"),
        "renamed": _("%(old)s\u00a0→\u00a0%(new)d, was %(name)s"),
    }
    text = words.get(change.op, "%(old)s\u00a0→\u00a0%(new)d")
    return text % {
        "old": change.previous or "…",
        "new": change.version,
        "source": change.restored_from,
        "name": change.old_name,
    }


def _count(
    counter: LineCounter, change: FileChange, texts: dict[tuple[UUID, int], str], ids: dict[Any, UUID]
) -> tuple[int, int] | None:
    id_ = ids.get((change.name, change.version))
    new = None if id_ is None else texts.get((id_, change.version))
    if id_ is None or new is None:
        return None
    if change.op == "deleted":
        return counter.count(new, "")
    if change.op == "created":
        return counter.count("", new)
    old = None if change.previous is None else texts.get((id_, change.previous))
    if change.op == "undeleted":
        return counter.count("", new)
    return None if old is None else counter.count(old, new)
