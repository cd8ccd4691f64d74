"""Between callers and what is stored: guards, strict validation, full dump, decode."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, PlainSerializer, field_validator

from agentstore.core.errors import TooLarge, ValidationFailed
from agentstore.core.ordering import same_json
from agentstore.entities import EntitySchema
from agentstore.entities.codec import Codec, exact_value, suggest
from tests.entities.codecs import LIMITS, ODDS, RANGES, TASKS, encode, merge, problems
from tests.testapp.models import Address, Line, Odd, Task, TaskData


def test_the_full_dump_is_stored_defaults_included():
    instance, document = encode({"text": "a"})

    assert document.value == {
        "text": "a",
        "due_at": None,
        "done": False,
        "priority": 0,
        "score": None,
        "channel": "email",
        "day": None,
        "tags": [],
        "address": None,
        "lines": [],
    }
    assert json.loads(document.text) == document.value
    assert instance == TaskData(text="a")


@pytest.mark.parametrize(
    "data",
    [
        {"text": "a", "due_at": "2026-01-01T10:00:00+01:00", "day": "2026-01-02", "lines": [{"sku": "x"}]},
        {
            "text": "a",
            "due_at": datetime(2026, 1, 1, 9, tzinfo=UTC),
            "day": date(2026, 1, 2),
            "lines": [Line(sku="x")],
        },
        TaskData(
            text="a", due_at=datetime(2026, 1, 1, 9, tzinfo=UTC), day=date(2026, 1, 2), lines=[Line(sku="x")]
        ),
    ],
    ids=["json", "python", "instance"],
)
def test_json_python_values_and_instances_store_the_same(data):
    _, document = encode(data)

    assert document.value["due_at"] == "2026-01-01T09:00:00.000000Z"
    assert document.value["day"] == "2026-01-02"
    assert document.value["lines"] == [{"sku": "x", "quantity": 1}]


def test_odd_types_have_their_json_form():
    ref = UUID(int=7)
    _, document = encode(
        {
            "code": 42,
            "amount": Decimal("1.10"),
            "at": datetime(2026, 1, 1, tzinfo=UTC),
            "ref": ref,
            "madeBy": "me",
        },
        ODDS,
    )

    assert document.value["code"] == "42"
    assert document.value["amount"] == "1.10"
    assert document.value["ref"] == str(ref)
    assert document.value["madeBy"] == "me"


def test_computed_fields_are_not_stored():
    assert encode({}, RANGES)[1].value == {"low": 0, "high": 10, "note": ""}


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({}, "text", "Field required"),
        ({"text": 5}, "text", "Input should be a valid string"),
        ({"text": "a", "priority": "5"}, "priority", "Input should be a valid integer"),
        ({"text": "a", "priority": 5000}, "priority", "Input should be less than or equal to 1000"),
        ({"text": "a", "unknown": 1}, "unknown", "There is no such field."),
        ({"text": "a", "address": {"street": "x", "zip": 1}}, "address.zip", "There is no such field."),
        ({"text": "a", "lines": [{"sku": "x"}, {"quantity": 1}]}, "lines.1.sku", "Field required"),
        ({"text": "a", "tags": [1]}, "tags.0", "Input should be a valid string"),
        ({"text": "a", "score": 10**400}, "score", "Input should be a finite number"),
        ({"text": "a\0"}, "text", "The text holds a NUL character at position 1."),
        ({"text": "a", "tags": ["\ud800"]}, "tags.0", "The text holds a lone surrogate at position 0."),
        ({"text": "a", "score": float("nan")}, "score", "nan is not a JSON number."),
        ({"text": "a", "lines": [{"sku": object()}]}, "lines.0.sku", "A object has no JSON form."),
        ([], "", "Expected an object, found list."),
        (None, "", "Expected an object, found NoneType."),
        ('{"text": "a"}', "", "Expected an object, found str."),
        (Address(street="x"), "", "Expected an object, found Address."),
    ],
    ids=range(17),
)
def test_what_does_not_fit_is_told_by_path(data, path, message):
    assert problems(encode, data) == {path: [message]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("\ud800", "The text holds a lone surrogate at position 0."),
        ("\0", "The text holds a NUL character at position 0."),
        (10**4300, "The number has more than 4,300 digits."),
    ],
    ids=["surrogate", "nul", "digits"],
)
def test_what_a_validator_makes_is_guarded_too(value, message):
    """The input is sound; what the schema turns it into would be stored."""

    class Made(EntitySchema):
        n: object = None

        @field_validator("n")
        @classmethod
        def _make(cls, given):
            return {"x": value} if given else given

    assert problems(encode, {"n": 1}, Codec(Made, "made", [])) == {"n.x": [message]}


class Times(EntitySchema):
    days: list[date] = []
    by_name: dict[str, datetime] = {}
    at: time | None = None
    lasts: timedelta | None = None
    text: str = ""


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"days": ["2026-01-31", "1767225600"]}, "days.1"),
        ({"by_name": {"a": "1767225600.5"}}, "by_name.a"),
        ({"at": "3600"}, "at"),
    ],
)
def test_digits_are_no_date_or_time_wherever_they_stand(data, path):
    codec = Codec(Times, "times", [])

    assert [*problems(encode, data, codec)] == [path]
    assert [*problems(merge, "{}", data, codec=codec)] == [path]
    assert [*problems(codec.replacement, "{}", json.dumps(data), **LIMITS)] == [path]
    assert encode({"text": "1767225600", "lasts": "P1D"}, codec)[1].value["text"] == "1767225600"


def test_every_problem_is_told_and_the_first_three_are_in_the_message():
    data = {"text": 5, "done": 1, "priority": "x", "tags": "x", "day": "x"}

    with pytest.raises(ValidationFailed) as info:
        encode(data)

    assert sorted(info.value.errors) == ["day", "done", "priority", "tags", "text"]
    assert info.value.message.startswith("tasks does not fit its schema: text: ")
    assert info.value.message.endswith("; and 2 more")


def test_an_unknown_field_is_told_with_the_closest():
    with pytest.raises(ValidationFailed) as info:
        encode({"text": "a", "priorty": 1})

    assert info.value.hint.startswith("Did you mean 'priority'? Valid: text, due_at, ")


def test_a_whole_row_that_does_not_fit_is_told_under_no_path():
    assert problems(encode, {"low": 5, "high": 1}, RANGES) == {"": ["low is over high"]}
    assert problems(encode, {"note": "HEY"}, RANGES) == {"note": ["No shouting."]}


def test_the_size_of_input_and_of_document_is_limited():
    with pytest.raises(TooLarge, match="The tasks row has 262,246 bytes; the limit is 262,144"):
        encode({"text": "a", "tags": ["x" * (256 * 1024 - 30)]})
    fits = TASKS.encode({"text": "a"}, max_bytes=200, max_depth=64)[1].text
    with pytest.raises(TooLarge):
        TASKS.encode({"text": "a"}, max_bytes=len(fits) - 1, max_depth=64)


def test_indexed_values_are_limited_by_bytes():
    encode({"text": "é" * 500})

    assert problems(encode, {"text": "é" * 500 + "x"}) == {
        "text": ["The field is indexed: 1,001 bytes are over 1,000."]
    }
    encode({"text": "a", "tags": ["x" * 5000]})


def test_indexed_numbers_are_limited_by_digits():
    """PostgreSQL keeps them in the index as it does text, and would refuse the row in its own way."""
    sizes = Codec(Odd.Schema, "odds", ["size"])
    encode({"size": -(10**1000 - 1)}, sizes)

    assert problems(encode, {"size": 10**1000}, sizes) == {
        "size": ["The field is indexed: 1,001 bytes are over 1,000."]
    }
    encode({"size": 10**1000}, ODDS)


def test_depth_is_counted_from_the_row():
    deep = 0
    for _ in range(62):
        deep = [deep]
    encode({"meta": {"a": deep}}, ODDS)

    assert [*problems(encode, {"meta": {"a": [deep]}}, ODDS)] == ["meta.a" + ".0" * 62]


def test_a_document_given_as_it_is_stored_is_read_once():
    """The check that a document reads back costs as much as reading it: what was just read, does."""
    seen = []

    class Counted(EntitySchema):
        text: str
        done: bool = False

        @field_validator("text")
        @classmethod
        def _note(cls, value):
            seen.append(value)
            return value

    codec = Codec(Counted, "counted", [])
    encode({"text": "whole", "done": True}, codec)
    encode({"text": "a default added"}, codec)

    assert seen == ["whole", "a default added", "a default added"]


def test_the_text_of_a_document_and_of_a_patch_has_no_exponents():
    """PostgreSQL's jsonb would keep 1e23 as an integer, which is another number."""
    _, document = encode({"text": "a", "score": 1e23})
    _, _, patch = merge(document.text, {"score": 1e-7})

    assert '"score":100000000000000000000000.0' in document.text
    assert '"score":0.0000001' in patch.text


