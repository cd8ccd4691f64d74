"""What the tests on real tables share: the files, what is in them, and how the commands are run."""

from __future__ import annotations

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path

from django.core.management import CommandError, call_command

from project.reference.models import Airport, Car

__all__ = ["AIRPORTS", "CARS", "FILES", "MODELS", "run"]

_SPEC = find_spec("vega_datasets")  # imported, it would ask for pandas
DATA = Path(str(_SPEC and _SPEC.origin)).parent / "_data"
AIRPORTS, CARS = DATA / "airports.csv", DATA / "cars.json"
MODELS = {"airports": Airport, "cars": Car}


def run(name, *arguments, **options):
    """Run a command; return what it printed, on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(name, *map(str, arguments), stdout=out, stderr=err, no_color=True, **options)
    except CommandError as error:
        return out.getvalue(), f"{err.getvalue()}CommandError: {error}"
    return out.getvalue(), err.getvalue()


def airports_of_file():
    with AIRPORTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = ("latitude", "longitude")
    return [{key: float(text) if key in numbers else text for key, text in row.items()} for row in rows]


FILES = {"airports": airports_of_file(), "cars": json.loads(CARS.read_text(encoding="utf-8"))}
