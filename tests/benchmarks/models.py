"""The entities that are measured: one schema, in a small, a large and a growing table."""

from __future__ import annotations

from pydantic import Field

from agentstore.entities import EntityModel, EntitySchema, UTCDateTime
from tests.benchmarks.stock import StockFile

__all__ = ["FewReminders", "ManyReminders", "Reminder", "StockFile"]


class ReminderData(EntitySchema):
    text: str = Field(max_length=2000)
    due_at: UTCDateTime | None = None
    done: bool = False
    project: str = ""
    priority: int = Field(default=0, ge=0, le=9)
    tags: list[str] = []


class _Options:
    indexes = ["due_at", "project"]
    max_rows_per_tenant = 10_000_000


class Reminder(EntityModel):
    """Reminders that are written."""

    Schema = ReminderData

    class Entity(_Options):
        name = "measured_reminders"


class FewReminders(EntityModel):
    """Reminders in a table of 10,000."""

    Schema = ReminderData

    class Entity(_Options):
        name = "few_reminders"


class ManyReminders(EntityModel):
    """Reminders in a large table."""

    Schema = ReminderData

    class Entity(_Options):
        name = "many_reminders"
