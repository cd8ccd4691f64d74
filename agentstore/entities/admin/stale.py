"""A stale save: what both changed, what they changed, what you changed; and a form that shows it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from pydantic import BaseModel

from agentstore.core.admin import time_tag
from agentstore.core.values import HistoryEntry, JSONObject
from agentstore.entities.admin.display import show, show_all
from agentstore.entities.codec import same_json
from agentstore.entities.forms import SchemaForm
from agentstore.entities.forms.bound import BoundField
from agentstore.entities.forms.shape import MISSING

__all__ = ["Notice", "Overlap", "compare", "merged_form", "taken", "who_saved"]


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """The fields by who changed them since the form was opened."""

    both: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    yours: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Notice:
    """What stands above a form that was not saved since somebody saved before."""

    opened: int | None
    current: int
    who: str
    at: datetime | None
    reason: str
    by_you: bool = False
    both: Sequence[BoundField] = ()
    theirs: Sequence[BoundField] = ()
    yours: Sequence[BoundField] = ()
    deleted: bool = False

    @property
    def when(self) -> SafeString | str:
        """When they saved: the hour, if it was today."""
        local = timezone.localtime(self.at)
        if local.date() != timezone.localdate():
            return time_tag(local)
        return _("%(time)s today") % {"time": local.strftime("%H:%M")}


def taken(posted: Mapping[str, str], keys: Sequence[str]) -> set[str]:
    """Return the fields for which "Take theirs" was chosen: what was typed there doesn't count."""
    return {key for key in keys if posted.get(f"data.{key}:choice") == "theirs"}


def compare(form: SchemaForm, base: JSONObject | None, current: JSONObject) -> Overlap:
    """Sort the fields by who changed them; without ``base`` all that you see changed is by both."""
    changes = form.changes
    yours = [
        key
        for key in form.touched
        if key not in changes.patch or not same_json(changes.patch[key], current.get(key))
    ]
    if base is None:
        return Overlap(both=tuple(yours))
    theirs = [key for key in form.fields if _differs(base, current, key)]
    return Overlap(
        both=tuple(key for key in yours if key in theirs),
        theirs=tuple(key for key in theirs if key not in yours),
        yours=tuple(key for key in yours if key not in theirs),
    )


def _differs(left: JSONObject, right: JSONObject, key: str) -> bool:
    if (key in left) != (key in right):
        return True
    return key in left and not same_json(left[key], right[key])


def merged_form(
    schema: type[BaseModel],
    base: JSONObject | None,
    current: JSONObject,
    posted: Mapping[str, str],
    overlap: Overlap,
    who: str,
    multiline: Sequence[str],
) -> SchemaForm:
    """Return the form on top of ``current``: your text where you changed something, theirs elsewhere."""
    form = SchemaForm(schema, current, posted, only={*overlap.both, *overlap.yours}, multiline=multiline)
    for key in overlap.both:
        form[key].mark = "both"
        form[key].theirs = show_all(form[key].shape, current.get(key, MISSING))
    for key in overlap.theirs:
        form[key].mark, form[key].note = "theirs", _was(form[key], base or {}, current, who)
    for key in overlap.yours:
        form[key].mark, form[key].note = "yours", _added(form[key], base or {}, form)
    form.changes  # noqa: B018 - reads the texts, so that unreadable ones are told at once
    return form


def _was(field: BoundField, base: JSONObject, current: JSONObject, who: str) -> SafeString | str:
    key = field.shape.key
    if field.shape.kind in ("group", "table", "json"):
        return ""
    was, now = (show(field.shape, row.get(key, MISSING), longest=120) for row in (base, current))
    return format_html(
        _("Was {was} when you opened the form, is {now} now."),
        was=format_html("<em>{}</em>", was),
        now=format_html("<em>{}</em>", now),
    )


def _added(field: BoundField, base: JSONObject, form: SchemaForm) -> SafeString | str:
    """Say which lines you added to or took from a list of lines."""
    key = field.shape.key
    before, after = base.get(key), form.changes.patch.get(key)
    if field.shape.kind != "lines" or not isinstance(before, list) or not isinstance(after, list):
        return ""
    found = [
        format_html("{} {}.", words, format_html_join(", ", "<em>{}</em>", ((item,) for item in items)))
        for words, items in (
            (_("Added"), [item for item in after if item not in before]),
            (_("Removed"), [item for item in before if item not in after]),
        )
        if items
    ]
    return format_html_join(" ", "{}", ((part,) for part in found))


def who_saved(entries: Sequence[HistoryEntry], since: int | None) -> tuple[str, HistoryEntry | None]:
    """Return who saved since a version, if it was one, and the last change of the row's text."""
    written = [entry for entry in entries if entry.op in ("create", "update")]
    last = written[0] if written else None
    actors = {entry.actor for entry in written if since is None or entry.version > since}
    name = actors.pop() if len(actors) == 1 else ""
    return name, last
