"""How a list of strategies is paged: in rank order, by position, with an opaque cursor. Pure Python."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import NoReturn

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.strategies import ranking
from agentstore.strategies.ranking import Key
from agentstore.strategies.values import StoredStrategy

__all__ = ["DEFAULT_PAGE", "MAX_PAGE", "page", "read_cursor", "resolve_page_limit", "write_cursor"]

DEFAULT_PAGE = 25
MAX_PAGE = 100


def resolve_page_limit(limit: object) -> int:
    """Return how many rows a page has: 1 to 100, an int beyond that is brought there.

    Raises:
        ValidationFailed: it is not an int.
    """
    if isinstance(limit, bool) or not isinstance(limit, int):
        guards.refuse("limit", f"Expected a whole number, found {limit!r:.100}.")
    return max(1, min(limit, MAX_PAGE))


def page(
    rows: Iterable[StoredStrategy], *, after: Key | None, limit: int, now: datetime
) -> tuple[list[StoredStrategy], Key | None]:
    """Return the ``limit`` rows behind ``after`` in rank order, and where to go on, if there is more."""
    ordered = ranking.in_order(rows, now)
    if after is not None:
        ordered = [row for row in ordered if ranking.order_key(row, now) > after]
    shown = ordered[:limit]
    return shown, ranking.order_key(shown[-1], now) if len(ordered) > limit else None


def write_cursor(tenant: str, position: Key | None) -> str | None:
    """Return the opaque text of a position in a tenant's list."""
    if position is None:
        return None
    text = json.dumps([_digest(tenant), *position], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(tenant: str, cursor: object) -> Key | None:
    """Return the position that a cursor of this tenant's list stands for.

    Raises:
        ValidationFailed: it is not a cursor, or that of another list.
    """
    if cursor is None:
        return None
    text = guards.check_text(cursor, "cursor")
    try:
        padded = text + "=" * (-len(text) % 4)
        digest, rank, count, age, id_ = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, RecursionError):
        _refuse("This is not a cursor.")
    if digest != _digest(tenant):
        _refuse("The cursor belongs to another list.")
    kinds = (type(rank), type(count), type(age), type(id_))
    if kinds != (float, int, int, str):
        _refuse("This is not a cursor.")
    return (rank, count, age, id_)


def _digest(tenant: str) -> str:
    return hashlib.sha256(tenant.encode()).hexdigest()[:16]


def _refuse(problem: str) -> NoReturn:
    raise ValidationFailed(problem, hint="Leave the cursor out to start again.", errors={"cursor": [problem]})
