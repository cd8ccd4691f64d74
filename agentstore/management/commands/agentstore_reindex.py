"""``agentstore_reindex``: tokenise stored strategies anew, after a change of the tokenizer."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from agentstore.strategies.reindexing import reindex, tenants_to_reindex

__all__ = ["Command"]


class Command(BaseCommand):
    """Bring every strategy to the present tokenizer; until then older rows are tokenised on reading."""

    help = "Tokenises strategies of an older version anew, tenant by tenant."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="Only this tenant's strategies.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenants = tenants_to_reindex(options["tenant"])
        total = 0
        for tenant in tenants:
            done, repeats, skipped = reindex(tenant)
            total += done
            notes = f"; {repeats:,} repeats removed" if repeats else ""
            notes += f"; {skipped:,} can't be read and were left alone" if skipped else ""
            self.stdout.write(f"{tenant}: {done:,} tokenised{notes}")
        self.stdout.write(
            self.style.SUCCESS(f"{total:,} strategies of {len(tenants):,} tenants tokenised anew.")
        )
