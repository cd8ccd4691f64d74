"""The reading half of a file store: contents, versions, differences."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self, TypeAlias

from django.db import router

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import checked
from agentstore.core.normalizing import normalized
from agentstore.core.storage import single_statements, translate_errors
from agentstore.core.tenancy import check_agent, check_tenant
from agentstore.core.values import JSONValue
from agentstore.files.backend import Limits, Stored, Text
from agentstore.files.diff import FileDiff, compare
from agentstore.files.models import AgentFile
from agentstore.files.names import check_name, name_key
from agentstore.files.portable import PortableFiles
from agentstore.files.postgres import PostgresFiles
from agentstore.files.values import DeletedFile, FileInfo, FileVersion

__all__ = ["SOURCES", "ReadingFiles", "agents", "backend_of", "check_version", "to_info"]

# Inside the class, ``list`` is the method.
FileInfos: TypeAlias = list[FileInfo]
FileContents: TypeAlias = list[tuple[FileInfo, str]]
FileVersions: TypeAlias = list[FileVersion]
DeletedFiles: TypeAlias = list[DeletedFile]

#: The ways in that a version can say it came by.
SOURCES = ("python", "api", "admin", "tool", "import", "restore")
_VERSION = (
    "version",
    "name",
    "at",
    "actor",
    "source",
    "reason",
    "size",
    "sha256",
    "context",
    "restored_from",
    "redacted_at",
    "redacted_by",
    "redacted_reason",
)


def backend_of(tenant: str, agent: str) -> PortableFiles:
    """Return the back end of one agent's files, on the database that writes go to."""
    alias = router.db_for_write(AgentFile)
    return (PostgresFiles if single_statements(alias) else PortableFiles)(alias, tenant, agent)


@translate_errors
def agents(tenant: str) -> list[str]:
    """Return the ids of the tenant's agents that have live files, sorted by code point."""
    rows = AgentFile._base_manager.using(router.db_for_write(AgentFile)).filter(tenant=check_tenant(tenant))
    return sorted(rows.filter(deleted_at__isnull=True).values_list("agent", flat=True).distinct())


def to_info(row: Stored, *, changed: bool = False) -> FileInfo:
    """Return a stored file as callers see it."""
    values = {name: value for name, value in row._asdict().items() if name not in ("id", "deleted_at")}
    return FileInfo(**values, changed=changed)


def check_version(version: object, name: str = "version") -> int:
    """Return ``version`` if it is an int.

    Raises:
        ValidationFailed: it is something else.
    """
    if isinstance(version, bool) or not isinstance(version, int):
        guards.refuse(name, f"Expected a whole number, found {version!r:.100}.")
    return version


def check_source(source: str) -> str:
    """Return ``source`` if it is one of ``SOURCES``.

    Raises:
        ValidationFailed: it is not.
    """
    if source not in SOURCES:
        guards.refuse("source", f"{source!r} is not a source.", f"Valid: {', '.join(SOURCES)}.")
    return source


