"""The find playground: what an agent would be given for an objective, and why not the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.guards import check_text, printable
from agentstore.core.values import now
from agentstore.strategies import matching, ranking
from agentstore.strategies.admin import nearness
from agentstore.strategies.admin.entries import EntriesAdmin
from agentstore.strategies.admin.words import marked, score_text, size_text, words_of
from agentstore.strategies.entry import INJECTION_BUDGET_BYTES
from agentstore.strategies.portable import RawStrategy
from agentstore.strategies.prompt import render_for_prompt
from agentstore.strategies.rows import read_row
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.terms import Query, analyse_query
from agentstore.strategies.values import Explanation, FindResult, StoredStrategy, StrategyMatch

__all__ = ["FindingAdmin"]

#: How many strategies that were not found a page lists at first, how many more at a time, and at most.
NEAR, STEP, MOST = 10, 50, 210
#: How many words a page offers to leave out, and how many it names of those that a strategy lacks.
TRIES, NAMED = 3, 20


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the form says; ``count`` is the limit as a number, None where it is none."""

    objective: str
    limit: str
    count: int | None
    explain: str
    near: int


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One strategy in a table: found, or how near it came."""

    id: str
    url: str
    problem: SafeString
    strategy: str
    score: str
    size: str
    arm: str = ""
    found_by: str = ""
    has: str = ""
    why: str = ""
    missing: Sequence[str] = ()
    alike: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Look:
    """All that one look found out; ``told`` is about every readable strategy, best first."""

    asked: Asked
    query: Query
    found: FindResult
    told: Sequence[tuple[StoredStrategy, Explanation]]
    pks: Mapping[str, UUID]

    @property
    def cut(self) -> list[tuple[StoredStrategy, Explanation]]:
        """The strategies that match and would not be injected."""
        injected = {match.id for match in self.found}
        return [(row, told) for row, told in self.told if told.found and row.id not in injected]

    @property
    def lacking(self) -> list[tuple[StoredStrategy, Explanation]]:
        """The strategies that do not match: fewest missing words first, then by rank."""
        found = [(row, told) for row, told in self.told if not told.found]
        return sorted(found, key=lambda pair: len(pair[1].missing_terms))

    @property
    def cut_because(self) -> str:
        """Why a strategy that matches would not be injected."""
        if self.found.truncated:
            return _("has every word, but the budget was used up before it")
        if len(self.found) >= (self.asked.count or 0):
            return _("has every word, but the limit was reached before it")
        return _("has every word, but the same text ranks higher")


class FindingAdmin(EntriesAdmin):
    """The find playground. An objective is posted, so that it stays out of logs and addresses."""

    find_template = "agentstore/admin/strategies/find.html"

    def find_view(self, request: HttpRequest) -> HttpResponse:
        """Ask for an objective, or show what it finds; no strategy is changed."""
        tenant = self.chosen(request)
        if tenant is None:
            return self.not_found(request, self.given_tenant(request))
        asked = _read(request)
        context: dict[str, Any] = {
            "asked": asked,
            "may_find": bool(tenant) and self.allows(request, "find", tenant),
            "incidents_url": self.incidents_url(request, tenant),
        }
        if request.method == "POST":
            self.require(request, "find", tenant)
            context |= self._answer(request, tenant, asked)
        return self.strategy_page(
            request, self.find_template, tenant, context, title=_("Find playground"), current="find",
            step=_("Find"),
        )  # fmt: skip

    def _answer(self, request: HttpRequest, tenant: str, asked: Asked) -> dict[str, Any]:
        if asked.count is None:
            return {"limit_error": _("Type a whole number from 0 on.")}
        store = self.store(request, tenant)
        try:
            check_text(asked.objective, _("Objective"))
            look = self._look(request, store, asked, store.find(asked.objective, limit=asked.count))
        except errors.ValidationFailed as error:
            return {"objective_error": words_of(error)}
        return {**self._results(look), **self._explained(store, look)}

    def _look(self, request: HttpRequest, store: StrategyStore, asked: Asked, found: FindResult) -> Look:
        query, at = analyse_query(asked.objective), now()
        # Where find failed there is no use in asking the database again.
        failed = found.empty_because == "failed"
        raws = [] if failed else self.rows(request, store.tenant).all()
        readable = ranking.in_order(filter(None, map(_read_row, raws)), at)
        told = [(row, matching.explain(query, row, now=at, rules=store.rules)) for row in readable]
        return Look(
            asked=asked, query=query, found=found, told=told, pks={raw.strategy_id: raw.id for raw in raws}
        )

    def _explained(self, store: StrategyStore, look: Look) -> dict[str, Any]:
        """Return what the store says of the one strategy that was asked about, if one was."""
        if not look.asked.explain:
            return {}
        try:
            told = store.explain(look.asked.objective, look.asked.explain)
        except errors.NotFound as error:
            return {"explain_error": words_of(error)}
        row = next((row for row, _told in look.told if row.id == told.id), None)
        if row is None:
            return {}
        places = [match.id for match in look.found]
        place = places.index(told.id) + 1 if told.id in places else 0
        why = look.cut_because if told.found and not place else ""
        return {"explained": {"near": self._near(look, row, told, why=why), "told": told, "place": place}}

    # --- what the page shows -------------------------------------------------------------------

    def _results(self, look: Look) -> dict[str, Any]:
        query, found, cut, lacking = look.query, look.found, look.cut, look.lacking
        near = look.asked.near
        return {
            "searched": True,
            "found": [self._found(look, match) for match in found],
            "nothing": nearness.nothing(query, found.empty_because),
            "failed": found.empty_because == "failed",
            "words": query.words or query.grams,
            "helping": query.grams if query.words else (),
            "dropped": query.left_out,
            "budget": _budget(found),
            "prompt": printable(render_for_prompt(found)),
            "cut": [self._near(look, *pair, why=look.cut_because) for pair in cut[:near]],
            "cut_total": f"{len(cut):,}",
            "near": [self._near(look, row, told, why=_unnamed(told)) for row, told in lacking[:near]]
            if query.required
            else [],
            "near_total": f"{len(lacking):,}",
            "near_next": min(MOST, near + STEP) if max(len(lacking), len(cut)) > near and near < MOST else 0,
            "tries": nearness.words_left_out(query, [told for _row, told in lacking], TRIES),
        }

    def _found(self, look: Look, match: StrategyMatch) -> Shown:
        return Shown(
            id=match.id,
            url=self._url(look, match.id),
            problem=marked(match.problem, match.matched_terms),
            strategy=printable(match.strategy),
            score=score_text(match.score),
            size=size_text(match.strategy),
            arm=match.arm,
            found_by=nearness.found_by(look.query, match),
        )

    def _near(self, look: Look, row: StoredStrategy, told: Explanation, *, why: str = "") -> Shown:
        return Shown(
            id=row.id,
            url=self._url(look, row.id),
            problem=marked(row.problem, told.present_terms),
            strategy=printable(row.strategy),
            score=score_text(told.score),
            size=size_text(row.strategy),
            has=nearness.has_text(look.query, told),
            why=why or nearness.because(told),
            missing=told.missing_terms[:NAMED],
            alike=nearness.alike(told.missing_terms[:NAMED], row),
        )

    def _url(self, look: Look, id: str) -> str:
        return self.to("change", look.pks[id]) if id in look.pks else ""


def _unnamed(told: Explanation) -> str:
    """Return how many words a strategy lacks besides those that are named; empty text if none."""
    count = len(told.missing_terms) - NAMED
    return _("and %s more") % f"{count:,}" if count > 0 else ""


def _read(request: HttpRequest) -> Asked:
    given = request.POST if request.method == "POST" else request.GET
    limit = given.get("limit", str(ranking.DEFAULT_LIMIT)).strip()
    return Asked(
        objective=request.POST.get("try") or request.POST.get("objective", ""),
        limit=limit,
        count=_whole(limit),
        explain=given.get("explain", "").strip()[:64],
        near=min(_whole(request.POST.get("near", "")) or NEAR, MOST),
    )


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _read_row(raw: RawStrategy) -> StoredStrategy | None:
    """Return a row as find sees it; one that it skips is not listed: find reports it itself."""
    try:
        return read_row(raw)
    except ValueError:
        return None


def _budget(found: FindResult) -> dict[str, Any]:
    used = sum(len(match.strategy.encode()) for match in found)
    return {
        "used": f"{used:,}",
        "most": f"{INJECTION_BUDGET_BYTES:,}",
        "width": f"{min(100.0, 100 * used / INJECTION_BUDGET_BYTES):.2f}%",
        "left_out": found.left_out,
    }
