"""Reads what stands around a body: the query string, the tenant header, the keys of an object. No REST."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote_to_bytes

from django.conf import settings as django_settings

from agentstore.core import errors, guards
from agentstore.core.values import JSONObject

__all__ = ["TENANT_HEADER", "checked_keys", "query_pairs", "read_integer", "wanted_tenant"]

#: Names the tenant that a request works on, percent-encoded; read by the access class.
TENANT_HEADER = "X-Agentstore-Tenant"
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
    if header is None:
        return None
    try:
        if _ENCODED.fullmatch(header):
            return unquote_to_bytes(header).decode()
    except UnicodeDecodeError:
        pass
    guards.refuse(TENANT_HEADER, "The header is not percent-encoded UTF-8.", "Send Z%C3%BCrich for Zürich.")


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
