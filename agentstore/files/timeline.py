"""All files of an agent over time: what changed since, and going back to a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID

from typing_extensions import Unpack

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import Who, resolve
from agentstore.core.storage import atomic
from agentstore.core.times import check_time
from agentstore.files.models import HistoricalAgentFile
from agentstore.files.names import check_content, check_name, name_key
from agentstore.files.values import FileChange, Planned
from agentstore.files.writing import WritingFiles

if TYPE_CHECKING:
    from agentstore.files.backend import Limits, Stored

__all__ = ["Timeline"]

_FIELDS = (
    "id",
    "name",
    "name_key",
    "version",
    "history_type",
    "at",
    "actor",
    "source",
    "reason",
    "size",
    "sha256",
    "restored_from",
    "created_at",
    "redacted_at",
)
_Row = dict[str, Any]


class _Step(NamedTuple):
    """One file's part of a plan: the state of then to bring back, if any, and by how much the file grows."""

    key: str
    planned: Planned
    then: _Row | None
    growth: int

    @property
    def acts(self) -> bool:
        """Whether anything is done."""
        return self.then is not None or self.planned.action == "delete"


# Inside the class, ``list`` is the method.
FileChanges: TypeAlias = list[FileChange]
Plan: TypeAlias = list[Planned]
Histories: TypeAlias = dict[UUID, list[_Row]]
Steps: TypeAlias = list[_Step]


class Timeline(WritingFiles):
    """Reads the changes of all files of an agent, and puts files back to what they were."""

    def changes(self, since: datetime | str, until: datetime | str | None = None) -> FileChanges:
        """Return the kept changes of all files after ``since`` (until ``until``), newest first.

        Raises:
            ValidationFailed: a time is naive or no time.
        """
        start, end = check_time(since, "since"), None if until is None else check_time(until, "until")
        found = [
            _change(before, row)
            for rows in self._histories().values()
            for before, row in pairwise([None, *rows])
            if row is not None and row["at"] > start and (end is None or row["at"] <= end)
        ]
        found.reverse()  # of what happened at one moment to one version, the later stays before the earlier
        return sorted(found, key=lambda change: (change.at, change.name, change.version), reverse=True)

    def _histories(self) -> Histories:
        """Return the kept states of every file, deleted ones too, oldest first, without content."""
        rows = HistoricalAgentFile._base_manager.using(self._files.alias).filter(
            tenant=self.tenant, agent=self.agent
        )
        found: Histories = defaultdict(list)
        # A deletion has the number of the state that it deleted. Servers' clocks may differ: numbers count.
        for row in sorted(self._files.fetch(rows.values(*_FIELDS)), key=_place):
            found[row["id"]].append(row)
        return found

    def restore_as_of(
        self,
        at: datetime | str,
        names: Iterable[str] | None = None,
        *,
        dry_run: bool = False,
        **who: Unpack[Who],
    ) -> Plan:
        """Put files back to what they were at a time, all of them or none, and say what that does.

        Without ``names`` every file that existed then is put back; files born since are listed and
        left alone, and deleted only when named. ``dry_run`` returns the plan and writes nothing.

        Raises:
            ValidationFailed: the time is naive or no time, or a name no file name.
            NotFound: a named file neither exists nor existed then.
            Conflict: a file changed between plan and write.
            TooLarge: a text of then is over ``FILE_MAX_BYTES``, which was higher once.
        """
        moment, wanted = check_time(at, "at"), None if names is None else _names(names)
        resolve(**who, default=self._who)  # refuses what can be no actor, also where nothing changes
        steps = self._plan(moment, wanted)
        if dry_run:
            return [step.planned for step in steps]
        texts = {step.key: self._text(step.then) for step in steps if step.then is not None}
        acts = [step for step in steps if step.acts]
        if not acts:
            return [step.planned for step in steps]
        with atomic(self._files.alias):
            # Deleted ones too: who forgets one waits for nobody then.
            self._files.hold([step.key for step in acts], [step.then["id"] for step in acts if step.then])
            # What shrinks comes first, so that the room is enough at every step; and no file that is
            # deleted here makes a deleted one be forgotten that is yet to come back.
            kept = replace(self._limits, deleted_kept=self._limits.deleted_kept + len(acts))
            done = {
                step.key: self._carry_out(step, texts.get(step.key), who, kept)
                for step in sorted(acts, key=_turn)
            }
            self._files.forget(self._limits.deleted_kept)
        return [done.get(step.key, step.planned) for step in steps]

    def _plan(self, moment: datetime, wanted: dict[str, str] | None) -> Steps:
        """Return what becomes of each file; ``wanted`` is key -> name of those that were named."""
        # In this order: what changes in between is at another version than the plan says, and refused.
        live = {name_key(row.name): row for row in self._files.all()}
        histories = self._histories()
        then = {}
        for rows in histories.values():
            state = _state_at(rows, moment)
            if state is not None and ("lost" not in state or state["name_key"] not in then):
                then[state["name_key"]] = state
        deleted = {
            id: rows[-1]["name_key"] for id, rows in histories.items() if rows[-1]["history_type"] == "-"
        }
        for key, name in ({} if wanted is None else wanted).items():
            if key not in then and key not in live:
                raise self.not_found(name)
        keys = sorted({*then, *live}) if wanted is None else list(wanted)
        return [
            _planned(key, then.get(key), live.get(key), deleted, named=wanted is not None) for key in keys
        ]

    def _text(self, row: _Row) -> str:
        rows = self._files.versions(row["id"]).filter(version=row["version"]).exclude(history_type="-")
        found = self._files.fetch(rows.filter(redacted_at__isnull=True).values_list("content", flat=True))
        if not found:
            raise self._moved(row["name"])
        return check_content(found[0], name=row["name"], agent=self.agent, limit=settings.FILE_MAX_BYTES)

    def _carry_out(self, step: _Step, text: str | None, who: Who, limits: Limits) -> Planned:
        planned, row = step.planned, step.then
        try:
            if row is None or text is None:
                done = self._delete(planned.name, planned.current_version, who, limits=limits)
                return replace(planned, changed=done)
            if planned.action == "undelete":
                rows = self._files.files().filter(id=row["id"], name_key=step.key, deleted_at__isnull=False)
                info = self._bring_back(planned.name, rows, who)
                planned = replace(planned, name=info.name, current_version=info.version)
            return self._put_back(planned, row, text, who)
        except (errors.AlreadyExists, errors.NotFound, errors.ValidationFailed) as error:
            # Written, deleted or blanked out since the plan.
            raise self._moved(planned.name) from error

    def _put_back(self, planned: Planned, then: _Row, text: str, who: Who) -> Planned:
        write = self._decided(
            planned.name,
            text,
            who,
            seen=planned.current_version,
            source="restore",
            restored_from=then["version"],
            source_id=then["id"],
        )
        self._store(write, create_only=planned.current_version is None)
        return replace(planned, changed=True)

    def _moved(self, name: str) -> errors.Conflict:
        return errors.Conflict(f"{name} changed while it was being put back.", hint="Look at the plan again.")


