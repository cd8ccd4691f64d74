"""What becomes of a save: a new row, a merge with the one that has its content, or a refusal.

Pure Python: it decides for every store, and none of them decides for itself.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime

from agentstore.core.errors import AlreadyExists
from agentstore.strategies import terms
from agentstore.strategies.values import Entry, SaveResult, SaveStatus, StoredStrategy

__all__ = ["admit", "derive", "merge", "result"]


def derive(entry: Entry) -> StoredStrategy:
    """Return ``entry`` with what follows from its text: terms, their count and the dedup key."""
    found = terms.analyse_query(entry.problem)
    return StoredStrategy(
        **{name: getattr(entry, name) for name in Entry.__slots__},
        terms=found.indexed,
        term_count=len(found.every),
        dedup_key=terms.dedup_key(entry.problem, entry.strategy),
    )


def admit(
    new: StoredStrategy, *, same_content: StoredStrategy | None, same_id: StoredStrategy | None
) -> StoredStrategy:
    """Return the row to store, given the stored rows that have the new one's content and its id.

    Raises:
        AlreadyExists: the id belongs to other content, and the content is not stored yet.
    """
    if same_content is not None:
        return merge(same_content, new)
    if same_id is not None:
        raise AlreadyExists(
            f"Strategy {new.id} exists with other content.",
            hint="Leave the id out, use another one, or delete the stored strategy first.",
        )
    return new


def merge(stored: StoredStrategy, new: StoredStrategy) -> StoredStrategy:
    """Return what stays of two saves of the same content.

    The stored id and origin; the higher confidence and the later time; the text, teacher model and
    signature of the later save (of equally late ones, the greater). But for id and origin it does
    not matter which of the two came first.
    """
    later = max(stored, new, key=_recency)
    confidence = max(stored.confidence, new.confidence)
    return dataclasses.replace(later, id=stored.id, origin=stored.origin, confidence=confidence)


def _recency(row: StoredStrategy) -> tuple[datetime, tuple[tuple[bool, str], ...]]:
    texts = (row.problem, row.strategy, row.teacher_model, row.signature)
    return row.ts, tuple((text is not None, text or "") for text in texts)


def result(id: str, *, merged: bool, gone: list[str]) -> SaveResult:
    """Return what a save says: ``id`` is that of the row it stored, ``gone`` those over the cap."""
    status: SaveStatus = "not_kept" if id in gone else "merged" if merged else "created"
    return SaveResult(status=status, id=id, evicted_ids=[other for other in gone if other != id])
