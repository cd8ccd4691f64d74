"""Cursors: where a page ended, signed, and bound to entity, tenant, filter and order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core import signing

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONValue
from agentstore.entities.query import Clause, Order, fingerprint_of

__all__ = ["Position", "binding_of", "read_cursor", "refused_cursor", "write_cursor"]

_SALT = "agentstore.cursor"
#: The longest value that a cursor carries, as JSON text: it has to fit into an address.
LONGEST = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """The last row of a page, by what it was sorted on; ``value`` is None behind the rows with one.

    With a ``version``, the value was too long for a cursor: it is the one of that version of the row.
    """

    value: JSONValue
    created_at: datetime
    updated_at: datetime
    id: UUID
    version: int | None = None


def binding_of(entity: str, tenant: str, clauses: Iterable[Clause], order: Order) -> str:
    """Return what a cursor is bound to, as a short digest."""
    text = guards.dump_json([entity, tenant, fingerprint_of(clauses), str(order)])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def write_cursor(binding: str, position: Position, *, version: int) -> str:
    """Return the opaque text of a position, which is that of a row at ``version``."""
    value: Any = position.value
    if isinstance(value, Decimal):
        value = {"n": str(value)}
    if len(json.dumps(value)) > LONGEST:
        value = {"v": version}
    place = [value, position.created_at.isoformat(), position.updated_at.isoformat(), position.id.hex]
    return signing.Signer(salt=_SALT).sign_object([binding, place])


def read_cursor(binding: str, cursor: object) -> Position:
    """Return the position that a cursor stands for.

    Raises:
        ValidationFailed: it is not a cursor of this list.
    """
    try:
        bound_to, (value, created_at, updated_at, id_) = signing.Signer(salt=_SALT).unsign_object(
            guards.check_text(cursor, "cursor")
        )
    except (signing.BadSignature, ValueError):
        raise refused_cursor("This is not a cursor.") from None
    if bound_to != binding:
        raise refused_cursor("The cursor belongs to another list.")
    kept = value if isinstance(value, dict) else {}
    if kept:
        value = Decimal(kept["n"]) if "n" in kept else None
    return Position(
        value=value,
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
        id=UUID(hex=id_),
        version=kept.get("v"),
    )


def refused_cursor(problem: str) -> ValidationFailed:
    """Return the error for a cursor that leads nowhere."""
    hint = "Leave the cursor out to start again; keep filter and order the same from page to page."
    return ValidationFailed(problem, hint=hint, errors={"cursor": [problem]})
