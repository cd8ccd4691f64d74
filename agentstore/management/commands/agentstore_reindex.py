"""``agentstore_reindex``: tokenise stored strategies again, after a change of the tokenizer."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.core.tenancy import check_tenant
from agentstore.strategies.reindexing import reindex, tenants_to_reindex

__all__ = ["Command"]


class Command(BaseCommand):
    """Bring every strategy to the present tokenizer; until then older rows are tokenised on reading."""

    help = "Tokenises strategies of an older version again, tenant by tenant."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="Only this tenant's strategies.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.reindex(None if options["tenant"] is None else check_tenant(options["tenant"]))
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error

    def reindex(self, tenant: str | None) -> None:
        """Go through the tenants and print what was done for each."""
        tenants = tenants_to_reindex(tenant)
        total = 0
        for name in tenants:
            done, repeats, skipped = reindex(name)
            total += done
            notes = f"; {repeats:,} repeats removed" if repeats else ""
            notes += f"; {skipped:,} can't be read and were left alone" if skipped else ""
            self.stdout.write(f"{name}: {done:,} tokenised{notes}")
        self.stdout.write(
            self.style.SUCCESS(f"{total:,} strategies of {len(tenants):,} tenants tokenised again.")
        )
