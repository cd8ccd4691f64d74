"""How the pages of strategies write what they show: ages, scores, one line of a table, marked words."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.guards import printable
from agentstore.strategies import entry, ranking, terms

__all__ = ["Line", "age_tag", "age_text", "marked", "number_text", "score_text", "size_text", "words_of"]

#: How many characters of a problem and of a strategy a table shows.
SHOWN = 160
_WORD, _CHARACTER, _JOINER, _OTHER = range(4)


def words_of(error: errors.AgentStoreError) -> str:
    """Return what a page says of a store's refusal."""
    return printable(error.full_message)


def number_text(value: float) -> str:
    """Return a confidence as tables write it: 3, 2.8, 0.75."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def score_text(value: float) -> str:
    """Return a score as tables write it."""
    return f"{value:.3f}"


def size_text(text: str) -> str:
    """Return how many bytes a text takes in a prompt."""
    return f"{len(text.encode('utf-8', 'surrogatepass')):,} B"


def age_text(age: timedelta) -> str:
    """Return an age as tables write it: 12 d, 5 h, 3 min."""
    if age >= timedelta(days=1):
        return _("%s\u00a0d") % f"{age.days:,}"
    if age >= timedelta(hours=1):
        return _("%d\u00a0h") % (age // timedelta(hours=1))
    return _("%d\u00a0min") % max(0, age // timedelta(minutes=1))


def age_tag(moment: datetime, at: datetime) -> SafeString:
    """Return how long ago something was, in a ``<time>`` with the time in its title."""
    utc = moment.astimezone(UTC)
    title = utc.strftime("%Y-%m-%d %H:%M:%S UTC")
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), title, age_text(at - utc))


@dataclass(frozen=True, kw_only=True)
class Line:
    """One strategy in a table; ``obj`` is its row."""

    obj: Any
    rank: int
    url: str
    at: datetime

    @property
    def number(self) -> str:
        """The rank."""
        return f"{self.rank:,}"

    @property
    def problem(self) -> str:
        """The problem, or the beginning of it."""
        return Truncator(printable(str(self.obj.problem))).chars(SHOWN)

    @property
    def strategy(self) -> str:
        """The strategy, or the beginning of it."""
        return Truncator(printable(str(self.obj.strategy))).chars(SHOWN)

    @property
    def score(self) -> str:
        """The score at this moment."""
        sure = self.obj.confidence
        return score_text(ranking.score(sure, self.obj.ts, self.at)) if _is_number(sure) else "–"

    @property
    def confidence(self) -> str:
        """The confidence."""
        sure = self.obj.confidence
        return number_text(sure) if _is_number(sure) else printable(str(sure))

    @property
    def age(self) -> SafeString:
        """How long ago the lesson was learned."""
        return age_tag(self.obj.ts, self.at)

    @property
    def origin(self) -> str:
        """Where it came from, as a word."""
        return {"earned": _("earned"), "seeded": _("seeded")}.get(self.obj.origin, str(self.obj.origin))

    @property
    def issue(self) -> str:
        """Why find skips the row: something that was written around the store; else empty."""
        names = ("problem", "strategy", "confidence", "ts", "teacher_model", "signature", "origin")
        fields = {name: getattr(self.obj, name) for name in names}
        return printable(entry.shape_issue({**fields, "id": self.obj.strategy_id}) or "")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def marked(text: str, wanted: Collection[str]) -> SafeString:
    """Return a text as HTML with the words and characters marked that are among ``wanted`` terms."""
    parts: list[tuple[bool, str]] = []
    for kind, clusters in _groups(printable(text)):
        hits = _hits(kind, clusters, wanted)
        parts += zip(hits, clusters, strict=True)
    html = [
        _html(hit, "".join(part for _, part in same)) for hit, same in groupby(parts, lambda part: part[0])
    ]
    return mark_safe("".join(html))  # noqa: S308 - every part is escaped


def _html(hit: bool, text: str) -> str:
    return f'<mark class="as-hit">{escape(text)}</mark>' if hit else escape(text)


def _hits(kind: int, clusters: list[str], wanted: Collection[str]) -> list[bool]:
    if kind == _WORD:
        found = [run.text for run in terms.runs("".join(clusters))]
        hit = bool(found) and all(word in wanted for word in found)
        return [hit] * len(clusters)
    if kind == _OTHER:
        return [False] * len(clusters)
    hits = [terms.fold(one) in wanted for one in clusters]
    for place, pair in enumerate(zip(clusters, clusters[1:], strict=False)):
        if terms.fold("".join(pair)) in wanted:
            hits[place] = hits[place + 1] = True
    return hits


def _groups(text: str) -> Iterable[tuple[int, list[str]]]:
    """Return the stretches of a text of one kind; marks and apostrophes belong to what they follow."""
    kind, clusters = _OTHER, list[str]()
    for char in text:
        own = _kind(char)
        if own == _JOINER and kind != _OTHER:
            clusters[-1] += char
            continue
        own = _OTHER if own == _JOINER else own
        if own != kind and clusters:
            yield kind, clusters
            clusters = []
        kind = own
        clusters.append(char)
    if clusters:
        yield kind, clusters


@lru_cache(maxsize=8192)
def _kind(char: str) -> int:
    """Return what a character is for the rules of ``terms``, found by asking them."""
    alone = terms.runs(char)
    if alone:
        return _CHARACTER if alone[0].unspaced else _WORD
    return _JOINER if len(terms.runs(f"a{char}b")) == 1 else _OTHER
