"""Reads a file of records one at a time: JSON Lines, a JSON array, CSV. Knows nothing of what fits.

Whatever is wrong with one record is told in that record, so that the next ones are read all the
same; only a file that can't be told apart into records raises.
"""

from __future__ import annotations

import codecs
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agentstore.core import guards
from agentstore.core.errors import AgentStoreError, TooLarge, ValidationFailed
from agentstore.core.values import JSONValue

__all__ = [
    "FORMATS",
    "STANDARD",
    "Record",
    "detect_format",
    "format_of",
    "open_source",
    "read_json_array",
    "read_json_lines",
    "read_lines",
    "start_of",
    "too_long",
]

#: The formats by the suffixes of file names.
FORMATS = {"csv": (".csv",), "json": (".json",), "jsonl": (".jsonl", ".ndjson")}
#: The name that stands for standard input and output.
STANDARD = "-"
#: JSON's white space.
BLANKS = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: its number and first line, both from 1, and its data or what is wrong."""

    number: int
    line: int
    data: JSONValue = None
    error: AgentStoreError | None = None


@contextmanager
def open_source(path: str) -> Iterator[BinaryIO]:
    """Open a file that can be read twice; ``-`` is standard input, and pipes are copied to disk first."""
    with nullcontext(sys.stdin.buffer) if path == STANDARD else Path(path).open("rb") as file:
        if file.seekable():
            yield file
        else:
            with tempfile.TemporaryFile() as copy:
                shutil.copyfileobj(file, copy)
                copy.seek(0)
                yield copy


def start_of(file: BinaryIO) -> None:
    """Go to the first byte of content: a byte order mark belongs to none.

    Raises:
        ValidationFailed: the file is UTF-16.
    """
    file.seek(0)
    first = file.read(3)
    if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise ValidationFailed("The file is UTF-16.", hint="Save it as UTF-8.")
    file.seek(len(codecs.BOM_UTF8) if first == codecs.BOM_UTF8 else 0)


def format_of(path: str) -> str | None:
    """Return the format that a file's name tells, None where it tells none."""
    suffix = Path(path).suffix.lower()
    return next((name for name, suffixes in FORMATS.items() if suffix in suffixes), None)


def detect_format(path: str, file: BinaryIO) -> str:
    """Return the format of an open file, by its name or else by how it begins.

    Raises:
        ValidationFailed: neither tells.
    """
    named = format_of(path)
    if named:
        return named
    start_of(file)
    first = file.read(4096).lstrip()[:1]
    if first not in (b"[", b"{"):
        raise ValidationFailed(
            f"{path}: neither its name nor its content tells the format.",
            hint=f"Add --format, one of {', '.join(FORMATS)}.",
        )
    return "json" if first == b"[" else "jsonl"


def too_long(limit: int, hint: str = "") -> TooLarge:
    """Return the error of a record that is longer than any that could be stored."""
    return TooLarge(f"The record has more than {limit:,} bytes.{hint}")


