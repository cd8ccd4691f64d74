"""What every REST view shares: JSON in and out, access, error bodies. It holds no business rules.

Everything that decides about the body is pinned here, so that a host's own REST settings can't change
it; authentication and throttles stay the host's.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, ClassVar, NoReturn

from django.apps import apps
from django.conf import settings as django_settings
from django.contrib.auth.models import AnonymousUser
from django.core import exceptions as django_errors
from django.db import InterfaceError, OperationalError, connections, transaction
from django.http import Http404, HttpResponseBase, HttpResponsePermanentRedirect
from django.http.request import UnreadablePostError
from django.utils.cache import patch_vary_headers
from rest_framework import exceptions
from rest_framework.metadata import SimpleMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from agentstore.core import errors, guards, storage
from agentstore.core.access import get_access
from agentstore.core.preconditions import Preconditions
from agentstore.core.requests import TENANT_HEADER, checked_keys, query_pairs, read_chunks, wanted_tenant
from agentstore.core.values import JSONObject, JSONValue

__all__ = [
    "TENANT_HEADER",
    "JSONRenderer",
    "NoSuchAddressView",
    "StoreView",
    "StoreViewSet",
    "StrictJSONParser",
    "described_by",
    "exception_handler",
]

STATUS: dict[type[errors.AgentStoreError], int] = {
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.QuotaExceeded: 409,
    errors.ValidationFailed: 400,
    errors.AlreadyExists: 409,
    errors.TooLarge: 413,
    errors.PermissionDenied: 403,
    errors.StorageFailed: 503,
}


class JSONRenderer(BaseRenderer):
    """Compact JSON in UTF-8; what is no text (a lone surrogate in an echoed key) stays escaped."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        if data is None:
            return b""
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
        return text.encode("utf-8", "backslashreplace")


class StrictJSONParser(BaseParser):
    """JSON by the letter (RFC 8259), with unique keys; Django's limit on the body holds.

    A number without a fraction is whole however it is written: 3.0 is 3, as in JSON Schema. But 1e23
    stays a float: its digits are not those of the float that is meant.
    """

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> JSONValue:
        return guards.parse_json(parser_context["request"].body, parse_float=_number)


def _number(text: str) -> float | int:
    value = float(text)
    whole = int(Decimal(text)) if value.is_integer() else None
    return whole if whole == value else value


class JSONNegotiation(DefaultContentNegotiation):
    """JSON, whatever ``Accept`` and ``?format=`` say: there is nothing else to choose from."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


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
                raise errors.PermissionDenied(
                    f"You may not {action} here.", hint=f"It is about {self.capability}."
                )
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
            ValidationFailed: it is no object, or has keys that are neither known nor ``ignored``.
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


# --- errors ---------------------------------------------------------------------------------


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to an error that a request can cause; None for a fault of ours.

    Unlike DRF's it marks no transaction for rollback: there is none around these views.
    """
    if isinstance(error, errors.AgentStoreError):
        return _own_error(error, context.get("request"))
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, django_errors.PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, django_errors.RequestDataTooBig):
        limit = django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        return _own_error(errors.TooLarge(f"The body is over the limit of {limit:,} bytes."), None)
    elif isinstance(
        error, django_errors.SuspiciousOperation | django_errors.BadRequest | UnreadablePostError
    ):
        error = exceptions.ParseError("The request could not be read.")
    elif isinstance(error, OperationalError | InterfaceError):  # of authentication, or the access class
        return _own_error(storage.failed("a request", error), None)
    return _drf_error(error) if isinstance(error, exceptions.APIException) else None


def _own_error(error: errors.AgentStoreError, request: Request | None) -> Response | None:
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), None)
    if status is None:
        return None
    if status == 409 and request is not None and _failed_condition(error, Preconditions.of(request.headers)):
        status = 412
    headers = {"Retry-After": "1"} if error.retryable else {}
    return Response(error.as_dict(), status=status, headers=headers)


def _failed_condition(error: errors.AgentStoreError, sent: Preconditions) -> bool:
    if isinstance(error, errors.AlreadyExists):
        return sent.creates_only
    return isinstance(error, errors.Conflict) and error.current_version is not None and sent.given


def _drf_error(error: exceptions.APIException) -> Response:
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(error.auth_header)  # type: ignore[attr-defined]
    if getattr(error, "wait", None):
        headers["Retry-After"] = f"{error.wait:.0f}"  # type: ignore[attr-defined]
    codes, detail = error.get_codes(), error.detail
    if not isinstance(detail, list | dict):
        return Response(
            {"code": str(codes), "detail": str(detail)}, status=error.status_code, headers=headers
        )
    flat = dict(_flat(detail, ""))
    first = next(iter(flat.values()), ["The request does not fit."])[0]
    body = {"code": str(error.default_code), "detail": first, "errors": flat}
    return Response(body, status=error.status_code, headers=headers)


def _flat(detail: Any, path: str) -> Iterable[tuple[str, list[str]]]:
    if isinstance(detail, dict):
        for key, value in detail.items():
            yield from _flat(value, f"{path}.{key}" if path else str(key))
    elif isinstance(detail, list) and any(isinstance(item, list | dict) for item in detail):
        yield from _flat(dict(enumerate(detail)), path)
    else:
        yield path, [str(item) for item in (detail if isinstance(detail, list) else [detail])]
