"""``agentstore_seed``: a file of strategies into a tenant, checked whole before the first is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.core.guards import parse_json
from agentstore.strategies.seed import plan_seed
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.values import SeedPlan

__all__ = ["Command"]


class Command(BaseCommand):
    """Seed a tenant's strategies; the same file again changes nothing, and completes what stopped."""

    help = "Writes the strategies of a JSON file (a list of objects) to a tenant, all of them checked first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help="A JSON file: a list of objects with problem and strategy."
        )
        parser.add_argument("--tenant", required=True, help="Whose strategies.")
        parser.add_argument("--actor", default="", help="Who acts, for the signals.")
        parser.add_argument("--dry-run", action="store_true", help="Check, say what would be done, and stop.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            store = StrategyStore(options["tenant"], actor=options["actor"])
            entries = self.read(options["file"])
            plan = plan_seed(store, entries)
            self.report(plan)
            if options["dry_run"]:
                self.stdout.write(
                    f"{len(plan.new):,} new, {len(plan.existing):,} stored already. Nothing was written."
                )
                return
            result = store.seed(entries)
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        if result.failed_at is not None:
            raise CommandError(
                f"Wrote {result.written:,}, stopped at {result.failed_at.id}: {result.failed_at.error} "
                "Run the same file again to finish."
            )
        self.stdout.write(
            self.style.SUCCESS(f"{result.written:,} strategies seeded, {len(plan.new):,} of them new.")
        )

    def read(self, path: Path) -> list[Any]:
        """Return the entries of a file."""
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error.strerror or error}.") from error
        entries = parse_json(raw.removeprefix(b"\xef\xbb\xbf"))
        if not isinstance(entries, list):
            raise CommandError(f"{path} must hold a list of objects, found {type(entries).__name__}.")
        return entries

    def report(self, plan: SeedPlan) -> None:
        """Tell every problem, then refuse."""
        for problem in plan.problems:
            where = f"entry {problem.number}" if problem.number else "the file"
            named = f" ({problem.id})" if problem.id else ""
            field = f" {problem.field}:" if problem.field else ""
            self.stderr.write(f"{where}{named}:{field} {problem.problem} {problem.hint}".rstrip())
        if plan.problems:
            raise CommandError(f"{len(plan.problems):,} problems. Nothing was written.")
