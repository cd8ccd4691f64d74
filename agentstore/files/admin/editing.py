"""The editor: a form that keeps every byte, although browsers change line ends on the way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.translation import gettext as _

from agentstore.conf import settings
from agentstore.core import errors
from agentstore.core.admin import Crumb, tenant_label, time_text
from agentstore.core.tenancy import is_tenant
from agentstore.files.admin.agents import AgentsAdmin
from agentstore.files.admin.base import number, words_of
from agentstore.files.admin.comparing import show_diff
from agentstore.files.admin.lineends import as_browser_sends, fit
from agentstore.files.admin.unusual import unusual_bytes
from agentstore.files.diff import split_lines
from agentstore.files.names import check_content, check_name
from agentstore.files.values import FileInfo

__all__ = ["EditingAdmin", "looks_wrapped"]

#: What a wrapper object or a row looks like once something made text of it.
_WRAPPED = re.compile(
    r"\[object \w+\]|<[\w.]+ (?:object )?at 0x[0-9a-f]+>|[A-Z]\w+\(\w+=.*\)|\{\s*'\w+'\s*:.*\}|b'.*'|b\".*\"",
    re.DOTALL,
)
_DATA = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".toml", ".py", ".js", ".ts")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What the editor holds: the text as it would be stored, and the version that it was opened at."""

    text: str
    version: int
    base: str


def looks_wrapped(name: str, text: str) -> bool:
    """Tell whether a text seems to be a data structure that something printed, not what it holds."""
    bare = text.strip()
    if name.lower().endswith(_DATA) or not bare:
        return False
    if _WRAPPED.fullmatch(bare):
        return True
    if bare[0] + bare[-1] not in ("{}", "[]"):
        return False
    try:
        found = json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) or any(isinstance(part, dict) for part in found)


