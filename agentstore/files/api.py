"""Agent files over REST. A file's address is its name below ``files/``; its text goes to the byte.

A text is sent and read as ``text/markdown`` (or ``text/plain``), or inside JSON under ``content``.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.http import HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.encoding import escape_uri_path
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import errors, guards
from agentstore.core.api import StoreView, StrictJSONParser, described_by
from agentstore.core.context import checked
from agentstore.core.preconditions import NEVER, Preconditions, etag
from agentstore.core.requests import read_integer, said
from agentstore.core.values import JSONObject, utc_text
from agentstore.files.archive import export_zip, read_zip
from agentstore.files.importing import import_files
from agentstore.files.names import check_name
from agentstore.files.reading import agents
from agentstore.files.store import FileStore
from agentstore.files.values import FileInfo

__all__ = [
    "AgentsView",
    "ArchiveView",
    "ChangesView",
    "DiffView",
    "FileView",
    "FilesView",
    "RedactView",
    "RenameView",
    "RestoreView",
    "UndeleteView",
    "VersionsView",
]

R = TypeVar("R")

TEXT_TYPES = ("text/markdown", "text/plain")
#: What a file shows beside its content; ignored when it comes back with the content.
ECHOED = (
    "name", "version", "sha256", "size", "at", "actor", "source", "context", "restored_from", "created_at",
    "changed",
)  # fmt: skip


class TextParser(BaseParser):
    """A body that is the text itself: UTF-8, not a byte changed."""

    media_type = "text/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        body: bytes = parser_context["request"].body
        try:
            return body.decode()
        except UnicodeDecodeError as error:
            guards.refuse("content", f"The text is not valid UTF-8: byte {error.start} can't be decoded.")


class ZipParser(BaseParser):
    """A body that is a zip; Django's limit on the body holds."""

    media_type = "application/zip"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        return parser_context["request"].body


def shown(value: Any) -> JSONObject:
    """Return one of the store's values as it is shown; times are UTC text."""
    return {
        name: utc_text(item) if isinstance(item, datetime) else item for name, item in asdict(value).items()
    }


class FilesCapabilityView(StoreView):
    """The base of every view here."""

    schema = described_by("agentstore.files.openapi")
    capability = "files"


class AgentView(FilesCapabilityView):
    """The base of the views of one agent; methods are mapped to what they do for the access class."""

    access_actions: dict[str, str] = {}

    def action_of(self, request: Request) -> str:
        return self.access_actions.get(request.method or "", "view")

    @functools.cached_property
    def store(self) -> FileStore:
        """The store that carries out the request."""
        spoken = said(self.request.headers)
        return FileStore(self.tenant, self.kwargs["agent"], actor=self.actor, source="api", **spoken)

    @property
    def file(self) -> str:
        """The name of the file that the address names; ``name`` is a view's own, in REST framework."""
        return check_name(self.kwargs["name"])

    def answer(self, info: FileInfo, *, status: int = 200) -> Response:
        """Show a file's facts after a write."""
        return Response(shown(info), status=status, headers={"ETag": etag(info.version)})

    def expected(self, request: Request) -> int | None:
        """Return the version that the request's conditions demand; None where any will do.

        Raises:
            Conflict: the file's version is none that they allow.
            NotFound: they demand that there is a file, and there is none.
        """
        sent = Preconditions.of(request.headers)
        if sent.if_match is not None and self.store.info(self.file) is None:
            raise self.store.not_found(self.file)

        def current() -> int | None:
            info = self.store.info(self.file)
            return None if info is None else info.version

        return None if sent.creates_only else sent.expected(current)

    def conditional(self, request: Request, write: Callable[..., R]) -> R:
        """Write under the request's conditions; ``write`` takes ``expected_version``."""
        expected = self.expected(request)
        try:
            return write(expected_version=expected)
        except errors.Conflict as error:
            if expected == NEVER and error.current_version is not None:
                raise Preconditions.of(request.headers).refusal(error.current_version) from None
            raise


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
        info = self.store.info(self.file)
        if info is None:
            raise self.store.not_found(self.file)
        version = read_integer(params["version"], "version") if "version" in params else info.version
        if Preconditions.of(request.headers).unchanged(version):
            return Response(status=304, headers={"ETag": etag(version)})
        facts, content = self._state(info, version)
        response: Response | HttpResponse
        if request.get_preferred_type(["application/json", *TEXT_TYPES]) in TEXT_TYPES:
            response = self._text(content, version)
        else:
            response = Response({**facts, "content": content}, headers={"ETag": etag(version)})
        patch_vary_headers(response, ["Accept"])
        return response

    def _state(self, info: FileInfo, version: int) -> tuple[JSONObject, str]:
        """Return the facts and text of a version; an older one has its own facts."""
        content = self.store.need_content(self.file, version)
        if version == info.version:
            return shown(info), content
        older = next(item for item in self.store.versions(self.file) if item.version == version)
        return shown(older), content

    def _text(self, content: str, version: int) -> HttpResponse:
        response = HttpResponse(content.encode(), content_type="text/markdown; charset=utf-8")
        response["ETag"] = etag(version)
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def put(self, request: Request, agent: str, name: str) -> Response:
        """Write the file: the body is the text, or JSON with ``content`` and an optional ``reason``."""
        params = self.only_params("reason")
        content, reason = self._content(request, params.get("reason"))
        creates_only = Preconditions.of(request.headers).creates_only
        write = partial(self.store.write, self.file, content, create_only=creates_only, reason=reason)
        info = self.conditional(request, write)
        created = info.changed and info.created_at == info.at
        response = self.answer(info, status=201 if created else 200)
        if created:
            response["Location"] = request.build_absolute_uri(escape_uri_path(request.path))
        return response

    def _content(self, request: Request, reason: str | None) -> tuple[Any, str | None]:
        if not (request.content_type or "").startswith("application/json"):
            # An empty body has no parser: it is the empty text.
            return request.data if isinstance(request.data, str) else "", reason
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
        if self.store.info(self.file) is None:
            raise self.store.not_found(self.file)
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