def _turn(step: _Step) -> tuple[bool, str]:
    """Return when a step's turn is: what takes a name comes last, by name, so that none wait in a circle."""
    return step.growth > 0 or step.planned.current_version is None, step.key


def _names(names: object) -> dict[str, str]:
    """Return key -> name of the names, each file once."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        guards.refuse("names", f"Expected a list of file names, found {type(names).__name__}.")
    found: dict[str, str] = {}
    for name in map(check_name, names):
        found.setdefault(name_key(name), name)
    return found


def _place(row: _Row) -> tuple[int, bool]:
    """Return where a state stands among those of its file."""
    return row["version"], row["history_type"] == "-"


def _op(before: _Row | None, row: _Row) -> str:
    if row["history_type"] == "-":
        return "deleted"
    if row["history_type"] == "+":
        return "undeleted" if before is not None else "created"
    if row["restored_from"] is not None:
        return "restored"
    return "renamed" if before is not None and before["name"] != row["name"] else "changed"


def _change(before: _Row | None, row: _Row) -> FileChange:
    op = _op(before, row)
    return FileChange(
        name=row["name"],
        op=op,
        version=row["version"],
        at=row["at"],
        actor=row["actor"],
        source=row["source"],
        reason=row["reason"],
        size=row["size"],
        restored_from=row["restored_from"],
        previous=None if before is None else before["version"],
        previous_size=None if before is None else before["size"],
        old_name=before["name"] if before is not None and op == "renamed" else None,
    )


def _state_at(rows: list[_Row], moment: datetime) -> _Row | None:
    """Return a file's state at a time; one whose text of then was trimmed says so under ``lost``."""
    # Writers that waited for each other may be numbered against their clocks: numbers count.
    times = accumulate((row["at"] for row in rows), max)
    count = sum(at <= moment for at in times)
    before, after = rows[:count], rows[count:]
    if not before:
        return {**rows[0], "lost": "trimmed"} if rows[0]["created_at"] <= moment else None
    last = before[-1]
    if last["history_type"] == "-":
        return None
    if last["redacted_at"] is not None:
        return {**last, "lost": "redacted"}
    lost = after and _gap(last, after[0], full=len(rows) > settings.FILE_VERSIONS_KEPT)
    return {**last, "lost": "trimmed"} if lost else last


def _gap(last: _Row, following: _Row, *, full: bool) -> bool:
    """Tell whether versions between two kept states are gone, so that the state between is unknown.

    A new name can skip numbers too; only a ``full`` history has lost any.
    """
    if following["history_type"] == "-":
        return bool(following["version"] != last["version"])
    skips = following["version"] != last["version"] + 1
    return bool(skips and (full or following["name_key"] == last["name_key"]))


def _planned(
    key: str, then: _Row | None, live: Stored | None, deleted: dict[UUID, str], *, named: bool
) -> _Step:
    if then is None:
        assert live is not None  # noqa: S101 - a key comes from one of the two
        action = "delete" if named else "born"
        planned = Planned(name=live.name, action=action, current_version=live.version)
        return _Step(key, planned, None, -live.size)
    planned = Planned(
        name=live.name if live is not None else then["name"],
        action="restore",
        version=then["version"],
        current_version=None if live is None else live.version,
    )
    if then.get("lost"):
        return _Step(key, replace(planned, action="lost", why=then["lost"]), None, 0)
    if live is not None and live.sha256 == then["sha256"]:
        return _Step(key, replace(planned, action="same"), None, 0)
    if live is None and deleted.get(then["id"]) == key:  # one that was renamed since stays where it is
        planned = replace(planned, action="undelete")
    return _Step(key, planned, then, then["size"] - (live.size if live is not None else 0))
