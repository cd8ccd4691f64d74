"""The bases of every REST view: access, and how the request is read. They hold no business rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, ClassVar, NoReturn

from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db import connections, transaction
from django.http import HttpResponseBase, HttpResponsePermanentRedirect
from django.utils.cache import patch_vary_headers
from rest_framework import exceptions
from rest_framework.metadata import SimpleMetadata
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from agentstore.core import errors, guards
from agentstore.core.access import get_access, not_allowed
from agentstore.core.api.bodies import JSONNegotiation, JSONRenderer, StrictJSONParser
from agentstore.core.api.failing import exception_handler
from agentstore.core.requests import TENANT_HEADER, checked_keys, query_pairs, read_chunks, wanted_tenant
from agentstore.core.values import JSONObject, JSONValue

__all__ = ["NoSuchAddressView", "StoreView", "StoreViewSet", "described_by"]


#: The parts that the package's own addresses capture.
_CAPTURED = ("agent", "id", "name", "rest")


class StoreView(APIView):
    """The base of every view: it finds tenant and actor, and turns every error into its JSON body.

    A view says its ``capability``, and by ``action_of`` what a request does to it.
    """

    renderer_classes = [JSONRenderer]
    parser_classes = [StrictJSONParser]
    content_negotiation_class = JSONNegotiation
    metadata_class = SimpleMetadata
    permission_classes = []
    versioning_class = None

    capability: str
    tenant: str
    actor: str

    @classmethod
    def as_view(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the view, never wrapped in ``ATOMIC_REQUESTS``: one write is one transaction."""
        return _non_atomic(super().as_view(*args, **kwargs))

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Handle a request; what a host's own prefix captures of the address is not for us."""
        return super().dispatch(request, **{key: kwargs[key] for key in kwargs if key in _CAPTURED})

    def action_of(self, request: Request) -> str:
        """Return what the request does, as the access class knows it."""
        return "view"

    def actions_of(self, request: Request) -> Sequence[str]:
        """Return all that the request does, where that is more than one thing."""
        return [self.action_of(request)]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        read_chunks(request._request)
        super().initial(request, *args, **kwargs)
        self.check_access(request)

    def check_access(self, request: Request) -> None:
        """Find tenant and actor, or refuse: 401 where nobody logged in, else 403."""
        try:
            self.ask_access(request)
        except errors.PermissionDenied as error:
            self.refuse(request, error)

    def refuse(self, request: Request, error: errors.PermissionDenied) -> NoReturn:
        """Raise ``error``, or what asks for credentials where the request brought none."""
        if request.authenticators and not request.successful_authenticator:
            raise exceptions.NotAuthenticated() from None
        raise error

    def ask_access(self, request: Request) -> None:
        """Set tenant and actor as the access class says.

        Raises:
            PermissionDenied: the user may not do this.
            ValidationFailed: the tenant header does not hold.
        """
        access, user = get_access(), AnonymousUser() if request.user is None else request.user
        actions = self.actions_of(request)
        self.tenant = access.tenant(user, self.capability, wanted_tenant(request.headers.get(TENANT_HEADER)))
        for action in actions:
            if not access.allows(user, self.tenant, self.capability, action):
                raise not_allowed(self.capability, action)
        self.actor = access.actor(user)

    def get_exception_handler(self) -> Callable[..., Response | None]:
        return exception_handler

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(response, [TENANT_HEADER])
        return response

    def read_body(self, request: Request, *, known: Iterable[str], ignored: Iterable[str] = ()) -> JSONObject:
        """Return the body, an object whose keys are ``known``; an empty body is an empty object.

        Raises:
            ValidationFailed: it is not an object, or has keys that are neither known nor ``ignored``.
        """
        body = request.data
        if not isinstance(body, dict):
            guards.refuse("", f"Expected an object, found {type(body).__name__}.")
        return checked_keys(body, known=list(known), ignored=ignored)

    @functools.cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The names and values of the query string, in order."""
        return query_pairs(self.request.META.get("QUERY_STRING", ""))

    def only_params(self, *known: str, repeated: Sequence[str] = ()) -> dict[str, str]:
        """Return the query string's parameters, but for those that may be ``repeated``.

        Raises:
            ValidationFailed: one is not ``known``, or given twice.
        """
        params = dict(self.pairs)
        single = [name for name, _ in self.pairs if name not in repeated]
        if len(set(single)) < len(single):
            guards.refuse("", "A parameter is given twice.")
        checked_keys(params, known=[*known, *repeated])
        return {name: params[name] for name in single}

    def flag(self, name: str) -> bool:
        """Return a parameter that is true or false; false where it is not given.

        Raises:
            ValidationFailed: it is neither.
        """
        given = dict(self.pairs).get(name, "false")
        if given not in ("true", "false"):
            guards.refuse(name, f"Expected true or false, found {given[:50]!r}.")
        return given == "true"

    def whole_list(self, results: Sequence[JSONValue]) -> Response:
        """Show a list that has no pages."""
        return Response({"results": results, "next": None, "next_cursor": None, "limit": len(results)})


class StoreViewSet(ViewSetMixin, StoreView):
    """The base of a viewset; ``access_actions`` names what its methods do, for the access class."""

    access_actions: ClassVar[dict[str, str]] = {}

    @classmethod
    def as_view(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the view, never wrapped in ``ATOMIC_REQUESTS``: one write is one transaction."""
        return _non_atomic(super().as_view(*args, **kwargs))

    def action_of(self, request: Request) -> str:
        return self.access_actions.get(self.action or "", "view")


class NoSuchAddressView(StoreView):
    """What no other address of a capability matches: 404 in JSON, or the same with its last slash."""

    schema = None
    capability = ""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method not in ("GET", "HEAD") or request.path.endswith("/"):
            hint = "Every address but a file's ends with a slash."
            raise errors.NotFound("There is nothing at this address.", hint=hint)

    def get(self, request: Request) -> HttpResponsePermanentRedirect:
        """Send a reader on to the address with its slash, as Django does."""
        return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))


def described_by(module: str) -> Any:
    """Return what describes a folder's views to drf-spectacular; None where that is not installed."""
    return import_module(module).Schema() if apps.is_installed("drf_spectacular") else None


def _non_atomic(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return view
