"""The errors of agentstore: one stable code each, a message that names the thing, and a hint.

Pure Python: this module imports without Django, so that ``agentstore.remote`` can raise the
same errors. Surfaces translate them in one place each; stores know nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from agentstore.core.values import JSONValue

__all__ = [
    "AgentStoreError",
    "AlreadyExists",
    "BypassRefused",
    "Conflict",
    "NotFound",
    "PermissionDenied",
    "QuotaExceeded",
    "StorageFailed",
    "TooLarge",
    "ValidationFailed",
]


class AgentStoreError(Exception):
    """The base of every error that agentstore raises on purpose.

    ``code`` is stable and meant for programs, ``message`` and ``hint`` are meant for the reader:
    the message names the thing, the value found and the value expected; the hint the next step.
    """

    code: ClassVar[str] = "error"
    retryable: bool = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def full_message(self) -> str:
        """The message and the hint as one text, for surfaces that have room for one only."""
        return f"{self.message} {self.hint}".strip()

    def as_dict(self) -> dict[str, JSONValue]:
        """Return the body that REST and tools show: code, detail and, where there is one, hint."""
        body: dict[str, JSONValue] = {"code": self.code, "detail": self.message}
        if self.hint:
            body["hint"] = self.hint
        return body


class NotFound(AgentStoreError):
    """There is no such thing for this tenant; another tenant's thing gets the same words."""

    code = "not_found"


class Conflict(AgentStoreError):
    """The thing changed since the caller read it; ``current_version`` says what it is at now."""

    code = "conflict"

    def __init__(self, message: str, *, hint: str = "", current_version: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current_version = current_version

    def as_dict(self) -> dict[str, JSONValue]:
        body = super().as_dict()
        if self.current_version is not None:
            body["current_version"] = self.current_version
        return body


class QuotaExceeded(AgentStoreError):
    """The tenant has no place left for another row or file."""

    code = "quota"


class ValidationFailed(AgentStoreError):
    """The input does not fit; ``errors`` maps a dotted path (``lines.0.sku``) to its messages."""

    code = "validation"

    def __init__(
        self, message: str, *, hint: str = "", errors: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.errors: dict[str, list[str]] = {k: list(v) for k, v in (errors or {}).items()}

    def as_dict(self) -> dict[str, JSONValue]:
        body = super().as_dict()
        if self.errors:
            body["errors"] = {path: list(messages) for path, messages in self.errors.items()}
        return body


class AlreadyExists(AgentStoreError):
    """Something of that name or id is there already."""

    code = "exists"


class TooLarge(AgentStoreError):
    """The input is over a size limit; the message gives the size and the limit."""

    code = "too_large"


class PermissionDenied(AgentStoreError):
    """The user may not do this."""

    code = "permission"


class StorageFailed(AgentStoreError):
    """The database did not carry out the operation; the cause is logged, never shown.

    ``retryable`` says whether the same call may go through later (a deadlock, a lost connection).
    """

    code = "storage"

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class BypassRefused(AgentStoreError):
    """Host code tried to write around the store; the hint names the store method to call."""

    code = "bypass"
