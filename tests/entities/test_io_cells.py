"""CSV: each cell is read by the type of its field, and every value has a cell."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core.errors import TooLarge, ValidationFailed
from agentstore.entities import EntitySchema
from agentstore.entities.fields import fields_of
from agentstore.entities.io_cells import read_cell, read_csv, write_cell
from tests.testapp.models import Odd, Task


class Sample(EntitySchema):
    name: str
    note: str | None = None
    title: str | None = "Dr."
    blank: str = ""
    size: int = 0
    share: float | None = 0.5
    open: bool = False
    maybe: bool | None = None
    tags: list[str] = []
    more: dict[str, Any] = {}
    either: int | str = 0
    anything: Any = None
    must: int | None


FIELDS = fields_of(Sample)
TASK, ODD = fields_of(Task.Schema), fields_of(Odd.Schema)


def read(text, fields=FIELDS, limit=1000):
    content = text if isinstance(text, bytes) else text.encode()
    return list(read_csv(fields, io.BytesIO(content), limit))


def told(records):
    """Return number, line and the data, or the messages of the error."""
    return [(r.number, r.line, _words(r.error) if r.error else r.data) for r in records]


def _words(error):
    return getattr(error, "errors", None) or error.message


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("name", "5", "5"),
        ("name", "null", "null"),
        ("name", " a ", " a "),
        ("name", r"\N", r"\N"),
        ("name", '""', ""),
        ("name", '"""', '"'),
        ("name", '"', '"'),
        ("name", '"Heroes"', '"Heroes"'),
        ("note", r"\N", None),
        ("note", r"\\N", r"\N"),
        ("note", "null", "null"),
        ("size", "5", 5),
        ("size", " 5", 5),
        ("size", "5.0", 5.0),
        ("size", "1e3", 1000.0),
        ("share", "-0.25", -0.25),
        ("share", "null", None),
        ("open", "true", True),
        ("open", "TRUE", True),
        ("open", "False", False),
        ("maybe", "null", None),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("more", '{"a": [1]}', {"a": [1]}),
        ("either", "5", 5),
        ("either", "x5", "x5"),
        ("either", '"5"', "5"),
        ("either", '""', ""),
        ("anything", "null", None),
        ("anything", "[1]", [1]),
        ("anything", "[1", "[1"),
    ],
)
def test_a_cell_is_read_by_the_type_of_its_field(key, text, value):
    found = read_cell(text, FIELDS[key])

    assert found == value
    assert type(found) is type(value)


def test_a_cell_of_no_field_is_its_text():
    assert read_cell("5", None) == "5"


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("size", "five", "Expected a number, found 'five'."),
        ("size", "1,5", "Expected a number, found '1,5'."),
        ("size", "null", "Expected a number, found 'null'."),
        ("size", "true", "Expected a number, found 'true'."),
        ("size", '"5"', "Expected a number, found '\"5\"'."),
        ("size", "NaN", "NaN is not a JSON number."),
        ("size", "-Infinity", "-Infinity is not a JSON number."),
        ("size", "9" * 5000, "A number has more than 4,300 digits."),
        ("open", "yes", "Expected true or false, found 'yes'."),
        ("open", "1", "Expected true or false, found '1'."),
        ("open", "null", "Expected true or false, found 'null'."),
        ("tags", "a", "Expected a JSON array, found 'a'."),
        ("tags", "{}", "Expected a JSON array, found '{}'."),
        ("more", "[]", "Expected a JSON object, found '[]'."),
        ("more", '{"a": 1, "a": 2}', "The key 'a' occurs twice in one object."),
        ("either", "NaN", "NaN is not a JSON number."),
        ("name", "a\udcff", "The text is not valid UTF-8: byte 0xff can't be decoded."),
    ],
)
def test_a_cell_that_is_no_value_of_its_field_is_told(key, text, problem):
    with pytest.raises(ValidationFailed) as caught:
        read_cell(text, FIELDS[key])

    assert caught.value.errors == {"": [problem]}


CODED = st.text('"\\Nnul a', max_size=5) | st.sampled_from(["null", r"\N", '""', "5", "true", "[1]", "é\r\n"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | CODED,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CODED, inner, max_size=3),
    max_leaves=5,
)
ROWS = st.fixed_dictionaries(
    {
        "name": CODED,
        "note": st.none() | CODED,
        "title": st.none() | CODED,
        "blank": CODED,
        "size": st.integers(),
        "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "open": st.booleans(),
        "maybe": st.none() | st.booleans(),
        "tags": st.lists(CODED, max_size=3),
        "more": st.dictionaries(CODED, JSON, max_size=3),
        "either": st.integers() | CODED,
        "anything": JSON,
        "must": st.none() | st.integers(),
    }
)


@given(rows=st.lists(ROWS, max_size=4))
def test_every_value_has_a_cell_that_is_read_as_that_value(rows):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    writer.writerows([write_cell(row[key], field) for key, field in FIELDS.items()] for row in rows)

    records = read(out.getvalue(), limit=100_000)

    filled = [Sample(**record.data).model_dump(mode="json") for record in records]
    assert filled == rows


