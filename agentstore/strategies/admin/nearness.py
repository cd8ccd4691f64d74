"""Why a strategy is found or not, in words: what it lacks, what comes close, which word to leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import commonprefix

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.strategies.terms import Query
from agentstore.strategies.values import Explanation, StoredStrategy, StrategyMatch

__all__ = ["alike", "because", "found_by", "has_text", "nothing", "words_left_out"]

#: How long a common beginning has to be, and how long the ends may be, for words to look alike.
LEAST, ENDING = 3, 3


def nothing(query: Query, empty_because: str | None) -> str:
    """Return what the page says where nothing was found; empty text where no result was asked for."""
    if empty_because == "no_terms":
        return _("The objective has no word that counts. Add a specific word.")
    if empty_because == "failed":
        return _("Find failed; the agent would get nothing. See incidents.")
    if empty_because != "no_match":
        return ""
    count = len(query.required)
    one, many = (
        _("Nothing found: no strategy has this word."),
        _("Nothing found: no strategy has all %d words."),
    )
    return one if count == 1 else many % count


def found_by(query: Query, match: StrategyMatch) -> str:
    """Return in words what of the objective a match has."""
    count = len(match.matched_terms)
    if match.arm == "full":
        return ngettext("the only word", "all %d words", count) % (() if count == 1 else count)
    if all(word.isascii() for word in match.matched_terms):
        return _("words in Latin letters only")
    return _("words between spaces only")


def has_text(query: Query, told: Explanation) -> str:
    """Return how many of the words that count a strategy has."""
    count = len(query.required)
    return _("%(has)d of %(count)d") % {"has": count - len(told.missing_terms), "count": count}


def because(told: Explanation) -> str:
    """Return why a strategy with all the words is not found; empty text where it lacks some."""
    if told.because == "min_terms":
        return _("has every word, but the objective has fewer words than the settings ask for")
    if told.because == "min_overlap":
        return _("has every word, but its problem has too many others beside them")
    return ""


def alike(missing: Sequence[str], row: StoredStrategy) -> list[str]:
    """Return words of a strategy that differ from missing ones in their endings only."""
    own = [word for word in sorted(row.terms) if len(word) > LEAST]
    found = [next((word for word in own if _differ_in_ending(word, term)), "") for term in missing]
    return [word for word in found if word]


def _differ_in_ending(one: str, other: str) -> bool:
    shared = len(commonprefix([one, other]))
    ends = len(one) - shared, len(other) - shared
    return shared >= max(LEAST, sum(ends)) and max(ends) <= ENDING


def words_left_out(query: Query, told: Iterable[Explanation], most: int) -> list[tuple[str, str, int]]:
    """Return (word, the objective without it, how many more it finds), what finds most first."""
    lacks = Counter(each.missing_terms[0] for each in told if len(each.missing_terms) == 1)
    words = query.words or query.grams
    if len(words) < 2:
        return []
    return [
        (word, " ".join(other for other in query.every if other != word), count)
        for word, count in lacks.most_common(most)
    ]
