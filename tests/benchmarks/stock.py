"""A file model as one writes it with stock simple-history: what file writes are held against."""

from __future__ import annotations

from django.db import models
from simple_history.models import HistoricalRecords

__all__ = ["StockFile"]


class StockFile(models.Model):
    """A file with the same facts as an agent file, saved through the ORM."""

    tenant = models.CharField(max_length=255)
    agent = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    content = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)
    actor = models.CharField(max_length=255, blank=True)
    reason = models.TextField(blank=True)

    history = HistoricalRecords(user_db_constraint=False)  # this app has no migrations to depend on

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "agent", "name"], name="bench_stock_file_uniq")
        ]

    def __str__(self) -> str:
        return self.name
