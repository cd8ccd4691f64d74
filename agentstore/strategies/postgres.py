"""The PostgreSQL back end of strategies: a save is one statement, or three in one transaction.

The one statement does the plain case: new content under a new id, and room, or a last row that
ranks below the new one beyond any tie. It also has to be sure that nobody else wrote for the
tenant while it waited for the counter, since it still sees the rows of before: every writer
updates the counter, so its row has another ``xmin`` then. (Not its ``ctid``: a row that was waited
for is not always held against that again.) Everything else takes the counter first, looks anew
and does what the rules make of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections

from agentstore.core.guards import dump_json
from agentstore.core.storage import translate_errors
from agentstore.core.values import new_id
from agentstore.strategies import ranking
from agentstore.strategies.portable import (
    COUNTER,
    TIME,
    Light,
    PortableStrategies,
    RawStrategy,
    values_of,
)
from agentstore.strategies.terms import TOKENIZER_VERSION
from agentstore.strategies.values import StoredStrategy

__all__ = ["PostgresStrategies"]

#: The largest capacity that is told to the database; no tenant has so many.
MOST = 2**62

LOCK = """
INSERT INTO agentstore_usage AS u (id, tenant, entity, used)
VALUES (%(id)s::uuid, %(tenant)s::text, %(counter)s::text, 0)
ON CONFLICT (tenant, entity) DO UPDATE SET used = u.used
RETURNING u.used
"""

_COLUMNS = """id, tenant, strategy_id, problem, strategy, confidence, ts, teacher_model, signature, origin,
    terms, term_count, dedup_key, rank, tokenizer_version"""
_VALUES = """%(pk)s::uuid, %(tenant)s::text, %(strategy_id)s::text, %(problem)s::text, %(strategy)s::text,
    %(confidence)s::float8, %(ts)s::timestamptz, %(teacher_model)s::text, %(signature)s::text,
    %(origin)s::text, %(terms)s::jsonb, %(term_count)s::int, %(dedup_key)s::text, %(rank)s::float8,
    %(tokenizer_version)s::text"""

_TS = TIME.format("ts")
_LIGHT = f"""
  SELECT false, id, strategy_id, NULL, NULL, confidence, {_TS}, NULL, NULL, NULL, NULL, term_count, NULL, NULL
  FROM agentstore_strategy WHERE tenant = %(tenant)s::text
"""  # noqa: S608 - the part is a constant

_RAW = f"""id, strategy_id, problem, strategy, confidence, {_TS}, teacher_model, signature, origin,
   terms::text, term_count, dedup_key, tokenizer_version"""

FIND = f"""
SELECT {_RAW} FROM agentstore_strategy
WHERE tenant = %(tenant)s AND (terms @> %(terms)s::jsonb OR tokenizer_version <> %(version)s)
"""  # noqa: S608 - the part is a constant

_SAME = f"""
 SELECT true, {_RAW} FROM agentstore_strategy
 WHERE tenant = %(tenant)s::text AND (dedup_key = %(key)s::text OR strategy_id = %(id)s::text)
"""  # noqa: S608 - the part is a constant

LOOK = f"""
({_SAME})
UNION ALL
({_LIGHT} AND ts <= %(now)s::timestamptz
  ORDER BY rank, term_count DESC, ts, strategy_id COLLATE "C" DESC LIMIT %(over)s::int)