class EditingAdmin(AgentsAdmin):
    """The form of a file, and the form of a new one."""

    change_form_template = "agentstore/admin/files/editor.html"
    add_form_template = "agentstore/admin/files/add.html"

    # --- a file --------------------------------------------------------------------------------

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the editor, or save what it holds."""
        obj = self.get_object(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        if obj.deleted_at is not None:
            return self._deleted_meanwhile(request, obj)
        if request.method == "POST":
            self.require(request, "change", obj.tenant)
            return self._save(request, obj)
        text = self.store_of(request, obj).read(obj.name)
        draft = Draft(text=text or "", version=obj.version, base=text or "")
        return self.not_found(request, object_id) if text is None else self._editor(request, obj, draft)

    def _deleted_meanwhile(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseRedirect(self.agent_url(obj.tenant, obj.agent, "deleted"))
        self.require(request, "change", obj.tenant)
        draft = Draft(text=as_browser_sends(request.POST.get("content", "")), version=obj.version, base="")
        note = _("Somebody deleted %(name)s meanwhile. Your text is all here: undelete the file in another "
                 "window, then save.")  # fmt: skip
        return self._editor(request, obj, draft, error=note % {"name": obj.name}, status=409)

    def _draft(self, request: HttpRequest, obj: Any) -> Draft:
        """Return what was posted, with the line ends of the version that the form was filled with."""
        store = self.store_of(request, obj)
        version = number(request.POST.get("version")) or 0
        try:
            base = store.read(obj.name, version)
        except errors.ValidationFailed:  # blanked out meanwhile
            base = None
        if base is None:
            base = store.read(obj.name) or ""
        return Draft(text=fit(request.POST.get("content", ""), base), version=version, base=base)

    def _save(self, request: HttpRequest, obj: Any) -> HttpResponse:
        draft, store = self._draft(request, obj), self.store_of(request, obj)
        if "content" not in request.POST or not draft.version:
            return self._editor(
                request, obj, draft, error=_("The form came incomplete. Nothing was saved."), status=400
            )
        if "_look" in request.POST:
            return self._look(request, obj, draft)
        current = store.read(obj.name)
        if draft.text == draft.base or draft.text == current:
            message = _("Nothing was changed, so no version was made.")
            return self._go_on(request, obj, message, messages.INFO)
        if "_anyway" not in request.POST and looks_wrapped(obj.name, draft.text) > looks_wrapped(
            obj.name, draft.base
        ):
            return self._editor(request, obj, draft, wrapped=True)
        try:
            info = store.write(
                obj.name, draft.text, expected_version=draft.version, reason=self.reason(request)
            )
        except errors.Conflict:
            return self._stale(request, obj, draft)
        except errors.AgentStoreError as error:
            return self._editor(request, obj, draft, error=self._refusal(error, draft.text))
        self.log_act(request, obj, CHANGE, _("Saved version %d.") % info.version)
        message = _("Saved %(name)s as version %(number)d.") % {"name": info.name, "number": info.version}
        return self._go_on(request, obj, message, messages.SUCCESS)

    def _look(self, request: HttpRequest, obj: Any, draft: Draft) -> HttpResponse:
        diff = show_diff(draft.base, draft.text, old_name=f"v{draft.version}", new_name=_("yours"))
        return self._editor(request, obj, draft, diff=diff, diff_title=_("Your changes, not saved yet"))

    def _stale(self, request: HttpRequest, obj: Any, draft: Draft) -> HttpResponse:
        """Keep the text, show what differs from theirs, and save on top of it the next time."""
        fresh = self.live(request, str(obj.pk)) or obj
        theirs = self.store_of(request, fresh).read(fresh.name) or ""
        diff = show_diff(theirs, draft.text, old_name=f"v{fresh.version}", new_name=_("yours"))
        kept = Draft(text=draft.text, version=fresh.version, base=theirs)
        title = _("From version %d to your text") % fresh.version
        return self._editor(
            request, fresh, kept, diff=diff, diff_title=title, stale=fresh, opened=draft.version, status=409
        )

    def _refusal(self, error: errors.AgentStoreError, text: str) -> str:
        if isinstance(error, errors.TooLarge):
            sizes = {"size": f"{len(text.encode()):,}", "limit": f"{settings.FILE_MAX_BYTES:,}"}
            return _("This text has %(size)s bytes; the limit is %(limit)s. Nothing was saved.") % sizes
        return f"{words_of(error)} {_('Nothing was saved.')}"

    def _go_on(self, request: HttpRequest, obj: Any, message: str, level: int) -> HttpResponse:
        self.message_user(request, message, level)
        stays = "_continue" in request.POST
        return HttpResponseRedirect(self.file_url(obj) if stays else self.agent_url(obj.tenant, obj.agent))

    def _editor(
        self,
        request: HttpRequest,
        obj: Any,
        draft: Draft,
        *,
        error: str = "",
        status: int = 200,
        **context: Any,
    ) -> HttpResponse:
        may_change = self.has_change_permission(request, obj)
        context = {
            "draft": draft,
            "error": error,
            "when": self.last_change(obj.at, obj.actor, obj.source),
            "bytes": f"{len(draft.text.encode('utf-8', 'replace')):,}",
            "most_bytes": f"{settings.FILE_MAX_BYTES:,}",
            "line_count": len(split_lines(draft.text)),
            "unusual": unusual_bytes(draft.text),
            "reason": request.POST.get("reason", ""),
            "may_delete": self.has_delete_permission(request, obj),
            "delete_url": self.file_url(obj, "delete"),
            "rename_url": self.file_url(obj, "rename"),
            "legend": "diff" in context,
            **context,
        }
        if (stale := context.get("stale")) is not None:
            context["stale_when"] = time_text(stale.at)
        name = {"name": obj.name}
        title = _("Change %(name)s") % name if may_change else _("View %(name)s") % name
        return self.file_page(
            request, self.change_form_template, obj, context, title=title, current="change", status=status
        )

    # --- a new file ----------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form of a new file, or write it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        given = request.POST if request.method == "POST" else request.GET
        names = {key: given.get(key, "").replace("\0", "") for key in ("tenant", "agent", "name")}
        if request.method != "POST":
            return self._add_form(request, names)
        if not is_tenant(names["tenant"]):
            return self._add_form(request, names, error=_("Name the tenant that the file is for."))
        self.require(request, "add", names["tenant"])
        text = as_browser_sends(request.POST.get("content", ""))
        if "_anyway" not in request.POST and looks_wrapped(names["name"], text):
            return self._add_form(request, names, wrapped=True)
        try:
            store = self.store(request, names["tenant"], names["agent"].strip())
            name = check_name(names["name"].strip())
            check_content(text, name=name, agent=store.agent, limit=settings.FILE_MAX_BYTES)
            info = store.write(name, text, create_only=True, reason=self.reason(request))
        except errors.AgentStoreError as error:
            return self._add_form(request, names, error=self._refusal(error, text))
        return self._added(request, store.tenant, store.agent, info)

    def _added(self, request: HttpRequest, tenant: str, agent: str, info: FileInfo) -> HttpResponse:
        obj = self.of_agent(request, tenant, agent).filter(name=info.name).latest("created_at")
        self.log_act(request, obj, ADDITION, _("Added as version %d.") % info.version)
        link = format_html('<a href="{}">{}</a>', self.file_url(obj), info.name)
        words = {"name": link, "number": info.version}
        return self._go_on(
            request, obj, format_html(_("Added {name} as version {number}."), **words), messages.SUCCESS
        )

    def owner_fields(self, request: HttpRequest, tenant: str, agent: str) -> dict[str, Any]:
        """Return what a form for new files says of whose they are: known, or to be named."""
        tenants = self.tenants(request)
        known = is_tenant(tenant) and self.valid_agent(agent) and (tenants is None or tenant in tenants)
        offered = sorted(tenants, key=tenant_label) if tenants is not None else []
        return {
            "known": known,
            "offered": [(name, tenant_label(name)) for name in offered],
            "back": self.agent_url(tenant, agent) if known else self.url("changelist"),
        }

    def _add_form(self, request: HttpRequest, names: dict[str, str], **context: Any) -> HttpResponse:
        tenant, agent = names["tenant"], names["agent"]
        owner = self.owner_fields(request, tenant, agent)
        known = owner["known"]
        crumbs = self.agent_crumbs(tenant, agent, Crumb(label=_("Add file"))) if known else self.crumbs(
            Crumb(label=_("Add file")))  # fmt: skip
        context = {
            "names": names,
            **owner,
            "known": known and request.method != "POST",
            "content": as_browser_sends(request.POST.get("content", "")),
            "reason": request.POST.get("reason", ""),
            "most_bytes": f"{settings.FILE_MAX_BYTES:,}",
            **context,
        }
        subtitle = self.owner_text(tenant, agent) if known else ""
        title = _("Add file")
        return self.page(
            request, self.add_form_template, context, title=title, subtitle=subtitle, crumbs=crumbs
        )
