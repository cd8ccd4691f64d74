"""One agent's rows: what both back ends read, and how."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import models

from agentstore.core.storage import translate_errors
from agentstore.files.backend import Stored, Text
from agentstore.files.models import AgentFile, HistoricalAgentFile

__all__ = ["MARKER", "FileRows"]

#: The name of rows that are no files: each remembers the highest version that files of a name, which
#: are gone for good or have another name now, ever had. The one without a key stands for any name.
MARKER = ""


class FileRows:
    """Reads one agent's files and versions; names the tenant in every statement."""

    def __init__(self, alias: str, tenant: str, agent: str) -> None:
        self.alias, self.tenant, self.agent = alias, tenant, agent

    def files(self) -> models.QuerySet[AgentFile]:
        """Return the agent's files, deleted ones included."""
        rows = AgentFile._base_manager.using(self.alias).filter(tenant=self.tenant, agent=self.agent)
        return rows.exclude(name=MARKER)

    def live(self, key: str | None = None) -> models.QuerySet[AgentFile]:
        """Return the agent's live files, or the one with that key."""
        rows = self.files().filter(deleted_at__isnull=True)
        return rows if key is None else rows.filter(name_key=key)

    def versions(self, id: UUID) -> models.QuerySet[Any]:
        """Return the kept states of one file, the current one and deletions included."""
        rows: models.QuerySet[Any] = HistoricalAgentFile._base_manager.using(self.alias)
        return rows.filter(tenant=self.tenant, id=id)

    @translate_errors
    def find(self, key: str) -> Stored | None:
        """Return the live file of that key."""
        row = self.live(key).values_list(*Stored._fields).first()
        return None if row is None else Stored._make(row)

    @translate_errors
    def read(self, key: str) -> Text | None:
        """Return the content of the live file of that key."""
        row = self.live(key).values_list(*Text._fields).first()
        return None if row is None else Text._make(row)

    @translate_errors
    def content(self, key: str) -> str | None:
        """Return the content of the live file of that key, and nothing else."""
        return self.live(key).values_list("content", flat=True).first()

    @translate_errors
    def all(self) -> list[Stored]:
        """Return every live file."""
        return [Stored._make(row) for row in self.live().values_list(*Stored._fields)]

    @translate_errors
    def fetch(self, rows: models.QuerySet[Any]) -> list[Any]:
        """Run a query, its errors translated."""
        return list(rows)
