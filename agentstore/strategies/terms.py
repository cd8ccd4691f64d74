"""How text becomes terms: folding, runs, the stop list, the query's predicate and the dedup key.

Pure Python, and the only place that decides it: every store compares what these functions give.
Each of them raises ``ValidationFailed`` for what is not text. What changes their output for any text
raises ``RULES``, so that stored terms are made anew.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from agentstore.core import guards
from agentstore.core.normalizing import normalized

__all__ = [
    "STOP_VERSION",
    "STOP_WORDS",
    "TOKENIZER_VERSION",
    "Query",
    "Run",
    "analyse_query",
    "compile_query",
    "count_terms",
    "dedup_key",
    "fold",
    "normalize_text",
    "runs",
    "terms",
]

#: Raised by one whenever the rules of ``fold``, ``runs`` or ``terms`` change.
RULES = 1
#: What stored terms were made with; Unicode's own tables change between Python releases.
TOKENIZER_VERSION = f"{RULES}/{unicodedata.unidata_version}"
#: Raised by one whenever ``STOP_WORDS`` changes; stored terms do not depend on it.
STOP_VERSION = 1
#: English function and politeness words, as they are after folding and without apostrophes. No
#: negation, number, direction or quantifier is among them: those change what is asked for.
STOP_WORDS = frozenset(
    """
    a an the this that these those i me my mine myself we us our ours you your yours he him his she her
    hers it its they them their theirs am is are was were be been being do does did doing have has had
    having will would shall should can could may might must of to in on at by for from with into onto and
    or as if then than so too also just very really what which who whom whose when where why how there
    here im ive id ill youre youve lets thats whats hows wheres please pls plz thanks thank hi hello hey
    kindly want need like know tell help ok okay
    """.split()  # noqa: SIM905  # reads better than 118 quoted words
)

# Unicode's Default_Ignorable_Code_Point: invisible, so they must not tell two texts apart.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_APOSTROPHES = frozenset("'\u2018\u2019\u201b\u02bc")
_ASCII_APOSTROPHE = re.compile("(?<=[a-z])'(?=[a-z])")
_ASCII_RUN = re.compile("[a-z0-9]+")

# Scripts written without spaces between words, or (Hangul) with particles glued on: first and last
# code point of each range, in order.
_UNSPACED = (
    *(0x0E01, 0x0E7F),  # Thai
    *(0x0E80, 0x0EFF),  # Lao
    *(0x1000, 0x109F),  # Myanmar
    *(0x1100, 0x11FF),  # Hangul jamo
    *(0x1780, 0x17FF),  # Khmer
    *(0x3005, 0x3007),  # Han iteration mark, closing mark, zero
    *(0x3021, 0x303C),  # Hangzhou numerals, tone and repeat marks
    *(0x3041, 0x30FF),  # Hiragana, Katakana
    *(0x3105, 0x318E),  # Bopomofo, Hangul compatibility jamo
    *(0x31A0, 0x31BF),  # Bopomofo extended
    *(0x31F0, 0x31FF),  # Katakana phonetic extensions
    *(0x3400, 0x4DBF),  # Han extension A
    *(0x4E00, 0x9FFF),  # Han
    *(0xA960, 0xA97F),  # Hangul jamo extended A
    *(0xA9E0, 0xA9FF),  # Myanmar extended B
    *(0xAA60, 0xAA7F),  # Myanmar extended A
    *(0xAC00, 0xD7FF),  # Hangul syllables, jamo extended B
    *(0xF900, 0xFAFF),  # Han compatibility
    *(0x116D0, 0x116FF),  # Myanmar extended C
    *(0x16FE2, 0x16FF6),  # Han iteration and reading marks
    *(0x1AFF0, 0x1B16F),  # Kana extended and supplement
    *(0x20000, 0x3FFFF),  # Han, the supplementary planes
)
# What a character is. Letters and digits make one word; a mark joins whatever run it follows; a
# "character" is a letter of an unspaced script (the digits of those scripts are digits).
_SEPARATOR, _LETTER, _DIGIT, _MARK, _CHARACTER, _WORD = range(6)


class Run(NamedTuple):
    """A stretch of word characters of one class: alphanumeric, or ``unspaced`` (Han, Thai, ...)."""

    text: str
    unspaced: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What of a query counts, in the order of first appearance.

    ``words`` are its significant alphanumeric terms, ``grams`` the bigrams of its unspaced runs
    (a lone character as it is), ``left_out`` its stop words.
    """

    words: tuple[str, ...]
    grams: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def required(self) -> frozenset[str]:
        """The terms that a problem must hold: the words, or the grams where there are no words."""
        return frozenset(self.words or self.grams)

    @property
    def every(self) -> tuple[str, ...]:
        """All terms that count: words, then grams."""
        return self.words + self.grams

    @property
    def indexed(self) -> frozenset[str]:
        """The terms under which the text is found as a problem: all, stop words and characters too."""
        return frozenset((*self.words, *self.left_out, *self.grams, *"".join(self.grams)))


