"""The pruning screen: exactly what goes and what stays, then the question, the store and the log."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import DELETION
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agentstore.core import errors
from agentstore.core.admin import tenant_label
from agentstore.strategies.admin.finding import FindingAdmin
from agentstore.strategies.admin.words import score_text, words_of
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.values import StrategyRow

__all__ = ["PruningAdmin"]

#: How many rows a page shows on either side of the cut, and how many where all of a side are asked for.
STAY, GO, ALL = 3, 10, 1000
#: How many characters stand for one id in what a page remembers.
TOKEN = 8
#: How many ids a page remembers: a form has to be able to carry them.
TOKENS = 100_000


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What pruning to a size would do; ``seen`` and ``shown`` tell whether it still would."""

    size: int
    gone: list[StrategyRow]
    stays: int

    @property
    def seen(self) -> str:
        """The digest of what goes, texts included."""
        digest = hashlib.sha256()
        for row in self.gone:
            for text in (row.id, row.problem, row.strategy):
                digest.update(f"{text!r},".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @property
    def shown(self) -> str:
        """A short token for each strategy that goes, to count the others; nothing for very many."""
        return "".join(_token(row.id) for row in self.gone) if len(self.gone) <= TOKENS else ""


class PruningAdmin(FindingAdmin):
    """The pruning screen."""

    prune_template = "agentstore/admin/strategies/prune.html"

    def prune_view(self, request: HttpRequest) -> HttpResponse:
        """Ask for a size, show what would go, or delete exactly that."""
        tenant = self.chosen(request)
        if tenant is None:
            return self.not_found(request, self.given_tenant(request))
        if request.method == "POST":
            self.require(request, "prune", tenant)
        given = (request.POST if request.method == "POST" else request.GET).get("size", "").strip()
        size, problem = _read_size(given)
        if size is None or not tenant:
            asked = request.method == "POST" or "size" in request.GET
            return self._page(request, tenant, given, size_error=problem if asked else "")
        if request.method != "POST" or "seen" not in request.POST:
            return self._page(request, tenant, given, preview=self._preview(request, tenant, size))
        return self._prune(request, tenant, size)

    def _preview(self, request: HttpRequest, tenant: str, size: int) -> Preview:
        store = self.store(request, tenant)
        gone = store.prune(size, dry_run=True)
        stays = self.get_queryset(request).filter(tenant=tenant).count() - len(gone)
        return Preview(size=size, gone=gone, stays=max(0, stays))

    # --- the act -------------------------------------------------------------------------------

    def _prune(self, request: HttpRequest, tenant: str, size: int) -> HttpResponse:
        preview = self._preview(request, tenant, size)
        if not preview.gone or not self._named(request, tenant, preview):
            return self._page(request, tenant, str(size), preview=preview, posted=True)
        try:
            gone = self._remove(self.store(request, tenant), size, request.POST["seen"])
        except errors.AgentStoreError as error:
            return self._page(request, tenant, str(size), preview=preview, error=words_of(error))
        if gone is None:
            fresh = self._preview(request, tenant, size)
            changed = _what_changed(fresh, request.POST.get("shown", ""))
            return self._page(request, tenant, str(size), preview=fresh, error=changed, status=409)
        return self._pruned(request, tenant, size, len(gone))

    def _remove(self, store: StrategyStore, size: int, seen: str) -> list[StrategyRow] | None:
        """Prune if that deletes what was seen; None if it would not. No other writer gets in between."""
        with store.hold():
            preview = Preview(size=size, gone=store.prune(size, dry_run=True), stays=0)
            return store.prune(size) if preview.seen == seen else None

    def _named(self, request: HttpRequest, tenant: str, preview: Preview) -> bool:
        """Tell whether the tenant was named, where all of its strategies go."""
        typed = request.POST.get("name", "").strip()
        return bool(preview.size) or typed in (tenant, tenant_label(tenant))

    def _pruned(self, request: HttpRequest, tenant: str, size: int, count: int) -> HttpResponse:
        names = {"count": f"{count:,}", "tenant": tenant_label(tenant), "size": f"{size:,}"}
        text = ngettext(
            "Deleted %(count)s strategy of %(tenant)s.", "Deleted %(count)s strategies of %(tenant)s.", count
        ) % names  # fmt: skip
        kept = _("Kept the best %(size)s.") % names
        self.log_for(request, tenant, DELETION, f"{text} {kept}")
        return self.done(request, text, self.to("list", tenant=tenant))

    # --- the page ------------------------------------------------------------------------------

    def _page(
        self,
        request: HttpRequest,
        tenant: str,
        size: str,
        *,
        preview: Preview | None = None,
        size_error: str = "",
        error: str = "",
        posted: bool = False,
        status: int = 200,
    ) -> HttpResponse:
        context: dict[str, Any] = {
            "size": size,
            "size_error": size_error,
            "error": error,
            "reason": request.POST.get("reason", ""),
            "may_prune": bool(tenant) and self.allows(request, "prune", tenant),
            "list_url": self.to("list", tenant=tenant),
        }
        if preview is not None:
            context |= self._sides(request, tenant, preview)
            if posted and preview.gone:
                context["name_error"] = _("Type the name of the tenant to delete all of its strategies.")
        return self.strategy_page(
            request, self.prune_template, tenant, context, title=_("Prune strategies"), current="prune",
            step=_("Prune"), status=status,
        )  # fmt: skip

    def _sides(self, request: HttpRequest, tenant: str, preview: Preview) -> dict[str, Any]:
        show, stays, total = request.GET.get("show", ""), preview.stays, preview.stays + len(preview.gone)
        before = min(stays, ALL if show == "stay" else STAY)
        after = min(total - stays, ALL if show == "go" or total - stays <= 2 * GO else GO)
        ordered = self.rows(request, tenant).ranked()
        ranks = {row.pk: rank for rank, row in enumerate(ordered[: stays + after], start=1)}
        near = {pk: rank for pk, rank in ranks.items() if rank > stays - before}
        lines = self.lines(request, tenant, near)
        to = {"tenant": tenant, "size": preview.size}
        return {
            "preview": preview,
            "gone": f"{len(preview.gone):,}",
            "stays": f"{stays:,}",
            "all_go": not preview.size,
            "best": score_text(preview.gone[0].score) if preview.gone else "",
            "origins": _by_origin(preview.gone),
            "staying": [line for line in lines if line.rank <= stays],
            "going": [line for line in lines if line.rank > stays],
            "above": _hidden(1, stays - before),
            "below": _hidden(stays + after + 1, total),
            "all_stay_url": self.to("prune", **to, show="stay") if show != "stay" else "",
            "all_go_url": self.to("prune", **to, show="go") if show != "go" else "",
            "download_url": self.to("export", tenant=tenant, over=preview.size),
        }


def _read_size(text: str) -> tuple[int | None, str]:
    """Return the size that a form holds, or None and what is wrong with it."""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text), ""
    return None, _("Type a whole number from 0 on.")


