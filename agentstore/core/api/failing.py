"""The one place where errors become responses: ours, Django's and DRF's, all with the same body."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings as django_settings
from django.core import exceptions as django_errors
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.http.request import UnreadablePostError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from agentstore.core import errors, storage
from agentstore.core.preconditions import Preconditions

__all__ = ["STATUS", "exception_handler"]

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
