"""Seed upload: the whole batch is checked and reported first; a second step writes it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings as django_settings
from django.contrib.admin.models import ADDITION
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agentstore.core import errors
from agentstore.core.admin import tenant_label
from agentstore.core.guards import parse_json, printable
from agentstore.strategies.admin.pruning import PruningAdmin
from agentstore.strategies.admin.seed_report import in_words, problems_csv, shown
from agentstore.strategies.seed import plan_seed
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.values import SeedPlan, SeedResult

__all__ = ["SeedingAdmin"]

#: The largest batch that this page takes, and what a form needs beside it, in bytes.
MOST, FORM = 16 * 1024 * 1024, 64 * 1024
#: How many problems a report lists.
LISTED = 2000


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The entries to seed, and what seeding them would do; ``name`` and ``raw`` are the file's."""

    entries: list[Any]
    plan: SeedPlan
    tenant: str
    name: str = ""
    raw: str = ""

    @property
    def text(self) -> str:
        """The entries as JSON without line breaks, which is how a form carries them."""
        return json.dumps(self.entries, ensure_ascii=False, separators=(",", ":"))

    @property
    def seen(self) -> str:
        """The digest of all that was shown: the entries, whose they become, which of them are new."""
        shown = json.dumps([self.tenant, self.plan.new, self.text])
        return hashlib.sha256(shown.encode()).hexdigest()

    @property
    def bad(self) -> int:
        """How many entries have an error."""
        return sum(entry is None for entry in self.plan.entries)


class SeedingAdmin(PruningAdmin):
    """The seed upload."""

    seed_template = "agentstore/admin/strategies/seed.html"

    def seed_view(self, request: HttpRequest) -> HttpResponse:
        """Ask for a batch, report all that is wrong with it, or write it."""
        tenant = self.chosen(request)
        if tenant is None:
            return self.not_found(request, self.given_tenant(request))
        if request.method != "POST":
            return self._seed_page(request, tenant, {})
        self.require(request, "seed", tenant)
        if not tenant:
            return self._seed_page(request, tenant, {"errors": [_("Choose a tenant.")]})
        try:
            return self._write(request, tenant) if "_write" in request.POST else self._check(request, tenant)
        except errors.AgentStoreError as error:
            return self._seed_page(request, tenant, {"errors": [in_words(error)]})

    # --- the check -----------------------------------------------------------------------------

    def _check(self, request: HttpRequest, tenant: str) -> HttpResponse:
        file, text = request.FILES.get("file"), request.POST.get("text", "")
        if file is None and not text.strip():
            return self._seed_page(request, tenant, {"errors": [_("Choose a file, or paste the entries.")]})
        if file is not None and (file.size or 0) > _most():
            return self._seed_page(request, tenant, {"errors": [_TOO_LARGE % {"most": _most_text()}]})
        raw = text if file is None else file.read()
        entries = _read(raw)
        name = "" if file is None else printable(str(file.name))
        plan = plan_seed(self.store(request, tenant), entries)
        if "_csv" in request.POST:
            return problems_csv(plan.problems)
        raw = raw if isinstance(raw, str) else raw.decode("utf-8")
        return self._report(request, Batch(entries=entries, plan=plan, tenant=tenant, name=name, raw=raw))

    def _report(self, request: HttpRequest, batch: Batch, **notes: Any) -> HttpResponse:
        plan = batch.plan
        clean = not plan.problems and bool(batch.entries)
        if clean and len(batch.text.encode()) > _most():
            notes["errors"] = [_TOO_LARGE % {"most": _most_text()}]
        context = {
            "batch": batch,
            "clean": clean and not notes.get("errors"),
            "title": _report_title(batch),
            "problems": [shown(problem) for problem in plan.problems if problem.number][:LISTED],
            "more": max(0, len(plan.problems) - LISTED),
            "whole": [problem for problem in plan.problems if not problem.number],
            "good": f"{len(batch.entries) - batch.bad:,}",
            "new": f"{len(plan.new):,}",
            "existing": f"{len(plan.existing):,}",
            "free": f"{plan.free:,}",
            "fits": len(plan.new) <= plan.free,
        }
        status = 409 if notes.get("changed") else 200
        return self._seed_page(request, batch.tenant, {"report": context, **notes}, status=status)

    def _seed_page(
        self, request: HttpRequest, tenant: str, context: dict[str, Any], *, status: int = 200
    ) -> HttpResponse:
        frame = {
            "may_seed": self.allows(request, "seed", tenant) if tenant else self._may(request, "seed", None),
            "typed": self.tenants(request) is None,
            "text": request.POST.get("text", ""),
            "reason": request.POST.get("reason", ""),
            "most": _most_text(),
            "seed_url": self.to("seed", tenant=tenant),
        }
        return self.strategy_page(
            request, self.seed_template, tenant, {**frame, **context}, title=_("Seed strategies"),
            current="seed", step=_("Seed"), status=status,
        )  # fmt: skip

    # --- the act -------------------------------------------------------------------------------

    def _write(self, request: HttpRequest, tenant: str) -> HttpResponse:
        entries = _read(request.POST.get("entries", ""))
        name = request.POST.get("file_name", "")
        store = self.store(request, tenant)
        batch, result = self._seed(store, entries, request.POST.get("seen", ""), name)
        if result is None:
            return self._report(request, batch, changed=True)
        self._log_seed(request, batch, result)
        if result.failed_at is not None:
            return self._seed_page(request, tenant, {"stopped": result})
        names = {
            "count": f"{result.written:,}",
            "tenant": tenant_label(tenant),
            "new": f"{len(batch.plan.new):,}",
            "existing": f"{len(batch.plan.existing):,}",
        }
        text = _("Seeded %(count)s strategies of %(tenant)s: %(new)s new, %(existing)s there already.")
        return self.done(request, text % names, self.to("list", tenant=tenant))

    def _seed(
        self, store: StrategyStore, entries: list[Any], seen: str, name: str
    ) -> tuple[Batch, SeedResult | None]:
        """Write the entries if that does what was seen. No other writer gets in between."""
        with store.hold():
            plan = plan_seed(store, entries)
            batch = Batch(entries=entries, plan=plan, tenant=store.tenant, name=name)
            if plan.problems or not entries or batch.seen != seen:
                return batch, None
            return batch, store.seed(entries)

    def _log_seed(self, request: HttpRequest, batch: Batch, result: SeedResult) -> None:
        names = {"written": f"{result.written:,}", "total": f"{len(batch.entries):,}", "name": batch.name}
        text = _("Seeded %(written)s of %(total)s entries.") % names
        if batch.name:
            text = _("Seeded %(written)s of %(total)s entries of %(name)s.") % names
        if result.failed_at is not None:
            text = f"{text} {_('Stopped at %s.') % result.failed_at.id}"
        self.log_for(request, batch.tenant, ADDITION, text)