class ReadingFiles:
    """Reads one agent's files."""

    def __init__(
        self,
        tenant: str,
        agent: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
        source: str = "python",
    ) -> None:
        self.tenant, self.agent, self.source = check_tenant(tenant), check_agent(agent), check_source(source)
        self._who = checked(actor=actor, reason=reason, context=context)

    def with_source(self, source: str) -> Self:
        """Return the same store, its writes marked with another source.

        Raises:
            ValidationFailed: there is no such source.
        """
        other = copy.copy(self)
        other.source = check_source(source)
        return other

    def __repr__(self) -> str:
        return f"<FileStore {self.agent!r} of {self.tenant!r}>"

    @property
    def _files(self) -> PortableFiles:
        return backend_of(self.tenant, self.agent)

    @property
    def _limits(self) -> Limits:
        return Limits(
            files=settings.FILE_MAX_FILES,
            agent_bytes=settings.FILE_MAX_AGENT_BYTES,
            versions_kept=settings.FILE_VERSIONS_KEPT,
            daily_kept=settings.FILE_DAILY_KEPT,
            deleted_kept=settings.FILE_DELETED_KEPT,
        )

    def read(self, name: str, version: int | None = None) -> str | None:
        """Return the content to the byte, or that of an older ``version``; None when there is none.

        Raises:
            ValidationFailed: the name is not a file name, the version no int, or its text was blanked out.
        """
        key = name_key(check_name(name))
        if version is None:
            return self._files.content(key)
        found, version = self._files.read(key), check_version(version)
        if found is None or found.version == version:
            return None if found is None else found.content
        return self._version_content(found, version)

    def _version_content(self, row: Text, version: int) -> str | None:
        rows = self._files.versions(row.id).exclude(history_type="-").filter(version=version)
        found = self._files.fetch(rows.values_list("content", "redacted_at"))
        if found and found[0][1] is not None:
            guards.refuse("version", f"The text of version {version} of {row.name} was blanked out.")
        return found[0][0] if found else None

    def info(self, name: str) -> FileInfo | None:
        """Return what is known of a live file, its content aside; None when there is none.

        Raises:
            ValidationFailed: the name is not a file name.
        """
        row = self._files.find(name_key(check_name(name)))
        return None if row is None else to_info(row)

    def list(self, prefix: str = "") -> FileInfos:
        """Return the live files whose name starts with ``prefix``, by code point, without content.

        Raises:
            ValidationFailed: the prefix is not text.
        """
        prefix = normalized("NFC", guards.check_text(prefix, "prefix"))
        rows = (row for row in self._files.all() if row.name.startswith(prefix))
        return sorted(map(to_info, rows), key=lambda info: info.name)

    def contents(self) -> FileContents:
        """Return every live file with its content, by code point: all as they are at one moment."""
        rows = self._files.fetch(self._files.live().values_list(*Stored._fields, "content"))
        found = [(to_info(Stored._make(row[:-1])), row[-1]) for row in rows]
        return sorted(found, key=lambda pair: pair[0].name)

    def usage(self) -> tuple[int, int]:
        """Return how many live files there are, and how many bytes they hold."""
        rows = self._files.all()
        return len(rows), sum(row.size for row in rows)

    def versions(self, name: str) -> FileVersions:
        """Return the kept older versions, newest first; [] for an unknown file.

        Raises:
            ValidationFailed: the name is not a file name.
        """
        row = self._files.find(name_key(check_name(name)))
        if row is None:
            return []
        older = self._files.versions(row.id).exclude(history_type="-").filter(version__lt=row.version)
        return [
            _version(values) for values in self._files.fetch(older.order_by("-version").values(*_VERSION))
        ]

    def deleted(self) -> DeletedFiles:
        """Return the deleted files that can be undeleted, the last deleted first."""
        taken = {name_key(row.name) for row in self._files.all()}
        rows = self._files.files().filter(deleted_at__isnull=False).order_by("-deleted_at", "-id")
        seen: set[str] = set()
        found = []
        for row in self._files.fetch(rows.defer("content")):
            found.append(
                DeletedFile(
                    name=row.name,
                    version=row.version,
                    size=row.size,
                    deleted_at=row.deleted_at,
                    actor=row.actor,
                    reason=row.reason,
                    name_taken=row.name_key in taken or row.name_key in seen,
                )
            )
            seen.add(row.name_key)
        return found

    def diff(self, name: str, a: int | None, b: int | None = None) -> FileDiff:
        """Return the differences from version ``a`` to version ``b``; None is the current one.

        Raises:
            ValidationFailed: the name or a number does not hold, or a text was blanked out.
            NotFound: there is no such file or version.
        """
        name = check_name(name)
        wanted = [None if n is None else check_version(n, side) for side, n in (("a", a), ("b", b))]
        row = self._need(name)
        old_number, new_number = (row.version if version is None else version for version in wanted)
        old, new = self._need_content(row, old_number), self._need_content(row, new_number)
        return compare(
            old,
            new,
            old_label=f"{row.name} (version {old_number})",
            new_label=f"{row.name} (version {new_number})",
        )

    def _need(self, name: str) -> Stored:
        row = self._files.find(name_key(check_name(name)))
        if row is None:
            raise self.not_found(name)
        return row

    def _need_content(self, row: Stored, version: int | None) -> str:
        content = self.read(row.name, version)
        if content is None:
            raise self.no_version(row.name, row.version if version is None else version)
        return content

    def need_content(self, name: str, version: int) -> str:
        """Return the content of a version, as ``read`` does, where there must be one.

        Raises:
            ValidationFailed: the name or number does not hold, or the text was blanked out.
            NotFound: there is no such file or version.
        """
        name, version = check_name(name), check_version(version)
        return self._need_content(self._need(name), version)

    def no_version(self, name: str, version: int) -> errors.NotFound:
        """Return the error that says there is no such version of a file."""
        return errors.NotFound(
            f"There is no version {version} of {name}.", hint="It may have been trimmed: list its versions."
        )

    def not_found(self, name: str) -> errors.NotFound:
        """Return the error that says there is no such file; another tenant's gets the same words."""
        return errors.NotFound(
            f"There is no file {name[:100]!r} of agent {self.agent!r}.",
            hint="It may have been deleted or renamed: list the files.",
        )


def _version(values: dict[str, Any]) -> FileVersion:
    redacted_at = values.pop("redacted_at")
    return FileVersion(**values, redacted=redacted_at is not None)