class ActingView(AgentView, ABC):
    """The base of what is done to a file by POST, with a small JSON body."""

    known: Sequence[str] = ("reason",)

    def post(self, request: Request, agent: str, name: str) -> Response:
        """Do it, and show the file's facts."""
        self.only_params()
        body = self.read_body(request, known=self.known)
        for key in self.known:
            if key != "reason" and key not in body:
                guards.refuse(key, "The key is missing.")
        return self.act(request, body)

    @abstractmethod
    def act(self, request: Request, body: JSONObject) -> Response:
        """Carry out the request."""


class RestoreView(ActingView):
    """Writing an older text anew."""

    access_actions = {"POST": "restore"}
    known = ("version", "reason")

    def act(self, request: Request, body: JSONObject) -> Response:
        restore = partial(self.store.restore, self.file, body["version"], reason=body.get("reason"))
        return self.answer(self.conditional(request, restore))


class UndeleteView(ActingView):
    """Bringing a deleted file back."""

    access_actions = {"POST": "undelete"}

    def act(self, request: Request, body: JSONObject) -> Response:
        return self.answer(self.store.undelete(self.file, reason=body.get("reason")))


class RenameView(ActingView):
    """Giving a file another name."""

    access_actions = {"POST": "change"}
    known = ("to", "reason")

    def act(self, request: Request, body: JSONObject) -> Response:
        rename = partial(self.store.rename, self.file, body["to"], reason=body.get("reason"))
        return self.answer(self.conditional(request, rename))


class RedactView(ActingView):
    """Blanking out the text of an older version, for good."""

    access_actions = {"POST": "redact"}
    known = ("version", "reason")

    def act(self, request: Request, body: JSONObject) -> Response:
        self.store.redact(self.file, body["version"], body.get("reason", ""))
        return Response(status=204)


class ChangesView(AgentView):
    """The changes of all files of an agent."""

    def get(self, request: Request, agent: str) -> Response:
        """List the changes after ``since`` (until ``until``), newest first."""
        params = self.only_params("since", "until")
        if "since" not in params:
            guards.refuse("since", "Say since when, such as 2026-01-31T09:00:00Z.")
        found = self.store.changes(params["since"], params.get("until"))
        return self.whole_list([shown(change) for change in found])


class ArchiveView(AgentView):
    """All files of an agent as a zip, and back."""

    parser_classes = [ZipParser]

    def actions_of(self, request: Request) -> Sequence[str]:
        if request.method != "POST":
            return ["view"]
        return ["import", "change", "delete"] if self.flag("prune") else ["import", "change"]

    def get(self, request: Request, agent: str) -> HttpResponse:
        """Return the live files with their manifest."""
        self.only_params()
        response = HttpResponse(export_zip(self.store), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{agent}.zip"'
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def post(self, request: Request, agent: str) -> Response:
        """Import a zip as a whole: ``policy`` (fail, skip, overwrite, seed), ``prune``, ``dry_run``."""
        params = self.only_params("policy", "prune", "dry_run", "reason")
        if not isinstance(request.data, bytes):
            guards.refuse("", "There is no body.", "Send a zip as application/zip.")
        prune, dry_run = self.flag("prune"), self.flag("dry_run")
        checked(reason=params.get("reason"))  # even where there is nothing to write
        steps = import_files(
            self.store.with_source("import"),
            read_zip(request.data),
            policy=params.get("policy", "fail"),
            prune=prune,
            dry_run=dry_run,
            reason=params.get("reason"),
        )
        return self.whole_list([shown(step) for step in steps])
