"""Decides whether a call is sent again and when: what is safe to repeat, how often, how long to wait."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from agentstore.core.values import JSONObject
from agentstore.remote.answers import Answer
from agentstore.remote.failures import RemoteFailed

__all__ = ["Call", "Retrying", "arrived"]

#: Failures before anything was sent: the server knows nothing of the call.
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
#: Statuses that a server or the proxy before it gives for a while.
_PASSING = (429, 502, 503, 504)
_FIRST_WAIT = 0.1
_LONGEST_BACKOFF = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request. ``repeatable``: to happen twice is the same as to happen once."""

    method: str
    path: str = ""
    params: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: JSONObject | list[JSONObject] | None = None
    writes: bool = True
    repeatable: bool = False


def arrived(error: httpx.HTTPError | httpx.InvalidURL) -> bool:
    """Tell whether the server may have got the call that failed with ``error``."""
    return isinstance(error, httpx.RequestError) and not isinstance(
        error, (*_NEVER_SENT, httpx.UnsupportedProtocol)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrying:
    """How often a call is sent again, and how long a wait may be, in seconds."""

    retries: int
    max_wait: float

    def after_error(self, call: Call, attempt: int, error: Exception, where: str, *, doubtful: bool) -> float:
        """Return how long to wait before the next attempt.

        Raises:
            RemoteFailed: there is none.
        """
        passing = isinstance(error, httpx.TransportError) and not isinstance(
            error, httpx.UnsupportedProtocol | httpx.LocalProtocolError
        )
        if passing and attempt < self.retries and (call.repeatable or not doubtful):
            return self._backoff(attempt)
        raise failed(call, error, where, retryable=passing, doubtful=doubtful) from error

    def after_answer(self, call: Call, attempt: int, answer: Answer) -> float | None:
        """Return how long to wait before the next attempt; None where the answer stands."""
        if answer.status not in _PASSING or attempt >= self.retries:
            return None
        if not call.repeatable and answer.status != 429:
            return None  # whoever answered, the write may have happened
        if answer.status == 503 and _final(answer):
            return None
        asked = retry_after(answer.headers.get("Retry-After"))
        if asked is None:
            return self._backoff(attempt)
        return None if asked > self.max_wait else asked + random.uniform(0, _FIRST_WAIT)  # noqa: S311

    def _backoff(self, attempt: int) -> float:
        """Return a wait that doubles, spread so that clients do not come back together."""
        longest = min(_FIRST_WAIT * 2**attempt, _LONGEST_BACKOFF, self.max_wait)
        return random.uniform(longest / 2, longest)  # noqa: S311 - spreads clients, guards nothing


def _final(answer: Answer) -> bool:
    """Tell whether the store itself said that the same call will fail again."""
    body = answer.json()
    ours = isinstance(body, dict) and body.get("code") == "storage"
    return ours and "Retry-After" not in answer.headers


def retry_after(header: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, given as such or as a date; None without one."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header.strip()[:10])
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def failed(call: Call, error: Exception, where: str, *, retryable: bool, doubtful: bool) -> RemoteFailed:
    """Return what a caller is told of a call that got no answer; no header and no body stands in it."""
    kind = type(error).__name__
    said = f"{kind}: {error}" if isinstance(error, httpx.NetworkError) and str(error) else kind
    maybe = doubtful and call.writes
    if isinstance(error, httpx.TimeoutException):
        hint = "Try again later, or give the client a longer timeout."
    else:
        hint = "Try again later." if retryable else "Check the client's address and options."
    if maybe:
        hint = "It may have happened all the same: read before you repeat it."
    return RemoteFailed(
        f"{where}: there was no answer ({said}).", hint=hint, retryable=retryable, maybe_done=maybe
    )
