"""How pages show the differences of two texts: the rows of a diff table, and counts of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.files.admin.unusual import badge, visible
from agentstore.files.diff import DiffLine, FileDiff, compare, count_lines

__all__ = ["Comparing", "LineCounter", "Shown", "lines_text", "show_diff"]

#: A table with more rows or more bytes of HTML than this is not shown: both texts are offered instead.
MAX_ROWS, MAX_BYTES = 3000, 600_000
#: How much HTML the differences on one page may take together.
BUDGET = 700_000
_TEMPLATE = "agentstore/admin/files/diff_table.html"
_CSS = {"+": "as-add", "-": "as-del", " ": ""}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A diff as a page shows it; ``table`` is empty where there is nothing to show, or too much."""

    added: int = 0
    removed: int = 0
    table: SafeString | str = ""
    equal: bool = False
    too_large: bool = False
    only_line_ends: bool = False

    @property
    def lines(self) -> str:
        """The lines that come and go, such as +4 −4."""
        return lines_text(self.added, self.removed)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the table: a line, or how many lines are hidden."""

    css: str = ""
    sign: str = ""
    old: int | None = None
    new: int | None = None
    text: SafeString | str = ""
    hidden: int = 0


def lines_text(added: int, removed: int) -> str:
    """Return counts of lines as the screens write them."""
    return f"+{added:,} −{removed:,}"


def show_diff(old: str, new: str, *, old_name: str, new_name: str, context: int = 3) -> Shown:
    """Compare two texts for a page; the names head the columns of line numbers."""
    diff = compare(old, new, context=context)
    counts: dict[str, Any] = {"added": diff.added, "removed": diff.removed}
    counts["only_line_ends"] = diff.only_line_ends
    if diff.equal:
        return Shown(equal=True)
    rows = [] if diff.too_large else list(_rows(diff))
    if diff.too_large or len(rows) > MAX_ROWS:
        return Shown(**counts, too_large=True)
    names = {"rows": rows, "old_name": old_name, "new_name": new_name}
    table = render_to_string(_TEMPLATE, names)
    if len(table.encode()) > MAX_BYTES:
        return Shown(**counts, too_large=True)
    return Shown(**counts, table=table)


def _rows(diff: FileDiff) -> Iterator[Row]:
    for hunk in diff.hunks:
        if hunk.skipped:
            yield Row(hidden=hunk.skipped)
        for line in hunk.lines:
            yield Row(
                css=_CSS[line.sign], sign=line.sign.strip().replace("-", "−"), old=line.old, new=line.new,
                text=_text(line, ends=diff.only_line_ends),
            )  # fmt: skip
    if diff.hidden_after:
        yield Row(hidden=diff.hidden_after)


def _text(line: DiffLine, *, ends: bool) -> SafeString:
    mark = {"+": "<ins>{}</ins>", "-": "<del>{}</del>"}.get(line.sign, "{}")
    parts = [format_html(mark, visible(text)) if changed else visible(text) for text, changed in line.spans]
    if line.sign != " " and (line.ending == "\r\n" or (line.ending and ends)):
        parts.append(badge("CR LF" if line.ending == "\r\n" else "LF"))
    elif not line.ending:
        parts.append(format_html(' <span class="as-eol">{}</span>', _("no newline at the end")))
    return format_html_join("", "{}", ((part,) for part in parts))


@dataclass(kw_only=True)
class LineCounter:
    """Counts lines that come and go in many pairs of texts, as long as that stays quick."""

    budget: int = field(default=500_000)

    def count(self, old: str, new: str) -> tuple[int, int] | None:
        """Return (added, removed); None where there are so many lines that counting would take long."""
        self.budget -= old.count("\n") + new.count("\n")
        return count_lines(old, new) if self.budget >= 0 else None


class Comparing:
    """Compares file after file, as long as the page stays small and quick; then it counts lines."""

    def __init__(self) -> None:
        self.room, self.counter = BUDGET, LineCounter()

    def show(self, before: str | None, after: str | None, *, old_name: str, new_name: str) -> Shown:
        """Return the difference of one file; a text of None is too much to read for one page."""
        if before is None or after is None:
            return Shown(too_large=True)
        if self.room > 0:
            diff = show_diff(before, after, old_name=old_name, new_name=new_name, context=1)
            self.room -= max(len(diff.table), len(before) + len(after))
            if self.room > 0 or not diff.table:
                return diff
        added, removed = self.counter.count(before, after) or (0, 0)
        return Shown(added=added, removed=removed, too_large=True)
