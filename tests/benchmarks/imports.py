"""What an import of a long file takes: seconds, and the most memory that the process ever held."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from django.conf import settings
from django.core.management import call_command

from tests.peak import peak_megabytes

__all__ = ["run"]

TENANT = "import"


def run(*, rows: int, rounds: int, only: str) -> str:
    """Import a JSON Lines file of ``rows`` lines, export it again, and return the table.

    DEBUG is on, as in development, where Django would keep the text of every statement.
    """
    settings.DEBUG = True
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder, "rows.jsonl"), Path(folder, "copy.jsonl")
        size = _write(path, rows)
        parts = {
            "import --dry-run": ("agentstore_import", "measured_reminders", str(path), "--dry-run"),
            "import": ("agentstore_import", "measured_reminders", str(path)),
            "export": ("agentstore_export", "measured_reminders", str(copy)),
        }
        lines = [_measured(name, call, rows) for name, call in parts.items() if only in name]
    head = ["| | seconds | rows a second | peak memory, MB |", "|---|---|---|---|"]
    return "\n".join([f"{rows:,} lines of JSON, {size / 2**20:,.0f} MB\n", *head, *lines])


def _write(path: Path, rows: int) -> int:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_lines(rows))
    return path.stat().st_size


def _lines(rows: int) -> Iterator[str]:
    for n in range(rows):
        due = f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}T09:00:00Z"
        data = {
            "text": f"Call the supplier about order {n}", "due_at": due, "project": f"project {n % 100}",
            "priority": n % 10, "tags": [f"tag {n % 7}", f"tag {n % 11}"],
        }  # fmt: skip
        yield json.dumps(data) + "\n"


def _measured(name: str, call: tuple[str, ...], rows: int) -> str:
    start = perf_counter()
    call_command(*call, "--tenant", TENANT)
    seconds = perf_counter() - start
    return f"| {name} | {seconds:.0f} | {rows / seconds:,.0f} | {peak_megabytes():.0f} |"
