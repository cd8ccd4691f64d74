"""Files over REST: lists, one file, its versions and their differences, the changes of all.

A text is sent and read as ``text/markdown`` (or ``text/plain``), or inside JSON under ``content``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from django.utils.http import parse_header_parameters
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import guards
from agentstore.core.api import StrictJSONParser
from agentstore.core.preconditions import Preconditions, etag
from agentstore.core.requests import read_integer
from agentstore.core.values import JSONObject
from agentstore.files.api.base import AgentView, FilesCapabilityView, shown
from agentstore.files.reading import agents
from agentstore.files.values import FileInfo

__all__ = ["AgentsView", "ChangesView", "DiffView", "FileView", "FilesView", "VersionsView"]

#: The types of a text; the first one where a reader takes any.
TEXT_TYPES = ("text/markdown", "text/plain")
#: What a file shows beside its content; ignored when it comes back with the content.
ECHOED = (
    "name", "version", "sha256", "size", "at", "actor", "source", "context", "restored_from", "created_at",
    "changed",
)  # fmt: skip
#: What UTF-8 is called, and what else is the same where all characters are ASCII.
_UTF8 = frozenset({"utf-8", "utf8"})
_SUBSETS = _UTF8 | {"us-ascii", "ascii", "iso-8859-1", "latin1", "latin-1", "windows-1252"}


class TextParser(BaseParser):
    """A body that is the text itself, not a byte changed: UTF-8, and said to be nothing else."""

    media_type = "text/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        body: bytes = parser_context["request"].body
        charset = parse_header_parameters(media_type or "")[1].get("charset", "utf-8")
        if charset.lower() not in (_SUBSETS if body.isascii() else _UTF8):
            guards.refuse("content", f"The text is said to be in {charset[:50]}.", "Send it in UTF-8.")
        try:
            return body.decode()
        except UnicodeDecodeError as error:
            guards.refuse("content", f"The text is not valid UTF-8: byte {error.start} can't be decoded.")


class AgentsView(FilesCapabilityView):
    """The tenant's agents that have files."""

    def get(self, request: Request) -> Response:
        """List the agents that have live files."""
        self.only_params()
        return self.whole_list([{"agent": agent} for agent in agents(self.tenant)])


class FilesView(AgentView):
    """One agent's files."""

    def get(self, request: Request, agent: str) -> Response:
        """List the live files, without their contents; ``prefix`` chooses among them."""
        params = self.only_params("prefix")
        return self.whole_list([shown(info) for info in self.store.list(params.get("prefix", ""))])


class FileView(AgentView):
    """One file: its text, or its text and facts as JSON."""

    parser_classes = [StrictJSONParser, TextParser]
    access_actions = {"PUT": "change", "DELETE": "delete"}

    def get(self, request: Request, agent: str, name: str) -> Response | HttpResponse:
        """Return the text, or that of an older ``version``; JSON unless ``Accept`` prefers text."""
        params = self.only_params("version")
        info = self.need_info()
        version = read_integer(params["version"], "version") if "version" in params else info.version
        older = None if version == info.version else self._older(version)
        if Preconditions.of(request.headers).unchanged(version):
            response: Response | HttpResponse = Response(status=304)
        else:
            facts, content = older or (shown(info), self.store.need_content(self.file, version))
            response = self._told(request, facts, content)
        response["ETag"] = etag(version)
        patch_vary_headers(response, ["Accept"])
        return response

    def _older(self, version: int) -> tuple[JSONObject, str]:
        """Return the facts and text of an older version; what is not there can't be unchanged either."""
        content = self.store.need_content(self.file, version)
        for found in self.store.versions(self.file):
            if found.version == version:
                return shown(found), content
        raise self.store.no_version(self.file, version)  # trimmed, or current, since

    def _told(self, request: Request, facts: JSONObject, content: str) -> Response | HttpResponse:
        kind = request.get_preferred_type(["application/json", *TEXT_TYPES])
        if kind not in TEXT_TYPES:
            return Response({**facts, "content": content})
        response = HttpResponse(content.encode(), content_type=f"{kind}; charset=utf-8")
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def put(self, request: Request, agent: str, name: str) -> Response:
        """Write the file: the body is the text, or JSON with ``content`` and an optional ``reason``."""
        params = self.only_params("reason")
        content, reason = self._content(request, params.get("reason"))
        creates_only = Preconditions.of(request.headers).creates_only
        write = partial(self.store.write, self.file, content, create_only=creates_only, reason=reason)
        info = self.conditional(request, write, creates=True)
        created = self._is_new(info)
        response = self.answer(info, status=201 if created else 200)
        if created:
            response["Location"] = request.build_absolute_uri(escape_uri_path(request.path))
        return response

    def _is_new(self, info: FileInfo) -> bool:
        """Tell whether the write made the file: times alone do not, two writes may have the same."""
        new = info.changed and info.created_at == info.at
        return new and not any(each.version < info.version for each in self.store.versions(self.file))

    def _content(self, request: Request, reason: str | None) -> tuple[Any, str | None]:
        if not (request.content_type or "").lower().startswith("application/json"):
            return request.data or "", reason  # an empty body has no parser: it is the empty text
        body = self.read_body(request, known=["content", "reason"], ignored=ECHOED)
        if "content" not in body:
            guards.refuse("content", "The key is missing.", 'Send {"content": "..."}, or the text itself.')
        return body["content"], body.get("reason", reason)

    def delete(self, request: Request, agent: str, name: str) -> Response:
        """Delete the file; it can be undeleted."""
        params = self.only_params("reason")
        delete = partial(self.store.delete, self.file, reason=params.get("reason"))
        if not self.conditional(request, delete):
            raise self.store.not_found(self.file)
        return Response(status=204)


class VersionsView(AgentView):
    """The older versions of a file."""

    def get(self, request: Request, agent: str, name: str) -> Response:
        """List the kept older versions, newest first."""
        self.only_params()
        self.need_info()
        return self.whole_list([shown(version) for version in self.store.versions(self.file)])


class DiffView(AgentView):
    """What changed between two versions."""

    def get(self, request: Request, agent: str, name: str) -> Response:
        """Compare version ``a`` with version ``b``; without ``b`` with the current one."""
        params = self.only_params("a", "b")
        if "a" not in params:
            guards.refuse("a", "Say which version to compare from.")
        a = read_integer(params["a"], "a")
        b = read_integer(params["b"], "b") if "b" in params else None
        diff = self.store.diff(self.file, a, b)
        facts = ("old_label", "new_label", "added", "removed", "too_large", "only_line_ends")
        return Response({**{fact: getattr(diff, fact) for fact in facts}, "unified": str(diff)})


class ChangesView(AgentView):
    """The changes of all files of an agent."""

    def get(self, request: Request, agent: str) -> Response:
        """List the changes after ``since`` (until ``until``), newest first."""
        params = self.only_params("since", "until")
        if "since" not in params:
            guards.refuse("since", "Say since when, such as 2026-01-31T09:00:00Z.")
        found = self.store.changes(params["since"], params.get("until"))
        return self.whole_list([shown(change) for change in found])
