"""The guards: what no database should meet is refused with the path of the offender."""

from __future__ import annotations

import enum
import json
import uuid
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated

import pytest
from django.utils.safestring import SafeString
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, PlainSerializer

from agentstore.core import guards
from agentstore.core.errors import TooLarge, ValidationFailed
from agentstore.core.tenancy import check_agent, check_tenant
from agentstore.files.names import check_name

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str, enum.Enum):  # noqa: UP042 - str() of it is not its value
    YES = "yes"


@pytest.mark.parametrize("text", [Word.YES, SafeString("yes")], ids=["enum", "safe"])
def test_a_subclass_of_text_becomes_its_plain_text(text):
    for plain in (
        guards.check_text(text, "x"), guards.to_json(text), check_tenant(text), check_agent(text),
        check_name(text),
    ):  # fmt: skip
        assert (type(plain), plain) == (str, "yes")


class Inner(BaseModel):
    at: datetime | None = None
    made_by: str = Field(default="", alias="madeBy")


class Keyed(BaseModel):
    """What pydantic writes in a form of its own: keys that are not text, and a codec for JSON alone."""

    by_number: dict[int, str] = {}
    code: Annotated[int, PlainSerializer(hex, when_used="json")] = 0
    free: object = None


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@given(JSON)
def test_json_is_returned_as_it_is(value):
    assert guards.to_json(value) == value
    assert json.loads(guards.dump_json(guards.to_json(value))) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Color.RED, "red"),
        (Level.HIGH, 3),
        (Word.YES, "yes"),
        ({Word.YES: 1}, {"yes": 1}),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (OrderedDict(a=1), {"a": 1}),
        (Decimal("1.10"), "1.10"),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00Z"),
        (timedelta(minutes=1), "PT1M"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"abc", "abc"),
        (Inner(madeBy="x"), {"at": None, "madeBy": "x"}),
        ([Inner()], [{"at": None, "madeBy": ""}]),
        ({date(2026, 1, 2): 1, uuid.UUID(int=1): 2}, {"2026-01-02": 1, str(uuid.UUID(int=1)): 2}),
        (Keyed(by_number={1: "a"}, code=255), {"by_number": {"1": "a"}, "code": "0xff", "free": None}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_python_values_get_their_customary_json_form(value, expected):
    found = guards.to_json(value)

    assert found == expected
    assert type(found) is type(expected)


class Ordinary(str):
    pass


@given(JSON)
def test_plain_json_is_encoded_as_it_is(value):
    found, text = guards.encode_json(value)

    assert found == value
    assert json.loads(text) == value


@pytest.mark.parametrize(
    "value",
    [
        {"a": [(1, 2), {3}], "b": Color.RED, Word.YES: Level.HIGH},
        {Ordinary("a"): Ordinary("b")},
        OrderedDict(a=[Decimal(1), Inner()]),
        r"a backslash and u0000: \u0000",
        [2**63, -(2**63), 10**4300 - 1],
    ],
    ids=range(5),
)
def test_what_is_not_plain_is_encoded_in_its_json_form(value):
    assert guards.encode_json(value) == (guards.to_json(value), guards.dump_json(guards.to_json(value)))


@pytest.mark.parametrize(
    ("value", "path", "problem"),
    [
        ("a\0b", "", "NUL character at position 1"),
        ({"a": ["x", "\0"]}, "a.1", "NUL character at position 0"),
        ({"a": {"b": "\ud800"}}, "a.b", "lone surrogate at position 0"),
        ({"a": "é\udfff"}, "a", "lone surrogate at position 1"),
        ({"a": {"\0": 1}}, "a", "NUL"),
        ({"\ud800": 1}, "", "surrogate"),
        ({"a": float("nan")}, "a", "nan is not a JSON number"),
        ([float("inf")], "0", "inf is not a JSON number"),
        ([1, -float("inf")], "1", "-inf is not a JSON number"),
        ({"a": {1: 2}}, "a", "The key 1 is not text"),
        ({None: 2}, "", "The key None is not text"),
        ({"a": {(object(),): 2}}, "a", "The key of type tuple is not text"),
        ({"a": {10**5000: 2}}, "a", "The key of type int is not text"),
        ({"a": {10**5000}}, "a.0", "more than 4,300 digits"),
        ({"a": object()}, "a", "A object has no JSON form"),
        ({"a": b"\xff"}, "a", "A bytes has no JSON form"),
        ({"a": 10**4300}, "a", "more than 4,300 digits"),
        ({"a": -(10**4300)}, "a", "more than 4,300 digits"),
        ({"a": lambda: 1}, "a", "no JSON form"),
        ({"a": {date(2026, 1, 2): 1, "2026-01-02": 2}}, "a", "Two keys have the same text"),
        (Keyed(free=[1, float("nan")]), "free.1", "nan is not a JSON number"),
        (Keyed(free={"a": {float("inf")}}), "free.a.0", "inf is not a JSON number"),
        (Keyed(free=Keyed(free=float("nan"))), "free.free", "nan is not a JSON number"),
        (Keyed(free=["x", object()]), "free.1", "A object has no JSON form"),
        (Keyed(free="a\0b"), "free", "NUL character at position 1"),
    ],
    ids=range(25),
)
@pytest.mark.parametrize("guard", [guards.to_json, guards.encode_json])
def test_the_offender_is_named_by_its_path(guard, value, path, problem):
    with pytest.raises(ValidationFailed, match=problem) as info:
        guard(value)

    assert list(info.value.errors) == [path]
    assert info.value.message.startswith(path)


@pytest.mark.parametrize("value", [-0.0, [-0.0], {"a": -0.0}, Keyed(free=-0.0)], ids=str)
def test_a_zero_has_no_sign(value):
    """PostgreSQL gives it none, and so the same on both databases."""
    found, text = guards.encode_json(value)

    assert "-" not in text
    assert "-" not in str(found)
    assert "-" not in str(guards.to_json(value))


def test_a_number_may_have_exactly_4300_digits():
    longest = 10**4300 - 1

    assert guards.to_json(longest) == longest
    assert json.loads(guards.dump_json(-longest)) == -longest


@pytest.mark.parametrize("deep", ["itself", "deep"])
def test_a_model_that_no_text_can_hold_is_refused(deep):
    model = Keyed()
    model.free = [model] if deep == "itself" else nested(100_000)

    with pytest.raises(ValidationFailed, match="a.b: The Keyed holds itself, or is nested too deeply"):
        guards.to_json({"a": {"b": model}})


@pytest.mark.parametrize("guard", [guards.to_json, guards.encode_json])
def test_nesting_stops_at_64_levels(guard):
    assert guard(nested(64)) in (nested(64), (nested(64), "[" * 64 + "]" * 64))

    with pytest.raises(ValidationFailed, match="nested too deeply") as info:
        guard({"a": nested(64)})

    assert list(info.value.errors) == ["a" + ".0" * 63]


@pytest.mark.parametrize("guard", [guards.to_json, guards.encode_json])
def test_a_structure_that_holds_itself_is_refused(guard):
    value = {}
    value["a"] = value

    with pytest.raises(ValidationFailed, match="nested too deeply"):
        guard(value)


def test_the_same_bytes_for_the_same_set_under_every_hash_seed():
    assert guards.to_json({"b", "a", "c"}) == ["a", "b", "c"]


@given(JSON)
def test_the_quick_text_means_the_same(value):
    assert json.loads(guards.quick_json(value)) == json.loads(guards.dump_json(value))


def test_the_quick_text_takes_what_a_hand_wrote():
    assert guards.quick_json({"a": "\ud800"}) == guards.dump_json({"a": "\ud800"})


@pytest.mark.parametrize("text", ["", "a", "é", "\U0001f600", "\ue000", "\x01"])
def test_text_is_returned_as_it_is(text):
    assert guards.check_text(text, "x") is text


@pytest.mark.parametrize("value", [None, 5, b"a", ["a"]], ids=repr)
def test_what_is_no_text_is_refused(value):
    with pytest.raises(ValidationFailed, match=f"Expected text, found {type(value).__name__}") as info:
        guards.check_text(value, "x.y")

    assert list(info.value.errors) == ["x.y"]


@pytest.mark.parametrize("text", ["x" * 10, "é" * 5])
def test_size_counts_bytes(text):
    guards.check_size(text, limit=10, what="The row")

    with pytest.raises(TooLarge, match="The row has 10 bytes; the limit is 9"):
        guards.check_size(text, limit=9, what="The row")


@given(JSON)
def test_a_text_is_parsed_as_json_does(value):
    assert guards.parse_json(guards.dump_json(value)) == value
    assert guards.parse_json(guards.dump_json(value).encode()) == value


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"a": "\xff"}', "not valid UTF-8: byte 7"),
        ('{"a": 1, "b": 2, "a": 3}', "The key 'a' occurs twice"),
        ('[{"x": {"b": 1, "b": 1}}]', "The key 'b' occurs twice"),
        ("NaN", "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("{", "not JSON"),
        ("", "not JSON: Expecting value at line 1, column 1"),
        ("1" * 5000, "more than 4,300 digits"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=["utf-8", "twice", "twice-inside", "nan", "infinity", "open", "empty", "digits", "depth"],
)
def test_a_text_is_parsed_strictly(raw, problem):
    with pytest.raises(ValidationFailed, match=problem) as info:
        guards.parse_json(raw)

    assert list(info.value.errors) == [""]
