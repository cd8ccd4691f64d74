"""How stored values look on a screen: times in the viewer's zone, words for yes, no and nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.core.admin import time_tag
from agentstore.core.guards import printable
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.forms.moments import parse_moment
from agentstore.entities.forms.shape import MISSING, Shape

__all__ = ["Shown", "plain", "quiet", "raw", "show", "show_all", "tag"]

#: The longest text in a cell of a list, in characters.
LONGEST = 300


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One field for reading: a value, the parts of an object, or the rows of a table."""

    label: str
    html: SafeString | str = ""
    parts: Sequence[Shown] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[SafeString | str]] = ()


def quiet(text: str) -> SafeString:
    """Return quiet text, such as "empty"."""
    return format_html('<span class="as-quiet">{}</span>', text)


def tag(text: str, *, warn: bool = False) -> SafeString:
    """Return a word in a box: the state in words."""
    return format_html('<span class="as-tag{}">{}</span>', " as-tag-warn" if warn else "", text)


def raw(value: JSONValue, *, longest: int | None = LONGEST) -> SafeString:
    """Return a value as the JSON that is stored."""
    text = printable(json.dumps(value, ensure_ascii=False))
    return format_html('<span class="as-mono">{}</span>', _shorten(text, longest))


def _shorten(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]} …"


def plain(value: JSONValue) -> str | None:
    """Return a value in words, None where words don't do (nothing, an object, a list of objects)."""
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if isinstance(value, int | float):
        return json.dumps(value)
    if isinstance(value, str) and value:
        return printable(value)
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return printable(", ".join(value))
    return None


def show(shape: Shape | None, value: JSONValue, *, longest: int | None = LONGEST) -> SafeString | str:
    """Return a value as a cell, a box or a line of history shows it."""
    kind = shape.kind if shape else ""
    if value is None and kind == "boolean":
        return _("Unknown")
    if value is MISSING or value is None or value == "" or value == [] or value == {}:
        return quiet(_("empty"))
    moment = parse_moment(value) if kind == "moment" else None
    if moment is not None:
        return time_tag(moment)
    text = plain(value)
    return raw(value, longest=longest) if text is None else _shorten(text, longest)


def show_all(shape: Shape, value: JSONValue) -> Shown:
    """Return a whole field for reading: nested objects part by part, lists of objects as a table."""
    if shape.kind == "group" and isinstance(value, dict):
        parts = [Shown(label=part.label, html=_part(part, value)) for part in shape.parts]
        return Shown(label=shape.label, parts=parts)
    if shape.kind == "table" and isinstance(value, list) and all(isinstance(v, dict) for v in value or [0]):
        rows = [[_part(part, item) for part in shape.parts] for item in value]
        return Shown(label=shape.label, columns=[part.label for part in shape.parts], rows=rows)
    return Shown(label=shape.label, html=show(shape, value, longest=None))


def _part(part: Shape, item: JSONObject) -> SafeString | str:
    return show(part, item.get(part.key, MISSING), longest=None)