UNION ALL
({_LIGHT} AND %(over)s::int > 0 AND ts > %(now)s::timestamptz)
"""

# Each question goes to an index of its own: as one, with OR, a prepared plan reads all of the tenant's
# rows, and so it does for "any row dated ahead" without an order, which it takes for a third of them.
_OWN = "FROM agentstore_strategy WHERE tenant = %(tenant)s::text"
SAVE = f"""
WITH lowest AS MATERIALIZED (
  SELECT id, strategy_id, rank FROM agentstore_strategy WHERE tenant = %(tenant)s::text
  ORDER BY rank, term_count DESC, ts, strategy_id COLLATE "C" DESC LIMIT 1
), plain AS MATERIALIZED (
  SELECT xmin::text AS mark, used - %(capacity)s::bigint + 1 AS over FROM agentstore_usage
  WHERE tenant = %(tenant)s::text AND entity = %(counter)s::text
    AND NOT EXISTS (SELECT {_OWN} AND dedup_key = %(dedup_key)s::text)
    AND NOT EXISTS (SELECT {_OWN} AND strategy_id = %(strategy_id)s::text)
    AND coalesce((SELECT ts {_OWN} ORDER BY ts DESC LIMIT 1) <= %(now)s::timestamptz, true)
    AND (used < %(capacity)s::bigint OR used = %(capacity)s::bigint
      AND (SELECT rank FROM lowest) < %(clamped)s::float8)
), took AS (
  UPDATE agentstore_usage AS u SET used = u.used + 1 - greatest(plain.over, 0) FROM plain
  WHERE u.tenant = %(tenant)s::text AND u.entity = %(counter)s::text AND u.xmin::text = plain.mark
  RETURNING plain.over
), gone AS (
  DELETE FROM agentstore_strategy
  WHERE tenant = %(tenant)s::text AND id = (SELECT id FROM lowest, took WHERE over = 1)
  RETURNING strategy_id
), made AS (
  INSERT INTO agentstore_strategy ({_COLUMNS})
  SELECT {_VALUES} FROM took
)
SELECT (SELECT strategy_id FROM gone) FROM took
"""  # noqa: S608 - the parts are constants

INSERT = f"""
WITH made AS (
  INSERT INTO agentstore_strategy ({_COLUMNS})
  VALUES ({_VALUES})
), gone AS (
  DELETE FROM agentstore_strategy WHERE tenant = %(tenant)s::text AND id = ANY (%(gone)s::uuid[])
)
UPDATE agentstore_usage SET used = greatest(used + %(moves)s::int, 0)
WHERE tenant = %(tenant)s::text AND entity = %(counter)s::text
"""  # noqa: S608 - the parts are constants


def _raw(row: Sequence[Any]) -> RawStrategy:
    raw = RawStrategy._make(row)
    return raw._replace(terms=json.loads(raw.terms))


class PostgresStrategies(PortableStrategies):
    """One tenant's strategies; what is not overridden is shared with the portable back end."""

    def _having(self, terms: list[str]) -> list[RawStrategy]:
        # Building the query with the ORM takes about as long as PostgreSQL takes to answer it.
        params = {"tenant": self.tenant, "terms": dump_json(terms), "version": TOKENIZER_VERSION}
        with connections[self.alias].cursor() as cursor:
            cursor.execute(FIND, params)
            return [_raw(row) for row in cursor.fetchall()]

    @translate_errors
    def lock(self) -> int:
        with connections[self.alias].cursor() as cursor:
            cursor.execute(LOCK, {"id": new_id(), "tenant": self.tenant, "counter": COUNTER})
            used: int = cursor.fetchone()[0]
        return used

    @translate_errors
    def save(self, row: StoredStrategy, *, capacity: int, now: datetime) -> list[str] | None:
        clamped = ranking.rank(row.confidence, ranking.clamp(row.ts, now))
        params: dict[str, Any] = {"capacity": min(capacity, MOST), "now": now, "clamped": clamped}
        with connections[self.alias].cursor() as cursor:
            cursor.execute(SAVE, self._params_of(row) | params)
            done = cursor.fetchone()
        return None if done is None else [evicted for evicted in done if evicted is not None]

    @translate_errors
    def look(self, new: StoredStrategy, *, over: int, now: datetime) -> tuple[list[RawStrategy], list[Light]]:
        params: dict[str, Any] = {"tenant": self.tenant, "key": new.dedup_key, "id": new.id}
        params |= {"now": now, "over": max(over, 0)}
        same, lowest = [], []
        with connections[self.alias].cursor() as cursor:
            cursor.execute(LOOK, params)
            for whole, *row in cursor.fetchall():
                if whole:
                    same.append(_raw(row))
                else:
                    raw = RawStrategy._make(row)
                    lowest.append(Light.of(raw.id, raw.strategy_id, raw.confidence, raw.ts, raw.term_count))
        return same, lowest

    @translate_errors
    def apply(self, row: StoredStrategy | None, *, pk: UUID | None, gone: Collection[UUID]) -> None:
        if row is None or pk is not None:
            return super().apply(row, pk=pk, gone=gone)
        moves: dict[str, Any] = {"gone": list(gone), "moves": 1 - len(gone)}
        with connections[self.alias].cursor() as cursor:
            cursor.execute(INSERT, self._params_of(row) | moves)
        return None

    def _params_of(self, row: StoredStrategy) -> dict[str, Any]:
        values = values_of(row)
        own: dict[str, Any] = {
            "pk": new_id(),
            "tenant": self.tenant,
            "counter": COUNTER,
            "terms": dump_json(values["terms"]),
        }
        return values | own
