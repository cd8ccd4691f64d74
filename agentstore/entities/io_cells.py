"""CSV: rows of cells to JSON and back, each cell by the type of its field.

An empty cell is a field that is not given. So that every value has a cell: ``""`` (two quotation
marks, as the text of the cell) is the empty text, and ``\\N`` no text where a field may be null.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from typing import BinaryIO

from agentstore.core import guards
from agentstore.core.errors import AgentStoreError, ValidationFailed
from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.fields import SchemaField
from agentstore.entities.io_records import Record, read_lines, too_long

__all__ = ["read_cell", "read_csv", "write_cell"]

Fields = Mapping[str, SchemaField]

#: Cells that stand for something else than their text; one more mark in front makes them text again.
_QUOTES, _NULL = re.compile('""+'), re.compile(r"\\+N")
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "number": ("a number", (int, float)),
    "boolean": ("true or false", ()),
    "object": ("a JSON object", (dict,)),
    "array": ("a JSON array", (list,)),
}
_WORDS = {"true": True, "false": False}


def read_csv(fields: Fields, file: BinaryIO, limit: int) -> Iterator[Record]:
    """Yield one record for each row below the header, its cells read by the type of their fields.

    Raises:
        ValidationFailed: there is no header, or it does not name every column once.
    """
    number, header = 0, None
    for line, cells in _rows(file, limit):
        if header is None:
            header = _header(cells)
        elif isinstance(cells, AgentStoreError):
            number += 1
            yield Record(number, line, error=cells)
        elif not _is_blank(cells, header):
            number += 1
            yield _record(number, line, header, cells, fields)
    if header is None:
        raise ValidationFailed("The file is empty.", hint="The first row must name the fields.")


def _is_blank(cells: Sequence[str], header: Sequence[str]) -> bool:
    return len(header) > 1 and len(cells) == 1 and not cells[0].strip()


def _rows(file: BinaryIO, limit: int) -> Iterator[tuple[int, list[str] | AgentStoreError]]:
    """Yield the first line of each row that is not empty, and its cells or what is wrong with it."""
    lines = _Lines(file, limit)
    reader = csv.reader(lines, strict=True)
    while True:
        lines.left = limit
        line = lines.number + 1
        try:
            with _cells_up_to(limit):
                cells = next(reader, None)
        except csv.Error as error:
            yield line, ValidationFailed(f"The row is not CSV: {error}.")
        except AgentStoreError as error:
            yield line, error
        else:
            if cells is None:
                return
            if cells:
                yield line, cells


@contextmanager
def _cells_up_to(limit: int) -> Iterator[None]:
    usual = csv.field_size_limit(limit)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


class _Lines:
    """The lines of a file, decoded, as long as one row does not take more than the limit.

    Bytes that are not UTF-8 become lone surrogates, which a CSV file can't hold otherwise: their
    cells are found again by them.
    """

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self.limit = self.left = limit
        self.number = 0
        self._lines = read_lines(file, limit)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        self.left -= self.limit if line is None else len(line)
        if line is None or self.left < 0:
            raise too_long(self.limit, " A quotation mark may not be closed.")
        return line.decode("utf-8", "surrogateescape")


def _header(cells: list[str] | AgentStoreError) -> list[str]:
    if isinstance(cells, AgentStoreError):
        raise ValidationFailed(f"The header can't be read: {cells.message}", hint=cells.hint)
    names = [cell.strip() for cell in cells]
    for number, name in enumerate(names, 1):
        if not name:
            raise ValidationFailed(f"The header does not name column {number}.")
        if name in names[: number - 1]:
            raise ValidationFailed(f"The header names {name[:100]!r} twice.")
        guards.check_text(name, "header")
    return names


def _record(number: int, line: int, header: Sequence[str], cells: Sequence[str], fields: Fields) -> Record:
    if len(cells) != len(header):
        problem = f"The row has {len(cells)} cells, the header {len(header)}."
        return Record(number, line, error=ValidationFailed(problem))
    data: JSONObject = {}
    problems: dict[str, list[str]] = {}
    for key, cell in zip(header, cells, strict=True):
        try:
            if cell:
                data[key] = read_cell(cell, fields.get(key))
        except ValidationFailed as error:
            problems[key] = [message for messages in error.errors.values() for message in messages]
    if problems:
        return Record(number, line, error=ValidationFailed("The row can't be read.", errors=problems))
    return Record(number, line, data)


def read_cell(text: str, field: SchemaField | None) -> JSONValue:
    """Return the value of a cell that is not empty; a field that is not known keeps its text.

    Raises:
        ValidationFailed: the text is no value of the field's type.
    """
    _check_decoded(text)
    if field is None:
        return text
    if field.kind == "text":
        return _read_text(text, field)
    if field.kind == "boolean" and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return None if text == "null" and field.nullable else _read_json(text, field.kind)


def _check_decoded(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        byte = ord(text[error.start]) & 0xFF
        guards.refuse("", f"The text is not valid UTF-8: byte 0x{byte:02x} can't be decoded.")


def _read_text(text: str, field: SchemaField) -> str | None:
    if _QUOTES.fullmatch(text):
        return text[2:]
    if field.nullable and _NULL.fullmatch(text):
        return text[1:] if len(text) > 2 else None
    return text


def _read_json(text: str, kind: str) -> JSONValue:
    try:
        value = guards.parse_json(text)
    except ValidationFailed as error:
        if not isinstance(error.__context__, JSONDecodeError):
            raise
        value = text
    if kind in _KINDS:
        name, types = _KINDS[kind]
        if isinstance(value, bool) or not isinstance(value, types):
            guards.refuse("", f"Expected {name}, found {text!r:.100}.")
    return value


def write_cell(value: JSONValue, field: SchemaField) -> str:
    """Return the cell that ``read_cell`` takes for ``value``; empty only where nothing given means it."""
    if value in (None, "") and _means_nothing_given(value, field):
        return ""
    if field.kind != "text" or not isinstance(value, str | None):
        return guards.dump_json(value)
    if value is None:
        return r"\N"
    if not value or _QUOTES.fullmatch(value):
        return f'""{value}'
    return f"\\{value}" if field.nullable and _NULL.fullmatch(value) else value


def _means_nothing_given(value: JSONValue, field: SchemaField) -> bool:
    default = field.info.default
    return not field.required and field.info.default_factory is None and default == value
