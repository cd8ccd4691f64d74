"""The tables that the capabilities share, and the models' guard against writes around the store."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, TypeVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agentstore.core import errors

__all__ = ["AuditEntry", "IdempotencyKey", "StoreModel", "StoreQuerySet", "Usage"]

M = TypeVar("M", bound=models.Model)


def refuse_bypass(model: type[models.Model], what: str) -> NoReturn:
    """Raise ``BypassRefused`` for a write that would skip validation, quota and audit."""
    door = getattr(model, "store_hint", "its store")
    error = errors.BypassRefused(
        f"{model.__name__}.{what} is refused: it would skip validation, quota and audit.",
        hint=f"Write through the store: {door}.",
    )
    error.add_note(error.hint)  # who meets this error meets it in a traceback
    raise error


class StoreQuerySet(models.QuerySet[M]):
    """Reads as any queryset does; writes are refused, naming the store."""

    def update(self, **kwargs: Any) -> int:
        refuse_bypass(self.model, "objects.update()")

    update.alters_data = True  # type: ignore[attr-defined]

    def delete(self) -> tuple[int, dict[str, int]]:
        refuse_bypass(self.model, "objects.delete()")

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> list[M]:
        refuse_bypass(self.model, "objects.bulk_create()")

    def bulk_update(self, objs: Any, *args: Any, **kwargs: Any) -> int:
        refuse_bypass(self.model, "objects.bulk_update()")

    def create(self, **kwargs: Any) -> M:
        refuse_bypass(self.model, "objects.create()")

    def get_or_create(self, defaults: Any = None, **kwargs: Any) -> tuple[M, bool]:
        refuse_bypass(self.model, "objects.get_or_create()")

    def update_or_create(
        self, defaults: Any = None, create_defaults: Any = None, **kwargs: Any
    ) -> tuple[M, bool]:
        refuse_bypass(self.model, "objects.update_or_create()")

    def for_tenant(self, tenant: str) -> StoreQuerySet[M]:
        """Return the rows of one tenant."""
        return self.filter(tenant=tenant)


class StoreModel(models.Model):
    """A model whose rows only its store writes; ``_base_manager`` and ``loaddata`` stay free."""

    #: What the refusal names: the call to make instead.
    store_hint: ClassVar[str] = "its store"

    objects = StoreQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        refuse_bypass(type(self), "save()")

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        refuse_bypass(type(self), "delete()")


class AuditEntry(StoreModel):
    """One change of one row: what, when, by whom and why. Written with the change itself."""

    store_hint = "audit entries are written with the change they record"

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255)
    entity = models.CharField(max_length=40)
    row_id = models.UUIDField()
    op = models.CharField(max_length=10)
    version = models.PositiveIntegerField()
    patch = models.JSONField(null=True)
    full = models.JSONField(null=True)
    actor = models.CharField(max_length=255, blank=True)
    reason = models.TextField(blank=True)
    context = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        default_permissions = ("view",)
        permissions = [("act_for_tenant", "Can act for another tenant")]
        indexes = [
            models.Index(fields=["tenant", "row_id", "version", "id"], name="agentstore_audit_row_idx"),
            models.Index(fields=["tenant", "at", "id"], name="agentstore_audit_at_idx"),
        ]

    def __str__(self) -> str:
        return f"{self.op} {self.entity} {self.row_id} (version {self.version})"


class Usage(StoreModel):
    """How many live rows of one kind a tenant has: the counter behind every quota."""

    store_hint = "counters move with the rows; agentstore_doctor --repair recounts them"

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255)
    entity = models.CharField(max_length=40)
    used = models.PositiveIntegerField()

    class Meta:
        verbose_name = _("usage counter")
        verbose_name_plural = _("usage counters")
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["tenant", "entity"], name="agentstore_usage_tenant_entity_uniq")
        ]

    def __str__(self) -> str:
        return f"{self.entity}: {self.used}"


class IdempotencyKey(StoreModel):
    """A key that a caller sent with a create, and the rows that the create made."""

    store_hint = "keys are written with the rows that they guard"

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255)
    actor = models.CharField(max_length=255, blank=True)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    row_ids = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = _("idempotency key")
        verbose_name_plural = _("idempotency keys")
        default_permissions = ("view",)
        indexes = [models.Index(fields=["created_at"], name="agentstore_idem_created_idx")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "actor", "key"], name="agentstore_idem_tenant_key_uniq")
        ]

    def __str__(self) -> str:
        return self.key
