"""Fills the demo's database: once, whole companies at a time, through the stores."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from agentstore import acting
from agentstore.core.models import AuditEntry
from agentstore.core.values import clock_at
from project.companies import BRIGHTQUILL, KESTERLY, TANNHOLLOW
from project.demo.agents import concierge, recall
from project.demo.airports import airports
from project.demo.bia import bia
from project.demo.content import CONTENT
from project.demo.edits import tell_files
from project.demo.lessons import tell_lessons
from project.demo.lives import Author
from project.demo.showpieces import showpieces
from project.demo.timeline import tell
from project.reference.models import Airport

__all__ = ["fill"]

#: Whose agent has files, and their pasts.
FILES = {TANNHOLLOW: bia, BRIGHTQUILL: recall, KESTERLY: concierge}


@transaction.atomic
def fill(tenant: str) -> int:
    """Give a company its rows, files and lessons with their past; return how many changes.

    A company that has some already is left alone, which is 0 changes.
    """
    if AuditEntry.objects.for_tenant(tenant).exists():
        return 0
    now = timezone.localtime()
    lives = [*Author(tenant, now).lives(), *showpieces(tenant, now)]
    rng = random.Random(tenant)  # noqa: S311 - names runs, guards nothing
    changes = tell(lives, until=now, rng=rng) + tell_files(tenant, FILES[tenant](), now=now)
    changes += tell_lessons(tenant, CONTENT[tenant].agents, now=now)
    return changes + _fill_reference(tenant, now)


def _fill_reference(tenant: str, now: datetime) -> int:
    if tenant != KESTERLY:
        return 0
    with clock_at(now - timedelta(days=40)), acting(actor="user:ilse", reason="first import"):
        return len(Airport.store(tenant).create_many(airports()))
