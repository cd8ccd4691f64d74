"""All files of an agent over REST as a zip, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import guards
from agentstore.files.api.base import AgentView, shown
from agentstore.files.archive import export_zip, read_zip
from agentstore.files.importing import import_files

__all__ = ["ArchiveView"]


class ZipParser(BaseParser):
    """A body that is a zip; Django's limit on the body holds."""

    media_type = "application/zip"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        return parser_context["request"].body


class WindowsZipParser(ZipParser):
    """The same under the name that browsers on Windows give it."""

    media_type = "application/x-zip-compressed"


class ArchiveView(AgentView):
    """All files of an agent as a zip, and back."""

    parser_classes = [ZipParser, WindowsZipParser]

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
        steps = import_files(
            self.store.with_source("import"),
            read_zip(request.data),
            policy=params.get("policy", "fail"),
            prune=prune,
            dry_run=dry_run,
            reason=params.get("reason"),
        )
        return self.whole_list([shown(step) for step in steps])
