"""Cursors: where a page ended, signed, and bound to entity, tenant, filter and order."""

from __future__ import annotations

import hashlib
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

__all__ = ["Position", "binding_of", "read_cursor", "write_cursor"]

_SALT = "agentstore.cursor"


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """The last row of a page, by what it was sorted on; ``value`` is None behind the rows with one."""

    value: JSONValue
    created_at: datetime
    updated_at: datetime
    id: UUID


def binding_of(entity: str, tenant: str, clauses: Iterable[Clause], order: Order) -> str:
    """Return what a cursor is bound to, as a short digest."""
    text = guards.dump_json([entity, tenant, fingerprint_of(clauses), str(order)])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def write_cursor(binding: str, position: Position) -> str:
    """Return the opaque text of a position."""
    value: Any = position.value
    if isinstance(value, Decimal):
        value = {"n": str(value)}
    place = [value, position.created_at.isoformat(), position.updated_at.isoformat(), position.id.hex]
    return signing.Signer(salt=_SALT).sign_object([binding, place])


def read_cursor(binding: str, cursor: object) -> Position:
    """Return the position that a cursor stands for.

    Raises:
        ValidationFailed: it is no cursor of this list.
    """
    hint = "Leave the cursor out to start anew; keep filter and order the same from page to page."
    try:
        bound_to, (value, created_at, updated_at, id_) = signing.Signer(salt=_SALT).unsign_object(
            guards.check_text(cursor, "cursor")
        )
    except (signing.BadSignature, ValueError):
        raise ValidationFailed(
            "This is no cursor.", hint=hint, errors={"cursor": ["This is no cursor."]}
        ) from None
    if bound_to != binding:
        problem = "The cursor belongs to another list."
        raise ValidationFailed(problem, hint=hint, errors={"cursor": [problem]})
    return Position(
        value=Decimal(value["n"]) if isinstance(value, dict) else value,
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
        id=UUID(hex=id_),
    )
