"""Putting several files of an agent back to a time: what would happen first, then all of it or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.contrib import messages
from django.contrib.admin.models import CHANGE, DELETION
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.admin import Crumb, tenant_label, time_text
from agentstore.core.values import now
from agentstore.files.admin.base import words_of
from agentstore.files.admin.changes import at_day
from agentstore.files.admin.comparing import Comparing, Shown
from agentstore.files.admin.removing import RemovingAdmin
from agentstore.files.names import name_key
from agentstore.files.values import Planned

__all__ = ["GoingBackAdmin"]

_TICKABLE = ("restore", "undelete", "born")
#: What is ticked on arrival: going back never deletes by surprise.
_USUAL = ("restore", "undelete")
#: Parts what the page saw of each file in one input: no name holds it.
APART = "\\"
#: How many inputs the form has besides the ticks, and some to spare.
OTHERS = 10
#: What the user must be allowed to do for each step.
_NEEDS = {
    "restore": ("change", "restore"),
    "undelete": ("change", "restore", "undelete"),
    "delete": ("delete",),
    "born": ("delete",),
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """What going back does to one file, as the page shows it."""

    planned: Planned
    what: str
    why: str
    version: str
    seen: str
    ticked: bool
    may: bool
    diff: Shown | None
    anchor: str
    tickable: bool
    downloads: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The texts of a file now and then; None where they are too much to read for one page."""

    before: str | None
    after: str | None
    downloads: Sequence[tuple[str, str]]


class GoingBackAdmin(RemovingAdmin):
    """The page on which files go back to a time."""

    back_template = "agentstore/admin/files/back.html"

    def back_view(self, request: HttpRequest, agent: str) -> HttpResponse:
        """Show what putting files back to a time does, or do it."""
        tenant = self.tenant_of(request, agent)
        if tenant is None or not self.of_agent(request, tenant, agent).exists():
            return self.not_found(request, agent)
        given = request.POST if request.method == "POST" else request.GET
        moment = _moment(given.get("date", ""), given.get("time", ""))
        if moment is None:
            self.message_user(request, _("Enter a date and a time."), messages.ERROR)
            moment = timezone.localtime(now()).replace(second=0, microsecond=0)
            return self._ask_back(request, tenant, agent, moment)
        if request.method != "POST" or "_back" not in request.POST:
            return self._ask_back(request, tenant, agent, moment)
        return self._put_back(request, tenant, agent, moment)

    def _put_back(self, request: HttpRequest, tenant: str, agent: str, moment: datetime) -> HttpResponse:
        names = request.POST.getlist("file")
        seen = {each for text in request.POST.getlist("seen") for each in text.split(APART)}
        self.require_all(request, tenant, "change", "restore")
        if not names:
            return self._ask_back(request, tenant, agent, moment, error=_("Tick at least one file."))
        store = self.store(request, tenant, agent)
        try:
            with transaction.atomic(self.get_queryset(request).db):
                for step in store.restore_as_of(moment, names, dry_run=True):
                    self.require_all(request, tenant, *_NEEDS.get(step.action, ()))
                    if _seen(step) not in seen:
                        raise errors.Conflict(_("Files changed while you were looking."))
                done = store.restore_as_of(moment, names, reason=self.reason(request))
                files = {obj.name: obj for obj in self.of_agent(request, tenant, agent).order_by("version")}
                self._log_all(request, files, done, moment)
        except errors.Conflict:
            note = _(
                "Files changed while you were looking. Nothing was written. Here is the comparison again."
            )
            return self._ask_back(request, tenant, agent, moment, error=note, status=409)
        except errors.AgentStoreError as error:
            return self._ask_back(request, tenant, agent, moment, error=words_of(error))
        count = sum(step.changed for step in done)
        message = _("Put %(count)d files of %(agent)s back to %(when)s.") if count != 1 else _(
            "Put 1 file of %(agent)s back to %(when)s.")  # fmt: skip
        message %= {"count": count, "agent": agent, "when": time_text(moment)}
        return self.done(request, message, self.agent_url(tenant, agent))

    def _log_all(
        self, request: HttpRequest, files: dict[str, Any], done: Sequence[Planned], moment: datetime
    ) -> None:
        text = _("Put back to %s.") % time_text(moment)
        for step in done:
            if step.changed and step.name in files:
                self.log_act(request, files[step.name], DELETION if step.action == "delete" else CHANGE, text)

    # --- the question --------------------------------------------------------------------------

    def _ask_back(
        self,
        request: HttpRequest,
        tenant: str,
        agent: str,
        moment: datetime,
        *,
        error: str = "",
        status: int = 200,
    ) -> HttpResponse:
        steps = self._steps(request, tenant, agent, moment)
        local = timezone.localtime(moment)
        tickable = [step for step in steps if step.tickable]
        context = {
            "steps": steps,
            "seen": APART.join(step.seen for step in tickable),
            # No name means the usual ones: an address that held hundreds would be too long for servers.
            "named": [step.planned.name for step in tickable if step.ticked and "file" in request.GET],
            "untickable": sum(not step.tickable and step.planned.action in _TICKABLE for step in steps),
            "diffs": [step for step in steps if step.diff is not None],
            "agent": agent,
            "tenant": tenant,
            "date": local.strftime("%Y-%m-%d").zfill(10),
            "time": local.strftime("%H:%M:%S" if local.second else "%H:%M"),
            "when": time_text(moment),
            "error": error,
            "reason": request.POST.get("reason", ""),
            "may_restore": self.may_restore(request, tenant),
            "back": self.agent_url(tenant, agent),
        }
        title = _("Put files of %(agent)s back to %(when)s?") % {"agent": agent, "when": time_text(moment)}
        crumbs = self.agent_crumbs(tenant, agent, Crumb(label=_("Back to a time")))
        return self.page(
            request, self.back_template, context, title=title, subtitle=tenant_label(tenant), crumbs=crumbs,
            status=status,
        )  # fmt: skip

    def _steps(self, request: HttpRequest, tenant: str, agent: str, moment: datetime) -> list[Step]:
        plan = self.store(request, tenant, agent).restore_as_of(moment, dry_run=True)
        plan.sort(key=lambda step: (_order(step), step.name.casefold()))
        given = request.POST if request.method == "POST" else request.GET
        ticked = set(given.getlist("file"))
        every = not ticked and request.method != "POST"
        offered = _offered(plan, ticked)
        pairs = self._pairs(request, tenant, agent, plan)
        comparing = Comparing()
        steps = []
        for position, step in enumerate(plan, 1):
            pair = pairs.get(step.name)
            steps.append(
                Step(
                    planned=step,
                    what=_what(step),
                    why=_why(step),
                    version=_version(step),
                    seen=_seen(step),
                    ticked=step.name in ticked or (every and step.action in _USUAL),
                    may=all(self.allows(request, action, tenant) for action in _NEEDS.get(step.action, ())),
                    diff=None if pair is None else _compared(comparing, step, pair),
                    anchor=f"change-{position}",
                    tickable=step.name in offered,
                    downloads=() if pair is None else pair.downloads,
                )
            )
        return steps

    def _pairs(
        self, request: HttpRequest, tenant: str, agent: str, plan: Sequence[Planned]
    ) -> dict[str, Pair]:
        """Return the texts of now and of then of each file that going back changes, by name."""
        steps = {name_key(step.name): step for step in plan if step.action in _TICKABLE}
        rows = self.of_agent(request, tenant, agent).filter(deleted_at__isnull=True, name_key__in=list(steps))
        live = {obj.name_key: obj for obj in rows}
        states = self.states(tenant, agent, request).filter(name_key__in=list(steps))
        kept = states.exclude(history_type="-").values_list("name_key", "version", "id")
        ids = {(key, version): id_ for key, version, id_ in kept}
        now_at = {key: (obj.pk, obj.version) for key, obj in live.items()}
        then_at = {
            key: (ids[key, step.version], step.version)
            for key, step in steps.items()
            if step.version is not None and step.action != "born" and (key, step.version) in ids
        }
        texts = self.contents(request, tenant, agent, {*now_at.values(), *then_at.values()})
        return {
            step.name: Pair(
                before=texts.get(now_at[key]) if key in now_at else "",
                after=texts.get(then_at[key]) if key in then_at else "",
                downloads=self._both(live.get(key), then_at.get(key)),
            )
            for key, step in steps.items()
        }

    def _both(self, obj: Any, then: tuple[UUID, int] | None) -> list[tuple[str, str]]:
        """Return the links to the texts of now and of then, as far as they are versions of a live file."""
        if obj is None:
            return []
        return self.downloads(obj, obj.version, then[1] if then is not None and then[0] == obj.pk else 0)


