"""The PostgreSQL back end of files: reading the content, and a write, are one statement each.

A history CTE has two silent traps. An UPDATE that nothing reads may run before what it should
follow: here every part reads ``written``. And an upsert loses versions when two first writes
race: so this only updates, and a missing file goes to ``create``.

A statement does not see the versions of a writer for whom it waited, and could not tell which to trim:
where it has to wait, it leaves the write to the portable back end, whose statements come after the wait.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from django.db import connections

from agentstore.core.guards import dump_json
from agentstore.core.storage import translate_errors
from agentstore.files.backend import Refusal, Stored, Write
from agentstore.files.portable import PortableFiles

__all__ = ["PostgresFiles"]

READ = """
SELECT content FROM agentstore_agentfile
WHERE tenant = %s AND agent = %s AND name_key = %s AND deleted_at IS NULL
"""
#: The largest version that the column holds; a number beyond it is just no file's version.
MAX_INT = 2**31 - 1
WRITE = """
WITH seen AS (
  SELECT f.id, f.version FROM agentstore_agentfile f
  WHERE f.tenant = %(tenant)s::text AND f.agent = %(agent)s::text AND f.name_key = %(key)s::text
    AND f.deleted_at IS NULL AND f.name = %(name)s::text AND f.sha256 <> %(sha256)s::text
    AND f.version = coalesce(%(seen)s::int, f.version)
    AND (%(size)s::int <= f.size OR %(size)s::int + (
      SELECT coalesce(sum(o.size), 0) FROM agentstore_agentfile o
      WHERE o.tenant = %(tenant)s::text AND o.agent = %(agent)s::text AND o.deleted_at IS NULL
        AND o.name_key <> %(key)s::text) <= %(agent_bytes)s::bigint)
), written AS (
  UPDATE agentstore_agentfile f SET content = %(content)s::text, version = f.version + 1,
    sha256 = %(sha256)s::text, size = %(size)s::int, at = %(at)s::timestamptz, actor = %(actor)s::text,
    source = %(source)s::text, reason = %(reason)s::text, context = %(context)s::jsonb,
    restored_from = NULL
  FROM seen s
  WHERE f.tenant = %(tenant)s::text AND f.id = s.id AND f.version = s.version AND f.deleted_at IS NULL
  RETURNING f.id, f.name, f.version, f.created_at
), noted AS (
  INSERT INTO agentstore_historicalagentfile (history_id, history_date, history_type, history_change_reason,
    history_user_id, id, tenant, agent, name, name_key, content, version, sha256, size, at, actor, source,
    reason, context, restored_from, created_at, redacted_by, redacted_reason)
  SELECT %(history_id)s::uuid, %(at)s::timestamptz, '~', nullif(%(reason)s::text, ''),
    nullif(%(actor)s::text, ''), w.id, %(tenant)s::text, %(agent)s::text, w.name, %(key)s::text,
    %(content)s::text, w.version, %(sha256)s::text, %(size)s::int, %(at)s::timestamptz, %(actor)s::text,
    %(source)s::text, %(reason)s::text, %(context)s::jsonb, NULL, w.created_at, '', ''
  FROM written w
), beyond AS (
  SELECT h.id, h.version, h.at FROM written w
  JOIN agentstore_historicalagentfile h ON h.tenant = %(tenant)s::text AND h.id = w.id
  WHERE h.history_type <> '-'
  ORDER BY h.version DESC OFFSET %(versions_kept)s::int
), trimmed AS (
  DELETE FROM agentstore_historicalagentfile h USING beyond b
  WHERE h.tenant = %(tenant)s::text AND h.id = b.id AND h.version = b.version
    AND NOT (b.at >= %(since)s::timestamptz AND b.at < %(today)s::timestamptz AND NOT EXISTS (
      SELECT 1 FROM agentstore_historicalagentfile later
      WHERE later.tenant = %(tenant)s::text AND later.id = h.id AND later.version > b.version
        AND later.history_type <> '-'
        AND (later.at AT TIME ZONE 'UTC')::date = (b.at AT TIME ZONE 'UTC')::date))
)
SELECT s.id, w.version, w.created_at FROM seen s LEFT JOIN written w ON true
"""


class PostgresFiles(PortableFiles):
    """One agent's files; what is not overridden is shared with the portable back end."""

    @translate_errors
    def content(self, key: str) -> str | None:
        with connections[self.alias].cursor() as cursor:
            cursor.execute(READ, [self.tenant, self.agent, key])
            row = cursor.fetchone()
        return None if row is None else str(row[0])

    @translate_errors
    def write(self, write: Write) -> Stored | Refusal:
        if write.restored_from is not None:
            return super().write(write)
        today = write.at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        params: dict[str, Any] = {
            "tenant": self.tenant,
            "agent": self.agent,
            "key": write.key,
            "name": write.name,
            "content": write.content,
            "sha256": write.sha256,
            "size": write.size,
            "at": write.at,
            "actor": write.actor,
            "source": write.source,
            "reason": write.reason,
            "context": dump_json(write.context),
            "seen": None if write.seen is None else max(-1, min(write.seen, MAX_INT)),
            "history_id": write.history_id,
            "agent_bytes": write.limits.agent_bytes,
            "versions_kept": write.limits.versions_kept,
            "today": today,
            "since": today - timedelta(days=write.limits.daily_kept),
        }
        with connections[self.alias].cursor() as cursor:
            cursor.execute(WRITE, params)
            row = cursor.fetchone()
        if row is None:
            return Refusal.STALE
        id, version, created_at = row
        if version is None:  # another has written it first
            return super().write(write)
        return Stored(
            id, write.name, version, write.sha256, write.size, write.at, write.actor, write.source,
            write.reason, write.context, None, created_at, None,
        )  # fmt: skip
