"""Going back to one older version, and blanking one out: a question first, then the store, then the log."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin.models import CHANGE
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.admin import time_text
from agentstore.files.admin.base import number, words_of
from agentstore.files.admin.comparing import show_diff
from agentstore.files.admin.versions import VersionsAdmin
from agentstore.files.values import FileVersion

__all__ = ["RestoringAdmin"]


class RestoringAdmin(VersionsAdmin):
    """The restore page and the page to blank out a version."""

    restore_template = "agentstore/admin/files/restore.html"
    redact_template = "agentstore/admin/files/redact.html"

    # --- restore -------------------------------------------------------------------------------

    def restore_view(self, request: HttpRequest, object_id: str, version: int) -> HttpResponse:
        """Show what restoring a version changes, or restore it."""
        obj = self.live(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        if request.method != "POST":
            return self._ask_restore(request, obj, version)
        self.require_all(request, obj.tenant, "change", "restore")
        return self._restore(request, obj, version)

    def _restore(self, request: HttpRequest, obj: Any, version: int) -> HttpResponse:
        seen = number(request.POST.get("version"))
        if seen is None:
            return self._ask_restore(request, obj, version)
        if version == obj.version == seen:
            return self._nothing_to_restore(request, obj, version)
        try:
            info = self.store_of(request, obj).restore(
                obj.name, version, expected_version=seen, reason=self.reason(request)
            )
        except errors.Conflict:
            fresh = self.live(request, str(obj.pk)) or obj
            return self._ask_restore(request, fresh, version, stale=True)
        except errors.AgentStoreError as error:
            self.message_user(request, words_of(error), messages.ERROR)
            return HttpResponseRedirect(self.file_url(obj, "versions"))
        if not info.changed:
            return self._nothing_to_restore(request, obj, version)
        names = {"old": version, "name": info.name, "new": info.version}
        self.log_act(request, obj, CHANGE, _("Restored version %(old)d as version %(new)d.") % names)
        message = _("Restored version %(old)d of %(name)s as version %(new)d.") % names
        return self.done(request, message, self.file_url(obj, "versions"))

    def _nothing_to_restore(self, request: HttpRequest, obj: Any, version: int) -> HttpResponse:
        message = _("Version %d is what is current already. Nothing to restore.") % version
        self.message_user(request, message, messages.INFO)
        return HttpResponseRedirect(self.file_url(obj, "versions"))

    def _ask_restore(
        self, request: HttpRequest, obj: Any, version: int, *, stale: bool = False
    ) -> HttpResponse:
        store = self.store_of(request, obj)
        chosen = next((each for each in store.versions(obj.name) if each.version == version), None)
        text, current = self.text_of(store, obj.name, version or -1), store.read(obj.name)
        if text is None or current is None:
            return self._no_text(request, obj, version)
        if chosen is None or text == current:
            return self._nothing_to_restore(request, obj, version)
        diff = show_diff(current, text, old_name=f"v{obj.version}", new_name=f"v{version}")
        context = {
            "diff": diff,
            "chosen": chosen,
            "chosen_when": time_text(chosen.at),
            "current_when": time_text(obj.at),
            "next": str(obj.version + 1),
            "first_kept": version + 1,
            "sizes": f"{obj.size:,} → {chosen.size:,} B",
            "downloads": self.downloads(obj, obj.version, version),
            "may_restore": self.may_restore(request, obj.tenant),
            "stale": stale,
            "reason": request.POST.get("reason", ""),
        }
        title = _("Restore version %(number)d of %(name)s?") % {"number": version, "name": obj.name}
        return self.file_page(
            request, self.restore_template, obj, context, title=title, current="restore", step=_("Restore"),
            status=409 if stale else 200,
        )  # fmt: skip

    # --- blank out -----------------------------------------------------------------------------

    def redact_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask which version to blank out and why, or blank it out."""
        obj = self.live(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        self.require_all(request, obj.tenant, "change", "redact")
        given = request.POST if request.method == "POST" else request.GET
        chosen = number(given.get("version"))
        older = [each for each in self.store_of(request, obj).versions(obj.name) if not each.redacted]
        version = next((each for each in older if each.version == chosen), None)
        if chosen == obj.version:
            error = _("Save a version without the secret first, then blank out the older ones.")
            return self._ask_redact(request, obj, older, None, error=error)
        if chosen is not None and version is None:
            return self._no_text(request, obj, chosen)
        if request.method != "POST" or version is None:
            return self._ask_redact(request, obj, older, version)
        return self._redact(request, obj, older, version)

    def _redact(
        self, request: HttpRequest, obj: Any, older: list[FileVersion], version: FileVersion
    ) -> HttpResponse:
        reason = self.reason(request)
        if not reason:
            return self._ask_redact(request, obj, older, version, error=_("Say why the text is blanked out."))
        try:
            self.store_of(request, obj).redact(obj.name, version.version, reason)
        except errors.AgentStoreError as error:
            return self._ask_redact(request, obj, older, version, error=words_of(error))
        names = {"number": version.version, "name": obj.name}
        self.log_act(request, obj, CHANGE, _("Blanked out version %(number)d.") % names)
        message = _("Blanked out version %(number)d of %(name)s. Its number, time and author stay.") % names
        return self.done(request, message, self.file_url(obj, "versions"))

    def _ask_redact(
        self,
        request: HttpRequest,
        obj: Any,
        older: list[FileVersion],
        version: FileVersion | None,
        *,
        error: str = "",
    ) -> HttpResponse:
        text = (
            None if version is None else self.text_of(self.store_of(request, obj), obj.name, version.version)
        )
        context = {
            "older": [(each.version, time_text(each.at), each.actor or "–") for each in older],
            "chosen": version,
            "text": text,
            "when": "" if version is None else time_text(version.at),
            "error": error,
            "reason": request.POST.get("reason", ""),
        }
        names = {"name": obj.name, "number": version.version if version else 0}
        title = (
            _("Blank out version %(number)d of %(name)s?")
            if version
            else _("Blank out a version of %(name)s")
        )
        return self.file_page(
            request, self.redact_template, obj, context, title=title % names, current="redact",
            step=_("Blank out"),
        )  # fmt: skip
