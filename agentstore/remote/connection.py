"""What both clients share: how a call becomes a request, how its answer is read, when it is sent again."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import httpx

from agentstore.remote.address import read_address
from agentstore.remote.answers import Answer
from agentstore.remote.encoding import dump_body, refuse
from agentstore.remote.failures import RemoteFailed
from agentstore.remote.plans import Plans
from agentstore.remote.retrying import Call, Retrying
from agentstore.remote.saying import check_actor

__all__ = ["FAILURES", "Auth", "Connection", "Timeout"]

C = TypeVar("C", httpx.Client, httpx.AsyncClient)
Auth = httpx.Auth | tuple[str, str]
Timeout = float | httpx.Timeout

#: What httpx raises where there is no answer.
FAILURES = (httpx.HTTPError, httpx.InvalidURL)


class Connection(ABC, Generic[C]):
    """What both clients share: address, identity, retries; the connections are the subclass's."""

    _kind: type[C]

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        scheme: str | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: Timeout | None = None,
        retries: int = 2,
        max_wait: float = 20.0,
        client: C | None = None,
    ) -> None:
        if not isinstance(client, self._kind | None):
            refuse("client", f"Expected an httpx.{self._kind.__name__}, found {type(client).__name__}.")
        self._address = read_address(url, token, scheme=scheme, auth=auth, headers=headers)
        self._retrying = Retrying(retries=_whole(retries, "retries"), max_wait=_seconds(max_wait, "max_wait"))
        self._said: tuple[str, ...] = self._address.tokens[:1]
        self._keep(client)
        self._options: dict[str, Any] = {} if timeout is None else {"timeout": _timeout(timeout)}
        if token is not None or self._address.auth is not None:
            self._options["auth"] = self._address.auth

    @abstractmethod
    def _keep(self, client: C | None) -> None:
        """Keep the connections of a client that was given, or others."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._address.url}>"

    def _plans(self, name: str, actor: str | None, **options: Any) -> Plans[Any]:
        check_actor(actor)
        return Plans(name, **options)

    def _credentials(self) -> Iterator[dict[str, str]]:
        """Yield the headers that say the token, each way once: the one that was understood last first."""
        said: tuple[str, ...] = self._said
        for token in (*said, *(token for token in self._address.tokens if token not in said)):
            self._said = (token,)
            yield {"Authorization": token}
        if not said:
            yield {}

    def _request(self, call: Call, credentials: dict[str, str], *, closed: bool) -> dict[str, Any]:
        if closed:
            raise RemoteFailed(f"{self._where(call)}: the client is closed.", hint="Make a new one.")
        headers = {"Accept": "application/json", **self._address.headers, **credentials, **call.headers}
        request = {**self._options, "method": call.method, "url": self._address.url + call.path}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            request["content"] = dump_body(call.body)
        return {**request, "headers": headers, "params": call.params or None, "follow_redirects": False}

    def _where(self, call: Call) -> str:
        return f"{call.method} {self._address.url}{call.path}"

    def _read(self, call: Call, response: httpx.Response, *, doubtful: bool) -> Answer:
        return Answer(
            where=self._where(call),
            status=response.status_code,
            headers=response.headers,
            content=response.content,
            writes=call.writes,
            doubtful=doubtful,
        )

    def _after_error(self, call: Call, attempt: int, error: Exception, *, doubtful: bool) -> float:
        return self._retrying.after_error(call, attempt, error, self._where(call), doubtful=doubtful)


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        refuse(name, f"Expected a whole number, 0 or more, found {value!r:.100}.")
    return value


def _timeout(value: object) -> Timeout:
    if isinstance(value, httpx.Timeout):
        return value
    seconds = _seconds(value, "timeout")
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        refuse("timeout", f"Expected seconds above 0, found {value!r:.100}.")
    return seconds


def _seconds(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        refuse(name, f"Expected seconds, 0 or more, found {value!r:.100}.")
    return value
