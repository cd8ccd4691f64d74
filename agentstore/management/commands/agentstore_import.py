"""``agentstore_import``: the records of a file into one tenant's rows of an entity."""

from __future__ import annotations

from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.entities.io import Import
from agentstore.entities.io_records import FORMATS, detect_format, open_source
from agentstore.entities.registry import get_entity
from agentstore.entities.store import EntityStore
from agentstore.management.terminal import Progress, one_line

__all__ = ["Command"]


class Command(BaseCommand):
    """Look through a file, tell every record that does not fit, and write all of it or nothing."""

    help = (
        "Imports a JSON array, JSON Lines or CSV file (a header, then one row each; an empty cell is a field "
        "that is not given) into an entity, all of its records or none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("entity", help="The entity's name, such as reminders.")
        parser.add_argument("file", help="The file; - is standard input.")
        parser.add_argument("--tenant", required=True, help="Whose rows they become.")
        parser.add_argument("--format", choices=FORMATS, help="What the file is, if its name does not tell.")
        parser.add_argument(
            "--skip-invalid", action="store_true", help="Import the records that fit, if others do not."
        )
        parser.add_argument("--dry-run", action="store_true", help="Look through the file and write nothing.")
        parser.add_argument("--actor", default="", help="Who imports, for the history (such as user:7).")
        parser.add_argument("--reason", default="", help="Why, for the history.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            who = {"actor": options["actor"], "reason": options["reason"]}
            store = get_entity(options["entity"]).store(options["tenant"], **who)
            with open_source(options["file"]) as file:
                self.bring(store, file, options)
        except AgentStoreError as error:
            raise CommandError(f"Nothing was imported: {error.full_message}") from error
        except OSError as error:
            raise CommandError(f"{options['file']} can't be read: {error.strerror or error}.") from error

    def bring(self, store: EntityStore[Any], file: BinaryIO, options: dict[str, Any]) -> None:
        """Look through the open file, then write it."""
        format = options["format"] or detect_format(options["file"], file)
        bar = Progress(self.stderr, file, quiet=options["verbosity"] == 0)
        job = Import(store, file, format, progress=bar.step)
        bar.title = "checking"
        self.report(job, bar)
        if job.bad and not options["skip_invalid"]:
            raise CommandError(
                f"Nothing was imported: {job.bad:,} of {job.total:,} records do not fit. Correct them, or "
                "add --skip-invalid to import the others."
            )
        job.check_room()
        skipped = f", {job.bad:,} skipped" if job.bad else ""
        whose = f"{store.name} of tenant {store.tenant!r}"
        if options["dry_run"]:
            self.stdout.write(f"Dry run, nothing was written: {job.good:,} for {whose}{skipped}.")
            return
        bar.title = "writing"
        with bar:
            written = job.write()
        self.stdout.write(self.style.SUCCESS(f"{written:,} imported into {whose}{skipped}."))

    def report(self, job: Import[Any], bar: Progress) -> None:
        """Print what is wrong with each record that does not fit, and how the first could be cured."""
        hint = ""
        with bar:
            for problem in job.problems():
                bar.clear()
                self.stderr.write(one_line(str(problem)))
                hint = hint or problem.hint
        if hint:
            self.stderr.write(one_line(f"Hint: {hint}"))
