"""What every back end needs: which one an alias gets, and database errors as ``StorageFailed``."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import Error, InterfaceError, OperationalError, connections

from agentstore.conf import settings
from agentstore.core.errors import StorageFailed

__all__ = ["single_statements", "translate_errors"]

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
            logger.exception("agentstore: %s failed in the database", operation.__name__)
            retryable = isinstance(error, OperationalError | InterfaceError)
            hint = "Try again later." if retryable else "The cause is in the server's log."
            raise StorageFailed(
                "The database did not carry out the operation.", hint=hint, retryable=retryable
            ) from error

    return guarded


def single_statements(alias: str) -> bool:
    """Return whether the database gets PostgreSQL's single statements rather than the portable back end."""
    return _is_postgresql(alias) and settings.BACKEND == "auto"


@functools.cache
def _is_postgresql(alias: str) -> bool:
    # Asked on every operation; looking up the thread's connection costs more than the rest of it.
    return connections[alias].vendor == "postgresql"
