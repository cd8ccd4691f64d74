"""What PostgreSQL means to do with the statements of a store: captured as the store runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connections

__all__ = ["explain"]

#: What EXPLAIN takes, and so not SAVEPOINT, SET and their like.
_EXPLAINED = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")


def explain(read: Callable[[], object], *, alias: str = "default") -> list[str]:
    """Return the plan of every statement on rows that ``read`` runs, in order: reads and writes."""
    connection = connections[alias]
    seen: list[tuple[str, Any]] = []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith(_EXPLAINED):
            seen.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        read()
    return [_plan(connection, sql, params) for sql, params in seen]


def _plan(connection: Any, sql: str, params: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (COSTS OFF) {sql}", params)
        return "\n".join(line for (line,) in cursor.fetchall())
