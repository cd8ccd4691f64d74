"""What a query finds: match, rank, dedup, limit and budget, and why something is not found.

Pure Python: a store hands over rows that may match (more than those that do, if it likes), and
the decision is made here, the same for every store.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from agentstore.strategies import ranking
from agentstore.strategies.terms import Query, dedup_key
from agentstore.strategies.values import (
    Arm,
    Explanation,
    FindResult,
    MatchRules,
    NotFoundBecause,
    StoredStrategy,
    StrategyMatch,
    StrategyRow,
)

__all__ = ["explain", "matched_arm", "select", "show", "within_budget"]

_AS_DOCUMENTED = MatchRules()


def matched_arm(query: Query, row: StoredStrategy, rules: MatchRules = _AS_DOCUMENTED) -> Arm | None:
    """Return how ``query`` matches ``row``: with all its terms, with its words alone, or not."""
    return _arm(query, row) if _unmet(query, row, rules) is None else None


def select(
    query: Query,
    rows: Iterable[StoredStrategy],
    *,
    tenant: str,
    limit: int | float,
    now: datetime,
    rules: MatchRules = _AS_DOCUMENTED,
    budget: int | None = None,
) -> FindResult:
    """Return what of ``rows`` the query finds, best first, each content once.

    ``limit`` is as ``resolve_find_limit`` gives it. With a ``budget`` the result ends before the
    first match whose strategy text does not fit any more.
    """
    if not query.required:
        return FindResult(empty_because="no_terms")
    if not limit:
        return FindResult()
    found = [row for row in rows if matched_arm(query, row, rules)]
    kept = _distinct(ranking.in_order(found, now), limit)
    if not kept:
        return FindResult(empty_because="no_match")
    fitting = within_budget([row.strategy for row in kept], budget)
    matches = [_match(query, row, tenant, now) for row in kept[:fitting]]
    return FindResult(matches=matches, left_out=len(kept) - fitting)


def explain(
    query: Query,
    row: StoredStrategy,
    *,
    now: datetime,
    rules: MatchRules = _AS_DOCUMENTED,
) -> Explanation:
    """Return why ``query`` finds ``row``, or which terms it lacks."""
    because = _unmet(query, row, rules)
    return Explanation(
        id=row.id,
        arm=_arm(query, row) if because is None else None,
        because=because,
        present_terms=tuple(term for term in query.every if term in row.terms),
        missing_terms=tuple(term for term in query.words or query.grams if term not in row.terms),
        ignored_terms=tuple(term for term in query.grams if term not in row.terms) if query.words else (),
        score=ranking.score(row.confidence, row.ts, now),
    )


def show(row: StoredStrategy, *, tenant: str, now: datetime) -> StrategyRow:
    """Return ``row`` as a store shows it."""
    return StrategyRow(
        tenant=tenant,
        id=row.id,
        problem=row.problem,
        strategy=row.strategy,
        confidence=row.confidence,
        ts=row.ts,
        teacher_model=row.teacher_model,
        signature=row.signature,
        origin=row.origin,
        score=ranking.score(row.confidence, row.ts, now),
    )


def within_budget(texts: Iterable[str], budget: int | None) -> int:
    """Return how many of ``texts``, from the first on, have at most ``budget`` bytes together."""
    count = used = 0
    for text in texts:
        used += len(text.encode("utf-8", "surrogatepass"))
        if budget is not None and used > budget:
            break
        count += 1
    return count


def _arm(query: Query, row: StoredStrategy) -> Arm:
    return "full" if row.terms.issuperset(query.grams) else "alnum"


def _unmet(query: Query, row: StoredStrategy, rules: MatchRules) -> NotFoundBecause | None:
    if not query.required:
        return "no_terms"
    if not row.terms >= query.required:
        return "missing_terms"
    matched = len(query.every) if _arm(query, row) == "full" else len(query.words)
    if matched < rules.min_terms:
        return "min_terms"
    # A match has a significant term in common with the problem, so term_count is at least 1.
    return "min_overlap" if matched / max(row.term_count, 1) < rules.min_overlap else None


def _distinct(ordered: Iterable[StoredStrategy], limit: int | float) -> list[StoredStrategy]:
    """Return the first of each content, up to ``limit``; by the text, whatever key is stored."""
    first: dict[str, StoredStrategy] = {}
    for row in ordered:
        if len(first) >= limit:
            break
        first.setdefault(dedup_key(row.problem, row.strategy), row)
    return list(first.values())


def _match(query: Query, row: StoredStrategy, tenant: str, now: datetime) -> StrategyMatch:
    arm = _arm(query, row)
    shown = show(row, tenant=tenant, now=now)
    return StrategyMatch(
        **{name: getattr(shown, name) for name in StrategyRow.__slots__},
        arm=arm,
        matched_terms=query.every if arm == "full" else query.words,
    )
