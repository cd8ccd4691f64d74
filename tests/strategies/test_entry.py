"""What a strategy may hold: shape and sizes, and what the write door refuses."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentstore.core.errors import ValidationFailed
from agentstore.strategies import entry
from agentstore.strategies.entry import (
    HINTS,
    STRATEGY_ID_RE,
    complete,
    parse_ts,
    read_ts,
    shape_issue,
    validate_for_write,
    validate_loosely,
)
from agentstore.strategies.ranking import EPOCH
from tests.strategies.rows import NOW

GOOD = {
    "id": "str_0193-A",
    "problem": "Extract tables",
    "strategy": "Use pdfplumber",
    "confidence": 2,
    "ts": "2026-05-01T09:00:00Z",
}


def changed(**fields) -> dict:
    return GOOD | fields


def without(name) -> dict:
    return {key: value for key, value in GOOD.items() if key != name}


FITTING = [
    changed(),
    changed(id="a" * 64),
    changed(id="-"),
    changed(confidence=0),
    changed(confidence=3),
    changed(confidence=2.5),
    changed(problem="p" * 8192),
    changed(problem="表" * 2730),
    changed(strategy="s" * 4096),
    changed(teacher_model="m" * 512),
    changed(teacher_model=" Verbatim\n"),
    changed(teacher_model=None, signature=None, origin=None),
    changed(signature="x" * 4096),
    changed(origin="earned"),
    changed(origin="seeded"),
    changed(tenant="acme"),
    changed(ts=datetime(2026, 1, 1, tzinfo=UTC)),
    changed(problem="🙂 e\u0301 \u200f"),
]
UNFIT = [
    ("id", changed(id="a" * 65)),
    ("id", changed(id="")),
    ("id", changed(id="../x")),
    ("id", changed(id="a\n")),
    ("id", changed(id="é")),
    ("id", changed(id="a b")),
    ("id", changed(id=7)),
    ("id", without("id")),
    ("problem", changed(problem="p" * 8193)),
    ("problem", changed(problem="表" * 2731)),
    ("problem", changed(problem="")),
    ("problem", changed(problem=" \n\u3000")),
    ("problem", changed(problem="\u200b\ufeff")),
    ("problem", changed(problem="a\0b")),
    ("problem", changed(problem="a\ud800")),
    ("problem", changed(problem=None)),
    ("problem", changed(problem=b"bytes")),
    ("problem", without("problem")),
    ("strategy", changed(strategy="s" * 4097)),
    ("strategy", changed(strategy="\t")),
    ("strategy", changed(strategy=["x"])),
    ("strategy", without("strategy")),
    ("confidence", changed(confidence=-0.1)),
    ("confidence", changed(confidence=3.1)),
    ("confidence", changed(confidence=math.nan)),
    ("confidence", changed(confidence=math.inf)),
    ("confidence", changed(confidence=-math.inf)),
    ("confidence", changed(confidence=10**5000)),
    ("confidence", changed(confidence=True)),
    ("confidence", changed(confidence="2")),
    ("confidence", changed(confidence=Decimal(2))),
    ("confidence", changed(confidence=Decimal("NaN"))),
    ("confidence", without("confidence")),
    ("ts", changed(ts="2" * 65)),
    ("ts", changed(ts=1_700_000_000)),
    ("ts", without("ts")),
    ("teacher_model", changed(teacher_model="m" * 513)),
    ("teacher_model", changed(teacher_model=4)),
    ("teacher_model", changed(teacher_model="a\0")),
    ("signature", changed(signature="x" * 4097)),
    ("origin", changed(origin="Seeded")),
    ("origin", changed(origin="")),
    ("origin", changed(origin=[])),
    ("tenant", changed(tenant="")),
    ("tenant", changed(tenant=" acme")),
    ("tenant", changed(tenant=5)),
]


@pytest.mark.parametrize("value", FITTING, ids=lambda value: repr(value)[-40:])
def test_what_fits_has_no_issue_and_passes_the_door(value):
    assert shape_issue(value) is None
    assert validate_for_write(value, now=NOW).problem == value["problem"]


@pytest.mark.parametrize(("field", "value"), UNFIT, ids=range(len(UNFIT)))
def test_what_does_not_fit_is_named_and_refused_at_the_door(field, value):
    issue = shape_issue(value)

    assert issue is not None
    assert issue.startswith(f"{field}: ")
    with pytest.raises(ValidationFailed) as info:
        validate_for_write(value, now=NOW)
    assert list(info.value.errors) == [field]
    assert info.value.message == issue
    assert info.value.hint == HINTS[field]


def test_sizes_are_bytes_and_the_message_has_both_numbers():
    assert shape_issue(changed(problem="表" * 2731)) == "problem: 8,193 bytes; the limit is 8,192."


class Broken(dict):
    def get(self, *args):
        raise RuntimeError


class BadText:
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "junk", [None, [], 5, "text", b"", object(), {}, {1: 2}, Broken(), changed(origin=BadText())],
)  # fmt: skip
def test_junk_has_an_issue_and_raises_nothing(junk):
    assert isinstance(shape_issue(junk), str)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.decimals(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys([*GOOD, "origin", "tenant", "signature"], JUNK)) | JUNK
)
def test_shape_issue_never_raises(value):
    issue = shape_issue(value)

    assert issue is None or issue


@pytest.mark.parametrize(
    "ts", ["yesterday", "2999-01-01T00:00:00Z", "2026-01-01T00:00:00", "", datetime(2026, 1, 1)], ids=str
)
def test_the_shape_does_not_judge_the_value_of_ts(ts):
    assert shape_issue(changed(ts=ts)) is None


@pytest.mark.parametrize(
    ("ts", "issue"),
    [
        ("yesterday", "no ISO time"),
        ("", "no ISO time"),
        ("1700000000", "no ISO time"),
        ("2026-01-01T00:00:00", "no UTC offset"),
        ("2026-01-01", "no UTC offset"),
        (datetime(2026, 1, 1), "no UTC offset"),
        ("9999-12-31T23:59:59-23:59", "out of range in UTC"),
        ("0001-01-01T00:00:00+23:59", "out of range in UTC"),
        ("0001-01-01T23:59:59.999999Z", "before 0001-01-02"),
        (datetime.min.replace(tzinfo=UTC), "before 0001-01-02"),
        (NOW + timedelta(seconds=300, microseconds=1), "more than 5 minutes ahead"),
        ("2999-01-01T00:00:00Z", "more than 5 minutes ahead"),
    ],
    ids=str,
)
def test_the_door_judges_the_value_of_ts(ts, issue):
    with pytest.raises(ValidationFailed, match=issue) as info:
        validate_for_write(changed(ts=ts), now=NOW)

    assert list(info.value.errors) == ["ts"]


@pytest.mark.parametrize(
    ("ts", "stored"),
    [
        (NOW + timedelta(seconds=300), NOW + timedelta(seconds=300)),
        ("2026-06-01T14:00:00+02:00", NOW),
        ("2026-06-01T12:00:00.000001Z", NOW + timedelta(microseconds=1)),
        (datetime(2026, 6, 1, 7, tzinfo=timezone(timedelta(hours=-5))), NOW),
        ("1969-01-01T00:00:00Z", datetime(1969, 1, 1, tzinfo=UTC)),
        ("0001-01-02T00:00:00Z", datetime(1, 1, 2, tzinfo=UTC)),
    ],
    ids=str,
)
def test_a_time_is_stored_in_utc(ts, stored):
    ts = validate_for_write(changed(ts=ts), now=NOW).ts

    assert (ts, ts.tzinfo) == (stored, UTC)


def test_the_door_reads_the_clock_itself(now):
    assert validate_for_write(changed(ts=now + timedelta(minutes=5))).ts == now + timedelta(minutes=5)
    with pytest.raises(ValidationFailed):
        validate_for_write(changed(ts=now + timedelta(minutes=6)))


def test_the_door_reports_every_field_at_once():
    with pytest.raises(ValidationFailed) as info:
        validate_for_write({"id": "a b", "problem": "", "confidence": 4, "ts": "soon"}, now=NOW)

    assert info.value.errors == {
        "id": ["'a b' is no strategy id."],
        "problem": ["Blank."],
        "strategy": ["Missing."],
        "confidence": ["4 is not between 0 and 3."],
        "ts": ["'soon' is no ISO time."],
    }


def test_what_is_no_object_is_refused_at_the_door():
    with pytest.raises(ValidationFailed, match="Expected an object, found list"):
        validate_for_write([], now=NOW)


def test_a_checked_entry_has_plain_values():
    class Text(str):
        pass

    entry = validate_for_write(
        changed(problem=Text("p"), teacher_model=Text("m"), confidence=-0.0, origin=None), now=NOW
    )

    assert type(entry.problem) is type(entry.teacher_model) is str
    assert math.copysign(1, entry.confidence) == 1
    assert entry.origin == "earned"


@pytest.mark.parametrize("id", ["a", "A-9_z", "x" * 64])
def test_ids_match_the_grammar(id):
    assert STRATEGY_ID_RE.fullmatch(id)
    assert STRATEGY_ID_RE.match(id)


@pytest.mark.parametrize("id", ["", "a\n", "x" * 65, "é", "٣", "a.b"])
def test_other_ids_do_not(id):
    assert not STRATEGY_ID_RE.fullmatch(id)
    assert not STRATEGY_ID_RE.match(id)


def test_what_is_not_given_is_supplied():
    one, other = (complete({"problem": "p", "strategy": "s", "id": None}, now=NOW) for _ in range(2))

    assert one | {"id": ""} == {
        "id": "", "problem": "p", "strategy": "s", "confidence": 2, "ts": NOW, "origin": "earned",
    }  # fmt: skip
    assert one["id"] != other["id"]
    assert validate_for_write(one, now=NOW).id == one["id"]


def test_what_is_given_is_kept():
    assert complete(changed(confidence=0, origin="seeded"), now=NOW) == changed(confidence=0, origin="seeded")


@pytest.mark.parametrize("ts", ["yesterday", None, 5, "2026-01-01", datetime(2026, 1, 1)], ids=repr)
def test_a_stored_time_that_can_not_be_read_ranks_as_the_oldest(ts):
    assert read_ts(ts) == EPOCH


def test_a_stored_time_is_read_even_when_it_lies_ahead():
    assert read_ts("2999-01-01T00:00:00Z") == parse_ts("2999-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"problem": " "}, "problem"),
        ({"problem": None}, "problem"),
        ({"strategy": 5}, "strategy"),
        ({"strategy": "a\0"}, "strategy"),
        ({"confidence": 4}, "confidence"),
        ({"origin": "mine"}, "origin"),
        ({"id": 5}, "id"),
        ({"teacher_model": 5}, "teacher_model"),
    ],
)
def test_entries_of_older_shapes_need_what_the_rules_work_with(fields, field):
    with pytest.raises(ValidationFailed) as info:
        validate_loosely(changed(**fields))

    assert list(info.value.errors) == [field]


def test_constants_are_as_documented():
    assert (entry.MAX_PROBLEM_BYTES, entry.MAX_STRATEGY_BYTES, entry.MAX_TEACHER_MODEL_BYTES) == (
        8192,
        4096,
        512,
    )
    assert (entry.MAX_SIGNATURE_BYTES, entry.MAX_TS_BYTES, entry.INJECTION_BUDGET_BYTES) == (4096, 64, 16384)
    assert entry.MAX_TS_FUTURE.total_seconds() == 300
