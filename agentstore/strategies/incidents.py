"""Incidents: trouble that a store survived is logged, signalled and counted, and never spreads."""

from __future__ import annotations

import logging

from django.db import Error, transaction
from django.db.models import F

from agentstore.core.values import new_id, now
from agentstore.signals import strategy_incident
from agentstore.strategies.models import Incident
from agentstore.strategies.values import Incident as Report

__all__ = ["report"]

logger = logging.getLogger("agentstore.strategies")


def report(alias: str, tenant: str, incident: Report) -> None:
    """Log, signal and count an incident. A failing receiver or database changes nothing."""
    logger.warning("strategies: %s: %s (%s)", incident.op, incident.error, incident.id or "no id")
    for receiver, outcome in strategy_incident.send_robust(
        sender=Incident, tenant=tenant, op=incident.op, error=incident.error, id=incident.id
    ):
        if isinstance(outcome, Exception):
            logger.error("strategies: the receiver %r of an incident failed", receiver, exc_info=outcome)
    try:
        with transaction.atomic(alias):
            _count(alias, tenant, incident)
    except Error:
        logger.exception("strategies: an incident could not be counted")


def _count(alias: str, tenant: str, incident: Report) -> None:
    at, key = now(), incident.id[:64]
    rows = Incident._base_manager.using(alias)
    same = rows.filter(tenant=tenant, op=incident.op, strategy_id=key)
    news = {"count": F("count") + 1, "last_at": at, "error": incident.error}
    if not same.update(**news):
        first = Incident(
            id=new_id(), tenant=tenant, op=incident.op, strategy_id=key, error=incident.error, count=0,
            first_at=at, last_at=at,
        )  # fmt: skip
        rows.bulk_create([first], ignore_conflicts=True)
        same.update(**news)
