"""Reads answers: rows, pages and changes as the stores give them, errors as the classes they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import unquote
from uuid import UUID

from pydantic import BaseModel, ValidationError

from agentstore.core import errors
from agentstore.core.values import EntityRow, HistoryEntry, JSONObject, JSONValue
from agentstore.remote.failures import RemoteFailed

__all__ = [
    "CHANGED_HEADER",
    "TENANT_HEADER",
    "Answer",
    "entries_of",
    "error_of",
    "row_of",
    "tenant_of",
    "unrecognised",
]

T = TypeVar("T")

TENANT_HEADER = "X-Agentstore-Tenant"
CHANGED_HEADER = "X-Agentstore-Changed"
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_USERINFO = re.compile(r"//[^/@]*@")
_LOGIN = "Give the client a token, headers or auth that the server knows."
_NOT_OURS = "Check the client's address: it ends where agentstore.urls is included, as in https://host/api/."
_OWN: dict[str, type[errors.AgentStoreError]] = {
    kind.code: kind
    for kind in (
        errors.NotFound,
        errors.Conflict,
        errors.QuotaExceeded,
        errors.ValidationFailed,
        errors.AlreadyExists,
        errors.TooLarge,
        errors.PermissionDenied,
        errors.StorageFailed,
    )
}
#: What an error of the server's framework is here, which has codes of its own.
_BY_STATUS: dict[int, type[errors.AgentStoreError]] = {
    400: errors.ValidationFailed,
    401: errors.PermissionDenied,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.Conflict,
    412: errors.Conflict,
    413: errors.TooLarge,
    415: errors.ValidationFailed,
}


#: What a server or proxy before ours refuses by a status that says it all.
_REFUSALS: dict[int, tuple[type[errors.AgentStoreError], str]] = {
    401: (errors.PermissionDenied, _LOGIN),
    403: (errors.PermissionDenied, _LOGIN),
    413: (errors.TooLarge, "Send less at once."),
    431: (errors.TooLarge, "Shorten the reason or the context, which travel in headers."),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One answer to a call that ``writes`` or only reads.

    ``doubtful`` says that an attempt before it may have reached the server too.
    """

    where: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    writes: bool = False
    doubtful: bool = False

    @property
    def ok(self) -> bool:
        """True where the server did what it was asked."""
        return 200 <= self.status < 300

    @property
    def no_row(self) -> bool:
        """True where the row is missing; an unknown entity or address does not name the tenant."""
        return self.status == 404 and TENANT_HEADER in self.headers

    @property
    def changed(self) -> bool:
        """Whether a write wrote anything."""
        return self.headers.get(CHANGED_HEADER) == "true"

    def read(self, made: Callable[[JSONObject], T]) -> T:
        """Return what ``made`` makes of the JSON object of an answer.

        Raises:
            AgentStoreError: the answer says that the operation failed.
            RemoteFailed: it holds no JSON object, or not what it should hold.
        """
        if not self.ok:
            raise error_of(self)
        found = self.json()
        if not isinstance(found, dict):
            raise self._unreadable("holds no JSON object")
        try:
            return made(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._unreadable("is not what it should be") from error

    def _unreadable(self, problem: str) -> RemoteFailed:
        message = f"{self.where}: the answer ({self.status}) {problem}."
        return RemoteFailed(message, hint=_NOT_OURS, maybe_done=self.writes)

    def json(self) -> JSONValue:
        """Return the JSON of an answer; None where it is none."""
        return _parse(self.content)


def _parse(content: bytes) -> JSONValue:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def unrecognised(status: int, content: bytes) -> bool:
    """Tell whether a server saw no credentials: what it was sent is not how it takes them."""
    if status not in (401, 403):
        return False
    body = _parse(content)
    return isinstance(body, dict) and body.get("code") == "not_authenticated"


def error_of(answer: Answer) -> errors.AgentStoreError:
    """Return the error that an answer stands for."""
    body, status = answer.json(), answer.status
    if not isinstance(body, dict) or not isinstance(body.get("detail"), str):
        return _foreign(answer)
    kind = _OWN.get(str(body.get("code"))) or _BY_STATUS.get(status)
    if kind is None:
        return _foreign(answer, f" It says: {body['detail']}")
    return _rebuilt(kind, body, answer)


def _rebuilt(kind: type[errors.AgentStoreError], body: JSONObject, answer: Answer) -> errors.AgentStoreError:
    more: dict[str, Any] = {}
    if kind is errors.ValidationFailed:
        more["errors"] = _errors(body.get("errors"))
    elif kind is errors.Conflict:
        version = body.get("current_version")
        more["current_version"] = version if isinstance(version, int) else None
    elif kind is errors.StorageFailed:
        more["retryable"] = "Retry-After" in answer.headers
    unknown = body.get("code") in ("not_authenticated", "authentication_failed")
    hint = str(body.get("hint") or (_LOGIN if unknown else ""))
    return kind(body["detail"], hint=hint, **more)


def _errors(found: JSONValue) -> dict[str, list[str]]:
    if not isinstance(found, dict):
        return {}
    return {
        path: [str(m) for m in messages] for path, messages in found.items() if isinstance(messages, list)
    }


def _foreign(answer: Answer, said: str = "") -> errors.AgentStoreError:
    """Return the error for an answer that is not agentstore's: a proxy's, another site's, a fault's."""
    status, target = answer.status, answer.headers.get("Location", "")
    if status in _REFUSALS:
        kind, hint = _REFUSALS[status]
        return kind(f"{answer.where}: the server answered with status {status}.{said}", hint=hint)
    retryable = status in (429, 502, 503, 504)
    hint = _later(answer) if retryable else "The cause is in the server's log."
    if 300 <= status < 400:
        said = f" It sends the client on to {_without_secrets(target)}." if target else said
        hint = "Give the client the address that answers itself; redirects are not followed."
    elif status < 500 and status != 429:
        hint = _NOT_OURS
    return RemoteFailed(
        f"{answer.where}: the server answered with status {status}.{said}",
        hint=hint,
        retryable=retryable,
        maybe_done=answer.writes and (answer.doubtful or status >= 500),
    )


def _later(answer: Answer) -> str:
    asked = answer.headers.get("Retry-After", "").strip()
    return f"Try again in {asked} seconds." if _SECONDS.fullmatch(asked) else "Try again later."


def _without_secrets(address: str) -> str:
    return _USERINFO.sub("//", address.partition("?")[0])[:200]


def row_of(
    body: JSONObject, tenant: str, schema: type[BaseModel] | None, *, changed: bool = False
) -> EntityRow[Any]:
    """Return a row as a store gives it: decoded by ``schema``, or its JSON object."""
    data, problems = body["data"], body.get("schema_errors", {})
    raw = body.get("raw") if data is None else data
    if data is not None and schema is not None:
        data, problems = _decoded(data, schema)
    gone = body.get("deleted_at")
    return EntityRow(
        id=UUID(body["id"]),
        tenant=tenant,
        version=body["version"],
        created_at=datetime.fromisoformat(body["created_at"]),
        updated_at=datetime.fromisoformat(body["updated_at"]),
        deleted_at=None if gone is None else datetime.fromisoformat(gone),
        data=data,
        raw=raw,  # type: ignore[arg-type]  # what is stored may be spoiled
        changed=changed,
        schema_errors=problems,
    )


def _decoded(data: JSONObject, schema: type[BaseModel]) -> tuple[BaseModel | None, dict[str, list[str]]]:
    try:
        return schema.model_validate_json(json.dumps(data), extra="ignore"), {}
    except ValidationError as error:
        found: dict[str, list[str]] = {}
        for item in error.errors():
            message = item["msg"].removeprefix("Value error, ")
            found.setdefault(".".join(map(str, item["loc"])), []).append(message)
        return None, found


def entries_of(body: JSONObject) -> tuple[list[HistoryEntry], str | None]:
    """Return a page of audited changes, and the cursor of the next one."""
    return [_entry(entry) for entry in body["results"]], body["next_cursor"]


def _entry(body: JSONObject) -> HistoryEntry:
    return HistoryEntry(**{**body, "id": UUID(body["id"]), "at": datetime.fromisoformat(body["at"])})


def tenant_of(answer: Answer, default: str) -> str:
    """Return the tenant that an answer is about."""
    named = answer.headers.get(TENANT_HEADER)
    return default if named is None else unquote(named)
