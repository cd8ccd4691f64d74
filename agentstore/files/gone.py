"""What stays of files that are gone: the deleted ones for a while, the numbers they had for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Max

from agentstore.core.storage import remove_rows, translate_errors
from agentstore.core.values import new_id
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.files.rows import MARKER, FileRows

__all__ = ["GoneFiles"]

#: How many names an agent's markers tell apart.
MAX_MARKERS = 200


class GoneFiles(FileRows):
    """Forgets deleted files beyond the limit, and remembers the highest version of every name."""

    def highest(self, key: str) -> int:
        """Return the highest version that other files ever had under this name."""
        rows = AgentFile._base_manager.using(self.alias).filter(
            tenant=self.tenant, agent=self.agent, name_key__in=[key, MARKER], deleted_at__isnull=False
        )
        return rows.aggregate(highest=Max("version"))["highest"] or 0

    @translate_errors
    def forget(self, kept: int) -> None:
        """Remove the deleted files beyond the newest ones, for good."""
        deleted = self.files().filter(deleted_at__isnull=False)
        beyond = list(deleted.order_by("-deleted_at", "-id").values_list("id", flat=True)[kept:])
        gone = self._held(deleted.filter(id__in=beyond)) if beyond else []
        for row in gone:
            self.remember(row.name_key, row.version)
        self._erase([row.id for row in gone])

    def _held(self, rows: models.QuerySet[AgentFile]) -> list[Any]:
        """Lock rows and read their numbers, which stand still only then.

        What another writer holds is left out: it may be bringing the file back, and waiting for us.
        """
        held = rows.select_for_update(skip_locked=True)
        return list(held.values_list("id", "name_key", "version", named=True))

    def _erase(self, ids: Sequence[UUID]) -> None:
        """Remove files with their versions: no signals, no contents loaded."""
        remove_rows(self.files().filter(id__in=ids))
        history = HistoricalAgentFile._base_manager.using(self.alias)
        remove_rows(history.filter(tenant=self.tenant, id__in=ids))

    def _markers(self) -> models.QuerySet[AgentFile]:
        rows = AgentFile._base_manager.using(self.alias).filter(tenant=self.tenant, agent=self.agent)
        return rows.filter(name=MARKER)

    def remember(self, key: str, version: int) -> None:
        """Note the highest version of a name; beyond the newest notes, one stands for all.

        This waits for nobody, who may be waiting for us: where another holds a note, there is one more.
        """
        notes = self._held(self._markers().filter(name_key=key))
        if notes:
            self._merge(notes, version)
        else:
            self._add_marker(key, version)
        old = self._markers().exclude(name_key=MARKER).order_by("-id")
        beyond = list(old.values_list("id", flat=True)[MAX_MARKERS:])
        held = self._held(self._markers().filter(id__in=beyond)) if beyond else []
        if held:
            remove_rows(self._markers().filter(id__in=[row.id for row in held]))
            self.remember(MARKER, max(row.version for row in held))

    def _merge(self, notes: Sequence[Any], version: int) -> None:
        first, *others = notes
        highest = max(version, *(note.version for note in notes))
        self._markers().filter(id=first.id, version__lt=highest).update(version=highest)
        if others:
            remove_rows(self._markers().filter(id__in=[note.id for note in others]))

    def _add_marker(self, key: str, version: int) -> None:
        long_ago = datetime(1970, 1, 1, tzinfo=UTC)
        marker = AgentFile(
            id=new_id(),
            tenant=self.tenant,
            agent=self.agent,
            name=MARKER,
            name_key=key,
            content="",
            version=version,
            sha256="",
            size=0,
            at=long_ago,
            source="python",
            context={},
            created_at=long_ago,
            deleted_at=long_ago,
        )
        AgentFile._base_manager.using(self.alias).bulk_create([marker])
