"""The PostgreSQL back end: each hot write and ``get`` is one statement, one round trip, one commit.

The SQL of entities lives here and nowhere else. It names its columns (with prepared plans ``*``
breaks for good when another session adds one) and runs on Django's own cursor, so that routers,
instrumentation and error classes stay Django's. A refusal is a count of 0, never an error: a
caller's transaction stays usable.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections

from agentstore.core.guards import dump_json
from agentstore.core.storage import translate_errors
from agentstore.core.values import new_id
from agentstore.entities.backend import Change, Claim, Outcome, PageRequest, RawRow
from agentstore.entities.conditions import ordering
from agentstore.entities.expressions import Condition, render
from agentstore.entities.pages import as_utc, read_page
from agentstore.entities.portable import PortableRows, Refused
from agentstore.entities.query import Order

__all__ = ["PostgresRows"]

#: Rows a statement: beyond it, one statement gains nothing and its parameters grow unwieldy.
CHUNK = 500
#: The most that a counter holds.
MAX_COUNT = 2**31 - 1

# Times come as text: Django's own way of reading them costs more than all the rest of a row.
COLUMNS = "r.id, r.version, r.created_at::text, r.updated_at::text, r.deleted_at::text, r.data::text"
GET = f"SELECT {COLUMNS} FROM {{table}} AS r WHERE r.id = %s AND r.tenant = %s"  # noqa: S608 - constants
_GET = {False: f"{GET} AND r.deleted_at IS NULL", True: f"{GET} AND r.deleted_at IS NOT NULL", None: GET}
PAGE = f"""
SELECT {COLUMNS} FROM {{table}} AS r
WHERE r.tenant = %s AND r.deleted_at IS NULL{{where}} ORDER BY {{keys}} LIMIT {{size}}
"""  # noqa: S608 - constants

# The counter is taken first: its row lock makes the writers of one tenant and entity queue.
COUNTER = """quota AS (
  INSERT INTO agentstore_usage AS u (id, tenant, entity, used)
  VALUES (%(usage_id)s, %(tenant)s::text, %(entity)s::text, %(places)s::int)
  ON CONFLICT (tenant, entity) DO UPDATE SET used = u.used + EXCLUDED.used
  WHERE u.used + EXCLUDED.used <= %(limit)s::bigint
  RETURNING u.id
)"""
MADE = "INSERT INTO {table} (id, tenant, data, version, created_at, updated_at)"
NOTED = """INSERT INTO agentstore_auditentry
  (tenant, entity, op, version, actor, reason, context, at, id, row_id, patch)
SELECT %(tenant)s::text, %(entity)s::text, 'create', 1, %(actor)s::text, %(reason)s::text,
  %(context)s::jsonb, %(at)s::timestamptz"""

INSERT_ONE = f"""
WITH {COUNTER}, made AS (
  {MADE}
  SELECT %(id)s::uuid, %(tenant)s::text, %(data)s::jsonb, 1, %(at)s::timestamptz, %(at)s::timestamptz
  FROM quota
  RETURNING id, data
)
{NOTED}, %(audit_id)s::uuid, id, data FROM made
"""  # noqa: S608 - constants

# An array of documents would be escaped and unescaped character by character; one JSON array is not.
INSERT_MANY = f"""
WITH {COUNTER}, given AS (
  SELECT g.id, g.audit_id, g.data FROM quota, ROWS FROM (
    unnest(%(ids)s::uuid[]), unnest(%(audit_ids)s::uuid[]), jsonb_array_elements(%(data)s::jsonb)
  ) AS g (id, audit_id, data)
), made AS (
  {MADE}
  SELECT id, %(tenant)s::text, data, 1, %(at)s::timestamptz, %(at)s::timestamptz FROM given
)
{NOTED}, audit_id, id, data FROM given
"""  # noqa: S608 - constants

UPDATE = """
WITH changed AS (
  UPDATE {table} SET data = %(data)s::jsonb, version = %(version)s::int, updated_at = %(at)s::timestamptz
  WHERE id = %(id)s::uuid AND tenant = %(tenant)s::text AND version = %(seen)s::int AND deleted_at IS NULL
  RETURNING id
)
INSERT INTO agentstore_auditentry
  (id, tenant, entity, row_id, op, version, patch, "full", actor, reason, context, at)
SELECT %(audit_id)s::uuid, %(tenant)s::text, %(entity)s::text, id, 'update', %(version)s::int,
  %(patch)s::jsonb, %(full)s::jsonb, %(actor)s::text, %(reason)s::text, %(context)s::jsonb,
  %(at)s::timestamptz
