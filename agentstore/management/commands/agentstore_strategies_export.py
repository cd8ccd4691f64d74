"""``agentstore_strategies_export``: a tenant's strategies as a file that ``agentstore_seed`` takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.core.values import JSONObject
from agentstore.strategies.paging import MAX_PAGE
from agentstore.strategies.seed import exported
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.values import StrategyRow

__all__ = ["Command"]


class Command(BaseCommand):
    """Write a tenant's strategies, best first, as a JSON list."""

    help = "Exports a tenant's strategies in rank order as JSON; agentstore_seed takes the file back."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", nargs="?", type=Path, help="The file to write; standard output without it."
        )
        parser.add_argument("--tenant", required=True, help="Whose strategies.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rows = self.rows(StrategyStore(options["tenant"]))
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        text = json.dumps([_entry(row) for row in rows], ensure_ascii=False, indent=1)
        if options["file"] is None:
            self.stdout.write(text)
            return
        try:
            options["file"].write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options['file']} can't be written: {error.strerror or error}.") from error
        self.stdout.write(self.style.SUCCESS(f"{len(rows):,} strategies exported to {options['file']}."))

    def rows(self, store: StrategyStore) -> list[StrategyRow]:
        """Return every strategy, best first."""
        found: list[StrategyRow] = []
        cursor: str | None = None
        while True:
            page = store.list(limit=MAX_PAGE, cursor=cursor)
            found += page.rows
            cursor = page.next_cursor
            if cursor is None:
                return found


def _entry(row: StrategyRow) -> JSONObject:
    return exported(
        id=row.id, problem=row.problem, strategy=row.strategy, confidence=row.confidence, ts=row.ts,
        teacher_model=row.teacher_model, signature=row.signature,
    )  # fmt: skip