@pytest.mark.parametrize(
    ("key", "value", "cell"),
    [
        ("note", None, ""),
        ("title", None, r"\N"),
        ("blank", "", ""),
        ("name", "", '""'),
        ("title", "Dr.", "Dr."),
        ("must", None, "null"),
        ("share", None, "null"),
        ("either", "5", '"5"'),
        ("size", 0, "0"),
        ("name", "Ærø", "Ærø"),
    ],
)
def test_a_cell_is_empty_only_where_nothing_given_means_the_same(key, value, cell):
    assert write_cell(value, FIELDS[key]) == cell


def test_a_default_that_is_made_anew_each_time_is_never_relied_on():
    from pydantic import Field

    class Made(EntitySchema):
        code: str = Field(default_factory=str)

    assert write_cell("", fields_of(Made)["code"]) == '""'


def test_values_are_kept_in_the_form_that_they_are_stored_in():
    assert read_cell("2026-01-31T09:00:00.000000Z", TASK["due_at"]) == "2026-01-31T09:00:00.000000Z"
    assert read_cell("1.50", ODD["amount"]) == "1.50"
    assert read_cell("7", ODD["code"]) == "7"
    assert write_cell("1.50", ODD["amount"]) == "1.50"


# --- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_row_below_the_header_is_a_record_and_empty_cells_are_not_given(end):
    text = end.join([" name ,size", "a,5", "b,", "", '"c, d",0', '"",1', ""])

    assert told(read(text)) == [
        (1, 2, {"name": "a", "size": 5}),
        (2, 3, {"name": "b"}),
        (3, 5, {"name": "c, d", "size": 0}),
        (4, 6, {"size": 1}),
    ]


def test_a_cell_may_hold_quotes_and_lines():
    records = read('name,size\n"a ""b""\r\nc\rd",1\n5" pipe,2\n')

    assert told(records) == [
        (1, 2, {"name": 'a "b"\r\nc\rd', "size": 1}),
        (2, 4, {"name": '5" pipe', "size": 2}),
    ]


def test_a_row_of_blanks_is_none_unless_there_is_only_one_column():
    assert [r.data for r in read("name,size\n  \na,1\n")] == [{"name": "a", "size": 1}]
    assert [r.data for r in read('name\n  \n""\n')] == [{"name": "  "}, {}]


def test_a_header_alone_has_no_records():
    assert read("name,size\n") == []


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("", "The file is empty."),
        ("\n\n", "The file is empty."),
        ("name,size,name\n", "The header names 'name' twice."),
        ("name,,size\n", "The header does not name column 2."),
        (b"na\xffme\n", "header: The text holds a lone surrogate at position 2."),
        ('"name\n', "The header can't be read: The row is not CSV: unexpected end of data."),
        ("n" * 2000, "The header can't be read: The record has more than 1,000 bytes."),
    ],
)
def test_a_file_without_a_header_that_names_each_column_once_is_refused(header, problem):
    with pytest.raises(ValidationFailed) as caught:
        read(header)

    assert caught.value.message.startswith(problem)


@pytest.mark.parametrize(("row", "cells"), [("a", 1), ("a,1,2", 3)])
def test_a_row_of_another_length_is_told(row, cells):
    records = read(f"name,size\n{row}\nb,2\n")

    assert told(records) == [
        (1, 2, f"The row has {cells} cells, the header 2."),
        (2, 3, {"name": "b", "size": 2}),
    ]


def test_all_that_is_wrong_with_a_row_is_told():
    (record,) = read(b"name,size,tags,other\n\xff,five,[,x\n")

    assert record.error.errors == {
        "name": ["The text is not valid UTF-8: byte 0xff can't be decoded."],
        "size": ["Expected a number, found 'five'."],
        "tags": ["Expected a JSON array, found '['."],
    }


def test_a_column_that_is_no_field_counts_where_a_row_fills_it():
    assert [r.data for r in read("name,colour\na,red\nb,\n")] == [
        {"name": "a", "colour": "red"},
        {"name": "b"},
    ]


def test_a_quotation_mark_that_is_not_closed_harms_few_rows():
    records = read('name,size\n"a,1\n"b",2\nc,3\n"d,4')

    assert told(records) == [
        (1, 2, "The row is not CSV: ',' expected after '\"'."),
        (2, 4, {"name": "c", "size": 3}),
        (3, 5, "The row is not CSV: unexpected end of data."),
    ]


def test_a_row_that_is_too_long_is_passed_over():
    long = "x" * 600

    records = read(f'name,size\n"{long}\n{long}\n{"y" * 2000},1\na,1\n')

    assert [r.line for r in records] == [2, 4, 5]
    assert all(isinstance(r.error, TooLarge) for r in records[:2])
    assert "A quotation mark may not be closed." in records[0].error.message
    assert records[2].data == {"name": "a", "size": 1}


def test_a_cell_may_be_longer_than_the_csv_module_allows_and_its_limit_stays():
    usual = csv.field_size_limit()
    text = "x" * (usual + 1)

    (record,) = read(f"name\n{text}\n", limit=2**20)

    assert record.data == {"name": text}
    assert csv.field_size_limit() == usual
