"""What an import does to the files that are there: decided first, then done as a whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, Unpack

from agentstore.conf import settings
from agentstore.core import errors, guards
from agentstore.core.context import Who, resolve
from agentstore.core.storage import atomic
from agentstore.core.values import JSONObject
from agentstore.files.names import check_content, check_name, digest, name_key
from agentstore.files.store import FileStore
from agentstore.files.values import FileInfo

__all__ = ["POLICIES", "Step", "fingerprint", "import_files"]

#: What becomes of files that are there with another content: the import fails, they are skipped or
#: overwritten, or (``seed``) overwritten unless somebody changed them since the last seed.
POLICIES = ("fail", "skip", "overwrite", "seed")
#: In the context of a version that a seed wrote.
SEED = "seed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What an import does to one file.

    ``action`` is create, update, same, skip, keep (changed since the last seed), delete or conflict;
    ``why`` explains the last four. ``version`` is the current one, and after a write the new one.
    """

    name: str
    action: str
    version: int | None = None
    why: str = ""


Plan: TypeAlias = list[Step]


def import_files(
    store: FileStore,
    files: Mapping[str, str],
    *,
    policy: str = "fail",
    prune: bool = False,
    dry_run: bool = False,
    expected: str | None = None,
    **who: Unpack[Who],
) -> Plan:
    """Bring an agent's files to what ``files`` (name -> content) says, all of it or nothing.

    Files that are not in ``files`` stay, unless ``prune`` deletes them; identical content makes no
    version. ``dry_run`` returns the plan, conflicts included, and writes nothing; ``expected`` is the
    ``fingerprint`` of the plan that was looked at.

    Raises:
        ValidationFailed: the policy, a name or a content does not hold.
        TooLarge: a content is over ``FILE_MAX_BYTES``.
        AlreadyExists: the policy is ``fail`` and files are there with another content, or the names
            of two files differ in capitals only.
        QuotaExceeded: the agent has no room for all of them.
        Conflict: the plan is not the expected one, or a file changed between plan and write.
    """
    if policy not in POLICIES:
        guards.refuse("policy", f"{policy!r} is not a policy.", f"Valid: {', '.join(POLICIES)}.")
    context = resolve(**who, default=store._who).context  # refuses what can be no actor, also of a dry run
    wanted = _checked(store, files)
    plan = _Planner(store, policy, prune).plan(wanted)
    if dry_run:
        return plan
    if expected is not None and fingerprint(plan) != expected:
        raise errors.Conflict("Files changed since the plan was made.", hint="Look at the plan again.")
    _refuse_conflicts(plan)
    if policy == "seed":
        who["context"] = {**context, SEED: True}
    with atomic(store._files.alias):
        return _carry_out(store, plan, wanted, who)


def fingerprint(plan: Plan) -> str:
    """Return a text that tells whether another plan does the same to the same versions."""
    return digest(repr(sorted((step.name, step.action, step.version or 0) for step in plan)))


