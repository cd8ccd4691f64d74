"""Tools over REST: their definitions for a vendor's API, and a call carried out.

The program that runs the model sends these requests, never the model itself: which agent's files
there are, and which may be written, stands in the address, and what the user may do decides.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core.api import StoreView, described_by
from agentstore.core.context import acting
from agentstore.core.requests import TENANT_HEADER, idempotency_key, said, wanted_tenant
from agentstore.core.values import JSONValue
from agentstore.tools.permitted import PermittedToolset, Wanted, permitted_toolset
from agentstore.tools.spec import DIALECTS

__all__ = ["FLAGS", "ToolView", "ToolsView"]

#: The parameters that are true or false, and those that take a value; ``writable`` may be repeated.
FLAGS = ("strict", "read_only", "generic")


class PermittedToolsView(StoreView):
    """The base of the views: it makes the tools that the address names and the user may use."""

    schema = described_by("agentstore.tools.openapi")
    capability = "tools"

    def tools(self, request: Request, *params: str, only: str | None = None) -> PermittedToolset:
        """Return the tools of the request; ``params`` are those that its view takes besides.

        Raises:
            ValidationFailed: a parameter is unknown, given twice, or does not hold.
        """
        found = self.only_params("agent", *FLAGS, *params, repeated=["writable"])
        wanted = Wanted(
            tenant=wanted_tenant(request.headers.get(TENANT_HEADER)),
            agent=found.get("agent"),
            writable=[value for name, value in self.pairs if name == "writable"],
            **{name: self.flag(name) for name in FLAGS},
        )
        user = AnonymousUser() if request.user is None else request.user
        return permitted_toolset(user, wanted, only=only)


class ToolsView(PermittedToolsView):
    """The tools that the user may use."""

    def get(self, request: Request) -> Response:
        """List the tools in the form of ``dialect``: openai, openai_chat, anthropic, gemini or mcp."""
        tools = self.tools(request, "dialect")
        definitions = tools.definitions(dict(self.pairs).get("dialect", DIALECTS[-1]))
        response = self.whole_list(definitions)
        response.data["instructions"] = tools.instructions()
        return response


class ToolView(PermittedToolsView):
    """One tool, to be called."""

    def post(self, request: Request, name: str) -> Response:
        """Carry out a call: the body is its arguments, the answer its result.

        With an ``Idempotency-Key`` a create happens once, however often it is sent.
        """
        tools = self.tools(request, only=name)
        body: JSONValue = request.data
        arguments = dict(body) if isinstance(body, dict) else body
        with acting(**said(request.headers)):
            return Response(tools.run(name, arguments, call_id=idempotency_key(request.headers)))