def test_a_schema_that_does_not_read_back_what_it_writes_is_told():
    class Lossy(EntitySchema):
        n: Annotated[int, PlainSerializer(lambda value: value + 1, return_type=int)] = 0
        text: Annotated[int, PlainSerializer(str, return_type=str)] = 0

    class Hidden(EntitySchema):
        n: int = Field(default=0, exclude=True)

    for codec, data in [(Codec(Lossy, "lossy", []), {}), (Codec(Hidden, "hidden", []), {"n": 1})]:
        with pytest.raises(ValidationFailed, match="does not read back what it writes"):
            encode(data, codec)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        (None, False, False),
        (0.0, -0.0, True),
        (1e22, 10**22, True),
        (2**53, 2**53 + 1, False),
        (float(2**53), 2**53 + 1, False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        ([True], [1], False),
        ([], {}, False),
        ("é", "e\u0301", False),
    ],
)
def test_sameness_is_that_of_json(left, right, same):
    assert same_json(left, right) is same
    assert same_json({"x": [left]}, {"x": [right]}) is same


def test_decoding_gives_instance_and_raw():
    data, raw, errors = TASKS.decode('{"text": "a"}')

    assert (data, raw, errors) == (TaskData(text="a"), {"text": "a"}, {})


def test_decoding_ignores_what_the_schema_no_longer_has():
    text = '{"text": "a", "old": 1, "lines": [{"sku": "x", "old": 2}]}'

    data, raw, errors = TASKS.decode(text)

    assert data == TaskData(text="a", lines=[Line(sku="x")])
    assert (raw, errors) == (json.loads(text), {})


