"""The SQL functions that SQLite lacks, registered on every SQLite connection."""

from __future__ import annotations

import functools
import json
from decimal import Decimal
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from agentstore.core import ordering

__all__ = ["register"]


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
        create("AGENTSTORE_NUMBER", 2, _number, deterministic=True)
        create("AGENTSTORE_FOLD", 1, _fold, deterministic=True)


def _contains(data: str, contained: str) -> bool:
    return ordering.contains(ordering.exact_json(data), _asked(contained))


@functools.lru_cache(maxsize=4)
def _asked(contained: str) -> Any:
    """Return what every row of a statement is held against, parsed once."""
    return ordering.exact_json(contained)


def _number(data: str, key: str) -> str | None:
    document = json.loads(data, parse_int=Decimal, parse_float=Decimal)
    value = document.get(key) if isinstance(document, dict) else None
    return ordering.number_key(value) if isinstance(value, Decimal) else None


def _fold(text: str | None) -> str | None:
    return None if text is None else ordering.fold(text)
