"""What every back end needs: database errors become ``StorageFailed``, refusals undo a block."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import Error, InterfaceError, OperationalError

from agentstore.core.errors import StorageFailed

__all__ = ["translate_errors"]

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
