"""What PostgreSQL means to do with the statements of a store: captured as the store runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connections

from agentstore.entities.store import EntityStore

__all__ = ["describe", "explain"]


def explain(alias: str, read: Callable[[], object]) -> list[str]:
    """Return the plan of every SELECT that ``read`` runs, in order."""
    connection, seen = connections[alias], []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith("SELECT"):
            seen.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        read()
    return [_plan(connection, sql, params) for sql, params in seen]


def _plan(connection: Any, sql: str, params: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (COSTS OFF) {sql}", params)
        return "\n".join(line for (line,) in cursor.fetchall())


def describe(store: EntityStore[Any]) -> str:
    """Return the plans of filter, range, order and paging on the declared field ``due_at``."""
    page = store.query(order_by="due_at")
    last = store.query({"due_at__isnull": True}, order_by="due_at")
    reads: dict[str, Callable[[], object]] = {
        "equality, newest first": lambda: store.query({"project": "project 7"}),
        "range, in order": lambda: store.query({"due_at__gte": "2026-06-01T00:00:00Z"}, order_by="due_at"),
        "order, ascending": lambda: store.query(order_by="due_at"),
        "order, descending": lambda: store.query(order_by="-due_at"),
        "the page behind a cursor": lambda: store.query(order_by="due_at", cursor=page.next_cursor),
        "the rows without a value": lambda: store.query({"due_at__isnull": True}, order_by="due_at"),
        "a page of them behind a cursor": lambda: store.query(
            {"due_at__isnull": True}, order_by="due_at", cursor=last.next_cursor
        ),
    }
    parts = [f"-- {name}\n" + "\n;\n".join(explain(store.alias, read)) for name, read in reads.items()]
    return "\n\nPlans\n\n" + "\n\n".join(parts) + "\n"
