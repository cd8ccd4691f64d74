"""Fill entity tables with rows by the million, as the server can make them itself."""

from __future__ import annotations

from agentstore.entities import EntityModel
from tests.benchmarks.database import Raw

__all__ = ["PROJECTS", "fill", "settle", "warm_up"]

#: How many projects the reminders of one tenant are spread over.
PROJECTS = 100

# Ids are UUIDv7 (milliseconds first) in the order of updated_at, as the store makes them.
ROWS = """
INSERT INTO {table} (id, tenant, data, version, created_at, updated_at)
SELECT (lpad(to_hex(1750000000000 + n), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
         || lpad(to_hex({salt}), 15, '0'))::uuid,
  %(tenant)s, jsonb_build_object(
    'text', 'Call the supplier about order ' || n,
    'due_at', CASE WHEN n %% 20 > 0 THEN to_char(
      timestamp '2026-01-01' + n * 7 %% 525600 * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END,
    'done', n %% 2 = 0, 'project', 'project ' || n * 31 %% {projects}, 'priority', n %% 10,
    'tags', jsonb_build_array('tag ' || n %% 7, 'tag ' || n %% 11)),
  1, timestamptz '2025-06-15' + n * interval '1 second', timestamptz '2025-06-15' + n * interval '1 second'
FROM generate_series(1, %(rows)s) AS n
"""
COUNTER = """
INSERT INTO agentstore_usage (id, tenant, entity, used) VALUES (gen_random_uuid(), %s, %s, %s)
"""


def fill(raw: Raw, model: type[EntityModel], tenant: str, rows: int) -> None:
    """Give a tenant that many rows, and the counter that says so."""
    table, salt = model._meta.db_table, abs(hash(tenant)) % 2**31
    sql = ROWS.replace("{table}", table).replace("{salt}", str(salt)).replace("{projects}", str(PROJECTS))
    sql = sql.replace("n % 4096", "n %% 4096")
    raw.connection.execute(sql, {"tenant": tenant, "rows": rows})
    raw.connection.execute(COUNTER, [tenant, model.entity.name, rows])


def warm_up(raw: Raw) -> None:
    """Have the log written over once: the first commits into a new file wait for the file system."""
    raw.connection.execute(
        "CREATE TABLE wal_filler AS SELECT n, n::text AS text FROM generate_series(1, 4000000) AS n"
    )
    raw.connection.execute("DROP TABLE wal_filler")
    for _ in range(2):
        raw.connection.execute("CHECKPOINT")


def settle(raw: Raw, *models: type[EntityModel]) -> None:
    """Vacuum and analyze, as autovacuum would in time, and write out what is still in memory."""
    for table in [model._meta.db_table for model in models] + ["agentstore_usage", "agentstore_auditentry"]:
        raw.connection.execute(f"VACUUM ANALYZE {table}")
    raw.connection.execute("CHECKPOINT")
