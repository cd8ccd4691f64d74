"""The PostgreSQL back end of strategies: a save is three statements in one transaction.

Not one: eviction has to see the rows of writers that it waited for, and a statement's snapshot is
older than the lock it gets. So the counter is taken first, and the next statement looks anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections

from agentstore.core.guards import dump_json
from agentstore.core.storage import translate_errors
from agentstore.core.values import new_id
from agentstore.strategies.portable import (
    COUNTER,
    TIME,
    Light,
    PortableStrategies,
    RawStrategy,
    values_of,
)
from agentstore.strategies.values import StoredStrategy

__all__ = ["PostgresStrategies"]

LOCK = """
INSERT INTO agentstore_usage AS u (id, tenant, entity, used)
VALUES (%(id)s::uuid, %(tenant)s::text, %(counter)s::text, 0)
ON CONFLICT (tenant, entity) DO UPDATE SET used = u.used
RETURNING u.used
"""

_TS = TIME.format("ts")
_LIGHT = f"""
  SELECT false, id, strategy_id, NULL, NULL, confidence, {_TS}, NULL, NULL, NULL, NULL, term_count, NULL, NULL
  FROM agentstore_strategy WHERE tenant = %(tenant)s::text
"""  # noqa: S608 - the part is a constant

LOOK = f"""
(SELECT true, id, strategy_id, problem, strategy, confidence, {_TS}, teacher_model, signature, origin,
   terms::text, term_count, dedup_key, tokenizer_version
 FROM agentstore_strategy
 WHERE tenant = %(tenant)s::text AND (dedup_key = %(key)s::text OR strategy_id = %(id)s::text))
UNION ALL
({_LIGHT} AND ts <= %(now)s::timestamptz
  ORDER BY rank, term_count DESC, ts, strategy_id COLLATE "C" DESC LIMIT %(over)s::int)
UNION ALL
({_LIGHT} AND %(over)s::int > 0 AND ts > %(now)s::timestamptz)
"""  # noqa: S608 - the parts are constants

INSERT = """
WITH made AS (
  INSERT INTO agentstore_strategy (id, tenant, strategy_id, problem, strategy, confidence, ts, teacher_model,
    signature, origin, terms, term_count, dedup_key, rank, tokenizer_version)
  VALUES (%(pk)s::uuid, %(tenant)s::text, %(strategy_id)s::text, %(problem)s::text, %(strategy)s::text,
    %(confidence)s::float8, %(ts)s::timestamptz, %(teacher_model)s::text, %(signature)s::text,
    %(origin)s::text, %(terms)s::jsonb, %(term_count)s::int, %(dedup_key)s::text, %(rank)s::float8,
    %(tokenizer_version)s::text)
), gone AS (
  DELETE FROM agentstore_strategy WHERE tenant = %(tenant)s::text AND id = ANY (%(gone)s::uuid[])
)
UPDATE agentstore_usage SET used = greatest(used + %(moves)s::int, 0)
WHERE tenant = %(tenant)s::text AND entity = %(counter)s::text
"""


class PostgresStrategies(PortableStrategies):
    """One tenant's strategies; what is not overridden is shared with the portable back end."""

    @translate_errors
    def lock(self) -> int:
        with connections[self.alias].cursor() as cursor:
            cursor.execute(LOCK, {"id": new_id(), "tenant": self.tenant, "counter": COUNTER})
            used: int = cursor.fetchone()[0]
        return used

    @translate_errors
    def look(self, new: StoredStrategy, *, over: int, now: datetime) -> tuple[list[RawStrategy], list[Light]]:
        params: dict[str, Any] = {
            "tenant": self.tenant,
            "key": new.dedup_key,
            "id": new.id,
            "now": now,
            "over": max(over, 0),
        }
        same, lowest = [], []
        with connections[self.alias].cursor() as cursor:
            cursor.execute(LOOK, params)
            for whole, *row in cursor.fetchall():
                raw = RawStrategy._make(row)
                if whole:
                    same.append(raw._replace(terms=json.loads(raw.terms)))
                else:
                    lowest.append(Light.of(raw.id, raw.strategy_id, raw.confidence, raw.ts, raw.term_count))
        return same, lowest

    @translate_errors
    def apply(self, row: StoredStrategy | None, *, pk: UUID | None, gone: Collection[UUID]) -> None:
        if row is None or pk is not None:
            return super().apply(row, pk=pk, gone=gone)
        values = values_of(row)
        params: dict[str, Any] = values | {
            "pk": new_id(),
            "tenant": self.tenant,
            "counter": COUNTER,
            "terms": dump_json(values["terms"]),
            "gone": list(gone),
            "moves": 1 - len(gone),
        }
        with connections[self.alias].cursor() as cursor:
            cursor.execute(INSERT, params)
        return None
