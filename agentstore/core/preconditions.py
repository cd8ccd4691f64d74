"""The conditions that a request may carry: ``If-Match`` and ``If-None-Match``, on version numbers.

An entity tag is the version in quotes. Tags are compared without what servers on the way add when they
compress: the ``W/`` of most, the ``-gzip`` of Apache, the ``--gzip`` of Jetty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentstore.core.errors import Conflict

__all__ = ["NEVER", "Preconditions", "etag"]

_TAG = re.compile(r'(?:W/)?"([^"]*?)(?:--?(?:gzip|br|zstd|deflate))?"')
_VERSION_TAG = re.compile(r'(?:W/)?"([1-9][0-9]{0,9})(?:--?(?:gzip|br|zstd|deflate))?"')
#: A version that nothing is ever at.
NEVER = 0


def etag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


@dataclass(frozen=True, kw_only=True, slots=True)
class Preconditions:
    """The two headers as they were sent; None where one was not."""

    if_match: str | None = None
    if_none_match: str | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Preconditions:
        """Return what a request's headers say."""
        return cls(if_match=headers.get("If-Match"), if_none_match=headers.get("If-None-Match"))

    @property
    def given(self) -> bool:
        """True where a conflict means that a condition failed: 412, not 409."""
        return self.if_match is not None or self.if_none_match is not None

    @property
    def creates_only(self) -> bool:
        """True where the request wants to make something new and nothing else."""
        return self.if_none_match is not None and self.if_none_match.strip() == "*"

    def unchanged(self, version: int) -> bool:
        """Tell whether a reader has this version already: 304."""
        return self.if_none_match is not None and _names(self.if_none_match, version)

    def expected(self, current: Callable[[], int | None]) -> int | None:
        """Return the version that a write must meet: None where any will do, ``NEVER`` where none will.

        ``current`` reads the present version (None: there is no such thing), and is asked only where
        the headers name more than one version. A write that must meet ``NEVER`` is sent all the
        same, so that what else is wrong with it is told in the usual order.
        """
        if not self.given:
            return None
        if self.if_none_match is None and self.if_match is not None:
            only = _VERSION_TAG.fullmatch(self.if_match.strip())
            if only or self.if_match.strip() == "*":
                return int(only[1]) if only else None
        version = current()
        return version if version is None or self._allows(version) else NEVER

    def refusal(self, version: int) -> Conflict:
        """Return the error for a write that met ``version`` where none would have done."""
        return Conflict(
            f"This is at version {version}, which If-Match does not name or If-None-Match excludes.",
            hint=f"Read it again and reapply your change; its tag is {etag(version)} now.",
            current_version=version,
        )

    def _allows(self, version: int) -> bool:
        if self.if_match is not None and not _names(self.if_match, version):
            return False
        return self.if_none_match is None or not _names(self.if_none_match, version)


def _names(header: str, version: int) -> bool:
    """Tell whether a header names the version; one that is not a list of tags names none."""
    if _TAG.sub("", header).strip(" \t,"):
        return header.strip() == "*"
    return str(version) in _TAG.findall(header)
