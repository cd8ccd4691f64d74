"""The SQL functions that SQLite lacks, registered on every SQLite connection."""

from __future__ import annotations

import functools
from decimal import Decimal
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from agentstore.core import ordering

__all__ = ["register"]

#: What a number of JSON begins with.
_NUMBERS = frozenset("-0123456789")


def register() -> None:
    """Add the functions to every connection that is open, and to each that opens later."""
    connection_created.connect(_on_connect, dispatch_uid="agentstore.sqlite")
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            _on_connect(sender=type(connection), connection=connection)


def _on_connect(*, sender: object, connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    if connection.vendor == "sqlite":
        create = connection.connection.create_function
        create("AGENTSTORE_CONTAINS", 2, _contains, deterministic=True)
        create("AGENTSTORE_NUMBER", 1, _number, deterministic=True)
        create("AGENTSTORE_FOLD", 1, _fold, deterministic=True)


def _contains(data: str, contained: str) -> bool:
    return ordering.contains(ordering.exact_json(data), _asked(contained))


@functools.lru_cache(maxsize=4)
def _asked(contained: str) -> Any:
    """Return what every row of a statement is held against, parsed once."""
    return ordering.exact_json(contained)


def _number(value: str | None) -> str | None:
    """Return the text that sorts a value of JSON, given as its text, if it is a number."""
    return ordering.number_key(Decimal(value)) if value and value[0] in _NUMBERS else None


def _fold(text: str | None) -> str | None:
    return None if text is None else ordering.fold(text)