def _checked(store: FileStore, files: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    keys: dict[str, str] = {}
    for given, content in files.items():
        name = check_name(given)
        if (same := keys.setdefault(name_key(name), name)) != name or name in found:
            guards.refuse(name, f"{name!r} has the same name as {same!r}, capitals aside.")
        found[name] = check_content(content, name=name, agent=store.agent, limit=settings.FILE_MAX_BYTES)
    return found


class _Planner:
    """Decides what becomes of each file."""

    def __init__(self, store: FileStore, policy: str, prune: bool) -> None:
        self.store, self.policy, self.prune = store, policy, prune
        self.live = {name_key(info.name): info for info in store.list()}

    def plan(self, wanted: Mapping[str, str]) -> Plan:
        """Return the steps: first what goes, then what comes, each by name."""
        keys = {name_key(name) for name in wanted}
        others = [self.live[key] for key in self.live.keys() - keys] if self.prune else []
        gone = [self._prune(info) for info in sorted(others, key=lambda info: info.name)]
        deleted = self._deleted_by_others() if self.policy == "seed" else {}
        plan = gone + [self._one(name, wanted[name], deleted) for name in sorted(wanted)]
        self._check_room(plan, wanted)
        return plan

    def _one(self, name: str, content: str, deleted: Mapping[str, str]) -> Step:
        key = name_key(name)
        info = self.live.get(key)
        if info is None:
            why = deleted.get(key)
            return (
                Step(name=name, action="create") if why is None else Step(name=name, action="keep", why=why)
            )
        step = Step(name=name, action="same", version=info.version)
        if info.name == name and info.sha256 == digest(content):
            return step
        if self.policy == "skip":
            return replace(step, action="skip", why="It is there already.")
        if self.policy == "seed" and not _by_seed(info.context):
            return replace(step, action="keep", why=_changed_by(info))
        if info.name != name:
            why = f"There is a file {info.name!r}: names that differ in capitals only are the same."
            return replace(step, action="conflict", why=why)
        if self.policy == "fail":
            return replace(step, action="conflict", why="It is there with another content.")
        return replace(step, action="update")

    def _prune(self, info: FileInfo) -> Step:
        step = Step(name=info.name, action="delete", version=info.version, why="It is not among the files.")
        if self.policy == "seed" and not _by_seed(info.context):
            return replace(step, action="keep", why=_changed_by(info))
        return step

    def _deleted_by_others(self) -> dict[str, str]:
        """Return key -> why for names whose last file somebody deleted, and not a seed."""
        rows = self.store._files.files().filter(deleted_at__isnull=False).order_by("deleted_at", "id")
        last = {
            row["name_key"]: row
            for row in self.store._files.fetch(rows.values("name_key", "actor", "context"))
        }
        return {
            key: f"It was deleted by {row['actor'] or 'somebody'}."
            for key, row in last.items()
            if not _by_seed(row["context"])
        }

    def _check_room(self, plan: Plan, wanted: Mapping[str, str]) -> None:
        sizes = {name: info.size for name, info in ((info.name, info) for info in self.live.values())}
        before = sum(sizes.values())
        for step in plan:
            if step.action == "delete":
                del sizes[step.name]
            elif step.action in ("create", "update"):
                sizes[step.name] = len(wanted[step.name].encode())
        after = sum(sizes.values())
        too_many = len(sizes) > max(settings.FILE_MAX_FILES, len(self.live))
        if too_many or after > max(settings.FILE_MAX_AGENT_BYTES, before):
            raise errors.QuotaExceeded(
                f"Agent {self.store.agent!r} has no room for all of them: {len(sizes):,} of "
                f"{settings.FILE_MAX_FILES:,} files and {after:,} of {settings.FILE_MAX_AGENT_BYTES:,} "
                "bytes would be used.",
                hint="Delete or shorten files that are no longer needed.",
            )


def _by_seed(context: JSONObject) -> bool:
    """Tell whether a seed wrote it: a run of somebody else may well note the seed of its model."""
    return context.get(SEED) is True


def _changed_by(info: FileInfo) -> str:
    return f"It was changed by {info.actor or 'somebody'} (version {info.version}), not by a seed."


def _refuse_conflicts(plan: Plan) -> None:
    problems = {step.name: step.why for step in plan if step.action == "conflict"}
    if problems:
        told = "; ".join(f"{name}: {why}" for name, why in list(problems.items())[:5])
        raise errors.AlreadyExists(
            f"Nothing was imported, {len(problems):,} of {len(plan):,} files are in the way. {told}",
            hint="Choose the policy skip or overwrite.",
        )


def _carry_out(store: FileStore, plan: Plan, wanted: Mapping[str, str], who: Who) -> Plan:
    """Write what shrinks before what grows, so that the room is enough at every step."""
    acts = [step for step in plan if step.action in ("delete", "create", "update")]
    store._files.hold([name_key(step.name) for step in acts])
    sizes = {info.name: info.size for info in store.list()}

    def order(step: Step) -> tuple[bool, str]:
        grows = len(wanted.get(step.name, "").encode()) > sizes.get(step.name, -1)
        return (grows, name_key(step.name))

    done = {}
    for step in sorted(acts, key=order):
        if step.action == "delete":
            store.delete(step.name, expected_version=step.version, **who)
        else:
            done[step.name] = _write(store, step, wanted[step.name], who).version
    return [replace(step, version=done.get(step.name, step.version)) for step in plan]


def _write(store: FileStore, step: Step, content: str, who: Who) -> FileInfo:
    create = step.action == "create"
    try:
        return store.write(
            step.name,
            content,
            create_only=create,
            expected_version=None if create else step.version,
            **who,
        )
    except (errors.AlreadyExists, errors.NotFound) as error:
        raise errors.Conflict(
            f"{step.name} changed while it was imported.", hint="Look at the plan again."
        ) from error
