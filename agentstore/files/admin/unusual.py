"""Characters that a reader does not see, or takes for others: where a file has them, how pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.files.admin.lineends import common_end, lines_of

__all__ = ["Unusual", "unusual_bytes", "visible"]

#: How many places are named; the others are counted.
PLACES = 5
#: How much of a line stands before a place.
BEFORE = 40

_NO_BREAK = "\u00a0\u202f\u2007"
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\u00ad"
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SEPARATORS = "\u2028\u2029\u0085"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
_INVISIBLE = re.compile(f"[{_NO_BREAK}{_ZERO_WIDTH}{_DIRECTION}{_SEPARATORS}{_CONTROLS}\ufeff\r]")
_END_NAMES = {"\r\n": "CR LF", "\r": "CR", "\n": "LF"}


@dataclass(frozen=True, kw_only=True)
class Unusual:
    """One kind of unusual bytes in a file: what, where, how it looks, what saving does."""

    what: str
    where: str
    looks: SafeString
    saving: str


def badge(text: str) -> SafeString:
    """Return a name in a small box, in the place of what can't be seen."""
    return format_html('<span class="as-byte">{}</span>', text)


def visible(text: str) -> SafeString:
    """Return text for a page, its invisible characters shown by their names; nothing can turn it around."""
    shown = _INVISIBLE.sub(lambda match: _named(match[0]), escape(text))
    return mark_safe(shown)  # noqa: S308 - all of it is escaped


@lru_cache(maxsize=256)
def _named(char: str) -> str:
    """Return the badge of an invisible character; a file may hold a hundred thousand of them."""
    return badge("CR" if char == "\r" else f"U+{ord(char):04X}")


def unusual_bytes(text: str) -> list[Unusual]:
    """Return what is unusual in a text, in the order of the table; nothing for most files."""
    lines = lines_of(text)
    return [*_line_ends(text, lines), *_edges(text, lines), *_characters(lines)]


def _line_ends(text: str, lines: list[tuple[str, str]]) -> Iterator[Unusual]:
    usual = common_end(text)
    kept = _(
        "Kept, on lines that you change too. Lines that you add end with %(end)s, like most of this file."
    )
    saving = kept % {"end": _END_NAMES[usual]}
    for end, what in (("\r\n", _("CR LF line ends")), ("\r", _("Lone CR line ends"))):
        found = [n for n, (_line, its) in enumerate(lines, 1) if its == end]
        if found:
            looks = visible(_tail(lines[found[0] - 1][0])) + badge(_END_NAMES[end])
            yield Unusual(what=what, where=_lines(found), looks=looks, saving=saving)


def _edges(text: str, lines: list[tuple[str, str]]) -> Iterator[Unusual]:
    if text and text[0] in "\r\n":
        first = next((line for line, _end in lines if line), "")
        looks = badge(_("newline")) + visible(first[:BEFORE])
        yield Unusual(what=_("Newline at the start"), where=_("line 1"), looks=looks, saving=_("Kept."))
    if text[:1] in (" ", "\t"):
        count = len(text) - len(text.lstrip(" \t"))
        looks = _blanks(count) + visible(text.lstrip(" \t")[:BEFORE].split("\n")[0])
        yield Unusual(what=_("Blanks at the start"), where=_("line 1"), looks=looks, saving=_("Kept."))
    trailing = [n for n, (line, _end) in enumerate(lines, 1) if line != line.rstrip(" \t")]
    if trailing:
        line = lines[trailing[0] - 1][0]
        bare = line.rstrip(" \t")
        looks = visible(_tail(bare)) + _blanks(len(line) - len(bare))
        yield Unusual(what=_("Blanks at the end"), where=_lines(trailing), looks=looks, saving=_("Kept."))
    if len(lines) > 1 and lines[-1][1] and not lines[-1][0]:
        looks = badge(_("newline")) + badge(_("end of file"))
        where = _("line %d") % len(lines)
        yield Unusual(what=_("Newline at the end"), where=where, looks=looks, saving=_("Kept."))
    if lines and not lines[-1][1]:
        looks = visible(_tail(lines[-1][0])) + badge(_("end of file"))
        where = _("line %d") % len(lines)
        yield Unusual(what=_("No final newline"), where=where, looks=looks, saving=_("Kept. None is added."))


def _characters(lines: list[tuple[str, str]]) -> Iterator[Unusual]:
    kinds = (
        ("\ufeff", _("Byte order mark"), _("Kept. Some programs take it for a character of the text.")),
        (_NO_BREAK, _("No-break space"),
         _("Kept. Looks like a blank, but a search for a blank does not find it.")),
        (_ZERO_WIDTH, _("Zero-width character"),
         _("Kept. Not to be seen, but there for a search and for a model.")),
        (_DIRECTION, _("Direction mark"), _("Kept. Can make text look as if it stood in another order.")),
        (_SEPARATORS, _("Unicode line separator"), _("Kept. Looks like a new line, but is none.")),
        (_CONTROLS, _("Control character"), _("Kept.")),
    )  # fmt: skip
    for chars, what, saving in kinds:
        pattern = re.compile(f"[{chars}]")
        places = [(n, m.start()) for n, (line, _e) in enumerate(lines, 1) for m in pattern.finditer(line)]
        if places:
            first, column = places[0]
            line = lines[first - 1][0]
            looks = visible(line[max(0, column - BEFORE) : column + BEFORE])
            yield Unusual(what=what, where=_places(places), looks=looks, saving=saving)


def _tail(line: str) -> str:
    return line[-BEFORE:]


def _blanks(count: int) -> SafeString:
    return badge(ngettext("%d blank", "%d blanks", count) % count)


def _lines(numbers: list[int]) -> str:
    names = ", ".join(map(str, numbers[:PLACES]))
    where = ngettext("line %s", "lines %s", len(numbers)) % names
    return _with_more(where, len(numbers) - PLACES)


def _places(places: list[tuple[int, int]]) -> str:
    text = _("line %(line)d, character %(char)d")
    where = "; ".join(text % {"line": line, "char": column + 1} for line, column in places[:PLACES])
    return _with_more(where, len(places) - PLACES)


def _with_more(where: str, more: int) -> str:
    return where if more <= 0 else _("%(where)s and %(more)d more") % {"where": where, "more": more}
