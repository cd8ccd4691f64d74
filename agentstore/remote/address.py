"""Where a server is and who the client is to it: checked once, so that no later error shows a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from agentstore.remote.encoding import refuse

__all__ = ["Address", "read_address"]

#: How servers take a token: as OAuth has it, and as REST framework's own token authentication.
SCHEMES = ("Bearer", "Token")
_VISIBLE = re.compile(r"[!-~]([ -~]*[!-~])?", re.ASCII)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """``url`` ends with a slash and holds no credentials; ``headers``, ``auth`` and ``tokens`` do.

    ``tokens`` are the ways to say one token in the ``Authorization`` header.
    """

    url: str
    headers: dict[str, str] = field(repr=False)
    auth: httpx.Auth | tuple[str, str] | None = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)


def read_address(
    url: object,
    token: object,
    *,
    scheme: str | None,
    auth: httpx.Auth | tuple[str, str] | None,
    headers: Mapping[str, str] | None,
) -> Address:
    """Return the address of a server's API and what identifies the client to it.

    Raises:
        ValidationFailed: the URL, the token or a header can't be used; its value is not repeated.
    """
    found = _parse(url)
    _check_auth(auth)
    if found.userinfo:
        if auth is not None or token is not None:
            refuse("url", "There are credentials in the address and a token or auth.", "Give one of them.")
        auth = (found.username, found.password)
    if token is not None and auth is not None:
        refuse("token", "There is a token and auth.", "Give one of them.")
    sent = {"User-Agent": "django-agentstore", **_headers(headers)}
    bare = found.copy_with(userinfo=b"")
    return Address(url=f"{str(bare).rstrip('/')}/", headers=sent, auth=auth, tokens=_tokens(token, scheme))


def _tokens(token: object, scheme: str | None) -> tuple[str, ...]:
    if token is None:
        return ()
    schemes = SCHEMES if scheme is None else (_visible(scheme, "scheme"),)
    return tuple(f"{scheme} {_visible(token, 'token')}" for scheme in schemes)


def _parse(url: object) -> httpx.URL:
    hint = "Give the address at which agentstore.urls is included, as in https://host/api/."
    try:
        found = httpx.URL(url)  # type: ignore[arg-type]
        host = found.host.encode("idna")  # as the resolver does, which would raise what is no httpx error
    except (httpx.InvalidURL, TypeError, UnicodeError):
        refuse("url", "This is not an address.", hint)
    if found.scheme not in ("http", "https") or not host:
        refuse("url", "The address has no http or https, or no host.", hint)
    if not 0 < (found.port or 80) < 65536:
        refuse("url", "The address has a port that can't exist.", hint)
    if found.query or found.fragment:
        refuse("url", "The address has a query or a fragment.", hint)
    return found


def _check_auth(auth: object) -> None:
    """Refuse what httpx would refuse at the first request; the value is not repeated."""
    pair = isinstance(auth, tuple) and len(auth) == 2 and all(isinstance(part, str) for part in auth)
    if not (auth is None or pair or isinstance(auth, httpx.Auth)):
        refuse("auth", "Expected a name and a password, or an httpx.Auth.")


def _headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    if not isinstance(headers, Mapping | None):
        refuse("headers", f"Expected a mapping, found {type(headers).__name__}.")
    for name, value in (headers or {}).items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            refuse("headers", "The name of a header holds a character that no name may hold.")
        found[name] = _visible(value, f"headers.{name}")
    return found


def _visible(value: object, path: str) -> str:
    """Return a header's text; an error does not repeat it, for it may be a secret."""
    if not isinstance(value, str) or not _VISIBLE.fullmatch(value):
        refuse(path, "Expected visible ASCII characters on one line.")
    return value
