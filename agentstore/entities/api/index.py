"""The list of entities over REST, and what no address below it matches."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponsePermanentRedirect
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import errors
from agentstore.core.api import StoreView
from agentstore.core.values import JSONObject
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import suggest
from agentstore.entities.registry import all_entities

__all__ = ["EntityIndexView", "NoSuchEntityView"]


class EntityIndexView(StoreView):
    """The entities that the user may see, with their addresses."""

    def check_access(self, request: Request) -> None:
        """Let the access class decide for each entity; refuse where it allows none."""
        self.visible: list[type[EntityModel]] = []
        refusal: errors.PermissionDenied | None = None
        for model in all_entities():
            self.capability = f"entities.{model.entity.name}"
            try:
                self.ask_access(request)
            except errors.PermissionDenied as error:
                refusal = error
            else:
                self.visible.append(model)
        if refusal is not None and not self.visible:
            self.refuse(request, refusal)

    def get(self, request: Request) -> Response:
        """List the entities that the user may see."""
        self.only_params()
        return Response({"results": [self._describe(request, model) for model in self.visible]})

    def _describe(self, request: Request, model: type[EntityModel]) -> JSONObject:
        name = model.entity.name
        url = request.build_absolute_uri(f"{request.path}{name}/")
        return {"name": name, "description": model.entity.description, "url": url}


class NoSuchEntityView(EntityIndexView):
    """What no other address below ``entities/`` matches: 404 in JSON, or the same with its last slash."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        rest = self.kwargs.get("rest") or ""
        if request.method in ("GET", "HEAD") and not request.path.endswith("/"):
            return
        name = rest.split("/")[0]
        if name and name not in {model.entity.name for model in all_entities()}:
            visible = [model.entity.name for model in self.visible]
            raise errors.NotFound(f"There is no entity {name[:100]!r}.", hint=suggest(name, visible))
        raise errors.NotFound("There is nothing at this address.", hint="Every address ends with a slash.")

    def get(self, request: Request, rest: str | None = None) -> HttpResponsePermanentRedirect:  # type: ignore[override]
        """Send a reader on to the address with its slash, as Django does."""
        return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))