def fold(text: str) -> str:
    """Return ``text`` without the differences that no reader means.

    NFKC, casefold, NFKC, default-ignorables dropped, and composed again where one of those stood
    between a letter and its mark. Diacritics stay. Known misses: ``İ`` keeps its dot; simplified
    and traditional Han, Hiragana and Katakana are different.

    Raises:
        ValidationFailed: it is not text.
    """
    if not isinstance(text, str):
        guards.refuse("text", f"Expected text, found {type(text).__name__}.")
    if text.isascii():
        return text.lower()
    while True:
        folded = normalized("NFKC", normalized("NFKC", text).casefold())
        folded = normalized("NFKC", _IGNORABLE.sub("", folded))
        if folded == text:
            return folded
        text = folded


def runs(text: str) -> list[Run]:
    """Return the runs of letters, digits and marks of ``text``, folded, in order.

    Everything else separates, ``_``, ``-`` and ``.`` too; apostrophes between letters vanish.
    """
    folded = fold(text)
    if folded.isascii():
        return [Run(run, False) for run in _ascii_words(folded)]
    return _scan(folded)


def _ascii_words(folded: str) -> list[str]:
    words: list[str] = _ASCII_RUN.findall(_ASCII_APOSTROPHE.sub("", folded))
    return words


def terms(text: str) -> frozenset[str]:
    """Return the terms under which a problem is found: words, characters and bigrams."""
    return analyse_query(text).indexed


def analyse_query(text: str) -> Query:
    """Return what of ``text`` counts when it is searched for."""
    folded = fold(text)
    words: dict[str, None] = {}
    grams: dict[str, None] = {}
    if folded.isascii():
        words = dict.fromkeys(_ascii_words(folded))
    else:
        for run, unspaced in _scan(folded):
            if unspaced:
                grams.update(dict.fromkeys(_bigrams(run) or [run]))
            else:
                words[run] = None
    return Query(
        words=tuple([word for word in words if word not in STOP_WORDS]),
        grams=tuple(grams),
        left_out=tuple([word for word in words if word in STOP_WORDS]),
    )


def compile_query(text: str) -> frozenset[str] | None:
    """Return the terms that a problem must all hold to match; None where nothing can match.

    Raises:
        ValidationFailed: it is not text.
    """
    return analyse_query(text).required or None


def count_terms(problem: str) -> int:
    """Return how many significant terms a problem has: the fewer, the closer it is to its query."""
    return len(analyse_query(problem).every)


def normalize_text(text: str) -> str:
    """Return ``text`` folded, white space collapsed and stripped; punctuation stays."""
    return " ".join(fold(text).split())


def dedup_key(problem: str, strategy: str) -> str:
    """Return the key that is equal for equal problem and strategy, both normalised."""
    joined = f"{normalize_text(problem)}\0{normalize_text(strategy)}"
    return f"1:{hashlib.sha256(joined.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _bigrams(run: str) -> list[str]:
    return [left + right for left, right in pairwise(run)]


def _scan(folded: str) -> list[Run]:
    found: list[Run] = []
    current: list[str] = []
    running = before = _SEPARATOR  # the class of the run so far; the kind of the character before
    for position, char in enumerate(folded):
        kind = _kind(char)
        if char in _APOSTROPHES:
            if running == _WORD and _inside_word(before, folded[position + 1 : position + 2]):
                continue
            kind = _SEPARATOR
        now = running if kind == _MARK else _WORD if kind in (_LETTER, _DIGIT) else kind
        if now != running:
            _close(found, current, running)
            running = now
        if running != _SEPARATOR:
            current.append(char)
        before = kind
    _close(found, current, running)
    return found


def _inside_word(before: int, after: str) -> bool:
    return before in (_LETTER, _MARK) and after != "" and _kind(after) == _LETTER


def _close(found: list[Run], current: list[str], running: int) -> None:
    if current:
        found.append(Run("".join(current), running == _CHARACTER))
        current.clear()


@lru_cache(maxsize=8192)
def _kind(char: str) -> int:
    category = unicodedata.category(char)
    if category[0] == "M":
        return _MARK
    if category[0] not in "LN":
        return _SEPARATOR
    if category != "Nd" and _is_unspaced(ord(char)):
        return _CHARACTER
    return _LETTER if category[0] == "L" else _DIGIT


def _is_unspaced(code: int) -> bool:
    place = bisect_right(_UNSPACED, code)
    return place % 2 == 1 or (place > 0 and _UNSPACED[place - 1] == code)
