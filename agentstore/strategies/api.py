"""Strategies over REST. An objective goes in a body, never in an address, so that it stays out of logs."""

from __future__ import annotations

import functools
from dataclasses import asdict
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import guards
from agentstore.core.api import StoreView, described_by
from agentstore.core.requests import read_integer
from agentstore.core.values import JSONObject, utc_text
from agentstore.strategies.paging import DEFAULT_PAGE
from agentstore.strategies.ranking import DEFAULT_LIMIT
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.values import StrategyRow

__all__ = ["EntriesView", "EntryView", "FindView", "PruneView", "SeedView", "UsageView"]

FIELDS = ("problem", "strategy", "confidence", "id", "ts", "teacher_model", "signature")


def shown(value: Any) -> JSONObject:
    """Return one of the store's values as it is shown: times as UTC text, the tenant left out."""
    return {
        name: utc_text(item) if isinstance(item, datetime) else item
        for name, item in asdict(value).items()
        if name != "tenant"
    }


class StrategiesView(StoreView):
    """The base of the views; methods are mapped to what they do for the access class."""

    schema = described_by("agentstore.strategies.openapi")
    capability = "strategies"
    access_actions: dict[str, str] = {}

    def action_of(self, request: Request) -> str:
        return self.access_actions.get(request.method or "", "view")

    @functools.cached_property
    def store(self) -> StrategyStore:
        """The store that carries out the request."""
        return StrategyStore(self.tenant, actor=self.actor)


class EntriesView(StrategiesView):
    """The tenant's strategies."""

    access_actions = {"POST": "add"}

    def get(self, request: Request) -> Response:
        """List the strategies in rank order, best first."""
        params = self.only_params("limit", "cursor")
        limit = read_integer(params["limit"], "limit") if "limit" in params else DEFAULT_PAGE
        page = self.store.list(limit=limit, cursor=params.get("cursor"))
        following = None
        if page.next_cursor is not None:
            query = urlencode({"limit": page.limit, "cursor": page.next_cursor})
            following = request.build_absolute_uri(f"?{query}")
        return Response(
            {
                "results": [shown(row) for row in page],
                "next": following,
                "next_cursor": page.next_cursor,
                "limit": page.limit,
            }
        )

    def post(self, request: Request) -> Response:
        """Save what worked; what is stored already merges. 201 where a row was made, else 200."""
        self.only_params()
        body = self.read_body(request, known=FIELDS)
        fields = {"problem": None, "strategy": None, **body}
        result = self.store.save(**fields)
        response = Response(asdict(result), status=201 if result.status == "created" else 200)
        if result.status != "not_kept":
            response["Location"] = request.build_absolute_uri(f"{request.path}{result.id}/")
        return response


class EntryView(StrategiesView):
    """One strategy."""

    access_actions = {"DELETE": "delete"}

    def get(self, request: Request, id: str) -> Response:
        """Return a strategy."""
        self.only_params()
        row: StrategyRow | None = self.store.get(id)
        if row is None:
            raise self.store.not_found(id)
        return Response(shown(row))

    def delete(self, request: Request, id: str) -> Response:
        """Delete a strategy, for good."""
        self.only_params()
        if not self.store.delete(id):
            raise self.store.not_found(id)
        return Response(status=204)


class FindView(StrategiesView):
    """Finding strategies for an objective."""

    def post(self, request: Request) -> Response:
        """Return the strategies whose problem holds every significant word of ``objective``."""
        self.only_params()
        body = self.read_body(request, known=["objective", "limit"])
        if "objective" not in body:
            guards.refuse("objective", "The key is missing.")
        objective = guards.check_text(body["objective"], "objective")
        found = self.store.find(objective, limit=body.get("limit", DEFAULT_LIMIT))
        return Response(
            {
                "results": [shown(match) for match in found],
                "empty_because": found.empty_because,
                "truncated": found.truncated,
            }
        )


class PruneView(StrategiesView):
    """Keeping the best, removing the rest."""

    access_actions = {"POST": "prune"}

    def post(self, request: Request) -> Response:
        """Keep the best ``max_size`` strategies; with ``dry_run`` only say which would go."""
        self.only_params()
        body = self.read_body(request, known=["max_size", "dry_run"])
        dry_run = body.get("dry_run", False)
        if not isinstance(dry_run, bool):
            guards.refuse("dry_run", f"Expected true or false, found {dry_run!r:.100}.")
        if "max_size" not in body:
            guards.refuse("max_size", "The key is missing.")
        gone = self.store.prune(body["max_size"], dry_run=dry_run)
        return Response({"dry_run": dry_run, "removed": [shown(row) for row in gone]})


class UsageView(StrategiesView):
    """How many strategies there are, and how many there may be."""

    def get(self, request: Request) -> Response:
        """Return used, capacity and remaining."""
        self.only_params()
        usage = self.store.usage()
        return Response({"used": usage.used, "capacity": usage.capacity, "remaining": usage.remaining})


class SeedView(StrategiesView):
    """Seeding a batch."""

    access_actions = {"POST": "seed"}

    def post(self, request: Request) -> Response:
        """Check the whole batch, then write it; on any problem nothing is written, and all are told."""
        self.only_params()
        body = self.read_body(request, known=["entries"])
        if not isinstance(body.get("entries"), list):
            guards.refuse("entries", "Expected a list of entries.")
        return Response(asdict(self.store.seed(body["entries"])))