_TOO_LARGE = gettext_lazy(
    "The batch is too large for this page, which takes %(most)s. Use manage.py agentstore_seed."
)


def _most() -> int:
    """Return how many bytes a batch may have: what the project lets a form hold, at most."""
    limit: int | None = django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return MOST if limit is None else max(0, min(MOST, limit - FORM))


def _most_text() -> str:
    return f"{_most() / 1024**2:.1f}".removesuffix(".0") + " MB"


def _read(raw: bytes | str) -> list[Any]:
    """Return the entries of a file or text.

    Raises:
        ValidationFailed: it is not JSON, or no list.
    """
    mark = b"\xef\xbb\xbf" if isinstance(raw, bytes) else "\ufeff"
    entries = parse_json(raw.removeprefix(mark))  # type: ignore[arg-type]
    if not isinstance(entries, list):
        raise errors.ValidationFailed(_("The file must hold a list of objects with problem and strategy."))
    if not entries:
        raise errors.ValidationFailed(_("The list is empty: there is nothing to write."))
    return entries


def _report_title(batch: Batch) -> str:
    names = {"bad": f"{batch.bad:,}", "total": f"{len(batch.entries):,}"}
    if batch.bad:
        return ngettext(
            "Nothing was written: %(bad)s of %(total)s entries has an error",
            "Nothing was written: %(bad)s of %(total)s entries have an error",
            batch.bad,
        ) % names  # fmt: skip
    if batch.plan.problems:
        return _("Nothing was written: there is too little room")
    return _("No errors in %(total)s entries. Nothing is written yet.") % names
