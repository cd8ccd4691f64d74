"""Import and export of one tenant's rows of one entity: files to a store, and back.

What fits is decided by the store's codec alone; how records are read is told in ``io_records``
and ``io_cells``.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from django.conf import settings as django_settings
from django.db import reset_queries

from agentstore.conf import settings
from agentstore.core import guards
from agentstore.core.errors import AgentStoreError, QuotaExceeded, ValidationFailed
from agentstore.core.storage import atomic, translate_errors
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.io_cells import read_csv, write_cell
from agentstore.entities.io_records import Record, read_json_array, read_json_lines, start_of
from agentstore.entities.schema import EntitySchema
from agentstore.entities.store import EntityStore

__all__ = ["Exported", "Import", "Problem", "export_rows"]

S = TypeVar("S", bound=EntitySchema)

#: Rows a statement.
CHUNK = 500
#: How much longer a record may be than what is stored of it: six bytes for ``\\u0041``, and blanks.
SLACK = 8


def _silent(count: int) -> None:
    """Be the progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that can't be imported: its number and first line, both from 1, and why."""

    number: int
    line: int
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        return f"record {self.number:,}, line {self.line:,}: {self.reason}"


class Import(Generic[S]):
    """Brings the records of a file into a store: looked through first, then written as a whole.

    Reading twice costs a third more time than reading once, and buys that a file with something
    wrong in it is told of completely while no row is locked and none is written to be undone; a
    million rows that fit are one transaction. Neither pass holds more than a few hundred records.
    """

    def __init__(
        self, store: EntityStore[S], file: BinaryIO, format: str, *, progress: Callable[[int], None] = _silent
    ) -> None:
        self.store, self.file, self.format, self.progress = store, file, format, progress
        self.total = 0
        self._bad = array("Q")  # their numbers, eight bytes each

    @property
    def bad(self) -> int:
        """How many records can't be imported, once the problems were read."""
        return len(self._bad)

    @property
    def good(self) -> int:
        """How many can."""
        return self.total - self.bad

    def problems(self) -> Iterator[Problem]:
        """Look through the file and yield what is wrong with each record that does not fit.

        Raises:
            ValidationFailed: the file can't be told apart into records.
        """
        self.total, self._bad = 0, array("Q")
        for record in self._records():
            self.total += 1
            error = record.error or self._refusal(record.data)
            if error is not None:
                self._bad.append(record.number)
                yield Problem(record.number, record.line, _reason(error), error.hint)

    def check_room(self) -> None:
        """Raise ``QuotaExceeded`` if the tenant has too few places now; the write decides."""
        usage = self.store.usage()
        if self.good > usage.remaining:
            raise QuotaExceeded(
                f"{self.store.name}: {self.good:,} rows need a place; "
                f"{usage.used:,} of {usage.capacity:,} are taken.",
                hint="Delete rows that are no longer needed, or have max_rows_per_tenant raised.",
            )

    @translate_errors
    def write(self) -> int:
        """Store every record that fitted when the problems were read, all or none; return how many.

        Raises:
            AgentStoreError: there is no place left, or the file has changed meanwhile.
        """
        written, records = 0, self._fitting()
        with atomic(self.store.alias):
            while chunk := list(islice(records, CHUNK)):
                self.store.create_many(chunk)
                written += len(chunk)
                if django_settings.DEBUG:  # Django would keep the text of thousands of statements
                    reset_queries()
        return written

    def _fitting(self) -> Iterator[JSONValue]:
        bad = iter(self._bad)
        next_bad = next(bad, 0)
        for record in self._records():
            if record.number == next_bad:
                next_bad = next(bad, 0)
            elif record.error is not None:
                raise record.error
            else:
                yield record.data

    def _records(self) -> Iterator[Record]:
        """Read the file from its start, telling every few hundred records how many there were."""
        start_of(self.file)
        limit = SLACK * settings.MAX_ROW_BYTES
        for record in self._reader()(self.file, limit):
            if record.number % CHUNK == 0:
                self.progress(record.number)
            yield record

    def _reader(self) -> Callable[[BinaryIO, int], Iterator[Record]]:
        if self.format == "csv":
            return partial(read_csv, self.store.codec.fields)
        return read_json_array if self.format == "json" else read_json_lines

    def _refusal(self, data: JSONValue) -> AgentStoreError | None:
        try:
            self.store.codec.encode(data, **self.store._limits)
        except AgentStoreError as error:
            return error
        return None


def _reason(error: AgentStoreError) -> str:
    """Return all that is wrong with one record."""
    if not isinstance(error, ValidationFailed) or not error.errors:
        return error.message
    reasons = ((path, message) for path, messages in error.errors.items() for message in messages)
    return "; ".join(f"{path[:100]}: {text}" if path else text for path, text in reasons)


class _Out(Protocol):
    def write(self, text: str, /) -> Any: ...


@dataclass(slots=True)
class Exported:
    """How many rows an export wrote, and how many do not fit their schema."""

    rows: int = 0
    misfits: int = 0


def export_rows(
    store: EntityStore[Any], out: _Out, format: str, *, progress: Callable[[int], None] = _silent
) -> Exported:
    """Write the data of the tenant's live rows, oldest first, as an import takes it.

    A row that does not fit its schema is written as it is stored, which an import will refuse; a
    CSV file has no cells for it and leaves it out. Each row is there once, whoever writes meanwhile.
    """
    done = Exported()
    _WRITERS[format](store, out, _counted(store, done, progress))
    return done


#: The data of one row, and whether it fits.
_Row = tuple[JSONValue, bool]


def _counted(store: EntityStore[Any], done: Exported, progress: Callable[[int], None]) -> Iterator[_Row]:
    for row in store.iterate(order_by="id"):
        fits = row.data is not None
        done.misfits += not fits
        done.rows += 1
        if done.rows % CHUNK == 0:
            progress(done.rows)
        yield _dumped(store, row.data) if fits else row.raw, fits


def _dumped(store: EntityStore[Any], data: EntitySchema) -> JSONObject:
    """Return the data as the schema has it now, without stored keys that it no longer has."""
    return store.codec._plain(data)


def _write_json_lines(store: EntityStore[Any], out: _Out, rows: Iterator[_Row]) -> None:
    for data, _ in rows:
        out.write(f"{guards.dump_json(data)}\n")


def _write_json(store: EntityStore[Any], out: _Out, rows: Iterator[_Row]) -> None:
    lead = "[\n"
    for data, _ in rows:
        out.write(f"{lead}{guards.dump_json(data)}")
        lead = ",\n"
    out.write("[]\n" if lead == "[\n" else "\n]\n")


def _write_csv(store: EntityStore[Any], out: _Out, rows: Iterator[_Row]) -> None:
    fields: Sequence[Any] = list(store.codec.fields.values())
    writer = csv.writer(out)
    writer.writerow([field.key for field in fields])
    for data, fits in rows:
        if fits:
            # A serializer of the schema's own may leave out keys: that is "not given", an empty cell.
            writer.writerow(
                [write_cell(data[field.key], field) if field.key in data else "" for field in fields]
            )


_WRITERS = {"csv": _write_csv, "json": _write_json, "jsonl": _write_json_lines}
