"""The portable back end: the ORM inside ``atomic()``, the first statement a write (SQLite's rule)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models.functions import Cast

from agentstore.core.guards import quick_json
from agentstore.core.models import AuditEntry, IdempotencyKey, Usage
from agentstore.core.storage import remove_rows, translate_errors
from agentstore.core.values import HistoryEntry, JSONObject, new_id
from agentstore.entities.backend import FULL_EVERY, Change, Claim, Outcome, PageRequest, RawRow
from agentstore.entities.codec import Document
from agentstore.entities.pages import COLUMNS, as_utc, fetch_rows, live_rows, raw_row, read_page
from agentstore.entities.query import Clause

__all__ = ["PortableRows", "Refused"]


class Refused(Exception):
    """Undoes a block whose outcome is a refusal."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class PortableRows:
    """Rows of one entity and tenant through the ORM; the same on every database."""

    def __init__(self, model: type[models.Model], entity: str, alias: str, tenant: str) -> None:
        self.model, self.entity, self.alias, self.tenant = model, entity, alias, tenant

    def rows(self) -> models.QuerySet[Any]:
        """Return the tenant's rows, deleted ones included."""
        return self.model._base_manager.using(self.alias).filter(tenant=self.tenant)

    def _own(self, model: type[models.Model]) -> models.QuerySet[Any]:
        return model._base_manager.using(self.alias).filter(tenant=self.tenant)

    # --- reads ------------------------------------------------------------------------------

    @translate_errors
    def get(self, id: UUID, *, deleted: bool | None = False) -> RawRow | None:
        found = self.rows().filter(id=id)
        if deleted is not None:
            found = found.filter(deleted_at__isnull=not deleted)
        row = found.annotate(text=Cast("data", models.TextField())).values_list(*COLUMNS).first()
        return None if row is None else raw_row(row)

    @translate_errors
    def page(self, request: PageRequest) -> list[RawRow]:
        return read_page(partial(fetch_rows, self.rows()), request)

    @translate_errors
    def count(self, clauses: Sequence[Clause]) -> int:
        return live_rows(self.rows(), clauses).count()

    @translate_errors
    def used(self) -> int:
        counters = self._own(Usage).filter(entity=self.entity)
        return counters.values_list("used", flat=True).first() or 0

    @translate_errors
    def claimed(self, claim: Claim) -> tuple[str, list[UUID]] | None:
        same = self._own(IdempotencyKey).filter(actor=claim.actor, key=claim.key)
        found = same.values_list("fingerprint", "row_ids").first()
        return None if found is None else (found[0], [UUID(id) for id in found[1]])

    @translate_errors
    def history(self, id: UUID, *, limit: int | None, before: UUID | None) -> list[HistoryEntry]:
        # A delete that waited for an update has the older id and yet came after it.
        made = models.Case(models.When(op__in=["create", "update"], then=0), default=1)
        entries = (
            self._own(AuditEntry).filter(row_id=id).alias(later=made).order_by("-version", "-later", "-id")
        )
        if before is not None:
            version, later = entries.filter(pk=before).values_list("version", made).first() or (0, 0)
            same = models.Q(version=version, later__lt=later) | models.Q(
                version=version, later=later, pk__lt=before
            )
            entries = entries.filter(models.Q(version__lt=version) | same)
        names = ("id", "op", "version", "patch", "actor", "reason", "context", "at")
        return [HistoryEntry(**{**row, "at": as_utc(row["at"])}) for row in entries.values(*names)[:limit]]

    @translate_errors
    def replay(
        self, id: UUID, version: int
    ) -> list[tuple[int, JSONObject | None, JSONObject | None, datetime]]:
        entries = self._own(AuditEntry).filter(
            row_id=id,
            op__in=["create", "update"],
            version__gte=version - version % FULL_EVERY,
            version__lte=version,
        )
        found = entries.order_by("version").values_list("version", "patch", "full", "at")
        return [(number, patch, full, as_utc(at)) for number, patch, full, at in found]

    # --- writes -----------------------------------------------------------------------------

    def _json(self, document: Document | None) -> Any:
        """Return what the ORM is to write for a document: itself, where it writes it well enough."""
        if document is None:
            return None
        if document.text == quick_json(document.value):
            return document.value
        return Cast(models.Value(document.text, models.TextField()), models.JSONField())

    def _atomic(self, work: Callable[[], None]) -> Outcome:
        try:
            with transaction.atomic(self.alias):
                work()
        except Refused as refused:
            return refused.outcome
        return Outcome.DONE

    @translate_errors
    def insert(self, changes: Sequence[Change], limit: int, claim: Claim | None = None) -> Outcome:
        def work() -> None:
            if claim is not None:
                self._claim(claim, changes)
            self._insert(changes, limit)

        return self._atomic(work)

    def _insert(self, changes: Sequence[Change], limit: int) -> None:
        self._take(len(changes), limit)
        self.model._base_manager.using(self.alias).bulk_create(
            [
                self.model(
                    id=change.id,
                    tenant=self.tenant,
                    data=self._json(change.data) or {},
                    version=1,
                    created_at=change.at,
                    updated_at=change.at,
                )
                for change in changes
            ],
            batch_size=500,
        )
        self._audit(changes)

    @translate_errors
    def update(self, change: Change) -> Outcome:
        def work() -> None:
            self._swap(
                change,
                deleted=False,
                data=self._json(change.data) or {},
                version=change.version,
                updated_at=change.at,
            )
            self._audit([change])

        return self._atomic(work)

    @translate_errors
    def delete(self, change: Change) -> int:
        version = 0

        def work() -> None:
            nonlocal version
            self._swap(change, deleted=False, deleted_at=change.at)
            self._give_back()
            version = self.rows().filter(id=change.id).values_list("version", flat=True).get()
            self._audit([change], version=version)

        self._atomic(work)
        return version

    @translate_errors
    def undelete(self, change: Change, limit: int) -> Outcome:
        def work() -> None:
            self._swap(change, deleted=True, deleted_at=None)
            self._take(1, limit)
            self._audit([change])

        return self._atomic(work)

    def _swap(self, change: Change, *, deleted: bool, **values: Any) -> None:
        """Write the row if it is still what the change was decided on; a refusal otherwise."""
        rows = self.rows().filter(id=change.id, deleted_at__isnull=not deleted)
        if change.seen is not None:
            rows = rows.filter(version=change.seen)
        if change.deleted_at is not None:
            rows = rows.filter(deleted_at=change.deleted_at)
        if not rows.update(**values):
            raise Refused(Outcome.STALE)

    def _take(self, places: int, limit: int) -> None:
        counters = self._own(Usage).filter(entity=self.entity)
        room = counters.filter(used__lte=limit - places)
        for _ in range(2):
            if room.update(used=models.F("used") + places):
                return
            first = Usage(id=new_id(), tenant=self.tenant, entity=self.entity, used=0)
            Usage._base_manager.using(self.alias).bulk_create([first], ignore_conflicts=True)
        raise Refused(Outcome.FULL)

    def _give_back(self) -> None:
        # Fixtures and hand-written SQL bypass the counter, so it may be 0 already.
        self._own(Usage).filter(entity=self.entity, used__gt=0).update(used=models.F("used") - 1)

    def _claim(self, claim: Claim, changes: Sequence[Change]) -> None:
        same = self._own(IdempotencyKey).filter(actor=claim.actor, key=claim.key)
        remove_rows(same.filter(created_at__lt=claim.expired_before))
        row = IdempotencyKey(
            id=claim.id,
            tenant=self.tenant,
            actor=claim.actor,
            key=claim.key,
            fingerprint=claim.fingerprint,
            row_ids=[str(change.id) for change in changes],
            created_at=claim.at,
        )
        IdempotencyKey._base_manager.using(self.alias).bulk_create([row], ignore_conflicts=True)
        if not same.filter(id=claim.id).exists():
            raise Refused(Outcome.SEEN)

    def _audit(self, changes: Sequence[Change], *, version: int | None = None) -> None:
        entries = [
            AuditEntry(
                id=change.audit_id,
                tenant=self.tenant,
                entity=self.entity,
                row_id=change.id,
                op=change.op,
                version=version or change.version,
                patch=self._json(change.patch),
                full=self._json(change.data) if change.full else None,
                actor=change.actor,
                reason=change.reason,
                context=change.context,
                at=change.at,
            )
            for change in changes
        ]
        AuditEntry._base_manager.using(self.alias).bulk_create(entries, batch_size=500)
