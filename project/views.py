"""The demo's home page, and the README for those who read it there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agentstore.core.models import AuditEntry, Usage
from project.companies import COMPANIES, KESTERLY, TANNHOLLOW
from project.demo.content import CONTENT
from project.demo.showpieces import CUSTOMER, EARLIER_TEXT
from project.desk.models import Order, Reminder

__all__ = ["home", "readme"]

Entry = dict[str, str]


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what this is, where to go, what to try and what is inside."""
    context = {"doors": list(_doors(request)), "things": list(_things()), "companies": list(_companies())}
    return render(request, "home.html", context)


@require_safe
def readme(request: HttpRequest) -> HttpResponse:
    """Show the README as it is."""
    text = (settings.BASE_DIR / "README.md").read_bytes()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _behind_login(request: HttpRequest, path: str) -> str:
    """Return an address that leads strangers through the login first."""
    return path if request.user.is_authenticated else f"{reverse('admin:login')}?next={path}"


def _changelist(model: str, query: str) -> str:
    return f"{reverse(f'admin:{model}_changelist')}?{query}"


def _doors(request: HttpRequest) -> Iterator[Entry]:
    yield {
        "title": _("Admin"),
        "url": reverse("admin:index"),
        "text": _("Browse rows, filter them, follow their history. The login was printed in your terminal."),
    }
    yield {
        "title": _("API documentation"),
        "url": reverse("docs"),
        "text": _("Try every REST call in the browser, as the user you are logged in as."),
    }
    yield {
        "title": _("Entities"),
        "url": _behind_login(request, reverse("agentstore:entities")),
        "text": _("What is declared here, as the API tells it: names, descriptions, addresses."),
    }
    yield {
        "title": _("README"),
        "url": reverse("readme"),
        "text": _("A five-minute tour in the shell, and how to declare an entity in your own project."),
    }


def _things() -> Iterator[Entry]:
    order, reminder = _find(Order, {"customer": CUSTOMER}), _find(Reminder, {"text": EARLIER_TEXT})
    if order:
        yield {
            "title": _("Open one order in two tabs"),
            "url": reverse("admin:desk_order_change", args=[order]),
            "text": _(" and save both: the second keeps your text and shows the other one."),
        }
        yield {
            "title": _("Follow the same order through its history"),
            "url": reverse("admin:desk_order_history", args=[order]),
            "text": _(": who changed what and why, deleted it, and brought it back."),
        }
    yield {
        "title": _("Bring a deleted reminder back"),
        "url": _changelist("desk_reminder", f"tenant={TANNHOLLOW}&deleted=1"),
        "text": _(", at the version it had."),
    }
    if reminder:
        yield {
            "title": _("Repair a reminder of an earlier schema"),
            "url": reverse("admin:desk_reminder_change", args=[reminder]),
            "text": _(": it may no longer be sent by fax, and stays readable all the same."),
        }
    yield {
        "title": _("Look at the notes that are full"),
        "url": _changelist("desk_note", f"tenant={KESTERLY}"),
        "text": _(" and try to add one."),
    }


def _find(model: Any, filter: dict[str, str]) -> str | None:
    rows = model.store(TANNHOLLOW).query(filter, limit=1).rows
    return str(rows[0].id) if rows else None


def _companies() -> Iterator[Entry]:
    rows = dict(Usage.objects.values_list("tenant").annotate(Sum("used")))
    changes = dict(AuditEntry.objects.values_list("tenant").annotate(Count("id")))
    for tenant, name in COMPANIES.items():
        if tenant in changes:
            yield {
                "name": name,
                "url": _changelist("desk_reminder", f"tenant={tenant}"),
                "agents": ", ".join(CONTENT[tenant].agents),
                "rows": number_format(rows.get(tenant, 0), use_l10n=True, force_grouping=True),
                "changes": number_format(changes[tenant], use_l10n=True, force_grouping=True),
            }
