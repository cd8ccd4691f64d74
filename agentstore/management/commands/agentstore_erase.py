"""``agentstore_erase``: remove everything stored of a tenant, or of one of its agents, for good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import models, router, transaction
from django.utils.text import capfirst

from agentstore.core.errors import AgentStoreError, Conflict
from agentstore.core.models import AuditEntry, IdempotencyKey, StoreModel, Usage
from agentstore.core.referring import removing
from agentstore.core.storage import remove_rows, translate_errors
from agentstore.core.tenancy import check_agent, check_tenant
from agentstore.files.models import HistoricalAgentFile
from agentstore.strategies.models import Strategy

__all__ = ["Command"]

Rows = models.QuerySet[Any]

#: Entries of the admin's log a statement: it may hold any number, and a statement 65,535 parameters.
BATCH = 5_000
#: What goes after all rows, in this order. Writers take locks in it too, so that none waits in a circle;
#: and what a writer notes of a row while that is being removed is there to be removed after it.
LAST: tuple[type[models.Model], ...] = (IdempotencyKey, Usage, Strategy, AuditEntry, HistoricalAgentFile)
#: How often what others wrote meanwhile is removed as well.
ROUNDS = 10


class Command(BaseCommand):
    """Remove rows of every entity, audit, counters, idempotency keys, files, versions and strategies."""

    help = "Removes everything stored of a tenant, or the files of one of its agents, with all history."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True, help="Whose data.")
        parser.add_argument("--agent", help="Only this agent's files and their versions.")
        parser.add_argument("--dry-run", action="store_true", help="Say how many rows there are and stop.")
        parser.add_argument(
            "--noinput", "--no-input", action="store_false", dest="interactive", help="Do not ask."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            owner = {"tenant": check_tenant(options["tenant"])}
            if options["agent"] is not None:
                owner["agent"] = check_agent(options["agent"])
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        whose = " of ".join(f"{kind} {name!r}" for kind, name in reversed(owner.items()))
        found = {rows: count for rows in stored(owner) if (count := rows.count())}
        self.tell(f"Stored of {whose}:", found)
        if options["dry_run"] or not found:
            return
        if options["interactive"] and not self.agreed(whose):
            raise CommandError("Nothing was removed.")
        try:
            self.tell(f"Removed of {whose}:", erase(owner))
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error

    def agreed(self, whose: str) -> bool:
        """Ask, and tell whether the answer is yes."""
        return input(f"This removes all of it for good, {whose}. Type 'yes' to go on: ").strip() == "yes"

    def tell(self, title: str, counts: dict[Rows, int]) -> None:
        """Print how many rows of each kind there are."""
        self.stdout.write(self.style.MIGRATE_HEADING(title))
        kinds: Counter[str] = Counter()
        for rows, count in counts.items():
            kinds[capfirst(str(rows.model._meta.verbose_name_plural))] += count
        for name, count in kinds.items():
            self.stdout.write(f"  {name}: {count:,}")
        self.stdout.write(f"  {sum(counts.values()):,} rows in all")


def stored(owner: dict[str, str]) -> list[Rows]:
    """Return the rows of every table of a store that belong to a tenant, or to one of its agents.

    What the admin's log says of them is theirs too: it holds names of files and words of rows.
    """
    found = []
    for model in apps.get_models():
        names = {field.name for field in model._meta.concrete_fields}
        if issubclass(model, StoreModel) and not model._meta.proxy and owner.keys() <= names:
            found.append(model._base_manager.using(router.db_for_write(model)).filter(**owner))
    found.sort(key=lambda rows: LAST.index(rows.model) if rows.model in LAST else -1)
    return [*found, *logged(found)]


def logged(found: list[Rows]) -> list[Rows]:
    """Return the entries of the admin's log that are about these rows, where there are any."""
    if not apps.is_installed("django.contrib.admin"):
        return []
    log = apps.get_model("admin", "LogEntry")
    entries = log._base_manager.using(router.db_for_write(log))
    keys: list[Any] = []
    for rows in found:
        names = {"content_type__app_label": rows.model._meta.app_label,
                 "content_type__model": rows.model._meta.model_name}  # fmt: skip
        keys += _about(rows, entries.filter(**names).order_by("pk"))
    return [entries.filter(pk__in=keys[start : start + BATCH]) for start in range(0, len(keys), BATCH)]


def _about(rows: Rows, entries: Rows) -> Iterator[Any]:
    """Yield the keys of those entries that are about one of the rows."""
    last = 0
    while batch := list(entries.filter(pk__gt=last).values_list("pk", "object_id")[:BATCH]):
        ids = {id for id in (_as_uuid(text) for _key, text in batch) if id is not None}
        kept = {str(id) for id in rows.filter(pk__in=ids).values_list("pk", flat=True)} if ids else set()
        yield from (key for key, text in batch if text in kept)
        last = batch[-1][0]


def _as_uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None


def erase(owner: dict[str, str]) -> dict[Rows, int]:
    """Remove them, all of a database in one transaction, and return how many went.

    What others write meanwhile is removed too, once it is there.

    Raises:
        Conflict: a foreign key of the host's refers to one of them, or others do not stop writing.
    """
    gone: dict[Rows, int] = {}
    for _ in range(ROUNDS):
        found = _erase_once(stored(owner))
        if not found:
            return gone
        gone |= found
    raise Conflict(
        "Others keep writing while this is being removed.",
        hint="Stop whatever is writing, then run it again.",
    )


@translate_errors
def _erase_once(rows: list[Rows]) -> dict[Rows, int]:
    gone: dict[Rows, int] = {}
    for alias in dict.fromkeys(each.db for each in rows):
        with removing(*(each.model for each in rows)), transaction.atomic(alias):
            for each in rows:
                if each.db == alias and (count := remove_rows(each)):
                    gone[each] = count
    return gone
