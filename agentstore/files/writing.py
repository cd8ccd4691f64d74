"""Writing, deleting and undeleting a file; what goes back to older texts is in ``store``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import models, transaction
from typing_extensions import Unpack

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import Who, resolve
from agentstore.core.storage import atomic
from agentstore.core.values import new_id, now
from agentstore.files.backend import Refusal, Stored, Text, Write
from agentstore.files.models import AgentFile
from agentstore.files.names import check_content, check_name, check_size, digest, name_key
from agentstore.files.reading import ReadingFiles, check_version, to_info
from agentstore.files.values import FileInfo
from agentstore.signals import file_changed

__all__ = ["ATTEMPTS", "WritingFiles", "together"]

#: How often a write is decided anew when others write the same file.
ATTEMPTS = 50


class WritingFiles(ReadingFiles):
    """Writes the content of one agent's files."""

    def write(
        self,
        name: str,
        content: str,
        *,
        expected_version: int | None = None,
        create_only: bool = False,
        **who: Unpack[Who],
    ) -> FileInfo:
        """Write a file; ``changed`` is False where the content is what is stored.

        Without ``expected_version`` the last writer wins, and the other's text is a version.

        Raises:
            ValidationFailed: the name or content may not be stored.
            TooLarge: the content is over ``FILE_MAX_BYTES``.
            NotFound: ``expected_version`` is given and there is no such file.
            Conflict: the file is not at ``expected_version``.
            AlreadyExists: ``create_only``, and there is a file; or its name differs in capitals.
            QuotaExceeded: the agent has no room for another file or for more bytes.
        """
        name = check_name(name)
        text = check_content(content, name=name, agent=self.agent, limit=settings.FILE_MAX_BYTES)
        seen = None if expected_version is None else check_version(expected_version, "expected_version")
        write = self._decided(name, text, who, seen=seen)
        return self._store(write, create_only=create_only)

    def _asked(self, expected_version: int | None, who: Who) -> int | None:
        """Return the expected version; what can't hold is refused before anything is looked up."""
        resolve(**who, default=self._who)
        return None if expected_version is None else check_version(expected_version, "expected_version")

    def _decided(self, name: str, text: str, who: Who, **details: Any) -> Write:
        acting = resolve(**who, default=self._who)
        return Write(
            **{"source": self.source, "limits": self._limits, **details},
            id=new_id(),
            history_id=new_id(),
            name=name,
            key=name_key(name),
            content=text,
            sha256=digest(text),
            size=len(text.encode()),
            at=now(),
            actor=acting.actor,
            reason=acting.reason,
            context=acting.context,
        )

    def _store(self, write: Write, *, create: bool = True, create_only: bool = False) -> FileInfo:
        """Update, or else ``create``; what neither did is explained by what is there."""
        files = self._files
        for _ in range(ATTEMPTS):
            if not create_only:
                done = files.write(write)
                if isinstance(done, Stored):
                    return self._announce(done, "changed" if write.restored_from is None else "restored")
                if done is Refusal.LOST:
                    raise self._lost(write)
            row = files.find(write.key)
            if row is None and create and write.seen is None:
                done = files.create(write)
                if isinstance(done, Stored):
                    return self._announce(done, "created")
                if done is Refusal.FULL:
                    raise self._full(write)
                if done is Refusal.LOST:
                    raise self._lost(write)
            elif row is None:
                raise self.not_found(write.name)
            elif (settled := self._explain(row, write, create_only)) is not None:
                return settled
        raise self._busy(write.name)

    def _explain(self, row: Stored, write: Write, create_only: bool) -> FileInfo | None:
        """Say why the file was not written; None means that it changed meanwhile: try again."""
        if create_only or row.name != write.name:
            raise errors.AlreadyExists(
                f"There is a file {row.name!r} of agent {self.agent!r} already.",
                hint="Names that differ in capitals only are the same." if row.name != write.name else "",
            )
        if write.seen is not None and row.version != write.seen:
            raise self._stale(row, write.seen)
        if row.sha256 == write.sha256:
            return to_info(row)
        if write.size > row.size and self.usage()[1] - row.size + write.size > settings.FILE_MAX_AGENT_BYTES:
            raise self._full(write)
        return None

    def replace(
        self, name: str, old: str, new: str, *, expected_version: int | None = None, **who: Unpack[Who]
    ) -> FileInfo:
        """Replace the one literal occurrence of ``old`` by ``new``.

        Raises:
            NotFound: there is no such file.
            ValidationFailed: ``old`` is empty or does not occur exactly once.
            Conflict: the file is not at ``expected_version``.
            TooLarge: the result is over ``FILE_MAX_BYTES``.
        """
        guards.check_text(old, "old")
        guards.check_text(new, "new")
        key, expected = name_key(check_name(name)), self._asked(expected_version, who)
        return self._edit(name, key, partial(_replaced, old=old, new=new), expected, who)

    def _edit(
        self, name: str, key: str, change: Callable[[str], str], expected: int | None, who: Who
    ) -> FileInfo:
        """Apply ``change`` to what the file is now, and again if it changed meanwhile."""
        for _ in range(ATTEMPTS):
            found = self._files.read(key)
            if found is None:
                raise self.not_found(name)
            if expected is not None and found.version != expected:
                raise self._stale(found, expected)
            try:
                return self.write(found.name, change(found.content), expected_version=found.version, **who)
            except (errors.Conflict, errors.AlreadyExists):  # written meanwhile, or given other capitals
                continue
        raise self._busy(name)

    def delete(self, name: str, *, expected_version: int | None = None, **who: Unpack[Who]) -> bool:
        """Delete a file; it can be undeleted. False if there is none.

        Raises:
            ValidationFailed: the name is not a file name, ``expected_version`` no int.
            Conflict: the file is not at ``expected_version``.
        """
        name = check_name(name)
        expected = None if expected_version is None else check_version(expected_version, "expected_version")
        return self._delete(name, expected, who)

    def _delete(self, name: str, expected: int | None, who: Who, **details: Any) -> bool:
        write = self._decided(name, "", who, seen=expected, **details)
        for _ in range(ATTEMPTS):
            done = self._files.delete(write)
            if isinstance(done, Stored):
                self._announce(done, "deleted")
                return True
            row = self._files.find(write.key)
            if row is None:
                return False
            if expected is not None and row.version != expected:
                raise self._stale(row, expected)
        raise self._busy(name)  # each time another file had taken the name

    def undelete(self, name: str, **who: Unpack[Who]) -> FileInfo:
        """Bring the last deleted file of that name back, with its versions, under a new number.

        Raises:
            ValidationFailed: the name is not a file name.
            AlreadyExists: a live file has the name.
            NotFound: no deleted file of that name is kept.
            QuotaExceeded: the agent has no room for it.
            TooLarge: its text is over ``FILE_MAX_BYTES``, which was higher once.
        """
        name = check_name(name)
        deleted = self._files.files().filter(name_key=name_key(name), deleted_at__isnull=False)
        return self._bring_back(name, deleted.order_by("-deleted_at", "-id"), who)

    def _bring_back(self, name: str, deleted: models.QuerySet[AgentFile], who: Who) -> FileInfo:
        """Undelete the first of these files of that name."""
        write = self._decided(name, "", who)
        found = self._files.fetch(deleted.values_list("id", "size")[:1])
        self._check_free(write)
        for _, size in found:
            check_size(size, name=name, agent=self.agent, limit=settings.FILE_MAX_BYTES)
        done = self._files.undelete(write, found[0][0]) if found else Refusal.STALE
        if isinstance(done, Stored):
            return self._announce(done, "undeleted")
        if done is Refusal.FULL:
            raise self._full(write)
        if done is Refusal.TAKEN:
            raise self._taken(name, "undelete the old one")
        self._check_free(write)  # another may have brought it back meanwhile
        raise errors.NotFound(f"There is no deleted file {name!r} of agent {self.agent!r}.")

    def _check_free(self, write: Write) -> None:
        live = self._files.find(write.key)
        if live is not None:
            raise self._taken(live.name, "undelete the old one")

    def _announce(self, row: Stored, op: str) -> FileInfo:
        if file_changed.has_listeners(AgentFile):
            send = partial(
                file_changed.send_robust,
                sender=AgentFile,
                tenant=self.tenant,
                agent=self.agent,
                id=row.id,
                name=row.name,
                op=op,
                version=row.version,
                actor=row.actor,
            )
            transaction.on_commit(send, using=self._files.alias)
        return to_info(row, changed=True)

    def _stale(self, row: Stored | Text, expected: int) -> errors.Conflict:
        return errors.Conflict(
            f"{row.name} is at version {row.version}, not {expected}.",
            hint="Read it again and reapply your change.",
            current_version=row.version,
        )

    def _taken(self, name: str, act: str) -> errors.AlreadyExists:
        return errors.AlreadyExists(
            f"There is a file {name!r} of agent {self.agent!r} already.",
            hint=f"Rename or delete it first, then {act}.",
        )

    def _full(self, write: Write) -> errors.QuotaExceeded:
        count, size = self.usage()
        return errors.QuotaExceeded(
            f"Agent {self.agent!r} has no room for {write.name!r}: {count:,} of "
            f"{settings.FILE_MAX_FILES:,} files and {size:,} of {settings.FILE_MAX_AGENT_BYTES:,} "
            "bytes are used.",
            hint="Delete or shorten files that are no longer needed.",
        )

    def _lost(self, write: Write) -> errors.NotFound:
        """Return the error for a version that was trimmed meanwhile; refuse one that was blanked out."""
        id, version = write.source_id or write.id, write.restored_from or 0
        self._version_content(Text(id, write.name, 0, ""), version)
        return self.no_version(write.name, version)

    def _busy(self, name: str) -> errors.Conflict:
        return errors.Conflict(
            f"{name} changed {ATTEMPTS} times while it was being written.", hint="Try again later."
        )


@contextmanager
def together(files: WritingFiles, names: Iterable[str]) -> Iterator[list[FileInfo]]:
    """Change files of these names as one, all of them or none; those that are held, and no others.

    Who changed one that has only now taken a name could wait for who waits for this.
    """
    with atomic(files._files.alias):
        held = set(files._files.hold([name_key(name) for name in names]))
        yield [to_info(row) for row in files._files.all() if row.id in held]


def _replaced(content: str, *, old: str, new: str) -> str:
    first = content.find(old) if old else -1
    if first < 0:
        guards.refuse(
            "old", "The text to replace is empty." if not old else "The text to replace does not occur."
        )
    if content.find(old, first + 1) >= 0:
        guards.refuse("old", "The text to replace occurs more than once.", "Take more of the text around it.")
    return content[:first] + new + content[first + len(old) :]
