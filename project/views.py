"""The demo's home page, the conversation of its agent, and the README for those who read it there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agentstore.core.models import Usage
from agentstore.core.values import JSONObject
from agentstore.files.models import AgentFile
from agentstore.strategies import StrategyStore
from project.companies import COMPANIES
from project.demo.content import CONTENT
from project.examples.scripted import BOOKING, Transcript
from project.tour import Entry, doors, overview, things

__all__ = ["example", "home", "readme"]


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what this is, where to go, what to try and what is inside."""
    context = {"doors": list(doors(request)), "things": list(things()), "companies": list(_companies())}
    return render(request, "home.html", context)


@require_safe
def example(request: HttpRequest) -> HttpResponse:
    """Show the conversation that ``manage.py play`` carries out."""
    transcript = Transcript.load(BOOKING)
    context = {
        "agent": transcript.agent.capitalize(),
        "company": COMPANIES[transcript.tenant],
        "turns": [_turn(transcript, turn) for turn in transcript.turns],
        "overview": overview(transcript.tenant),
    }
    return render(request, "example.html", context)


@require_safe
def readme(request: HttpRequest) -> HttpResponse:
    """Show the README as it is."""
    text = (settings.BASE_DIR / "README.md").read_bytes()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _turn(transcript: Transcript, turn: JSONObject) -> dict[str, Any]:
    names = {"user": _("Customer"), "colleague": _("Meanwhile")}
    who = names.get(turn["role"], transcript.agent.capitalize())
    return {"who": who, "steps": [_step(block) for block in turn["content"]]}


def _step(block: JSONObject) -> Entry:
    if block["type"] == "text":
        return {"text": block["text"]}
    return {"call": block["name"], "arguments": json.dumps(block["input"], ensure_ascii=False, indent=2)}


def _companies() -> Iterator[Entry]:
    own = Usage.objects.exclude(entity__startswith="@")  # those are no entities' counters
    rows = dict(own.values_list("tenant").annotate(Sum("used")))
    files = dict(AgentFile.objects.filter(deleted_at=None).values_list("tenant").annotate(Count("id")))
    for tenant, name in COMPANIES.items():
        if tenant in rows:
            lessons = StrategyStore(tenant).usage()
            used, capacity = _number(lessons.used), _number(lessons.capacity)
            yield {
                "name": name,
                "url": overview(tenant),
                "agents": ", ".join(CONTENT[tenant].agents),
                "rows": _number(rows[tenant]),
                "files": _number(files.get(tenant, 0)),
                "strategies": _("%(used)s of %(capacity)s") % {"used": used, "capacity": capacity},
            }


def _number(value: int) -> str:
    return number_format(value, use_l10n=True, force_grouping=True)
