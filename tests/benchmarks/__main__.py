"""``python -m tests.benchmarks NAME``: print one benchmark's tables, and what it ran on."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from pathlib import Path

from tests.benchmarks import requests
from tests.benchmarks.database import database, server

NAMES = ("entities", "files", "imports", "retrieval", "strategies", "tools")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the large table")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each comparison")
    parser.add_argument("--only", default="", help="run only the parts whose name holds this text")
    parser.add_argument(
        "--one-cpu",
        action="store_true",
        help="keep client and server on one CPU (Linux): with few cores, where the scheduler puts the two "
        "ends of a connection decides more than the code does; not for the parts with several writers",
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the labelled requests, for retrieval")
    options = parser.parse_args()
    extra = {}
    if options.name == "retrieval":
        extra["data"] = _folder(parser, options.data)
    if options.one_cpu:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.benchmarks.settings"
    with server():
        import django

        django.setup()
        with database():
            module = importlib.import_module(f"tests.benchmarks.{options.name}")
            table = module.run(rows=options.rows, rounds=options.rounds, only=options.only, **extra)
            print(f"\n{about()}\n\n{table}")


def _folder(parser: argparse.ArgumentParser, given: Path | None) -> Path:
    """Return the folder with the requests, or end with what is missing."""
    if given is None:
        parser.error(f"retrieval needs --data FOLDER, a folder with {', '.join(requests.FILES)}")
    missing = requests.missing(given)
    if missing:
        parser.error(f"{given} lacks {', '.join(missing)}")
    return given


def about() -> str:
    """Say what the numbers were measured on."""
    import django
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), current_setting('fsync')")
        version, fsync = cursor.fetchone()
    return (
        f"{os.cpu_count()} cores ({_processor()}), PostgreSQL {version.split()[0]} (fsync {fsync}), "
        f"Python {platform.python_version()}, Django {django.__version__}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
