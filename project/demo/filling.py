"""Fills the demo's database: once, whole companies at a time, through the stores."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from agentstore import acting
from agentstore.core.models import AuditEntry
from agentstore.core.values import clock_at
from project.companies import KESTERLY
from project.demo.airports import airports
from project.demo.lives import Author
from project.demo.showpieces import showpieces
from project.demo.timeline import tell
from project.reference.models import Airport

__all__ = ["fill"]


@transaction.atomic
def fill(tenant: str) -> int:
    """Give a company its rows and their past; return how many changes, 0 where it has some already."""
    if AuditEntry.objects.for_tenant(tenant).exists():
        return 0
    now = timezone.localtime()
    lives = [*Author(tenant, now).lives(), *showpieces(tenant, now)]
    rng = random.Random(tenant)  # noqa: S311 - names runs, guards nothing
    return tell(lives, until=now, rng=rng) + _fill_reference(tenant, now)


def _fill_reference(tenant: str, now: datetime) -> int:
    if tenant != KESTERLY:
        return 0
    with clock_at(now - timedelta(days=40)), acting(actor="user:ilse", reason="first import"):
        return len(Airport.store(tenant).create_many(airports()))
