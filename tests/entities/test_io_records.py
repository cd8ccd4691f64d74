"""Files are told apart into records, whatever is wrong with one of them."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core.errors import TooLarge, ValidationFailed
from agentstore.entities.io_records import (
    ArraySplitter,
    detect_format,
    open_source,
    read_json_array,
    read_json_lines,
    start_of,
)

READERS = {"json": read_json_array, "jsonl": read_json_lines}


def read(format, content, limit=1000):
    return list(READERS[format](io.BytesIO(content), limit))


def told(records):
    """Return number, line and the data, or the words of the error."""
    return [(r.number, r.line, r.error.message if r.error else r.data) for r in records]


# --- JSON Lines ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b'{"a": 1}\n{"a": 2}\n', b'{"a": 1}\n{"a": 2}', b'{"a": 1}\r\n{"a": 2}\r\n', b' {"a": 1} \n\t{"a":2}'],
    ids=["lines", "no end", "CRLF", "blanks"],
)
def test_each_line_is_a_record(content):
    assert told(read("jsonl", content)) == [(1, 1, {"a": 1}), (2, 2, {"a": 2})]


def test_blank_lines_are_no_records_and_yet_are_lines():
    assert told(read("jsonl", b'\n \n{"a": 1}\n\r\n\n2\n\n')) == [(1, 3, {"a": 1}), (2, 6, 2)]


def test_an_empty_file_has_no_records():
    assert read("jsonl", b"") == read("jsonl", b"\n\n") == []


def test_a_line_that_is_no_json_harms_no_other():
    records = read("jsonl", b'1\n{"a": \n{"a": "\xff"}\nNaN\n{"a": 1, "a": 2}\n2')

    assert told(records) == [
        (1, 1, 1),
        (2, 2, "The record is not JSON: Expecting value at its character 8."),
        (3, 3, "The text is not valid UTF-8: byte 7 can't be decoded."),
        (4, 4, "NaN is not a JSON number."),
        (5, 5, "The key 'a' occurs twice in one object."),
        (6, 6, 2),
    ]


@pytest.mark.parametrize("length", [11, 12, 25, 1000])
def test_a_line_that_is_too_long_is_passed_over(length):
    content = b'"' + b"x" * (length - 2) + b'"'

    first, second = read("jsonl", content + b"\n2\n", limit=10)
    (alone,) = read("jsonl", content, limit=10)

    assert isinstance(first.error, TooLarge)
    assert first.error.message == alone.error.message == "The record has more than 10 bytes."
    assert (second.number, second.line, second.data) == (2, 2, 2)


def test_a_line_may_have_as_many_bytes_as_the_limit():
    content = b'"' + b"x" * 8 + b'"'

    assert [r.data for r in read("jsonl", content + b"\n" + content, limit=10)] == ["x" * 8] * 2


# --- a JSON array -------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\[]{},:\n é😀', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('a"\\[]{},', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    values=st.lists(VALUES, max_size=6),
    indent=st.sampled_from([None, 0, 2]),
    ascii=st.booleans(),
    size=st.integers(1, 40),
    around=st.sampled_from(["", "\n", " \r\n\t"]),
)
def test_an_array_is_cut_into_its_elements_wherever_the_pieces_of_the_file_end(
    values, indent, ascii, size, around
):
    text = f"{around}{json.dumps(values, indent=indent, ensure_ascii=ascii)}{around}"
    content = text.encode()
    splitter = ArraySplitter(10_000)

    found = [
        element
        for start in range(0, len(content), size)
        for element in splitter.feed(content[start : start + size])
    ]
    splitter.finish(len(found))

    assert [json.loads(raw) for _, raw in found] == values
    lines = content.split(b"\n")
    assert all(raw.split(b"\n")[0] in lines[line - 1] for line, raw in found)


def test_the_line_of_an_element_is_where_it_begins():
    content = b'\n[\n {"a":\n 1},\n\n {"b": 2}\n ,\n3, 4]\n'

    assert told(read("json", content)) == [(1, 3, {"a": 1}), (2, 6, {"b": 2}), (3, 8, 3), (4, 8, 4)]


@pytest.mark.parametrize("content", [b"[]", b" [ ] ", b"\n[\n]\n"])
def test_an_empty_array_has_no_records(content):
    assert read("json", content) == []


@pytest.mark.parametrize(
    "broken",
    [
        b'{"a": ]',
        b'{"a" 1}',
        b"}",
        b"]}"[1:],
        b"",
        b"1 2",
        b'"\xff"',
        b"NaN",
        b'{"a": 1, "a": 1}',
        b"[" * 900 + b"]" * 900,
    ],
)
def test_an_element_that_is_no_json_harms_no_other(broken):
    content = b"[1,\n" + broken + b",\n3]"

    first, second, third = read("json", content, limit=5000)

    assert (first.data, third.data, third.number) == (1, 3, 3)
    # Nesting is counted by the guards, where the parser itself can bear it.
    assert second.error is not None or broken.startswith(b"[")


def test_a_comma_before_the_end_is_told():
    one, nothing = read("json", b"[1,]")

    assert one.data == 1
    assert nothing.error.message == "The record is not JSON: Expecting value at its character 1."


@pytest.mark.parametrize("size", [7, 1 << 16])
def test_an_element_that_is_too_long_is_passed_over(size):
    content = b'[1,\n\n"' + b"x\n" * 50 + b'",\n3]'
    splitter = ArraySplitter(20)

    found = [
        e for start in range(0, len(content), size) for e in splitter.feed(content[start : start + size])
    ]

    assert found == [(1, b"1"), (3, None), (54, b"3")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "Expected a JSON array: the file ends in line 1."),
        (b"\n\n ", "Expected a JSON array: the file ends in line 3."),
        (b'\n{"a": 1}', "Expected a JSON array, found '{' in line 2."),
        (b"\xff", r"Expected a JSON array, found '\\xff' in line 1."),
        (b"[1,\n2", "The array is not closed: the file ends in line 2, in record 2."),
        (b'[1,\n"2\n, 3]', "The array is not closed: the file ends in line 3, in record 2."),
        (b"[1] \n x", "Line 2: there is more after the end of the array."),
        (b"[1]]", "Line 1: there is more after the end of the array."),
        (b"[1][2]", "Line 1: there is more after the end of the array."),
    ],
)
def test_a_file_that_is_no_array_is_refused(content, problem):
    with pytest.raises(ValidationFailed) as caught:
        read("json", content)

    assert caught.value.message == problem


def test_json_lines_in_place_of_an_array_get_a_hint():
    with pytest.raises(ValidationFailed) as caught:
        read("json", b'{"a": 1}\n{"a": 2}')

    assert "--format jsonl" in caught.value.hint


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_byte_order_mark_is_no_content(mark):
    file = io.BytesIO(mark + b"[1]")

    start_of(file)

    assert file.read() == b"[1]"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_refused_by_name(encoding):
    with pytest.raises(ValidationFailed, match="UTF-16") as caught:
        start_of(io.BytesIO("\ufeff[1]".encode(encoding)))

    assert caught.value.hint == "Save it as UTF-8."


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.csv", b"[", "csv"),
        ("a.JSON", b"{", "json"),
        ("a.jsonl", b"[", "jsonl"),
        ("a.ndjson", b"", "jsonl"),
        ("a.txt", b" \n[1]", "json"),
        ("-", codecs.BOM_UTF8 + b'\n{"a": 1}', "jsonl"),
    ],
)
def test_the_format_is_told_by_the_name_or_else_by_the_content(name, content, format):
    assert detect_format(name, io.BytesIO(content)) == format


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2"])
def test_a_format_that_nothing_tells_is_asked_for(content):
    with pytest.raises(ValidationFailed, match="neither its name nor its content") as caught:
        detect_format("data", io.BytesIO(content))

    assert "csv, json, jsonl" in caught.value.hint


def test_a_pipe_can_be_read_twice():
    reading, writing = os.pipe()
    os.write(writing, b"[1]")
    os.close(writing)

    try:
        with open_source(f"/dev/fd/{reading}") as file:
            first = file.read()
            file.seek(0)
            again = file.read()
    finally:
        os.close(reading)

    assert first == again == b"[1]"


def test_standard_input_is_left_open(monkeypatch):
    buffer = io.BytesIO(b"[1]")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))

    with open_source("-") as file:
        assert file.read() == b"[1]"

    assert not buffer.closed
