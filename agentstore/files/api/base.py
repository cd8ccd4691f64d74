"""What the REST views of agent files share: whose files they are, what they show, conditions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import errors
from agentstore.core.api import StoreView, described_by
from agentstore.core.preconditions import NEVER, Preconditions, etag
from agentstore.core.requests import said
from agentstore.core.values import JSONObject, utc_text
from agentstore.files.names import check_name
from agentstore.files.store import FileStore
from agentstore.files.values import FileInfo

__all__ = ["AgentView", "FilesCapabilityView", "shown"]

R = TypeVar("R")


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

    def need_info(self) -> FileInfo:
        """Return what is known of the file that the address names.

        Raises:
            NotFound: there is none.
        """
        info = self.store.info(self.file)
        if info is None:
            raise self.store.not_found(self.file)
        return info

    def answer(self, info: FileInfo, *, status: int = 200) -> Response:
        """Show a file's facts after a write."""
        return Response(shown(info), status=status, headers={"ETag": etag(info.version)})

    def conditional(self, request: Request, write: Callable[..., R], *, creates: bool = False) -> R:
        """Write under the request's conditions; ``write`` takes ``expected_version``.

        One that ``creates`` sees to ``If-None-Match: *`` itself.

        Raises:
            Conflict: the file's version is none that they allow.
            NotFound: they demand that there is a file, and there is none.
        """
        sent = Preconditions.of(request.headers)
        if sent.if_match is not None:
            self.need_info()
        expected = None if creates and sent.creates_only else sent.expected(self._current)
        try:
            return write(expected_version=expected)
        except errors.Conflict as error:
            if expected == NEVER and error.current_version is not None:
                raise sent.refusal(error.current_version) from None
            raise

    def _current(self) -> int | None:
        info = self.store.info(self.file)
        return None if info is None else info.version
