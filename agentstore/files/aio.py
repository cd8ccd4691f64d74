"""The async twins of a file store: the same methods, one hop to a thread each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Unpack, cast

from agentstore.core.aio import run
from agentstore.core.context import Who
from agentstore.files.diff import FileDiff
from agentstore.files.values import DeletedFile, FileChange, FileInfo, FileVersion, Planned, Prompt

if TYPE_CHECKING:
    from agentstore.files.prompt import Assembling
    from agentstore.files.store import FileStore

__all__ = ["AsyncFiles"]


class AsyncFiles:
    """``aread`` is ``read`` for async code, and so on; arguments, results and errors are the same."""

    @property
    def _sync(self) -> FileStore:
        return cast("FileStore", self)

    async def aread(self, name: str, version: int | None = None) -> str | None:
        """Do what ``read`` does."""
        return await run(self._sync.read, name, version)

    async def ainfo(self, name: str) -> FileInfo | None:
        """Do what ``info`` does."""
        return await run(self._sync.info, name)

    async def alist(self, prefix: str = "") -> list[FileInfo]:
        """Do what ``list`` does."""
        return await run(self._sync.list, prefix)

    async def acontents(self) -> list[tuple[FileInfo, str]]:
        """Do what ``contents`` does."""
        return await run(self._sync.contents)

    async def ausage(self) -> tuple[int, int]:
        """Do what ``usage`` does."""
        return await run(self._sync.usage)

    async def aversions(self, name: str) -> list[FileVersion]:
        """Do what ``versions`` does."""
        return await run(self._sync.versions, name)

    async def adeleted(self) -> list[DeletedFile]:
        """Do what ``deleted`` does."""
        return await run(self._sync.deleted)

    async def adiff(self, name: str, a: int | None, b: int | None = None) -> FileDiff:
        """Do what ``diff`` does."""
        return await run(self._sync.diff, name, a, b)

    async def achanges(self, since: datetime | str, until: datetime | str | None = None) -> list[FileChange]:
        """Do what ``changes`` does."""
        return await run(self._sync.changes, since, until)

    async def aassemble(self, order: Iterable[str], base: Assembling | None = None) -> Prompt:
        """Do what ``assemble`` does."""
        return await run(self._sync.assemble, order, base)

    async def awrite(
        self,
        name: str,
        content: str,
        *,
        expected_version: int | None = None,
        create_only: bool = False,
        **who: Unpack[Who],
    ) -> FileInfo:
        """Do what ``write`` does."""
        return await run(
            self._sync.write, name, content, expected_version=expected_version, create_only=create_only, **who
        )

    async def areplace(
        self, name: str, old: str, new: str, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> FileInfo:
        """Do what ``replace`` does."""
        return await run(self._sync.replace, name, old, new, expected_version=expected_version, **who)

    async def adelete(self, name: str, *, expected_version: int | None = None, **who: Unpack[Who]) -> bool:
        """Do what ``delete`` does."""
        return await run(self._sync.delete, name, expected_version=expected_version, **who)

    async def aundelete(self, name: str, **who: Unpack[Who]) -> FileInfo:
        """Do what ``undelete`` does."""
        return await run(self._sync.undelete, name, **who)

    async def arename(
        self, old: str, new: str, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> FileInfo:
        """Do what ``rename`` does."""
        return await run(self._sync.rename, old, new, expected_version=expected_version, **who)

    async def arestore(
        self, name: str, version: int, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> FileInfo:
        """Do what ``restore`` does."""
        return await run(self._sync.restore, name, version, expected_version=expected_version, **who)

    async def arestore_as_of(
        self,
        at: datetime | str,
        names: Iterable[str] | None = None,
        *,
        dry_run: bool = False,
        **who: Unpack[Who],
    ) -> list[Planned]:
        """Do what ``restore_as_of`` does."""
        return await run(self._sync.restore_as_of, at, names, dry_run=dry_run, **who)

    async def aredact(self, name: str, version: int, reason: str, *, actor: str | None = None) -> None:
        """Do what ``redact`` does."""
        return await run(self._sync.redact, name, version, reason, actor=actor)