def read_lines(file: BinaryIO, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number of each line, from 1, and its bytes; None for a line of more than ``limit``."""
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        if len(line) <= limit or line.endswith(b"\n"):
            yield number, line
            continue
        while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
            pass
        yield number, None


def parsed(number: int, line: int, raw: bytes | None, limit: int) -> Record:
    """Return the record of a JSON text; None stands for one that was too long to be kept."""
    try:
        if raw is None:
            raise too_long(limit)
        return Record(number, line, guards.parse_json(raw))
    except AgentStoreError as error:
        return Record(number, line, error=_placed(error))


def _placed(error: AgentStoreError) -> AgentStoreError:
    """Return a syntax error with its place in the record, not in a line that is no line of the file."""
    cause = error.__context__
    if not isinstance(cause, json.JSONDecodeError):
        return error
    return ValidationFailed(f"The record is not JSON: {cause.msg} at its character {cause.pos + 1:,}.")


def read_json_lines(file: BinaryIO, limit: int) -> Iterator[Record]:
    """Yield one record for each line that is not blank."""
    number = 0
    for line, raw in read_lines(file, limit):
        if raw is None or not raw.isspace():
            number += 1
            yield parsed(number, line, raw, limit)


def read_json_array(file: BinaryIO, limit: int) -> Iterator[Record]:
    """Yield the elements of one JSON array, which is never held as a whole.

    Raises:
        ValidationFailed: the file holds no array, one that is not closed, or more than one.
    """
    splitter = ArraySplitter(limit)
    number = 0
    while chunk := file.read(1 << 16):
        for line, raw in splitter.feed(chunk):
            number += 1
            yield parsed(number, line, raw, limit)
    splitter.finish(number + 1)


class ArraySplitter:
    """Cuts the text of a JSON array into those of its elements, whatever is wrong inside them.

    It follows quotes and brackets only. All of them are ASCII, which no byte of a longer UTF-8
    character is, so that invalid UTF-8 spoils no other element.
    """

    #: What to stop at: in a text; among the elements; inside an element.
    _STOPS = re.compile(rb'["\\]'), re.compile(rb'["\[\]{},]'), re.compile(rb'["\[\]{}]')

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.line = 1  # where the element begins
        self.kept = bytearray()  # what there is of it
        self.overlong = False
        self.lines = 0  # line ends in what was not kept of an overlong element
        self.depth = 0  # 0: outside the array
        self.quoted = self.escaped = self.closed = self.any = False

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes | None]]:
        """Yield the first line and the text of each element that ends in ``chunk``."""
        position = begin = 0
        while True:
            if self.depth == 0:
                position = begin = self._outside(chunk, position)
            place = self._next(chunk, position)
            if place < 0:
                break
            position = place + 1
            if self._ends(chunk[place]):
                self._keep(chunk[begin:place])
                begin = position
                if self.depth or self.any or self.kept or self.overlong:
                    self.any = True
                    yield self.line, None if self.overlong else bytes(self.kept.rstrip(BLANKS))
                self._forget()
        self._keep(chunk[begin:])

    def _outside(self, chunk: bytes, position: int) -> int:
        """Pass over white space before and after the array; return the place after its bracket."""
        rest = chunk[position:].lstrip(BLANKS)
        place = len(chunk) - len(rest)
        self.line += chunk.count(b"\n", position, place)
        if not rest:
            return len(chunk)
        if self.closed:
            raise ValidationFailed(f"Line {self.line:,}: there is more after the end of the array.")
        if rest[:1] != b"[":
            found = rest[:1].decode("ascii", "backslashreplace")
            hint = "For one record a line, add --format jsonl." if found == "{" else ""
            raise ValidationFailed(
                f"Expected a JSON array, found {found!r} in line {self.line:,}.", hint=hint
            )
        self.depth = 1
        return place + 1

    def _next(self, chunk: bytes, position: int) -> int:
        """Return the place of the next bracket or comma that counts, -1 if there is none."""
        while position < len(chunk) and self.depth:
            if self.escaped:
                self.escaped, position = False, position + 1
                continue
            found = self._STOPS[0 if self.quoted else min(self.depth, 2)].search(chunk, position)
            if not found:
                return -1
            position = found.end()
            if found[0] == b'"':
                self.quoted = not self.quoted
            elif found[0] == b"\\":
                self.escaped = True
            else:
                return found.start()
        return -1

    def _ends(self, mark: int) -> bool:
        """Follow one bracket or comma; tell whether an element ends before it."""
        if mark in b"[{":
            self.depth += 1
            return False
        if mark in b"]}" and self.depth > 1:
            self.depth -= 1
            return False
        if mark == ord("]"):
            self.depth, self.closed = 0, True
        return mark in b"],"

    def _keep(self, part: bytes) -> None:
        if not self.kept and not self.overlong:  # the element begins where its white space ends
            rest = part.lstrip(BLANKS)
            self.line += part.count(b"\n", 0, len(part) - len(rest))
            part = rest
        self.kept += part
        if len(self.kept) > self.limit:
            self.overlong = True
            self.lines += self.kept.count(b"\n")
            self.kept.clear()

    def _forget(self) -> None:
        self.line += self.lines + self.kept.count(b"\n")
        self.kept.clear()
        self.overlong, self.lines = False, 0

    def finish(self, number: int) -> None:
        """Check that the array was closed; ``number`` is that of the element at the end.

        Raises:
            ValidationFailed: it was not, or there was none.
        """
        if not self.closed:
            problem = "The array is not closed" if self.depth else "Expected a JSON array"
            where = f", in record {number:,}" if self.depth else ""
            raise ValidationFailed(f"{problem}: the file ends in line {self._last_line():,}{where}.")

    def _last_line(self) -> int:
        return self.line + self.lines + self.kept.count(b"\n")
