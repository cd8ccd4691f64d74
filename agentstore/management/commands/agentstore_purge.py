"""``agentstore_purge``: remove rows that were deleted long ago, and what nothing asks for any more."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import router

from agentstore.conf import settings
from agentstore.core.errors import AgentStoreError
from agentstore.core.tenancy import check_tenant
from agentstore.core.values import now
from agentstore.entities.maintenance import purge, purge_keys
from agentstore.entities.registry import all_entities

__all__ = ["Command"]

#: A hundred years: what a date can be reckoned back by.
LONGEST = 36_500


def days(text: str) -> int:
    """Return the number of days, which argparse tells of when it is none."""
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) > LONGEST:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to {LONGEST:,}")
    return int(text)


class Command(BaseCommand):
    """Remove deleted rows with their audit, of all entities and tenants, and expired idempotency keys."""

    help = "Removes rows that were deleted more than N days ago, with their history, for good."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--days", type=days, required=True, metavar="N", help="How long ago they were deleted at least."
        )
        parser.add_argument("--tenant", help="Only this tenant's.")
        parser.add_argument("--dry-run", action="store_true", help="Say how many there are and stop.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            tenant = None if options["tenant"] is None else check_tenant(options["tenant"])
            self.remove(options["days"], {"tenant": tenant, "dry_run": options["dry_run"]})
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error

    def remove(self, days: int, how: dict[str, Any]) -> None:
        """Go through the entities, then the keys, and print how many there were of each."""
        at, total = now(), 0
        self.stdout.write("There are:" if how["dry_run"] else "Removed:")
        for model in all_entities():
            found = list(purge(model, at - timedelta(days=days), **how))
            rows, entries = sum(batch.rows for batch in found), sum(batch.entries for batch in found)
            total += rows
            if rows:
                self.stdout.write(f"  {model.entity.name}: {rows:,} rows, {entries:,} audit entries")
        expired = at - timedelta(hours=settings.IDEMPOTENCY_HOURS)
        aliases = sorted({router.db_for_write(model) for model in all_entities()})
        keys = sum(purge_keys(alias, expired, **how) for alias in aliases)
        self.stdout.write(f"  idempotency keys: {keys:,}")
        self.stdout.write(self.style.SUCCESS(f"{total:,} rows in all, deleted more than {days:,} days ago."))
