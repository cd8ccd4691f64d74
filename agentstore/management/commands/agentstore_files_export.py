"""``agentstore_files_export``: an agent's files as a folder or a zip, with a manifest."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.files.archive import export_folder, export_zip
from agentstore.files.store import FileStore

__all__ = ["Command"]


class Command(BaseCommand):
    """Write one agent's live files to a path: a zip if its name ends with .zip, else a folder."""

    help = "Exports an agent's files, to the byte and with a manifest, into a new folder or a .zip file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="A new folder, or a file whose name ends with .zip.")
        parser.add_argument("--tenant", required=True, help="Whose agent.")
        parser.add_argument("--agent", required=True, help="Which agent.")
        parser.add_argument("--overwrite", action="store_true", help="Replace a .zip file that is there.")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            store = FileStore(options["tenant"], options["agent"])
            if path.suffix.lower() == ".zip":
                count = self.write_zip(store, path, overwrite=options["overwrite"])
            else:
                count = export_folder(store, path)
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        except OSError as error:
            raise CommandError(f"{path} can't be written: {error.strerror or error}.") from error
        files = "file" if count == 1 else "files"
        self.stdout.write(self.style.SUCCESS(f"{count:,} {files} of agent {store.agent} exported to {path}."))

    def write_zip(self, store: FileStore, path: Path, *, overwrite: bool) -> int:
        """Write the zip and return how many files are in it."""
        if path.exists() and not overwrite:
            raise CommandError(f"{path} exists. Name another file, or add --overwrite.")
        data = export_zip(store)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return len(archive.namelist()) - 1  # the manifest is one