def _token(id: object) -> str:
    digest = hashlib.blake2b(str(id).encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return base64.urlsafe_b64encode(digest).decode()


def _what_changed(fresh: Preview, shown: str) -> str:
    """Return in words how what goes differs from what was shown."""
    before = {shown[at : at + TOKEN] for at in range(0, len(shown), TOKEN)}
    others = len({_token(row.id) for row in fresh.gone} - before)
    if not before:
        return _("The list changed since you looked. Look again.")
    if not others:
        return _("The list changed since you looked: not all of these would go. Look again.")
    return ngettext(
        "The list changed since you looked: %d other would go. Look again.",
        "The list changed since you looked: %d others would go. Look again.",
        others,
    ) % others  # fmt: skip


def _by_origin(rows: Iterable[StrategyRow]) -> str:
    """Return how many of each origin go: 131 earned, 19 seeded."""
    counts = Counter(row.origin for row in rows)
    words = {"earned": _("%s earned"), "seeded": _("%s seeded")}
    return ", ".join(words[origin] % f"{count:,}" for origin, count in sorted(counts.items()))


def _hidden(first: int, last: int) -> dict[str, str] | None:
    """Return how many ranks are not shown, and which."""
    if last < first:
        return None
    return {"count": f"{last - first + 1:,}", "first": f"{first:,}", "last": f"{last:,}"}
