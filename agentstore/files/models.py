"""Agent files and their versions. The version table is django-simple-history's, pinned and store-written."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.manager import HistoricalQuerySet, HistoryManager
from simple_history.models import HistoricalRecords, registered_models

from agentstore.core.models import StoreModel, StoreQuerySet

__all__ = ["AgentFile", "HistoricalAgentFile"]


class Redaction(StoreModel):
    """What a version says once its text was blanked out; only the store writes versions."""

    store_hint = "FileStore(tenant, agent) writes each version with the change itself"

    redacted_at = models.DateTimeField(null=True)
    redacted_by = models.CharField(max_length=255, blank=True)
    redacted_reason = models.TextField(blank=True)

    class Meta:
        abstract = True


class ReadOnlyHistory(StoreQuerySet[Any], HistoricalQuerySet):  # type: ignore[misc]
    """Reads as simple-history's queryset does; writes are refused."""


class TenantHistoryManager(HistoryManager):  # type: ignore[misc]
    """Versions of one file are looked up with its tenant, as every statement on rows is."""

    def get_queryset(self) -> Any:
        versions = super().get_queryset()
        return versions if self.instance is None else versions.filter(tenant=self.instance.tenant)


class PinnedHistory(HistoricalRecords):  # type: ignore[misc]
    """``HistoricalRecords`` whose table does not depend on the host's settings.

    Otherwise SIMPLE_HISTORY_* and AUTH_USER_MODEL would make migrations inside this package.
    """

    #: Takes the place of a property that reads the host's settings; simple-history has no option for it.
    _date_indexing = False

    def create_history_model(self, model: type[models.Model], inherited: bool) -> type[models.Model]:
        """Return the version table; a host's ``clean_old_history --auto`` and the like pass it by."""
        made: type[models.Model] = super().create_history_model(model, inherited)
        registered_models.pop(model._meta.db_table, None)
        return made

    def post_save(
        self, instance: models.Model, created: bool, using: str | None = None, **kwargs: Any
    ) -> None:
        """Write nothing: the store writes each version with the change itself."""

    def post_delete(self, instance: models.Model, using: str | None = None, **kwargs: Any) -> None:
        """Write nothing, as above."""

    def pre_delete(self, instance: models.Model, **kwargs: Any) -> None:
        """Load nothing, as above."""

    def get_meta_options(self, model: type[models.Model]) -> dict[str, Any]:
        options: dict[str, Any] = super().get_meta_options(model)
        return options | {
            "default_permissions": ("view",),
            "indexes": [
                models.Index(fields=["tenant", "id", "version"], name="agentstore_fileversion_idx"),
                models.Index(fields=["tenant", "agent", "at"], name="agentstore_filechanges_idx"),
            ],
        }


def _user_of(version: Any) -> str | None:
    """``history_user`` is the actor's label: rows have no reference to the user table."""
    label: str | None = version.history_user_id
    return label


def _set_user(version: Any, user: Any) -> None:
    version.history_user_id = None if user is None else f"user:{user}"


class AgentFile(StoreModel):
    """One prompt or memory file of an agent, as it is now.

    A deleted file keeps its row and versions for undelete. Deleted rows without a name remember
    the highest versions of names whose files are gone for good, so that no number ever repeats.
    """

    store_hint = "FileStore(tenant, agent) has write(), delete(), rename(), restore() and undelete()"

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255)
    agent = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    name_key = models.CharField(max_length=765)
    content = models.TextField(blank=True)
    version = models.PositiveIntegerField()
    sha256 = models.CharField("SHA-256", max_length=64)
    size = models.PositiveIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=255, blank=True)
    source = models.CharField(max_length=10)
    reason = models.TextField(blank=True)
    context = models.JSONField()
    restored_from = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    history = PinnedHistory(
        verbose_name="file version",
        verbose_name_plural="file versions",
        bases=[Redaction],
        history_id_field=models.UUIDField(),
        history_change_reason_field=models.TextField(null=True),
        history_user_id_field=models.CharField(max_length=255, null=True),
        history_user_getter=_user_of,
        history_user_setter=_set_user,
        history_manager=TenantHistoryManager,
        historical_queryset=ReadOnlyHistory,
        no_db_index=["id"],
    )

    class Meta:
        verbose_name = _("agent file")
        verbose_name_plural = _("agent files")
        permissions = [
            ("undelete_agentfile", "Can undelete agent file"),
            ("restore_agentfile", "Can restore agent file"),
            ("redact_agentfile", "Can blank out versions of agent file"),
            ("import_agentfile", "Can import agent files"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "agent", "name_key"],
                condition=models.Q(deleted_at__isnull=True),
                name="agentstore_file_name_uniq",
            )
        ]
        indexes = [models.Index(fields=["tenant", "agent", "name_key"], name="agentstore_file_key_idx")]

    def __str__(self) -> str:
        return f"{self.agent}: {self.name}"


HistoricalAgentFile: type[Any] = AgentFile.history.model
