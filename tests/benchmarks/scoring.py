"""How retrieval is scored: cut-offs chosen for a coverage, and how sure a share is. Pure Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, sqrt

__all__ = ["Answer", "Share", "coverage", "cut_off", "judge", "wilson"]

#: Of a normal distribution: 95 % lie within so many standard deviations.
Z = 1.959963984540054


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The first hit of a query: whose intent it has, and how well it fits; None where nothing was hit."""

    intent: str | None
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """So many of so many, and where the true share lies with 95 % confidence."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        return self.part / self.whole if self.whole else 0.0

    def __str__(self) -> str:
        low, high = wilson(self.part, self.whole)
        return f"{self.value:.3f} ({low:.3f}-{high:.3f})"


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the Wilson interval of a share at 95 %; of nothing it is everything from 0 to 1."""
    if not whole:
        return 0.0, 1.0
    share, square = part / whole, Z * Z
    middle = (share + square / (2 * whole)) / (1 + square / whole)
    half = Z * sqrt(share * (1 - share) / whole + square / (4 * whole * whole)) / (1 + square / whole)
    return max(0.0, middle - half), min(1.0, middle + half)


def coverage(scores: Sequence[float], cut: float) -> float:
    """Return the share of ``scores`` that reach ``cut``."""
    return sum(score >= cut for score in scores) / len(scores)


def cut_off(scores: Sequence[float], wanted: float) -> float:
    """Return the score from which on a hit counts, so that the coverage is nearest to ``wanted``.

    Of two that are equally near, the stricter; infinity where no hit at all comes nearest.
    """
    cuts = [inf, *sorted(set(scores), reverse=True)]
    return min(cuts, key=lambda cut: (abs(coverage(scores, cut) - wanted), -cut))


def judge(answers: Iterable[Answer], intents: Iterable[str], cut: float) -> tuple[Share, Share]:
    """Return how many queries were answered, and how many of those with their own intent."""
    pairs = list(zip(answers, intents, strict=True))
    hits = [(answer, intent) for answer, intent in pairs if answer.intent is not None and answer.score >= cut]
    right = sum(answer.intent == intent for answer, intent in hits)
    return Share(part=len(hits), whole=len(pairs)), Share(part=right, whole=len(hits))
