"""Reads what stands around a body: its length, the query string, the tenant header, the keys of an object.

No REST.
"""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict
from urllib.parse import parse_qsl, quote, unquote_to_bytes

from django.conf import settings as django_settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, UnreadablePostError

from agentstore.core import errors, guards
from agentstore.core.tenancy import check_label
from agentstore.core.values import JSONObject

__all__ = [
    "CHANGED_HEADER",
    "CONTEXT_HEADER",
    "REASON_HEADER",
    "TENANT_HEADER",
    "Said",
    "checked_keys",
    "encoded",
    "idempotency_key",
    "query_pairs",
    "read_chunks",
    "read_integer",
    "said",
    "wanted_tenant",
]

#: Names the tenant that a request works on, percent-encoded; read by the access class.
TENANT_HEADER = "X-Agentstore-Tenant"
#: Says why a write happens, percent-encoded; audited.
REASON_HEADER = "X-Agentstore-Reason"
#: Names the run of a write: a small JSON object, percent-encoded; audited.
CONTEXT_HEADER = "X-Agentstore-Context"
#: Says in the answer to a write whether it changed anything: true or false.
CHANGED_HEADER = "X-Agentstore-Changed"
_VISIBLE = "!#$&'()*+,-./:;=?@[]^_`{|}~\""
_ENCODED = re.compile(r"([!-$&-~]|%[0-9A-Fa-f]{2})*")
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def checked_keys(
    body: JSONObject, *, known: list[str], ignored: Iterable[str] = (), path: str = ""
) -> JSONObject:
    """Return the ``known`` keys of an object; ``path`` is where it stands in the body.

    Raises:
        ValidationFailed: it has keys that are neither known nor ``ignored``.
    """
    prefix = f"{path}." if path else ""
    unknown = [key for key in body if key not in known and key not in ignored]
    if unknown:
        close = difflib.get_close_matches(unknown[0], known, n=1)
        lead = f"Did you mean {close[0]!r}? " if close else ""
        raise errors.ValidationFailed(
            f"There is no key {unknown[0][:100]!r} here.",
            hint=f"{lead}Valid: {', '.join(known) or 'none'}.",
            errors={f"{prefix}{key}": ["There is no such key."] for key in unknown},
        )
    return {key: value for key, value in body.items() if key in known}


def wanted_tenant(header: str | None) -> str | None:
    """Return the tenant that the header names, decoded; None where there is no header.

    Raises:
        ValidationFailed: the header is not percent-encoded UTF-8.
    """
    return None if header is None else _decoded(header, TENANT_HEADER)


def idempotency_key(headers: Mapping[str, str]) -> str | None:
    """Return the key that makes a request safe to repeat, if it has one.

    Raises:
        ValidationFailed: it is empty, or too long.
    """
    key = headers.get("Idempotency-Key")
    if key is not None and not check_label(key, "Idempotency-Key", longest=255):
        guards.refuse("Idempotency-Key", "The key is empty.")
    return key


class Said(TypedDict):
    """What a request says of a write, in the words of a store."""

    reason: str | None
    context: JSONObject | None


def said(headers: Mapping[str, str]) -> Said:
    """Return why and in which run a request writes; the store checks the lengths.

    Raises:
        ValidationFailed: a header is not percent-encoded UTF-8, or the context no JSON object.
    """
    reason, context = headers.get(REASON_HEADER), headers.get(CONTEXT_HEADER)
    return {
        "reason": None if reason is None else _decoded(reason, REASON_HEADER),
        "context": None if context is None else _context(_decoded(context, CONTEXT_HEADER)),
    }


def _context(text: str) -> JSONObject:
    try:
        found = guards.parse_json(text)
    except errors.ValidationFailed as error:
        guards.refuse(CONTEXT_HEADER, error.message)
    if not isinstance(found, dict):
        guards.refuse(CONTEXT_HEADER, f"Expected a JSON object, found {type(found).__name__}.")
    return found


def encoded(text: str) -> str:
    """Return ``text`` as a header carries it: percent-encoded UTF-8."""
    return quote(text, safe=_VISIBLE, errors="backslashreplace")


def _decoded(header: str, name: str) -> str:
    try:
        if _ENCODED.fullmatch(header):
            return unquote_to_bytes(header).decode()
    except UnicodeDecodeError:
        pass
    guards.refuse(name, "The header is not percent-encoded UTF-8.", "Send Z%C3%BCrich for Zürich.")


def read_chunks(request: HttpRequest) -> None:
    """Read a body that says no length, as one that comes in chunks: else it would be taken as empty.

    Raises:
        RequestDataTooBig: it is over Django's limit.
        UnreadablePostError: it broke off.
        ValidationFailed: the server hands over no body without a length.
    """
    if request.META.get("CONTENT_LENGTH"):
        return
    stream = _stream(request)
    if stream is None:
        return
    limit = django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    try:
        body: bytes = stream.read() if limit is None else stream.read(limit + 1)
    except OSError as error:
        raise UnreadablePostError(*error.args) from error
    if limit is not None and len(body) > limit:
        raise RequestDataTooBig()
    request._body = body  # where Django itself keeps what it has read
    request.META["CONTENT_LENGTH"] = str(len(body))


def _stream(request: HttpRequest) -> Any:
    """Return what a body of unknown length can be read from; None where there is no such body."""
    if isinstance(request, ASGIRequest):
        return io.BytesIO(request.body) if hasattr(request, "_body") else request
    if "Transfer-Encoding" not in request.headers:
        return None
    if not request.META.get("wsgi.input_terminated"):
        guards.refuse("", "The body has no length, and this server needs one.", "Send a Content-Length.")
    return request.META["wsgi.input"]


def query_pairs(raw: str) -> list[tuple[str, str]]:
    """Return the names and values of a query string, in order.

    Raises:
        ValidationFailed: it is not percent-encoded UTF-8, or has too many fields.
    """
    if not raw:
        return []
    try:
        text = raw if raw.isascii() else raw.encode("latin-1").decode()
        if not _STRAY_PERCENT.search(text):
            return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_max_fields())
    except UnicodeError:
        pass
    except ValueError:
        guards.refuse("", f"The query string has more than {_max_fields():,} fields.")
    guards.refuse("", "The query string is not percent-encoded UTF-8.", "Send 100%25 for 100%.")


def _max_fields() -> int | None:
    limit: int | None = django_settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    return limit


def read_integer(text: str, name: str) -> int:
    """Return a parameter as a whole number.

    Raises:
        ValidationFailed: it is none.
    """
    if len(text) > guards.MAX_DIGITS or not _INTEGER.fullmatch(text):
        guards.refuse(name, f"Expected a whole number, found {text!r:.100}.")
    return int(text)