def _moment(day: str, clock: str) -> datetime | None:
    try:
        return at_day(date.fromisoformat(day), time.fromisoformat(clock or "00:00").replace(tzinfo=None))
    except ValueError:
        return None


def _offered(plan: Sequence[Planned], ticked: Collection[str]) -> set[str]:
    """Return the names that get a tick: all that can go back, as far as the host takes so large a form."""
    names = [step.name for step in plan if step.action in _TICKABLE]
    names.sort(key=lambda name: name not in ticked)
    most = django_settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    return set(names if most is None else names[: max(0, most - OTHERS)])


def _compared(comparing: Comparing, step: Planned, pair: Pair) -> Shown:
    old = f"v{step.current_version}" if step.current_version else "–"
    new = f"v{step.version}" if step.version and step.action != "born" else "–"
    return comparing.show(pair.before, pair.after, old_name=old, new_name=new)


def _seen(step: Planned) -> str:
    """Return what a page remembers of a step, by which a later change is noticed."""
    action = "born" if step.action == "delete" else step.action
    return f"{action}:{step.version or 0}:{step.current_version or 0}:{step.name}"


def _order(step: Planned) -> int:
    return ("restore", "undelete", "born", "lost", "same").index(step.action)


def _what(step: Planned) -> str:
    words = {
        "restore": _("Text of version %d comes back") % (step.version or 0),
        "undelete": _("Deleted since. Will be undeleted"),
        "born": _("Did not exist then. Will be deleted if ticked; undelete stays possible"),
        "same": _("The same as then"),
    }
    return words.get(step.action, "")


def _why(step: Planned) -> str:
    if step.action != "lost":
        return ""
    redacted = step.why == "redacted"
    return (
        _("Its version of that time was blanked out")
        if redacted
        else _("Its version of that time was trimmed")
    )


def _version(step: Planned) -> str:
    if step.action == "restore" and step.current_version:
        return f"{step.current_version} → {step.current_version + 1}"
    return str(step.current_version or step.version or "–")
