"""Who sends a request over HTTP: the user that its bearer token belongs to, if it was meant for us at all.

Nothing here knows the protocol. Whatever is doubtful is refused.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeAlias

from django.apps import apps
from django.core.exceptions import DisallowedHost, ImproperlyConfigured
from django.http import HttpRequest
from django.utils.module_loading import import_string

__all__ = ["Authenticate", "Refused", "authenticator", "bearer_token", "check_addressee", "known"]

#: Returns the user that a token belongs to, or None; it may be async.
Authenticate: TypeAlias = Callable[[str], Any | Awaitable[Any]]

#: One word of visible ASCII, so that nothing odd ever reaches the function that looks a token up.
_BEARER = re.compile(r"bearer +([!-~]+) *", re.ASCII | re.IGNORECASE)


class Refused(Exception):
    """A request that is answered with a status and a reason, and never reaches the protocol."""

    def __init__(self, status: int, error: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.error, self.detail = status, error, detail


def check_addressee(request: HttpRequest, origins: Collection[str]) -> None:
    """Let no browser in that was lured here: the host must be ours, and so must the page that asks.

    Hosts are Django's ``ALLOWED_HOSTS``; an ``Origin`` is the request's own, or one of ``origins``.

    Raises:
        Refused: 421 for the host, 403 for the origin.
    """
    try:
        own = f"{request.scheme}://{request.get_host()}"
    except DisallowedHost:
        raise Refused(421, "invalid_host", "This host is not served here; see ALLOWED_HOSTS.") from None
    origin = request.headers.get("Origin")
    if origin is not None and origin != own and origin not in origins:
        raise Refused(403, "invalid_origin", "Pages of this origin may not send requests here.")


def bearer_token(request: HttpRequest) -> str:
    """Return the token of the ``Authorization`` header.

    Raises:
        Refused: 401, there is none, or it can be none.
    """
    header = request.headers.get("Authorization")
    if header is None:
        raise Refused(401, "", "Send a bearer token in the Authorization header.")
    found = _BEARER.fullmatch(header)
    if found is None:
        raise Refused(401, "invalid_token", "The Authorization header holds no bearer token.")
    return found[1]


def known(user: Any) -> Any:
    """Return the user that a token belongs to.

    Raises:
        Refused: 401, there is none, or one who may not log in any more.
    """
    if not getattr(user, "is_authenticated", False) or not getattr(user, "is_active", True):
        detail = "The token is unknown or expired, or its user may not log in any more."
        raise Refused(401, "invalid_token", detail)
    return user


def authenticator(given: Authenticate | str | None) -> Authenticate:
    """Return what finds the user of a token: what was given, or REST framework's own tokens.

    Raises:
        ImproperlyConfigured: nothing was given, and those tokens are not installed; or it can't be called.
    """
    if given is None and not apps.is_installed("rest_framework.authtoken"):
        raise ImproperlyConfigured(
            "mcp_app() needs authenticate=, a function that returns the user of a token or None. Without, "
            "it takes the tokens of 'rest_framework.authtoken', which is not in INSTALLED_APPS."
        )
    found: Any = import_string(given) if isinstance(given, str) else given or _of_rest_framework
    if not callable(found):
        raise ImproperlyConfigured(f"mcp_app(): authenticate must be a function, found {found!r:.100}.")
    authenticate: Authenticate = found
    return authenticate


def _of_rest_framework(token: str) -> Any:
    tokens: Any = apps.get_model("authtoken", "Token")._default_manager
    found = tokens.select_related("user").filter(key=token).first()
    return None if found is None else found.user
