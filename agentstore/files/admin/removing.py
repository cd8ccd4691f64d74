"""Delete, undelete and rename a file: a question first, then the store, then the log."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin.models import CHANGE, DELETION
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.admin import Crumb, breaking, time_tag
from agentstore.files.admin.base import number, words_of
from agentstore.files.admin.restoring import RestoringAdmin

__all__ = ["RemovingAdmin"]


class RemovingAdmin(RestoringAdmin):
    """The delete, undelete and rename pages."""

    delete_confirmation_template = "agentstore/admin/confirm.html"
    rename_template = "agentstore/admin/files/rename.html"

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask whether to delete a file, or delete it."""
        obj = self.live(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        self.require(request, "delete", obj.tenant)
        seen = number(request.POST.get("version"))
        if request.method != "POST" or seen is None:
            return self._ask_delete(request, obj)
        try:
            gone = self.store_of(request, obj).delete(
                obj.name, expected_version=seen, reason=self.reason(request)
            )
        except errors.Conflict:
            fresh = self.live(request, object_id) or obj
            return self._ask_delete(request, fresh, changed=True)
        if not gone:
            return self.not_found(request, object_id)
        names = {"name": obj.name, "number": obj.version}
        self.log_act(request, obj, DELETION, _("Deleted at version %(number)d.") % names)
        message = _("Deleted %(name)s at version %(number)d. It can be undeleted.") % names
        return self.done(request, message, self.agent_url(obj.tenant, obj.agent))

    def _ask_delete(self, request: HttpRequest, obj: Any, *, changed: bool = False) -> HttpResponse:
        name = {"name": obj.name, "agent": obj.agent, "number": obj.version}
        note = _(
            "%(name)s is now at version %(number)d, saved by somebody while you were looking. "
            "Here it is again."
        )
        return self._ask(
            request,
            obj,
            title=_("Delete %(name)s?") % name,
            sentence=_(
                "%(agent)s no longer reads it from its next run on. Its versions stay, and it can be "
                "undeleted."
            )
            % name,  # fmt: skip
            button=_("Delete %(name)s") % name,
            hidden=[("version", obj.version)],
            back=self.file_url(obj),
            warning=note % name if changed else "",
            danger=True,
            status=409 if changed else 200,
        )

    def undelete_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask whether to undelete a file, or undelete it."""
        obj = self.get_object(request, object_id)
        if obj is None or obj.deleted_at is None:
            return self.not_found(request, object_id)
        self.require(request, "undelete", obj.tenant)
        deleted = self.agent_url(obj.tenant, obj.agent, "deleted")
        problem = self._undelete_problem(request, obj)
        if problem:
            self.message_user(request, problem, messages.ERROR)
            return HttpResponseRedirect(deleted)
        if request.method != "POST":
            name = {"name": obj.name, "number": obj.version}
            return self._ask(
                request,
                obj,
                title=_("Undelete %(name)s?") % name,
                sentence=_(
                    "It comes back with the text of version %(number)d, as a new version, and with its "
                    "whole history."
                )
                % name,  # fmt: skip
                button=_("Undelete %(name)s") % name,
                back=deleted,
            )
        try:
            info = self.store_of(request, obj).undelete(obj.name, reason=self.reason(request))
        except errors.AgentStoreError as error:
            self.message_user(request, words_of(error), messages.ERROR)
            return HttpResponseRedirect(deleted)
        names = {"name": info.name, "number": info.version}
        self.log_act(request, obj, CHANGE, _("Undeleted as version %(number)d.") % names)
        message = _("Undeleted %(name)s as version %(number)d.") % names
        return self.done(request, message, self.agent_url(obj.tenant, obj.agent))

    def _undelete_problem(self, request: HttpRequest, obj: Any) -> str:
        """Say why this file can't be undeleted: its name is taken, or a newer one of the name is there."""
        same = self.of_agent(request, obj.tenant, obj.agent).filter(name_key=obj.name_key).exclude(pk=obj.pk)
        others = list(same)
        live = next((other for other in others if other.deleted_at is None), None)
        if live is not None:
            return str(_("The name is taken: rename the live %s first.") % live.name)
        if any((other.deleted_at, other.pk) > (obj.deleted_at, obj.pk) for other in others):
            return str(_("Another %s was deleted later; that one comes first.") % obj.name)
        return ""

    # --- rename --------------------------------------------------------------------------------

    def rename_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for another name, or give it."""
        obj = self.live(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        self.require(request, "change", obj.tenant)
        if request.method != "POST":
            return self._ask_rename(request, obj, obj.name)
        name = request.POST.get("name", "").replace("\0", "").strip()
        seen = number(request.POST.get("version"))
        if seen is None:
            return self._ask_rename(request, obj, name)
        try:
            info = self.store_of(request, obj).rename(
                obj.name, name, expected_version=seen, reason=self.reason(request)
            )
        except errors.Conflict as error:
            fresh = self.live(request, object_id) or obj
            return self._ask_rename(request, fresh, name, error=words_of(error), status=409)
        except errors.AgentStoreError as error:
            return self._ask_rename(request, obj, name, error=words_of(error))
        if not info.changed:
            self.message_user(request, _("Nothing was changed, so no version was made."), messages.INFO)
            return HttpResponseRedirect(self.file_url(obj))
        names = {"old": obj.name, "name": info.name, "number": info.version}
        self.log_act(
            request, obj, CHANGE, _("Renamed from %(old)s to %(name)s as version %(number)d.") % names
        )
        message = _("Renamed %(old)s to %(name)s as version %(number)d.") % names
        return self.done(request, message, self.file_url(obj))

    def _ask_rename(
        self, request: HttpRequest, obj: Any, name: str, *, error: str = "", status: int = 200
    ) -> HttpResponse:
        context = {"name": name, "error": error, "reason": request.POST.get("reason", "")}
        title = _("Rename %s") % obj.name
        return self.file_page(
            request, self.rename_template, obj, context, title=title, current="change", step=_("Rename"),
            status=status,
        )  # fmt: skip

    # --- the question --------------------------------------------------------------------------

    def _ask(
        self, request: HttpRequest, obj: Any, *, title: str, sentence: str, button: str, back: str,
        hidden: Any = (), warning: str = "", danger: bool = False, status: int = 200,
    ) -> HttpResponse:  # fmt: skip
        columns = [_("File"), _("Version"), _("Size"), _("Last change"), _("By"), _("Reason")]
        cells = [
            breaking(obj.name), str(obj.version), f"{obj.size:,}\u00a0B", time_tag(obj.at),
            breaking(obj.actor or "–"), breaking(obj.reason or _("none given")),
        ]  # fmt: skip
        context = {
            "sentence": sentence,
            "warning": warning,
            "columns": columns,
            "rows": [list(zip(columns, cells, strict=True))],
            "hidden": hidden,
            "with_reason": True,
            "button": button,
            "danger": danger,
            "back": back,
        }
        crumbs = self.agent_crumbs(obj.tenant, obj.agent, Crumb(label=title))
        subtitle = self.owner_text(obj.tenant, obj.agent)
        return self.page(
            request, self.delete_confirmation_template, context, title=title, subtitle=subtitle,
            crumbs=crumbs, status=status,
        )  # fmt: skip
