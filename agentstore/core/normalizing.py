"""Unicode's normal forms in time that grows with the text, whatever stands in it. Pure Python."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

__all__ = ["normalized"]

#: So many combining characters in a row may be sorted the slow way. No other character can become
#: one: all of them are no word characters, but for the half-width voiced marks of Katakana.
_LONG = re.compile("[\\W\uff9e\uff9f]{30}")
_FORMS: dict[str, Literal["NFD", "NFKD"]] = {"NFC": "NFD", "NFKC": "NFKD"}


def normalized(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return ``text`` in a normal form.

    Python releases before the fix of gh-149079 sort combining characters in a row by insertion: half
    a megabyte of them, made to harm, takes minutes. Here they come sorted.
    """
    if not text.isascii() and _LONG.search(text):
        text = _sorted(text, _FORMS[form])
    return unicodedata.normalize(form, text)


def _sorted(text: str, form: Literal["NFD", "NFKD"]) -> str:
    """Return ``text`` decomposed, combining characters in their canonical order."""
    chars = text.translate({ord(char): unicodedata.normalize(form, char) for char in set(text)})
    found: list[str] = []
    marks: list[str] = []
    for char in chars:
        if unicodedata.combining(char):
            marks.append(char)
            continue
        if marks:
            found += sorted(marks, key=unicodedata.combining)
            marks = []
        found.append(char)
    return "".join([*found, *sorted(marks, key=unicodedata.combining)])
