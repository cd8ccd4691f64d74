"""The plans that PostgreSQL has for the reads of a large table: which index serves what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentstore.entities.store import EntityStore
from tests.plans import explain

__all__ = ["describe"]


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
    parts = [f"-- {name}\n" + "\n;\n".join(explain(read, alias=store.alias)) for name, read in reads.items()]
    return "\n\nPlans\n\n" + "\n\n".join(parts) + "\n"
