"""What the seed page tells of a batch that does not fit: in words, and as a file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import replace

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentstore.core import errors
from agentstore.core.guards import printable
from agentstore.strategies.admin.words import words_of
from agentstore.strategies.values import SeedProblem

__all__ = ["in_words", "problems_csv", "shown"]

_PLACE = re.compile(r"^The text is not JSON: (.*) at line (\d+), column (\d+)\.$")
#: What Python's parser says, and what is meant.
_WRONG = {
    "Expecting ',' delimiter": gettext_lazy("a comma is missing"),
    "Expecting ':' delimiter": gettext_lazy("a colon is missing"),
    "Expecting value": gettext_lazy("a value is missing"),
    "Expecting property name enclosed in double quotes": gettext_lazy("a name in double quotes is missing"),
    "Illegal trailing comma before end of object": gettext_lazy("there is one comma too many"),
    "Illegal trailing comma before end of array": gettext_lazy("there is one comma too many"),
    "Unterminated string starting at": gettext_lazy("a text begins here and is not closed"),
    "Invalid control character at": gettext_lazy("a line break or tab stands inside a text"),
    "Extra data": gettext_lazy("there is more after the end of the list"),
}


def in_words(error: errors.AgentStoreError) -> str:
    """Return what the page says of an error: where a text stops being JSON, and what is missing there."""
    place = _PLACE.match(error.message)
    if place is None:
        return words_of(error)
    names = {"line": place[2], "column": place[3], "wrong": _WRONG.get(place[1], place[1])}
    return _("Line %(line)s, column %(column)s: %(wrong)s.") % names


def shown(problem: SeedProblem) -> SeedProblem:
    """Return a problem as a page can carry it, whatever stood in the file."""
    return replace(
        problem,
        id=problem.id and printable(problem.id),
        field=printable(problem.field),
        problem=printable(problem.problem),
        hint=printable(problem.hint),
    )


def problems_csv(problems: Iterable[SeedProblem]) -> HttpResponse:
    """Return what is wrong with a batch as a CSV file."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="seed-errors.csv"'
    writer = csv.writer(answer)
    writer.writerow([_("Entry"), _("Id"), _("Field"), _("What is wrong"), _("What to do")])
    for each in map(shown, problems):
        cells = (each.id or "", each.field, each.problem, each.hint)
        writer.writerow([each.number or "", *map(_cell, cells)])
    return answer


def _cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
