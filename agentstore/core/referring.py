"""Foreign keys of a host's to our rows, which keep what they refer to from being removed for good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, models

from agentstore.core.errors import Conflict

__all__ = ["referrers", "removing"]


@contextmanager
def removing(*removed: type[models.Model]) -> Iterator[None]:
    """Say who refers to rows of these models, where a foreign key of the host's keeps them from going.

    Raises:
        Conflict: a row is still referred to; the block's transaction is undone.
    """
    try:
        yield
    except IntegrityError as error:
        who = ", ".join(name for model in removed for name in referrers(model)) or "another table"
        raise Conflict(
            f"Rows that would be removed are still referred to by {who}.",
            hint="Remove or change what refers to them first.",
        ) from error


def referrers(model: type[models.Model]) -> list[str]:
    """Return the host's foreign keys to a model, such as ``shop.Remark.purchase``."""
    relations = model._meta.get_fields(include_hidden=True)
    keys = [found.field for found in relations if isinstance(found, models.ManyToOneRel)]
    return [f"{key.model._meta.label}.{key.name}" for key in keys]
