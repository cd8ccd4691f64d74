"""Strategies: short lessons that worked, found again by near-exact match and kept under a cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentstore.core.lazy import names_of

if TYPE_CHECKING:
    from agentstore.strategies.entry import shape_issue, validate_for_write
    from agentstore.strategies.memory import InMemoryStrategyStore
    from agentstore.strategies.prompt import render_for_prompt
    from agentstore.strategies.ranking import resolve_capacity_cap, resolve_find_limit, score
    from agentstore.strategies.seed import seed_strategies
    from agentstore.strategies.store import StrategyStore
    from agentstore.strategies.terms import compile_query, dedup_key, normalize_text

__all__ = [
    "InMemoryStrategyStore",
    "StrategyStore",
    "compile_query",
    "dedup_key",
    "normalize_text",
    "render_for_prompt",
    "resolve_capacity_cap",
    "resolve_find_limit",
    "score",
    "seed_strategies",
    "shape_issue",
    "validate_for_write",
]

# Resolved on first use (PEP 562), so that the pure modules import without configured settings.
__getattr__ = names_of(
    __name__,
    {
        "InMemoryStrategyStore": "memory",
        "StrategyStore": "store",
        "compile_query": "terms",
        "dedup_key": "terms",
        "normalize_text": "terms",
        "render_for_prompt": "prompt",
        "resolve_capacity_cap": "ranking",
        "resolve_find_limit": "ranking",
        "score": "ranking",
        "seed_strategies": "seed",
        "shape_issue": "entry",
        "validate_for_write": "entry",
    },
)
