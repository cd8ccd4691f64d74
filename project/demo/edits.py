"""The pasts of agent files: what was edited when, by whom and why; carried out through the store."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from agentstore.core.values import clock_at
from agentstore.files import FileStore
from project.demo.timeline import ago

__all__ = [
    "Edit",
    "Past",
    "add",
    "after",
    "delete",
    "drop",
    "redact",
    "restore",
    "swap",
    "tell_files",
    "text",
]

#: Does one edit of a file.
Change = Callable[[FileStore, str], object]


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One edit: ``days`` ago at ``clock``, or so many ``hours`` ago."""

    days: float = 0
    clock: str = ""
    hours: float = 0
    actor: str
    source: str
    reason: str = ""
    change: Change

    def at(self, now: datetime) -> datetime:
        """Return when it happened."""
        moment = ago(now - timedelta(days=self.days), hours=self.hours)
        if not self.clock:
            return moment
        hour, minute = map(int, self.clock.split(":"))
        return moment.replace(hour=hour, minute=minute, second=(hour * 7 + minute) % 60)


@dataclass(frozen=True, kw_only=True)
class Past:
    """One file of an agent and every edit of it, in order."""

    agent: str
    name: str
    edits: tuple[Edit, ...]


def text(content: str) -> Change:
    """Write the whole file."""
    return lambda store, name: store.write(name, content)


def swap(old: str, new: str) -> Change:
    """Replace one passage."""
    return lambda store, name: store.replace(name, old, new)


def after(start: str, lines: str) -> Change:
    """Write more behind the line that begins with ``start``."""
    return _edit(start, lambda line: f"{line}{lines}")


def drop(*starts: str) -> Change:
    """Take out the lines that begin so."""
    return _edit(starts, lambda line: "")


def add(lines: str) -> Change:
    """Write more at the end."""
    return lambda store, name: store.write(name, f"{store.read(name)}{lines}")


def _edit(starts: str | tuple[str, ...], change: Callable[[str], str]) -> Change:
    def edit(store: FileStore, name: str) -> object:
        lines = (store.read(name) or "").splitlines(keepends=True)
        return store.write(name, "".join(change(line) if line.startswith(starts) else line for line in lines))

    return edit


def restore(steps: int) -> Change:
    """Go back by so many versions."""

    def change(store: FileStore, name: str) -> object:
        return store.restore(name, store.versions(name)[steps - 1].version)

    return change


def redact(steps: int) -> Change:
    """Blank out the version so many before the current one."""

    def change(store: FileStore, name: str) -> None:
        why = "held a customer's phone number"
        store.redact(name, store.versions(name)[steps - 1].version, why)

    return change


def delete() -> Change:
    """Delete the file."""
    return lambda store, name: store.delete(name)


def tell_files(tenant: str, pasts: Iterable[Past], *, now: datetime) -> int:
    """Carry out every edit, the earliest first; return how many there were."""
    rng = random.Random(f"{tenant} files")  # noqa: S311 - names runs, guards nothing
    steps = sorted(_in_order(pasts, now), key=lambda step: step[0])
    for at, past, edit in steps:
        context = (
            {"run": f"{rng.randrange(16**4):04x}-{timezone.localtime(at):%H%M}"}
            if edit.actor.startswith("agent:")
            else {}
        )
        store = FileStore(
            tenant, past.agent, actor=edit.actor, reason=edit.reason, context=context, source=edit.source
        )
        with clock_at(at):
            edit.change(store, past.name)
    return len(steps)


def _in_order(pasts: Iterable[Past], now: datetime) -> Iterator[tuple[datetime, Past, Edit]]:
    """Yield when each edit happens: never in the future, and after the one before it."""
    for past in pasts:
        last = datetime.min.replace(tzinfo=UTC)
        for left, edit in zip(range(len(past.edits), 0, -1), past.edits, strict=True):
            at = min(moment.astimezone(UTC) for moment in (edit.at(now), ago(now, seconds=20 * left)))
            last = max(at, last + timedelta(seconds=7))
            yield last, past, edit
