"""Importing files into an agent: first what it would do to those that are there, then all or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from agentstore.conf import settings
from agentstore.core import errors
from agentstore.core.admin import Crumb, tenant_label
from agentstore.core.tenancy import is_tenant
from agentstore.files.admin.base import size_text, words_of
from agentstore.files.admin.comparing import Comparing, Shown
from agentstore.files.admin.going_back import GoingBackAdmin
from agentstore.files.admin.uploading import chosen_files, keep_paths, pack, placed, uploads_of
from agentstore.files.importing import POLICIES, Step, fingerprint, import_files
from agentstore.files.names import name_key
from agentstore.files.store import FileStore

__all__ = ["TransferAdmin"]

#: What the user must be allowed to do for each step, besides importing.
_NEEDS = {"create": "add", "update": "change", "delete": "delete"}
_FLAGS = {"create": ADDITION, "update": CHANGE, "delete": DELETION}
_ORDER = ("conflict", "delete", "update", "create", "keep", "skip", "same")


@dataclass(frozen=True, kw_only=True)
class Form:
    """What the form holds, files aside."""

    tenant: str
    agent: str
    folder: str
    policy: str
    prune: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """What the import does to one file, as the page shows it."""

    step: Step
    what: str
    version: str
    may: bool
    diff: Shown | None
    anchor: str


@dataclass(frozen=True, kw_only=True)
class Look:
    """What the import of some files would do; ``packed`` carries them to the next request."""

    lines: Sequence[Line]
    packed: str
    seen: str
    given: int

    @property
    def writes(self) -> int:
        """How many files it changes."""
        return sum(line.step.action in _NEEDS for line in self.lines)

    @property
    def in_the_way(self) -> int:
        """How many files stop it."""
        return sum(line.step.action == "conflict" for line in self.lines)

    @property
    def forbidden(self) -> bool:
        """Whether it takes more than the user may do."""
        return not all(line.may for line in self.lines)

    @property
    def ready(self) -> bool:
        """Whether it can be carried out as it stands, and would do something."""
        return bool(self.writes) and not self.in_the_way and not self.forbidden

    @property
    def diffs(self) -> list[Line]:
        """The steps with a difference to show."""
        return [line for line in self.lines if line.diff is not None]


class TransferAdmin(GoingBackAdmin):
    """The import page."""

    import_template = "agentstore/admin/files/import.html"

    @method_decorator(csrf_exempt)
    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Ask for files, show what importing them does, and do it.

        Its form is checked for its token here, since it must not be parsed before.
        """
        keep_paths(request)
        answer: HttpResponse = csrf_protect(self._import_view)(request)
        return answer

    def _import_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_import_permission(request):
            raise PermissionDenied
        form = _read(request)
        if request.method != "POST":
            return self._import_page(request, form)
        if not is_tenant(form.tenant):
            return self._import_page(request, form, error=_("Name the tenant that the files are for."))
        self.require(request, "import", form.tenant)
        try:
            store = self.store(request, form.tenant, form.agent).with_source("import")
            return self._import(request, form, store, chosen_files(request))
        except errors.AgentStoreError as error:
            return self._import_page(request, form, error=words_of(error))

    def _import(
        self, request: HttpRequest, form: Form, store: FileStore, chosen: Mapping[str, str]
    ) -> HttpResponse:
        """Do what was looked at, or show what would be done: always of files that were chosen just now."""
        if "_import" not in request.POST or uploads_of(request):
            return self._import_page(request, form, look=self._look_at(request, form, store, chosen))
        try:
            return self._bring(request, form, store, placed(chosen, form.folder))
        except errors.Conflict:
            note = _("Files changed since you looked. Nothing was written. Here is the plan again.")
            look = self._look_at(request, form, store, chosen)
            return self._import_page(request, form, error=note, look=look, status=409)

    def _bring(
        self, request: HttpRequest, form: Form, store: FileStore, files: Mapping[str, str]
    ) -> HttpResponse:
        how: dict[str, Any] = {"policy": form.policy, "prune": form.prune}
        plan, seen = import_files(store, files, dry_run=True, **how), request.POST.get("seen", "")
        needed = {_NEEDS[step.action] for step in plan if step.action in _NEEDS}
        self.require_all(request, store.tenant, *sorted(needed))
        if fingerprint(plan) != seen:
            raise errors.Conflict("The plan is not the one that was looked at.")
        with transaction.atomic(self.get_queryset(request).db):
            done = import_files(store, files, expected=seen, reason=form.reason, **how)
            self._log_import(request, store, done)
        message = _("Imported into %(agent)s: %(told)s.") % {"agent": store.agent, "told": _told(done)}
        return self.done(request, message, self.agent_url(store.tenant, store.agent))

    def _log_import(self, request: HttpRequest, store: FileStore, done: Sequence[Step]) -> None:
        rows = self.of_agent(request, store.tenant, store.agent).order_by("version")
        objects = {obj.name: obj for obj in rows}
        for action, flag in _FLAGS.items():
            written = [objects[step.name] for step in done if step.action == action]
            self.log(request, written, flag, self.with_reason(request, _("Imported.")))

    # --- what it would do ----------------------------------------------------------------------

    def _look_at(self, request: HttpRequest, form: Form, store: FileStore, chosen: Mapping[str, str]) -> Look:
        files = placed(chosen, form.folder)
        plan = import_files(store, files, policy=form.policy, prune=form.prune, dry_run=True)
        plan.sort(key=lambda step: (_ORDER.index(step.action), step.name.casefold()))
        now = self._texts_now(request, store, plan)
        comparing = Comparing()
        lines = []
        for position, step in enumerate(plan, 1):
            need = _NEEDS.get(step.action)
            before = "" if step.action == "create" else now.get(name_key(step.name))
            after = "" if step.action == "delete" else files.get(step.name)
            names = {"old_name": f"v{step.version}" if step.version else "–", "new_name": _("new")}
            lines.append(
                Line(
                    step=step,
                    what=_what(step),
                    version=_version(step),
                    may=need is None or self.allows(request, need, store.tenant),
                    diff=comparing.show(before, after, **names)
                    if need or step.action == "conflict"
                    else None,
                    anchor=f"change-{position}",
                )
            )
        return Look(lines=lines, packed=pack(chosen), seen=fingerprint(plan), given=len(chosen))

    def _texts_now(self, request: HttpRequest, store: FileStore, plan: Sequence[Step]) -> dict[str, str]:
        """Return key -> text of the files that would be replaced or deleted, or are in the way."""
        keys = [name_key(step.name) for step in plan if step.action in ("conflict", "update", "delete")]
        rows = self.of_agent(request, store.tenant, store.agent).filter(
            deleted_at__isnull=True, name_key__in=keys
        )
        known = {(obj.pk, obj.version): obj.name_key for obj in rows}
        texts = self.contents(request, store.tenant, store.agent, known.keys())
        return {known[key]: text for key, text in texts.items()}

    # --- the form ------------------------------------------------------------------------------

    def _import_page(
        self,
        request: HttpRequest,
        form: Form,
        *,
        look: Look | None = None,
        error: str = "",
        status: int = 200,
    ) -> HttpResponse:
        owner = self.owner_fields(request, form.tenant, form.agent)
        known = owner["known"]
        step = Crumb(label=_("Import"))
        crumbs = self.agent_crumbs(form.tenant, form.agent, step) if known else self.crumbs(step)
        context = {
            **owner,
            "form": form,
            "look": look,
            "error": error,
            "policies": [(name, label, name == form.policy) for name, label in _policies()],
            "limit": size_text(settings.FILE_MAX_BYTES),
        }
        title = _("Import files into %s") % form.agent if known else _("Import files")
        subtitle = tenant_label(form.tenant) if known else ""
        return self.page(
            request, self.import_template, context, title=title, subtitle=subtitle, crumbs=crumbs,
            status=status,
        )  # fmt: skip


