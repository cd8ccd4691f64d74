"""``agentstore_export``: one tenant's rows of an entity as a file that can be imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.entities.io import Exported, export_rows
from agentstore.entities.io_records import FORMATS, STANDARD, format_of
from agentstore.entities.registry import get_entity
from agentstore.entities.store import EntityStore
from agentstore.management.terminal import Progress

__all__ = ["Command"]


class Command(BaseCommand):
    """Write the data of a tenant's live rows, without ids and versions: what an import takes."""

    help = "Exports a tenant's live rows of an entity as JSON Lines, a JSON array or CSV."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("entity", help="The entity's name, such as reminders.")
        parser.add_argument(
            "file",
            nargs="?",
            default=STANDARD,
            help="The file, replaced if it is there; else standard output.",
        )
        parser.add_argument("--tenant", required=True, help="Whose rows.")
        parser.add_argument(
            "--format", choices=FORMATS, help="What to write: as the file's name tells, else jsonl."
        )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Let FILE stand after the options too: argparse takes it to be missing before Python 3.13."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        path: str = options["file"]
        format = options["format"] or format_of(path) or "jsonl"
        try:
            store = get_entity(options["entity"]).store(options["tenant"])
            done = self.export(store, path, format, quiet=options["verbosity"] == 0)
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        except OSError as error:
            raise CommandError(f"{path} can't be written: {error.strerror or error}.") from error
        left_out = done.misfits if format == "csv" else 0
        if path != STANDARD:
            whose = f"{store.name} of tenant {store.tenant!r}"
            self.stdout.write(self.style.SUCCESS(f"{done.rows - left_out:,} {whose} exported to {path}."))
        self.tell_misfits(done.misfits, left_out=bool(left_out))

    def export(self, store: EntityStore[Any], path: str, format: str, *, quiet: bool) -> Exported:
        """Write the rows to the file, or to standard output."""
        if path == STANDARD:
            self.stdout.ending = ""
            try:
                return export_rows(store, self.stdout, format)
            finally:
                self.stdout.ending = "\n"
        bar = Progress(self.stderr, quiet=quiet)
        bar.title = "exporting"
        with bar, replacing(Path(path)) as out:
            return export_rows(store, out, format, progress=bar.step)

    def tell_misfits(self, misfits: int, *, left_out: bool) -> None:
        """Print how many rows do not fit their schema; fail where they are not in the file."""
        if left_out:
            raise CommandError(
                f"{misfits:,} rows do not fit their schema and were left out, as CSV has no cells for them. "
                "Export JSON Lines to keep them; agentstore_doctor lists them."
            )
        if misfits:
            self.stderr.write(
                f"{misfits:,} rows do not fit their schema and are exported as they are stored: an import "
                "will refuse them. agentstore_doctor lists them."
            )


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a file that takes the place of ``path`` once it is complete; a failure leaves what was there."""
    path = path.resolve()
    special = path.exists() and not path.is_file()  # a device or a pipe can't be replaced
    partial = path if special else path.with_name(f"{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as out:
            yield out
        if not special:
            os.replace(partial, path)
    finally:
        if not special:
            partial.unlink(missing_ok=True)
