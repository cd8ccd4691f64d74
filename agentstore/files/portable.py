"""The portable back end of files: the ORM inside ``atomic()``, the first statement a write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connections, models, transaction
from django.db.models import F, Sum
from django.db.models.functions import Greatest

from agentstore.core.storage import remove_rows, translate_errors
from agentstore.files.backend import Limits, Refusal, Refused, Stored, Write
from agentstore.files.gone import GoneFiles
from agentstore.files.models import AgentFile, HistoricalAgentFile

__all__ = ["PortableFiles"]

_COPIED = [field.attname for field in AgentFile._meta.concrete_fields]


class PortableFiles(GoneFiles):
    """Writes one agent's files through the ORM; the same on every database."""

    def atomic(self, work: Callable[[], Any]) -> Any:
        """Run ``work`` in a transaction; a refusal inside undoes it and is returned."""
        try:
            with transaction.atomic(self.alias):
                return work()
        except Refused as refused:
            return refused.why

    @translate_errors
    def hold(self, keys: Iterable[str], ids: Iterable[UUID] = ()) -> list[UUID]:
        """Lock live files, and files by id, in one order for all; return the ids of those that are held.

        So who writes several never waits in a circle. A name may go from one file to another while
        this waits; an id does not.
        """
        named = models.Q(name_key__in=list(keys), deleted_at__isnull=True)
        rows = self.files().filter(named | models.Q(id__in=list(ids)))
        if not connections[self.alias].features.has_select_for_update:
            rows.update(version=F("version"))  # the whole database is the lock, and its first write takes it
        return list(rows.order_by("id").select_for_update().values_list("id", flat=True))

    @translate_errors
    def write(self, write: Write) -> Stored | Refusal:
        """Give a live file new content; STALE unless it is at ``seen`` and differs."""

        def work() -> Stored:
            rows = self.live(write.key).filter(name=write.name).exclude(sha256=write.sha256)
            self._change(rows, write, content=write.content, sha256=write.sha256, size=write.size)
            self._check_source(write)
            return self._finish(write, "~")

        result: Stored | Refusal = self.atomic(work)
        return result

    def _change(self, rows: models.QuerySet[AgentFile], write: Write, **values: Any) -> None:
        if write.seen is not None:
            rows = rows.filter(version=write.seen)
        changed = rows.update(
            version=F("version") + 1,
            **_told(write),
            restored_from=write.restored_from,
            **values,
        )
        if not changed:
            raise Refused(Refusal.STALE)

    def _check_source(self, write: Write) -> None:
        """Refuse a text whose version is gone or blanked out, and keep that as it is until this is done.

        Asked for before the file is held, it could be blanked out since: and its text come back.
        """
        if write.source_id is None:
            return
        versions = (
            self.versions(write.source_id).filter(version=write.restored_from).exclude(history_type="-")
        )
        held = versions.select_for_update().values_list("redacted_at", flat=True)
        if list(held) != [None]:
            raise Refused(Refusal.LOST)

    def _finish(self, write: Write, kind: str) -> Stored:
        """Check the room, write the version and trim; the file itself is already changed."""
        row = self.live(write.key).get()
        self._check_room(row, write.limits, joins=kind == "+")
        self._note(row, write.history_id, kind)
        self._trim(row.id, write.at, write.limits)
        return Stored._make(getattr(row, name) for name in Stored._fields)

    def _check_room(self, row: AgentFile, limits: Limits, *, joins: bool) -> None:
        """Refuse a file that joins the live ones, or has grown, where that is too much."""
        total = self.live().aggregate(files=models.Count("id"), bytes=Sum("size"))
        before = self.versions(row.id).order_by("-version").values_list("size", flat=True).first()
        grows = joins or before is None or row.size > before
        if (joins and total["files"] > limits.files) or (grows and total["bytes"] > limits.agent_bytes):
            raise Refused(Refusal.FULL)

    def _note(self, row: AgentFile, history_id: UUID, kind: str) -> None:
        version = HistoricalAgentFile(
            history_id=history_id,
            history_date=row.at,
            history_type=kind,
            history_change_reason=row.reason or None,
            history_user_id=row.actor or None,
            **{name: getattr(row, name) for name in _COPIED},
        )
        HistoricalAgentFile._base_manager.using(self.alias).bulk_create([version])

    def _trim(self, id: UUID, at: datetime, limits: Limits) -> None:
        """Drop versions beyond the newest, but for the last one of each of the past days (UTC)."""
        kept = self.versions(id).exclude(history_type="-").order_by("-version")
        beyond = kept.values_list("version", "at")[limits.versions_kept + 1 :]
        candidates = list(beyond)
        if not candidates:
            return
        keep = self._last_of_days(id, at, limits)
        gone = [version for version, _ in candidates if version not in keep]
        remove_rows(self.versions(id).filter(version__in=gone))

    def _last_of_days(self, id: UUID, at: datetime, limits: Limits) -> set[int]:
        today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - timedelta(days=limits.daily_kept)
        recent = self.versions(id).exclude(history_type="-").filter(at__gte=since, at__lt=today)
        days = dict(
            sorted(
                (moment.astimezone(UTC).date(), version)
                for version, moment in recent.values_list("version", "at")
            )
        )
        return set(days.values())

    @translate_errors
    def create(self, write: Write) -> Stored | Refusal:
        """Insert a new file whose number no file of that name ever had; TAKEN if there is one."""

        def work() -> Stored:
            row = AgentFile(
                id=write.id,
                tenant=self.tenant,
                agent=self.agent,
                name=write.name,
                name_key=write.key,
                content=write.content,
                version=1,
                sha256=write.sha256,
                size=write.size,
                **_told(write),
                restored_from=write.restored_from,
                created_at=write.at,
            )
            AgentFile._base_manager.using(self.alias).bulk_create([row], ignore_conflicts=True)
            mine = self.live(write.key).filter(id=write.id)
            if not mine.exists():
                raise Refused(Refusal.TAKEN)
            self._check_source(write)
            mine.update(version=self.highest(write.key) + 1)
            return self._finish(write, "+")

        result: Stored | Refusal = self.atomic(work)
        return result

    @translate_errors
    def delete(self, write: Write) -> Stored | Refusal:
        """Mark a live file as deleted, and forget the oldest deleted ones beyond the limit."""

        def work() -> Stored:
            rows = self.live(write.key)
            if write.seen is not None:
                rows = rows.filter(version=write.seen)
            changed = rows.update(
                deleted_at=write.at,
                **_told(write),
            )
            if not changed:
                raise Refused(Refusal.STALE)
            row = self.files().filter(name_key=write.key, deleted_at=write.at).order_by("-version")[0]
            self._note(row, write.history_id, "-")
            self.forget(write.limits.deleted_kept)
            return Stored._make(getattr(row, name) for name in Stored._fields)

        result: Stored | Refusal = self.atomic(work)
        return result

    @translate_errors
    def undelete(self, write: Write, id: UUID) -> Stored | Refusal:
        """Bring a deleted file back under a new number; TAKEN if a live file has its name."""

        def work() -> Stored:
            self._take_name(self.files().filter(id=id, deleted_at__isnull=False), deleted_at=None)
            self._raise(id, write)
            return self._finish(write, "+")

        return self._unless_taken(work)

    @translate_errors
    def rename(self, write: Write, old_key: str) -> Stored | Refusal:
        """Give a live file another name and a new number; TAKEN if a live file has that name."""

        def work() -> Stored:
            held = self.hold([old_key, write.key])  # two that swap their names would wait for each other
            rows = self.live(old_key).filter(id__in=held)
            if write.seen is not None:
                rows = rows.filter(version=write.seen)
            self._take_name(rows, name=write.name, name_key=write.key)
            row = self.live(write.key).get()
            if write.key != old_key:
                self.remember(old_key, row.version)
            self._raise(row.id, write)
            return self._finish(write, "~")

        return self._unless_taken(work)

    def _take_name(self, rows: models.QuerySet[AgentFile], **values: Any) -> None:
        """Make one file the live one of a name; only then do the numbers of that name stand still.

        Asked for before, the highest number could be used once more: by a file that another writer
        makes and deletes in between.
        """
        if not rows.update(**values):
            raise Refused(Refusal.STALE)

    def _raise(self, id: UUID, write: Write) -> None:
        """Give the live file a number that no file of its name ever had, and say who changed it."""
        self.files().filter(id=id).update(
            version=Greatest(F("version"), models.Value(self.highest(write.key))) + 1,
            **_told(write),
            restored_from=None,
        )

    def _unless_taken(self, work: Callable[[], Stored]) -> Stored | Refusal:
        try:
            result: Stored | Refusal = self.atomic(work)
        except IntegrityError:  # its savepoint is undone: the caller's block stays usable
            return Refusal.TAKEN
        return result

    @translate_errors
    def redact(self, id: UUID, version: int, *, at: datetime, by: str, reason: str) -> bool:
        """Remove the text of one older version for good; False if there is none.

        Number, time and author stay, and of one that is removed already who removed it.

        A deletion's own row holds the text that was deleted, under the same number.
        """
        rows = self.versions(id).filter(version=version)
        left = rows.filter(redacted_at__isnull=True)
        done = left.update(
            content="", sha256="", size=0, redacted_at=at, redacted_by=by, redacted_reason=reason
        )
        return bool(done) or rows.exists()


def _told(write: Write) -> dict[str, Any]:
    """Return what a row says of its last change: when, who, from where and why."""
    return {name: getattr(write, name) for name in ("at", "actor", "source", "reason", "context")}
