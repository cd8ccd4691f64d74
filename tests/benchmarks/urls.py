"""Only the REST surface, and bare views to hold it against: ``ROOT_URLCONF`` of the benchmarks."""

from __future__ import annotations

import json

from django.http import HttpRequest, JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

#: What a bare view answers: as long as a reminder.
ROW = {
    "id": "0198c5a5-0000-7000-8000-000000000000",
    "version": 1,
    "created_at": "2026-01-01T09:00:00.000000Z",
    "updated_at": "2026-01-01T09:00:00.000000Z",
    "data": {
        "text": "Call the supplier about order 1",
        "due_at": "2026-01-01T09:00:00.000000Z",
        "done": False,
        "project": "project 31",
        "priority": 1,
        "tags": ["phone", "tag 1"],
    },
}


@csrf_exempt
def bare(request: HttpRequest) -> JsonResponse:
    """Read what there is to read and answer a row: no permission, no query, no validation."""
    if request.body:
        json.loads(request.body)
    return JsonResponse(ROW, status=201 if request.method == "POST" else 200)


urlpatterns = [path("api/", include("agentstore.urls")), path("bare/", bare)]
