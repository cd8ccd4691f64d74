"""The store of one agent's files: every read and write passes here, and is decided here.

Names, contents, versions, limits and tenancy are checked here (reading and writing in the modules
beside) and nowhere else; the surfaces call it, and the back ends persist what it decided.
"""

from __future__ import annotations

from typing_extensions import Unpack

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import Who, resolve
from agentstore.core.values import now
from agentstore.files.aio import AsyncFiles
from agentstore.files.backend import Refusal, Stored
from agentstore.files.names import check_content, check_name, name_key
from agentstore.files.prompt import Assembling
from agentstore.files.reading import check_version, to_info
from agentstore.files.timeline import Timeline
from agentstore.files.values import FileInfo
from agentstore.files.writing import ATTEMPTS

__all__ = ["FileStore"]


class FileStore(AsyncFiles, Assembling, Timeline):
    """Reads and writes the files of one agent of one tenant.

    Content is ``str``, kept to the byte. Every change is a version with actor, reason, context and
    source; identical content makes none. Every write takes ``actor``, ``reason`` and ``context``,
    which beat the store's own and the ambient ones.
    """

    def rename(
        self, old: str, new: str, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> FileInfo:
        """Give a file another name: a new version with the same content.

        Raises:
            ValidationFailed: a name is not a file name.
            NotFound: there is no such file.
            AlreadyExists: a live file has the new name.
            Conflict: the file is not at ``expected_version``.
        """
        old, new, seen = check_name(old), check_name(new), self._asked(expected_version, who)
        write = self._decided(new, "", who, seen=seen)
        for _ in range(ATTEMPTS):
            row = self._need(old)
            if seen is not None and row.version != seen:
                raise self._stale(row, seen)
            if row.name == new:
                return to_info(row)
            done = self._files.rename(write, name_key(row.name))
            if isinstance(done, Stored):
                return self._announce(done, "renamed")
            if done is Refusal.TAKEN:
                raise self._taken(new, "rename over it")
        raise self._busy(old)

    def restore(
        self, name: str, version: int, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> FileInfo:
        """Write the text of an older version anew: a new version that names its source.

        Raises:
            ValidationFailed: the name or number does not hold, or the text was blanked out.
            NotFound: there is no such file or version.
            Conflict: the file is not at ``expected_version``.
        """
        name, version, seen = check_name(name), check_version(version), self._asked(expected_version, who)
        for _ in range(ATTEMPTS):
            row = self._need(name)
            content = self._need_content(row, version)
            text = check_content(content, name=row.name, agent=self.agent, limit=settings.FILE_MAX_BYTES)
            source = {"source": "restore", "restored_from": version, "source_id": row.id}
            try:
                return self._store(self._decided(row.name, text, who, seen=seen, **source), create=False)
            except errors.AlreadyExists:  # it was given other capitals meanwhile
                continue
        raise self._busy(name)

    def redact(self, name: str, version: int, reason: str, *, actor: str | None = None) -> None:
        """Blank out the text of one older version for good; number, time and author stay.

        One that is blanked out already stays as it is: who did it first, when and why.

        Raises:
            ValidationFailed: the name or number does not hold, the reason is empty, or the version is
                the current one.
            NotFound: there is no such file or version.
        """
        name, version = check_name(name), check_version(version)
        if not guards.check_text(reason, "reason").strip():
            guards.refuse("reason", "Say why the text is blanked out.")
        acting = resolve(actor=actor, reason=reason, default=self._who)
        row = self._need(name)
        if version > row.version:  # another may be writing it: then it is the current one
            raise self.no_version(row.name, version)
        if version == row.version:
            hint = "Save a version without the secret first, then blank out the older ones."
            guards.refuse("version", f"Version {version} is the current one.", hint)
        if not self._files.redact(row.id, version, at=now(), by=acting.actor, reason=acting.reason):
            raise self.no_version(row.name, version)
