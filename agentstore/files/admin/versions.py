"""The versions of a file: the list, differences of any two, and every text to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agentstore.conf import settings
from agentstore.core import errors
from agentstore.core.admin import time_tag
from agentstore.files.admin.base import number
from agentstore.files.admin.comparing import show_diff
from agentstore.files.admin.editing import EditingAdmin
from agentstore.files.store import FileStore
from agentstore.files.values import FileInfo, FileVersion

__all__ = ["VersionsAdmin"]

#: How many versions a page shows.
PAGE = 20


@dataclass(frozen=True, kw_only=True)
class VersionLine:
    """One version in the table."""

    version: FileVersion | FileInfo
    when: SafeString
    size: str
    change: str
    current: bool
    redacted: bool
    redacted_when: SafeString | str
    compare_url: str
    restore_url: str
    from_checked: bool
    to_checked: bool


class VersionsAdmin(EditingAdmin):
    """The versions page, the diff page and the texts."""

    object_history_template = "agentstore/admin/files/versions.html"
    diff_template = "agentstore/admin/files/compare.html"

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the versions: they are a file's history."""
        obj = self.live(request, object_id)
        return (
            self.not_found(request, object_id)
            if obj is None
            else HttpResponseRedirect(self.file_url(obj, "versions"))
        )

    def versions_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the current version and the older ones, newest first."""
        obj = self.live(request, object_id)
        info = None if obj is None else self.store_of(request, obj).info(obj.name)
        if obj is None or info is None:
            return self.not_found(request, object_id)
        older = [
            each for each in self.store_of(request, obj).versions(obj.name) if each.version < info.version
        ]
        lines = list(self._version_lines(request, obj, info, older))
        page = Paginator(lines, PAGE).get_page(request.GET.get("p"))
        pages = page.paginator.page_range if page.paginator.num_pages > 1 else ()
        context = {
            "lines": page.object_list,
            "pages": page,
            "page_links": [(each, f"?{urlencode({'p': each})}") for each in pages],
            "older": len(older),
            "kept": len(lines),
            "trimmed": _trimmed(info, older),
            "versions_kept": settings.FILE_VERSIONS_KEPT,
            "daily_kept": settings.FILE_DAILY_KEPT,
            "diff_url": self.file_url(obj, "diff"),
            "redact_url": self.file_url(obj, "redact") if self.may_redact(request, obj.tenant) else "",
        }
        title = _("Versions of %s") % obj.name
        return self.file_page(
            request,
            self.object_history_template,
            obj,
            context,
            title=title,
            current="versions",
            step=_("Versions"),
        )

    def _version_lines(
        self, request: HttpRequest, obj: Any, info: FileInfo, older: Sequence[FileVersion]
    ) -> Iterator[VersionLine]:
        may = self.may_restore(request, obj.tenant)
        everything: list[FileInfo | FileVersion] = [info, *older]
        usable = [each for each in everything if not _redacted(each)]
        previous = usable[1].version if len(usable) > 1 else None
        redactions = self._redactions(request, obj) if len(usable) < len(everything) else {}
        for each in everything:
            current, redacted = each is info, _redacted(each)
            below = next((other for other in usable if other.version < each.version), None)
            yield VersionLine(
                version=each,
                when=time_tag(each.at),
                size=_("gone") if redacted else f"{each.size:,} B",
                change="" if redacted else _growth(each, below, info),
                current=current,
                redacted=redacted,
                redacted_when=redactions.get(each.version, ""),
                compare_url=""
                if current or redacted
                else self.file_url(obj, "diff", **{"from": each.version, "to": info.version}),
                restore_url=self.file_url(obj, "restore", each.version)
                if may and not (current or redacted)
                else "",
                from_checked=each.version == previous,
                to_checked=current,
            )

    def _redactions(self, request: HttpRequest, obj: Any) -> dict[int, SafeString]:
        rows = self.states(obj.tenant, obj.agent, request).filter(id=obj.pk, redacted_at__isnull=False)
        return {version: time_tag(at) for version, at in rows.values_list("version", "redacted_at")}

    # --- differences ---------------------------------------------------------------------------

    def diff_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the differences of two versions; 0 stands for "before there was any"."""
        obj = self.live(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        store = self.store_of(request, obj)
        new = number(request.GET.get("to")) or obj.version
        old = number(request.GET.get("from"))
        if old is None:
            old = next((each.version for each in store.versions(obj.name) if each.version < new), 0)
        texts = [self.text_of(store, obj.name, each) for each in (old, new)]
        if None in texts:
            return self._no_text(request, obj, old if texts[0] is None else new)
        diff = show_diff(texts[0] or "", texts[1] or "", old_name=f"v{old}", new_name=f"v{new}")
        context = {
            "diff": diff,
            "old": old,
            "new": new,
            "downloads": self.downloads(obj, old, new),
            "restore_url": self._restore_link(request, obj, old, new),
            "restore_number": old if new == obj.version else new,
        }
        names = {"name": obj.name, "old": old, "new": new}
        title = (
            _("%(name)s: version %(old)d to %(new)d") % names
            if old
            else _("%(name)s: version %(new)d") % names
        )
        return self.file_page(request, self.diff_template, obj, context, title=title, step=_("Compare"))

    def _restore_link(self, request: HttpRequest, obj: Any, old: int, new: int) -> str:
        chosen = old if new == obj.version else new
        may = self.may_restore(request, obj.tenant) and chosen and chosen != obj.version
        return self.file_url(obj, "restore", chosen) if may else ""

    def text_of(self, store: FileStore, name: str, version: int) -> str | None:
        """Return the text of a version; None where there is none, or it was blanked out."""
        if version == 0:
            return ""
        try:
            return store.read(name, version)
        except errors.ValidationFailed:
            return None

    def _no_text(self, request: HttpRequest, obj: Any, version: int) -> HttpResponse:
        """Say that a version's text is not there: it was trimmed, blanked out, or never was."""
        text = _("There is no text of version %(number)d of %(name)s: it was trimmed or blanked out.")
        self.message_user(request, text % {"number": version, "name": obj.name}, "warning")
        return HttpResponseRedirect(self.file_url(obj, "versions"))

    def downloads(self, obj: Any, *versions: int) -> list[tuple[str, str]]:
        """Return (label, address) of the texts to download."""
        label = _("version %d")
        return [(label % each, self.file_url(obj, "download", version=each)) for each in versions if each]

    # --- texts ---------------------------------------------------------------------------------

    def raw_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Send the text of a version, the current one by default, as plain text."""
        return self._send(request, object_id, attach=False)

    def download_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Send the text of a version, the current one by default, as a file, to the byte."""
        return self._send(request, object_id, attach=True)

    def _send(self, request: HttpRequest, object_id: str, *, attach: bool) -> HttpResponse:
        obj = self.live(request, object_id)
        if obj is None:
            return self.not_found(request, object_id)
        given = request.GET.get("version")
        version = obj.version if given is None else number(given) or -1
        text = self.text_of(self.store_of(request, obj), obj.name, version)
        if text is None:
            return self._no_text(request, obj, max(0, version))
        answer = HttpResponse(text.encode(), content_type="text/plain; charset=utf-8")
        answer["X-Content-Type-Options"] = "nosniff"
        answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
        name = _file_name(obj.name, "" if version == obj.version else f".v{version}")
        answer["Content-Disposition"] = content_disposition_header(attach, name) or "inline"
        return answer


def _file_name(name: str, mark: str) -> str:
    last = name.rsplit("/", 1)[-1]
    stem, dot, ending = last.rpartition(".")
    return f"{stem}{mark}{dot}{ending}" if stem else f"{last}{mark}"


def _redacted(each: FileInfo | FileVersion) -> bool:
    return isinstance(each, FileVersion) and each.redacted


def _growth(each: FileInfo | FileVersion, below: FileInfo | FileVersion | None, info: FileInfo) -> str:
    """Return the difference of size to the version below, as far as that is known."""
    if below is None:
        return f"+{each.size:,}" if each.at == info.created_at else "–"
    change = each.size - below.size
    return "0" if not change else f"{change:+,}".replace("-", "−")


def _trimmed(info: FileInfo, older: Sequence[FileVersion]) -> str:
    """Return the numbers of the versions that were trimmed, such as 1 to 6, 9."""
    if len(older) < settings.FILE_VERSIONS_KEPT:
        return ""
    kept = sorted(each.version for each in older)
    first = kept[0] if older and older[-1].at == info.created_at else 1
    numbers = [each for each in range(first, info.version) if each not in set(kept)]
    spans: list[list[int]] = []
    for each in numbers:
        if spans and spans[-1][1] == each - 1:
            spans[-1][1] = each
        else:
            spans.append([each, each])
    texts = [str(a) if a == b else _("%(a)d to %(b)d") % {"a": a, "b": b} for a, b in spans]
    return ", ".join(texts)