FROM changed
"""

DELETE = """
WITH gone AS (
  UPDATE {table} SET deleted_at = %(at)s::timestamptz
  WHERE id = %(id)s::uuid AND tenant = %(tenant)s::text AND deleted_at IS NULL
    AND version = coalesce(%(seen)s::int, version)
  RETURNING id, version
), quota AS (
  UPDATE agentstore_usage SET used = greatest(used - 1, 0) FROM gone
  WHERE agentstore_usage.tenant = %(tenant)s::text AND entity = %(entity)s::text
)
INSERT INTO agentstore_auditentry (id, tenant, entity, row_id, op, version, actor, reason, context, at)
SELECT %(audit_id)s::uuid, %(tenant)s::text, %(entity)s::text, id, 'delete', version,
  %(actor)s::text, %(reason)s::text, %(context)s::jsonb, %(at)s::timestamptz
FROM gone
RETURNING version
"""


def _text(change: Change) -> str:
    return change.data.text if change.data else "{}"


@functools.lru_cache(maxsize=1024)
def _named(sql: str, table: str) -> str:
    return sql.replace("{table}", table if table.startswith('"') else f'"{table}"')


@functools.lru_cache(maxsize=1024)
def _keys(order: Order) -> str:
    return ", ".join(render(key)[0] for key in ordering(order))


def _raw_row(tenant: str, row: tuple[Any, ...]) -> RawRow:
    id, version, created_at, updated_at, deleted_at, text = row
    return RawRow(
        id, tenant, version, _time(created_at), _time(updated_at), deleted_at and _time(deleted_at), text
    )


def _time(text: str) -> datetime:
    return as_utc(datetime.fromisoformat(text))


class PostgresRows(PortableRows):
    """Rows of one entity and tenant; what is not overridden is shared with the portable back end."""

    def _run(self, sql: str, params: Any) -> list[tuple[Any, ...]]:
        """Return the rows that a statement gives."""
        with connections[self.alias].cursor() as cursor:
            cursor.execute(_named(sql, self.model._meta.db_table), params)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def _write(self, sql: str, params: dict[str, Any]) -> int:
        """Return how many changes a statement noted in the audit; 0 is a refusal."""
        with connections[self.alias].cursor() as cursor:
            cursor.execute(_named(sql, self.model._meta.db_table), params)
            count: int = cursor.rowcount
        return count

    @translate_errors
    def get(self, id: UUID, *, deleted: bool | None = False) -> RawRow | None:
        found = self._run(_GET[deleted], (id, self.tenant))
        return _raw_row(self.tenant, found[0]) if found else None

    @translate_errors
    def page(self, request: PageRequest) -> list[RawRow]:
        return read_page(self._fetch, request)

    def _fetch(self, where: Sequence[Condition], order: Order, size: int) -> list[RawRow]:
        parts = [render(condition) for condition in where]
        params = [self.tenant, *(param for _, own in parts for param in own)]
        sql = PAGE.replace("{where}", "".join(f" AND {part}" for part, _ in parts))
        sql = sql.replace("{keys}", _keys(order)).replace("{size}", str(size))
        return [_raw_row(self.tenant, row) for row in self._run(sql, params)]

    @translate_errors
    def insert(self, changes: Sequence[Change], limit: int, claim: Claim | None = None) -> Outcome:
        beyond = len(changes) > limit  # the statement's INSERT arm does not look at the limit
        if claim is None and beyond:
            return Outcome.FULL
        if claim is None and len(changes) <= CHUNK:
            return self._insert_chunk(changes, limit)

        def work() -> None:
            if claim is not None:
                self._claim(claim, changes)
            if beyond:
                raise Refused(Outcome.FULL)
            for start in range(0, len(changes), CHUNK):
                outcome = self._insert_chunk(changes[start : start + CHUNK], limit)
                if outcome is not Outcome.DONE:
                    raise Refused(outcome)

        return self._atomic(work)

    def _insert_chunk(self, changes: Sequence[Change], limit: int) -> Outcome:
        params = self._common(changes[0])
        params |= {"usage_id": new_id(), "places": len(changes), "limit": min(limit, MAX_COUNT)}
        if len(changes) == 1:
            made = self._write(INSERT_ONE, params | {"data": _text(changes[0])})
        else:
            params["ids"] = f"{{{','.join([change.id.hex for change in changes])}}}"
            params["audit_ids"] = f"{{{','.join([change.audit_id.hex for change in changes])}}}"
            params["data"] = f"[{','.join(map(_text, changes))}]"
            made = self._write(INSERT_MANY, params)
        return Outcome.DONE if made else Outcome.FULL

    @translate_errors
    def update(self, change: Change) -> Outcome:
        data = _text(change)
        params = self._common(change) | {
            "data": data,
            "version": change.version,
            "patch": change.patch.text if change.patch else None,
            "full": data if change.full else None,
        }
        return Outcome.DONE if self._write(UPDATE, params) else Outcome.STALE

    @translate_errors
    def delete(self, change: Change) -> int:
        gone = self._run(DELETE, self._common(change))
        return gone[0][0] if gone else 0

    def _common(self, change: Change) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "entity": self.entity,
            "id": change.id,
            "audit_id": change.audit_id,
            "seen": change.seen,
            "actor": change.actor,
            "reason": change.reason,
            "context": dump_json(change.context) if change.context else "{}",
            "at": change.at,
        }
