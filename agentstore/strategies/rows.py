"""How stored rows become what the rules work with, what a spoiled one counts as, what a save comes to."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from agentstore.strategies import entry, merging, ranking
from agentstore.strategies.portable import Light, RawStrategy
from agentstore.strategies.terms import TOKENIZER_VERSION, count_terms, dedup_key, terms
from agentstore.strategies.values import SaveResult, StoredStrategy

__all__ = ["Decision", "decide", "merged_from", "order_of", "read_row"]


def read_row(raw: RawStrategy) -> StoredStrategy:
    """Return a stored row as the rules see it; one of an older tokenizer is tokenised anew.

    Raises:
        ValueError: the row has not the shape of a strategy.
    """
    issue = entry.shape_issue({**raw._asdict(), "id": raw.strategy_id})
    if issue is not None:
        raise ValueError(issue)
    stored = _stored_terms(raw)
    fresh = stored is not None
    own = {name: getattr(raw, name) for name in ("problem", "strategy", "confidence", "ts")}
    return StoredStrategy(
        **own,
        id=raw.strategy_id,
        teacher_model=raw.teacher_model,
        signature=raw.signature,
        origin="seeded" if raw.origin == "seeded" else "earned",
        terms=terms(raw.problem) if stored is None else stored,
        term_count=raw.term_count if fresh else count_terms(raw.problem),
        dedup_key=raw.dedup_key if fresh else dedup_key(raw.problem, raw.strategy),
    )


def _stored_terms(raw: RawStrategy) -> frozenset[str] | None:
    """Return the terms that are stored; None where they are of an older tokenizer, or spoiled."""
    if raw.tokenizer_version != TOKENIZER_VERSION or not isinstance(raw.terms, list):
        return None
    try:
        return frozenset(raw.terms) if isinstance(raw.term_count, int) else None
    except TypeError:  # a list or an object among them
        return None


class Decision(NamedTuple):
    """What a save comes to: the row to store (None if it is itself to go), over which one, and what goes."""

    row: StoredStrategy | None
    pk: UUID | None
    gone: list[UUID]
    result: SaveResult


def decide(
    new: StoredStrategy, raws: list[RawStrategy], lowest: list[Light], *, over: int, at: datetime
) -> Decision:
    """Return what saving ``new`` comes to, given the rows with its content or id and the lowest-ranked.

    ``over`` is how many rows a new one would be over the cap; a merge adds none.

    Raises:
        AlreadyExists: the id belongs to other content, and the content is not stored yet.
    """
    other = next((raw for raw in raws if raw.strategy_id == new.id), None)
    same = next((raw for raw in raws if raw.dedup_key == new.dedup_key), None) or _if_same(other, new)
    row = merging.admit(
        new,
        same_content=None if same is None else merged_from(same, new.id),
        same_id=None if other is None else merged_from(other, new.id),
    )
    pk = None if same is None else same.id
    gone = _lowest_of(row, pk, lowest, over if same is None else over - 1, at)
    kept = all(name != row.id for _, name in gone)
    return Decision(
        row=row if kept else None,
        pk=pk,
        gone=[key for key, _ in gone if key is not None],
        result=merging.result(row.id, merged=same is not None, gone=[name for _, name in gone]),
    )


def _if_same(raw: RawStrategy | None, new: StoredStrategy) -> RawStrategy | None:
    """Return a row with the new one's id if it has its content too, whatever key is stored."""
    if raw is None or not isinstance(raw.problem, str) or not isinstance(raw.strategy, str):
        return None
    return raw if dedup_key(raw.problem, raw.strategy) == new.dedup_key else None


def merged_from(raw: RawStrategy, id: str) -> StoredStrategy:
    """Return a stored row to merge with.

    One spoiled by hand keeps its id, or gets ``id`` where it has none, and loses the rest.
    """
    try:
        return read_row(raw)
    except ValueError:
        nothing = datetime.min.replace(tzinfo=ranking.EPOCH.tzinfo)
        return StoredStrategy(
            id=raw.strategy_id if entry.STRATEGY_ID_RE.fullmatch(str(raw.strategy_id)) else id,
            problem=raw.problem, strategy=raw.strategy, confidence=0.0, ts=nothing, teacher_model=None,
            signature=None, origin="earned", terms=frozenset(), term_count=0, dedup_key=raw.dedup_key,
        )  # fmt: skip


def order_of(light: Light, *, now: datetime) -> ranking.Key:
    ts = ranking.clamp(light.ts, now)
    return ranking.key_of(light.confidence, ts, light.term_count, light.id)


def _lowest_of(
    row: StoredStrategy, pk: UUID | None, lowest: list[Light], over: int, at: datetime
) -> list[tuple[UUID | None, str]]:
    """Return the ``over`` last of the candidates and the row itself, best first."""
    if over <= 0:
        return []
    own = (ranking.order_key(row, at), pk, row.id)
    others = [(order_of(light, now=at), light.pk, light.id) for light in lowest if light.pk != pk]
    ordered = sorted([own, *others], key=lambda item: item[0])
    return [(key, name) for _, key, name in ordered[-over:]]
