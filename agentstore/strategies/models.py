"""Strategies and incidents as tables. What is derived from a strategy's text is stored beside it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from agentstore.core.models import StoreModel

__all__ = ["Incident", "Strategy"]


class Strategy(StoreModel):
    """A short lesson that worked for a problem; found again by the words of the problem."""

    store_hint = "StrategyStore(tenant) has save(), seed(), prune() and delete()"

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255)
    strategy_id = models.CharField(max_length=64)
    problem = models.TextField()
    strategy = models.TextField()
    confidence = models.FloatField()
    ts = models.DateTimeField()
    teacher_model = models.TextField(null=True, blank=True)  # noqa: DJ001 - absent is not empty
    signature = models.TextField(null=True, blank=True)  # noqa: DJ001 - as above
    origin = models.CharField(max_length=10)
    terms = models.JSONField()
    term_count = models.PositiveIntegerField()
    dedup_key = models.CharField(max_length=80)
    rank = models.FloatField()
    tokenizer_version = models.CharField(max_length=20)

    class Meta:
        verbose_name = _("strategy")
        verbose_name_plural = _("strategies")
        permissions = [
            ("prune_strategy", "Can prune strategies"),
            ("seed_strategy", "Can seed strategies"),
            ("find_strategy", "Can try what is found"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "dedup_key"], name="agentstore_strategy_dedup_uniq"),
            models.UniqueConstraint(fields=["tenant", "strategy_id"], name="agentstore_strategy_id_uniq"),
        ]
        indexes = [
            models.Index(fields=["tenant", "rank"], name="agentstore_strategy_rank_idx"),
            models.Index(fields=["tenant", "ts"], name="agentstore_strategy_ts_idx"),
        ]

    def __str__(self) -> str:
        return self.strategy_id


class Incident(StoreModel):
    """Trouble that a strategy store survived, counted: what happened, and how often."""

    store_hint = "incidents are written by the store that survived them"

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255)
    op = models.CharField(max_length=10)
    strategy_id = models.CharField(max_length=64, blank=True)
    error = models.TextField()
    count = models.PositiveIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        verbose_name = _("incident")
        verbose_name_plural = _("incidents")
        default_permissions = ("view", "delete")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "op", "strategy_id"], name="agentstore_incident_tenant_uniq"
            )
        ]

    def __str__(self) -> str:
        return f"{self.op}: {self.error}"
