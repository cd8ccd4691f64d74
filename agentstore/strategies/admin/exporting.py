"""A tenant's strategies as a file that a seed takes back: all of them, or those that pruning removes."""

from __future__ import annotations

import json
import math
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header

from agentstore.core.values import JSONObject, now
from agentstore.strategies.admin.seeding import SeedingAdmin
from agentstore.strategies.seed import exported

__all__ = ["ExportingAdmin"]


class ExportingAdmin(SeedingAdmin):
    """The export."""

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """Send a tenant's strategies in rank order; with ``over`` those that rank below that place."""
        tenant = self.chosen(request)
        if not tenant:
            return self.not_found(request, self.given_tenant(request))
        over = request.GET.get("over", "")
        skipped = int(over) if over.isascii() and over.isdecimal() and len(over) < 10 else 0
        rows = self.rows(request, tenant)
        places = {row.pk: place for place, row in enumerate(rows.ranked()[skipped:])}
        found = [obj for obj in rows.instances() if obj.pk in places]
        found.sort(key=lambda obj: places[obj.pk])
        text = json.dumps([_entry(obj) for obj in found], ensure_ascii=False, indent=1, default=str)
        answer = HttpResponse(text.encode("utf-8", "backslashreplace"), content_type="application/json")
        name = f"strategies-{now():%Y-%m-%d}.json"
        answer["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
        return answer


def _entry(obj: Any) -> JSONObject:
    """Return what a seed takes; what is spoiled stays as it is, for the seed to point at."""
    sure = obj.confidence
    return exported(
        id=obj.strategy_id, problem=obj.problem, strategy=obj.strategy, ts=obj.ts,
        confidence=sure if not isinstance(sure, float) or math.isfinite(sure) else str(sure),
        teacher_model=obj.teacher_model, signature=obj.signature,
    )  # fmt: skip
