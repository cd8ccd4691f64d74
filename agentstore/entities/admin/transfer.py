"""Import and export in the admin: a file into one tenant's rows, or their rows as a file."""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, cast

from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from agentstore.core import errors
from agentstore.core.admin import Crumb
from agentstore.core.tenancy import is_tenant
from agentstore.entities.admin.editing import TenantField
from agentstore.entities.admin.filters import TENANT
from agentstore.entities.admin.history import HistoryAdmin
from agentstore.entities.admin.listing import Tab
from agentstore.entities.io import Import, Problem, export_rows
from agentstore.entities.io_records import FORMATS, detect_format

__all__ = ["TransferAdmin"]

#: The largest file that a request takes, in bytes; larger ones are for the command.
MOST = 20 * 1024 * 1024
#: How many problems a report lists.
LISTED = 100
_TYPES = {"csv": "text/csv", "json": "application/json", "jsonl": "application/x-ndjson"}


@dataclass(frozen=True, kw_only=True)
class Report:
    """What looking through a file found."""

    title: str
    sentence: str
    bad: int
    problems: list[Problem]

    @property
    def more(self) -> int:
        """How many problems are not listed."""
        return self.bad - len(self.problems)


class TransferAdmin(HistoryAdmin):
    """The import and export pages of an entity."""

    import_template = "agentstore/admin/entity_import.html"
    export_template = "agentstore/admin/entity_export.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list, with buttons that lead here."""
        context = {"transfers": self.transfers(request), **(extra_context or {})}
        return super().changelist_view(request, context)

    def transfers(self, request: HttpRequest) -> list[Tab]:
        """Return the buttons above the list that lead here."""
        found = []
        if self.has_add_permission(request):
            url = self.preserving(request, self.url("import"))
            found.append(Tab(label=_("Import"), url=url, current=False))
        url = self.preserving(request, self.url("export"))
        return [*found, Tab(label=_("Export"), url=url, current=False)]

    # --- import --------------------------------------------------------------------------------

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Ask for a file, look through it, and write all of it or nothing."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        tenant = self.tenant_field(request)
        tenant.help = _("Whom the rows will belong to.")
        told = self._take(request, tenant) if request.method == "POST" else {}
        if isinstance(told, HttpResponse):
            return told
        context = {
            "tenant_field": tenant,
            "limit": MOST // (1024 * 1024),
            "skip": "skip" in request.POST,
            "reason": request.POST.get("reason", ""),
            "back": self.list_url(request),
            **told,
        }
        title = _("Import %(name)s") % {"name": self._noun(2)}
        crumbs = self.crumbs(Crumb(label=_("Import")))
        return self.page(request, self.import_template, context, title=title, crumbs=crumbs)

    def _take(self, request: HttpRequest, tenant: TenantField) -> dict[str, Any] | HttpResponse:
        file = request.FILES.get("file")
        if not self.may_add_to(request, tenant):
            return {}
        if file is None:
            return {"errors": [_("Choose a file.")]}
        if (file.size or 0) > MOST:
            return {"errors": [_("The file is too large for this page. Use manage.py agentstore_import.")]}
        try:
            return self._bring(request, tenant.value, cast(BinaryIO, file), str(file.name))
        except errors.QuotaExceeded as error:
            return {"errors": [f"{self.full_text(tenant.value)} {error.message}"]}
        except errors.AgentStoreError as error:
            return {"errors": [error.full_message]}

    def _bring(
        self, request: HttpRequest, tenant: str, file: BinaryIO, name: str
    ) -> dict[str, Any] | HttpResponse:
        store = self.model.store(tenant, actor=self.actor(request), reason=self.reason(request))
        job = Import(store, file, detect_format(name, file))
        problems = job.problems()
        listed = list(islice(problems, LISTED))
        for _problem in problems:
            continue  # the others are counted
        if "_check" in request.POST or (job.bad and "skip" not in request.POST):
            return {"report": self._report(job, listed)}
        job.check_room()
        return self._imported(request, tenant, job.write(), job.bad)

    def _report(self, job: Import[Any], problems: list[Problem]) -> Report:
        counts = {"bad": f"{job.bad:,}", "total": f"{job.total:,}", "good": f"{job.good:,}"}
        if not job.bad:
            sentence = _(
                "All %(total)s records fit. Nothing was written: choose the file again and import it."
            )
            return Report(title=_("The file is in order"), sentence=sentence % counts, bad=0, problems=[])
        sentence = _("%(bad)s of %(total)s records do not fit; the other %(good)s do.")
        title = _("Nothing was imported")
        return Report(title=title, sentence=sentence % counts, bad=job.bad, problems=problems)

    def _imported(self, request: HttpRequest, tenant: str, written: int, bad: int) -> HttpResponse:
        names = {"count": f"{written:,}", "name": self._noun(written), "tenant": self.label(tenant)}
        message = _("Imported %(count)s %(name)s for %(tenant)s.") % names
        if bad:
            message = f"{message} {_('%s records were left out.') % f'{bad:,}'}"
        LogEntry.objects.create(
            user_id=cast(int, request.user.pk),
            content_type=ContentType.objects.get_for_model(self.model, for_concrete_model=False),
            object_id=None,
            object_repr=f"{written:,} {self._noun(written)}"[:200],
            action_flag=ADDITION,
            change_message=message,
        )
        return self.done(request, message, self.list_url(request))

    # --- export --------------------------------------------------------------------------------

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Ask for tenant and format, or send the file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        tenant, format = self.tenant_field(request), request.GET.get("format", "")
        tenant.help = _("Whose rows.")
        if TENANT in request.GET:
            if not is_tenant(tenant.value):
                tenant.errors = [_("Choose a tenant.")]
            elif not self.allows(request, "view", tenant.value):
                tenant.errors = [_("You may not see the rows of this tenant.")]
            elif format in FORMATS:
                return self._send(tenant.value, format)
        context = {"tenant_field": tenant, "back": self.list_url(request)}
        title = _("Export %(name)s") % {"name": self._noun(2)}
        crumbs = self.crumbs(Crumb(label=_("Export")))
        return self.page(request, self.export_template, context, title=title, crumbs=crumbs)

    def _send(self, tenant: str, format: str) -> FileResponse:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
        out = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="")
        export_rows(self.model.store(tenant), out, format)
        out.flush()
        out.detach()
        file.seek(0)
        name = f"{self.model.entity.name}.{format}"
        return FileResponse(file, as_attachment=True, filename=name, content_type=_TYPES[format])
