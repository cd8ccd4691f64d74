"""``agentstore_files_import``: an agent's files from a folder or a zip, all of them or none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.conf import settings
from agentstore.core.errors import AgentStoreError, TooLarge
from agentstore.files.archive import read_folder, read_zip
from agentstore.files.importing import POLICIES, Step, import_files
from agentstore.files.store import FileStore

__all__ = ["Command"]

#: What a zip may be larger than the files in it: headers, paths, the manifest.
OVERHEAD = 8 * 1024 * 1024


class Command(BaseCommand):
    """Bring one agent's files to what a folder or zip holds."""

    help = "Imports an agent's files from a folder or a .zip file, all of them or none."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="A folder or a .zip file.")
        parser.add_argument("--tenant", required=True, help="Whose agent.")
        parser.add_argument("--agent", required=True, help="Which agent.")
        parser.add_argument(
            "--policy",
            choices=POLICIES,
            default="fail",
            help="What becomes of files that are there with another content: the import fails (the default), "
            "they are skipped, overwritten, or overwritten unless somebody changed or deleted them since "
            "the last import with this policy (seed).",
        )
        parser.add_argument("--prune", action="store_true", help="Delete the agent's other files.")
        parser.add_argument("--dry-run", action="store_true", help="Show what would be done, and do nothing.")
        parser.add_argument("--actor", default="", help="Who imports, for the versions (such as user:7).")
        parser.add_argument("--reason", default="", help="Why, for the versions.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            store = FileStore(options["tenant"], options["agent"], actor=options["actor"], source="import")
            files = self.read(options["path"])
            how = {name: options[name] for name in ("policy", "prune", "dry_run", "reason")}
            plan = import_files(store, files, **how)
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        except OSError as error:
            raise CommandError(f"{options['path']} can't be read: {error.strerror or error}.") from error
        self.show(plan)
        self.sum_up(plan, dry_run=options["dry_run"])

    def read(self, path: Path) -> dict[str, str]:
        """Return what the folder or zip holds."""
        if path.is_dir():
            return read_folder(path)
        limit = settings.FILE_MAX_AGENT_BYTES + OVERHEAD
        if (size := path.stat().st_size) > limit:
            raise TooLarge(f"{path} has {size:,} bytes; the limit is {limit:,}.")
        return read_zip(path.read_bytes())

    def show(self, plan: list[Step]) -> None:
        """Print one line for each file."""
        for step in plan:
            self.stdout.write(f"{step.action:<8} {step.name}{f'  ({step.why})' if step.why else ''}")

    def sum_up(self, plan: list[Step], *, dry_run: bool) -> None:
        """Print how many files there are of each kind, and fail where a dry run met conflicts."""
        counts = Counter(step.action for step in plan)
        told = ", ".join(f"{count:,} {action}" for action, count in sorted(counts.items())) or "no files"
        if not dry_run:
            self.stdout.write(self.style.SUCCESS(f"Imported: {told}."))
        elif counts["conflict"]:
            raise CommandError(f"Nothing would be imported: {told}. Choose the policy skip or overwrite.")
        else:
            self.stdout.write(f"Dry run, nothing was written: {told}.")