@pytest.mark.parametrize(
    ("text", "path"),
    [('{"done": true}', "text"), ('{"text": 5}', "text"), ("[1]", ""), ("5", ""), ("null", ""), ('"x"', "")],
)
def test_what_does_not_decode_gives_the_reasons(text, path):
    data, raw, errors = TASKS.decode(text)

    assert data is None
    assert raw == json.loads(text)
    assert list(errors) == [path]


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ('{"text": "\\ud800"}', {"text": "\ud800"}),
        ('{"text": "a", "priority": ' + "1" * 5000 + "}", {"text": "a", "priority": "1" * 5000}),
    ],
    ids=["surrogate", "digits"],
)
def test_what_no_guard_let_pass_does_not_decode_and_does_no_harm(text, raw):
    data, found, errors = TASKS.decode(text)

    assert (data, found) == (None, raw)
    assert errors
    assert TASKS.merge(text, {"text": "a", "priority": 1}, [], **LIMITS)[1].value["priority"] == 1


def test_unknown_keys_are_named_with_the_closest():
    with pytest.raises(ValidationFailed) as info:
        TASKS.check_keys(["text", "priorty", "x"], "the patch")

    assert info.value.message == "tasks: There is no field 'priorty' in the patch."
    assert info.value.errors == {"priorty": ["There is no such field."], "x": ["There is no such field."]}
    assert "Did you mean 'priority'?" in info.value.hint


def test_a_suggestion_names_all_there_is():
    assert suggest("zzz", ["a", "b"]) == "Valid: a, b."
    assert suggest("txt", ["text"]) == "Did you mean 'text'? Valid: text."


def test_exact_values():
    assert exact_value('{"a": 1.10}', "a") == Decimal("1.10")
    assert exact_value('{"a": 1}', "b") is None
    assert exact_value("[1]", "a") is None


@given(
    st.fixed_dictionaries(
        {"text": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)},
        optional={
            "due_at": st.datetimes(timezones=st.just(UTC)) | st.none(),
            "score": st.floats(allow_nan=False, allow_infinity=False)
            | st.integers(-(10**300), 10**300)
            | st.none(),
            "day": st.dates() | st.none(),
            "priority": st.integers(-1000, 1000),
            "lines": st.lists(st.builds(Line, sku=st.just("s"), quantity=st.integers()), max_size=3),
        },
    )
)
def test_what_is_stored_decodes_to_what_was_given(data):
    instance, document = encode(data)

    assert TASKS.decode(document.text) == (instance, document.value, {})
    assert merge(document.text, document.value)[2] is None
    assert encode(instance)[1] == document


def test_the_testapps_schema_is_the_models():
    assert Task.Schema is TaskData
