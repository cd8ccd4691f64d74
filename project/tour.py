"""Where the home page leads: its doors, and what to try behind them. A page that is not there is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from agentstore.files import FileStore
from agentstore.files.models import AgentFile
from project.companies import TANNHOLLOW
from project.demo.showpieces import CUSTOMER, EARLIER_TEXT
from project.desk.models import Order, Reminder

__all__ = ["Entry", "doors", "overview", "things"]

Entry = dict[str, str]

AGENT, FILE = "bia", "SOUL.md"
#: How many versions back the file was still as people wanted it.
STEPS = 3


def doors(request: HttpRequest) -> Iterator[Entry]:
    """Yield where to go."""
    yield from _shown(
        (
            _("Admin"),
            reverse("admin:index"),
            _("Browse rows, filter them, follow their history. The login was printed in your terminal."),
        ),
        (
            _("Overview"),
            _address("admin:agentstore_overview_changelist"),
            _("Every company on one page: how full it is, what changed last, what went wrong."),
        ),
        (
            _("Agent files"),
            _address("admin:agentstore_agentfile_changelist"),
            _("The prompt and memory files of four months: compare any two versions, go back to one."),
        ),
        (
            _("Strategies"),
            _address("admin:agentstore_strategy_changelist", tenant=TANNHOLLOW),
            _("Lessons that worked, in six languages and in rank order; prune them, upload more."),
        ),
        (
            _("API documentation"),
            reverse("docs"),
            _("Try every REST call in the browser, as the user you are logged in as."),
        ),
        (
            _("Tools for a model"),
            _behind_login(request, reverse("agentstore:tools") + f"?agent={AGENT}"),
            _("What an agent would be given: names, descriptions and schemas, in five dialects."),
        ),
        (
            _("Example agent"),
            reverse("example"),
            _("A small agent takes an order down. See each call that it makes, then play it."),
        ),
        (
            _("README"),
            reverse("readme"),
            _("A five-minute tour in the shell, and how to declare an entity in your own project."),
        ),
    )


def overview(tenant: str) -> str:
    """Return the address of all that a company keeps, or of the admin's start where that is not there."""
    return _address("admin:agentstore_overview_changelist", tenant=tenant) or reverse("admin:index")


def things() -> Iterator[Entry]:
    """Yield what to try: files first, then lessons, then rows."""
    yield from _shown(*_with_files(), *_with_lessons(), *_with_rows())


Lead = tuple[str, str | None, str]


def _with_files() -> Iterator[Lead]:
    agent = _address("admin:agentstore_agentfile_agent", AGENT, tenant=TANNHOLLOW, since="yesterday")
    yield (
        _("See what changed in the files of %s since yesterday") % AGENT,
        agent and f"{agent}#changes",
        _(", then put three of them back at once."),
    )
    file = AgentFile.objects.filter(tenant=TANNHOLLOW, agent=AGENT, name=FILE, deleted_at=None).first()
    older = FileStore(TANNHOLLOW, AGENT).versions(FILE)[STEPS - 1 : STEPS] if file else []
    for version in older:
        yield (
            _("Restore version %(version)d of %(name)s") % {"version": version.version, "name": FILE},
            _address("admin:agentstore_agentfile_restore", file and file.pk, version.version),
            _(": the difference is shown first, and nothing is lost."),
        )


def _with_lessons() -> Iterator[Lead]:
    yield (
        _("Ask the find playground"),
        _address("admin:agentstore_strategy_find", tenant=TANNHOLLOW),
        _(" why a lesson was not found: extract tables from the customs report in report.pdf."),
    )
    yield (
        _("Look at the tenant that is full"),
        _address("admin:agentstore_strategy_prune", tenant=TANNHOLLOW, size="140"),
        _(" and see what pruning would delete."),
    )


def _with_rows() -> Iterator[Lead]:
    order, reminder = _find(Order, {"customer": CUSTOMER}), _find(Reminder, {"text": EARLIER_TEXT})
    if order:
        yield (
            _("Open one order in two tabs"),
            _address("admin:desk_order_change", order),
            _(" and save both: the second keeps your text and shows the other one."),
        )
        yield (
            _("Follow the same order through its history"),
            _address("admin:desk_order_history", order),
            _(": who changed what and why, deleted it, and brought it back."),
        )
    yield (
        _("Bring a deleted reminder back"),
        _address("admin:desk_reminder_changelist", tenant=TANNHOLLOW, deleted="1"),
        _(", at the version it had."),
    )
    if reminder:
        yield (
            _("Repair a reminder of an earlier schema"),
            _address("admin:desk_reminder_change", reminder),
            _(": it may no longer be sent by fax, and stays readable all the same."),
        )


def _shown(*leads: Lead) -> Iterator[Entry]:
    """Yield those that lead somewhere."""
    for title, url, text in leads:
        if url:
            yield {"title": title, "url": url, "text": text}


def _address(name: str, *args: object, **query: str) -> str | None:
    """Return the address of a page, or None where the admin has no such page."""
    try:
        path = reverse(name, args=args)
    except NoReverseMatch:
        return None
    return f"{path}?{urlencode(query)}" if query else path


def _behind_login(request: HttpRequest, path: str) -> str:
    """Return an address that leads strangers through the login first."""
    return path if request.user.is_authenticated else f"{reverse('admin:login')}?{urlencode({'next': path})}"


def _find(model: Any, filter: dict[str, str]) -> str | None:
    rows = model.store(TANNHOLLOW).query(filter, limit=1).rows
    return str(rows[0].id) if rows else None
