"""What every back end needs: which one an alias gets, and database errors as ``StorageFailed``."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from django.db import Error, InterfaceError, OperationalError, connections, models, transaction

from agentstore.conf import settings
from agentstore.core.errors import StorageFailed

__all__ = ["atomic", "failed", "planned_anew", "remove_rows", "single_statements", "translate_errors"]

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("agentstore")


def translate_errors(operation: Callable[P, R]) -> Callable[P, R]:
    """Turn the database's errors into ``StorageFailed``; the cause is logged and never shown."""

    @functools.wraps(operation)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return operation(*args, **kwargs)
        except Error as error:
            raise failed(operation.__name__, error) from error

    return guarded


@contextmanager
def atomic(alias: str) -> Iterator[None]:
    """Do what Django's ``atomic`` does; no connection, or a commit that fails, is ``StorageFailed``.

    So is a block that went on after an error which no savepoint could undo, such as a connection that
    was lost: Django would roll back without a word.
    """
    try:
        with transaction.atomic(alias):
            yield
            if connections[alias].needs_rollback:
                raise InterfaceError("an error inside has undone the whole transaction")
    except Error as error:
        raise failed("a transaction", error) from error


def failed(what: str, error: Error) -> StorageFailed:
    """Return the error to raise for one of the database's, which it logs; the next try finds a connection."""
    logger.error("agentstore: %s failed in the database", what, exc_info=error)
    retryable = isinstance(error, OperationalError | InterfaceError)
    if retryable:
        _leave_lost_connections()
    hint = "Try again later." if retryable else "The cause is in the server's log."
    return StorageFailed("The database did not carry out the operation.", hint=hint, retryable=retryable)


def _leave_lost_connections() -> None:
    """Close what can't be used any more: outside of requests, such as in a worker, Django would keep it."""
    for connection in connections.all(initialized_only=True):
        lost = connection.errors_occurred and connection.connection is not None
        if lost and not connection.in_atomic_block and not connection.is_usable():
            connection.close()


@contextmanager
def planned_anew(alias: str) -> Iterator[None]:
    """Have PostgreSQL plan each statement of the block for its own values, prepared or not.

    A plan that is kept takes every tenant for one of average size: for the largest, many ids would
    then be looked for in all that the tenant has, one row after the other.
    """
    if not _is_postgresql(alias):
        yield
        return
    with transaction.atomic(alias):
        with connections[alias].cursor() as cursor:
            cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        yield


def single_statements(alias: str) -> bool:
    """Return whether the database gets PostgreSQL's single statements rather than the portable back end."""
    return _is_postgresql(alias) and settings.BACKEND == "auto"


@functools.cache
def _is_postgresql(alias: str) -> bool:
    # Asked on every operation; looking up the thread's connection costs more than the rest of it.
    return connections[alias].vendor == "postgresql"


def remove_rows(rows: models.QuerySet[Any]) -> int:
    """Remove rows with one DELETE statement and return how many went.

    Django's public ``delete()`` is refused on the stores' tables, and elsewhere it reads every row
    first and sends signals. ``_raw_delete`` is private, so it is called here and nowhere else.
    """
    return rows._raw_delete(rows.db)