def _read(request: HttpRequest) -> Form:
    given = request.POST if request.method == "POST" else request.GET
    texts = {key: given.get(key, "").replace("\0", "") for key in ("tenant", "agent", "folder", "reason")}
    policy = given.get("policy", "")
    return Form(
        tenant=texts["tenant"],
        agent=texts["agent"].strip(),
        folder=texts["folder"].strip(),
        policy=policy if policy in POLICIES else "fail",
        prune="prune" in given,
        reason=" ".join(texts["reason"].split())[:2000],
    )


def _policies() -> list[tuple[str, str]]:
    return [
        ("fail", _("import nothing")),
        ("skip", _("leave them alone")),
        ("overwrite", _("replace their text")),
        ("seed", _("replace what only seeds wrote")),
    ]


def _what(step: Step) -> str:
    words = {
        "create": _("Will be created"),
        "update": _("Its text will be replaced; the old one stays among the versions"),
        "delete": _("Not among the files. Will be deleted; undelete stays possible"),
        "same": _("The same already"),
    }
    return words.get(step.action, step.why)


def _version(step: Step) -> str:
    if step.action == "update" and step.version:
        return f"{step.version} → {step.version + 1}"
    return str(step.version or "–")


def _told(steps: Sequence[Step]) -> str:
    """Return what an import did in numbers, such as 2 created, 1 left alone."""
    counts = Counter(step.action for step in steps)
    texts = [
        (counts["create"], _("%d created")),
        (counts["update"], _("%d replaced")),
        (counts["delete"], _("%d deleted")),
        (counts["skip"] + counts["keep"], _("%d left alone")),
        (counts["same"], _("%d the same already")),
    ]
    return ", ".join(text % count for count, text in texts if count)
