"""Copies of real tables with ten broken records each: every one is told, and none is written."""

from __future__ import annotations

import json

import pytest

from agentstore.core.models import AuditEntry
from tests.acceptance.real_data import AIRPORTS, FILES, MODELS, run

LONG = b"9" * 5000
#: What is wrong -> the bytes put in place of a value (or as a member of its own), and the reason told.
BROKEN_JSON = {
    "wrong type": (b'"Cylinders": "8"', "Cylinders: Input should be a valid integer"),
    "missing field": (b"", "Cylinders: Field required"),
    "unknown field": (b'"Cylinders": 8, "Doors": 4', "Doors: There is no such field"),
    "NaN": (b'"Cylinders": 8, "Miles_per_Gallon": NaN', "NaN is not a JSON number."),
    "NUL": (
        b'"Cylinders": 8, "Origin": "U\\u0000SA"',
        "Origin: The text holds a NUL character at position 1",
    ),
    "lone surrogate": (b'"Cylinders": 8, "Origin": "\\ud83d"', "Origin: The text holds a lone surrogate"),
    "duplicate key": (b'"Cylinders": 8, "Cylinders": 8', "The key 'Cylinders' occurs twice in one object."),
    "5,000-digit number": (b'"Cylinders": ' + LONG, "A number has more than 4,300 digits."),
    "deep nesting": (b'"Cylinders": ' + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    "invalid UTF-8": (b'"Cylinders": 8, "Origin": "\xff"', "The text is not valid UTF-8"),
}
CAR = (
    b'{"Name": "broken", "Displacement": 1, "Weight_in_lbs": 1, "Acceleration": 1, "Year": "1970-01-01"%s%s}'
)
ROW = ("ZZZ", "Broken", "Nowhere", "NA", "USA", "1.5", "2.5", "")
#: What is wrong -> the cells (by column) that stand in place of good ones, and the reason told.
BROKEN_CSV = {
    "wrong type": ({5: b"north"}, "latitude: Expected a number, found 'north'."),
    "missing field": ({0: b""}, "iata: Field required"),
    "unknown field": ({7: b"12 m"}, "altitude: There is no such field"),
    "NaN": ({6: b"NaN"}, "longitude: NaN is not a JSON number."),
    "NUL": ({1: b"a\0b"}, "name: The text holds a NUL character at position 1"),
    "lone surrogate": ({1: b"a\xed\xa0\xbd"}, "name: The text is not valid UTF-8: byte 0xed"),
    "a cell too many": ({7: b",,"}, "The row has 10 cells, the header 8."),
    "5,000-digit number": ({5: LONG}, "latitude: A number has more than 4,300 digits."),
    "deep nesting": ({5: b"[" * 5000}, "latitude: "),
    "invalid UTF-8": ({2: b"M\xfcnchen"}, "city: The text is not valid UTF-8: byte 0xfc"),
}


def spread(good, bad):
    """Return the good with the bad among them, and the numbers that the bad got, from 1."""
    mixed, numbers = list(good), []
    step = len(mixed) // (len(bad) + 1)
    for place, record in enumerate(bad, 1):
        mixed.insert(place * step, record)
        numbers.append(place * step + 1)
    return mixed, numbers


def broken_cars():
    good = [json.dumps(row, indent=2).encode() for row in FILES["cars"]]
    bad = []
    for member, _ in BROKEN_JSON.values():
        origin = b"" if b'"Origin"' in member else b', "Origin": "USA"'
        bad.append(CAR % (b", " + member if member else b"", origin))
    mixed, numbers = spread(good, bad)
    return b"[\n" + b",\n".join(mixed) + b"\n]\n", mixed, numbers


def broken_airports():
    header, *good = [line + b"," for line in AIRPORTS.read_bytes().splitlines()]
    bad = []
    for cells, _ in BROKEN_CSV.values():
        row = [cells.get(number, text.encode()) for number, text in enumerate(ROW)]
        bad.append(b",".join(row))
    mixed, numbers = spread(good, bad)
    return b"\n".join([header + b"altitude", *mixed, b""]), mixed, numbers


def line_of(entity, mixed, number):
    """Return the line where a record begins: below a header or bracket, records of several lines above."""
    return 2 + sum(record.count(b"\n") + 1 for record in mixed[: number - 1])


BROKEN = {
    "cars": ("json", broken_cars, [reason for _, reason in BROKEN_JSON.values()]),
    "airports": ("csv", broken_airports, [reason for _, reason in BROKEN_CSV.values()]),
}


@pytest.mark.parametrize("entity", BROKEN)
def test_ten_broken_records_are_told_by_number_and_reason_and_nothing_is_written(
    db, backend, tenant, tmp_path, entity
):
    suffix, make, reasons = BROKEN[entity]
    path, store = tmp_path / f"broken.{suffix}", MODELS[entity].store(tenant)
    content, mixed, numbers = make()
    path.write_bytes(content)

    out, err = run("agentstore_import", entity, path, "--tenant", tenant)

    told = [line for line in err.splitlines() if line.startswith("record ")]
    places = [f"record {number:,}, line {line_of(entity, mixed, number):,}: " for number in numbers]
    assert len(told) == len(places) == 10
    for line, place, reason in zip(told, places, reasons, strict=True):
        assert line.startswith(place)
        assert reason in line
    assert f"CommandError: Nothing was imported: 10 of {len(mixed):,} records do not fit." in err
    assert out == ""
    assert (store.count(), store.usage().used) == (0, 0)
    assert not AuditEntry.objects.for_tenant(tenant).exists()


@pytest.mark.parametrize("entity", BROKEN)
def test_without_the_broken_records_exactly_the_rest_is_written(db, backend, tenant, tmp_path, entity):
    suffix, make, _ = BROKEN[entity]
    path, store = tmp_path / f"broken.{suffix}", MODELS[entity].store(tenant)
    path.write_bytes(make()[0])

    out, err = run("agentstore_import", entity, path, "--tenant", tenant, "--skip-invalid")

    assert out == f"{len(FILES[entity]):,} imported into {entity} of tenant '{tenant}', 10 skipped.\n"
    assert err.count("record ") == 10
    assert [row.raw for row in store.iterate(order_by="created_at")] == FILES[entity]
