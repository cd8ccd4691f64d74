"""What is done to a file by POST: restore, undelete, rename, blank out a version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import guards
from agentstore.core.values import JSONObject
from agentstore.files.api.base import AgentView

__all__ = ["RedactView", "RenameView", "RestoreView", "UndeleteView"]


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
