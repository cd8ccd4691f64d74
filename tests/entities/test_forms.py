"""``SchemaForm`` without a database: what it shows, what counts as a change, what it makes of texts."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from django.template.loader import render_to_string
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, RootModel

from agentstore.core.guards import dump_json
from agentstore.entities import EntitySchema, UTCDateTime
from agentstore.entities.forms import SchemaForm
from tests.browser import read_form
from tests.testapp.models import Line, Odd, TaskData

TASK: dict[str, Any] = {
    "text": "Call Bo",
    "due_at": "2026-12-02T09:00:00.000000Z",
    "done": True,
    "priority": 3,
    "score": 1.5,
    "channel": "call",
    "day": "2026-12-02",
    "tags": ["piano", "two-person lift"],
    "address": {"street": "Old Quay 14", "city": "Tannhollow"},
    "lines": [{"sku": "PN-1", "quantity": 1}, {"sku": "BX-2", "quantity": 40}],
}


def shown(schema, document, **texts):
    """Return what a browser posts for the form of ``document``, with some inputs filled in anew."""
    form = SchemaForm(schema, document)
    html = "".join(render_to_string(field.template, {"field": field}) for field in form)
    return {**read_form(html), **{f"data.{name}": text for name, text in texts.items()}}


def edited(document, *, without=(), schema=TaskData, **texts):
    """Return the bound form after somebody filled in ``texts`` and cleared the boxes in ``without``."""
    posted = shown(schema, document, **texts)
    for name in without:
        del posted[f"data.{name}"]
    return SchemaForm(schema, document, posted)


def test_the_widgets_follow_the_schema():
    form = SchemaForm(TaskData, TASK)

    widgets = {field.path: getattr(field, "widget", type(field).__name__) for field in form}

    assert widgets == {
        "text": "textarea", "due_at": "moment", "done": "checkbox", "priority": "input", "score": "input",
        "channel": "select", "day": "input", "tags": "textarea", "address": "Group", "lines": "Table",
    }  # fmt: skip


def test_a_table_has_one_spare_row():
    table = SchemaForm(TaskData, TASK)["lines"]

    assert [row.spare for row in table.rows] == [False, False, True]


def test_a_form_that_nobody_touched_changes_nothing():
    form = edited(TASK)

    assert form.touched == []
    assert not form.changes


def test_only_changed_fields_are_sent():
    form = edited(TASK, **{"text": "Call Cy", "priority": "4"})

    assert form.changes.patch == {"text": "Call Cy", "priority": 4}


@pytest.mark.parametrize(
    ("texts", "patch"),
    [
        ({"due_at.time": "14:00"}, {"due_at": "2026-12-02T13:00:00.000000Z"}),
        ({"due_at.date": "", "due_at.time": ""}, {"due_at": None}),
        ({"score": ""}, {"score": None}),
        ({"score": "2"}, {"score": 2}),
        ({"score": "1e3"}, {"score": 1000.0}),
        ({"score": "abc"}, {"score": "abc"}),
        ({"priority": " 07 "}, {"priority": 7}),
        ({"channel": "chat"}, {"channel": "chat"}),
        ({"channel": "fax"}, {"channel": "fax"}),
        ({"day": "2026-12-03"}, {"day": "2026-12-03"}),
        ({"day": "soon"}, {"day": "soon"}),
        ({"tags": "piano\r\n\r\n  ground floor "}, {"tags": ["piano", "ground floor"]}),
        ({"tags": ""}, {"tags": []}),
        ({"text": ""}, {"text": ""}),
        ({"text": "one\r\ntwo"}, {"text": "one\ntwo"}),
        ({"address.city": ""}, {"address": {"street": "Old Quay 14", "city": ""}}),
        ({"address:none": "1"}, {"address": None}),
        ({"lines.1.quantity": "20"}, {"lines": [TASK["lines"][0], {"sku": "BX-2", "quantity": 20}]}),
        ({"lines.2.sku": "ST-9"}, {"lines": [*TASK["lines"], {"sku": "ST-9"}]}),
        ({"lines.0:delete": "1"}, {"lines": [TASK["lines"][1]]}),
    ],
)
def test_a_changed_text_becomes_its_value(texts, patch):
    assert edited(TASK, **texts).changes.patch == patch


def test_a_box_that_was_cleared_is_a_no():
    assert edited(TASK, without=["done"]).changes.patch == {"done": False}


def test_an_input_that_was_not_posted_is_not_touched():
    form = SchemaForm(TaskData, TASK, {"data.text": "Call Cy"})

    assert form.changes.patch == {"text": "Call Cy"}


def test_an_emptied_field_goes_back_to_its_default():
    form = edited(TASK, priority="")

    assert form.changes.patch == {}
    assert form.changes.unset == ("priority",)


def test_a_required_field_can_not_be_emptied():
    class Schema(EntitySchema):
        n: int

    form = edited({"n": 3}, schema=Schema, n="")

    assert not form.changes
    assert form["n"].errors == ["This field is required."]


def test_changed_text_keeps_the_line_ends_that_it_had():
    form = edited({**TASK, "text": "one\r\ntwo"}, text="one\r\ntwo\r\nthree")

    assert form.changes.patch == {"text": "one\r\ntwo\r\nthree"}


def test_a_boolean_that_may_be_null_is_unknown_yes_or_no():
    class Schema(EntitySchema):
        asked: bool | None = None

    form = SchemaForm(Schema, {"asked": None})

    assert [(option["label"], option["selected"]) for option in form["asked"].options] == [
        ("Unknown", True), ("Yes", False), ("No", False),
    ]  # fmt: skip
    assert edited({"asked": None}, schema=Schema, asked="false").changes.patch == {"asked": False}
    assert edited({"asked": True}, schema=Schema, asked="").changes.patch == {"asked": None}


def test_choices_that_are_no_text_keep_their_type():
    class Schema(EntitySchema):
        level: Literal[1, 2] = 1

    assert edited({"level": 1}, schema=Schema, level="2").changes.patch == {"level": 2}


def test_what_lies_deeper_is_json_text():
    class Part(EntitySchema):
        sizes: list[int] = []

    class Schema(EntitySchema):
        parts: list[Part] = []
        meta: dict[str, int] = {}

    form = SchemaForm(Schema, {"parts": [{"sizes": [1, 2]}], "meta": {"a": 1}})

    assert form["parts"].rows[0].parts[0].shape.kind == "json"
    assert form["meta"].text == '{\n  "a": 1\n}'


def test_a_model_that_is_stored_as_what_it_holds_is_json_text():
    class Prices(RootModel[dict[str, int]]):
        """Prices by name."""

    class Schema(EntitySchema):
        prices: Prices = Prices({})
        lists: list[Prices] = []

    form = SchemaForm(Schema, {"prices": {"a": 1}, "lists": []})

    assert {field.path: field.shape.kind for field in form} == {"prices": "json", "lists": "json"}
    assert form["prices"].text == '{\n  "a": 1\n}'


def test_a_schema_that_nests_itself_has_a_form():
    form = SchemaForm(Tree, {"name": "a", "children": [{"name": "b", "children": []}]})

    assert form["children"].rows[0].parts[1].shape.kind == "json"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "The text is not JSON"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ("NaN", "not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=["words", "keys", "nan", "deep"],
)
def test_text_that_is_no_json_is_an_error_at_its_field(text, message):
    form = edited({"meta": {"a": 1}}, schema=Odd.Schema, **{"meta:json": text})

    assert not form.changes
    assert message in form["meta"].errors[0]


@pytest.mark.parametrize("text", ["", "null"])
def test_json_text_that_is_nothing_is_null_where_that_is_allowed(text):
    form = edited({"anything": [1]}, schema=Odd.Schema, **{"anything:json": text})

    assert form.changes.patch == {"anything": None}


def test_a_nested_object_that_is_not_there_stays_away_until_something_is_typed():
    document = {**TASK, "address": None}

    assert not edited(document).changes
    assert edited(document, **{"address.street": "Pier 1"}).changes.patch == {"address": {"street": "Pier 1"}}


class Asked(EntitySchema):
    """Fields that have to be there: what was left empty in the form of a new row is what they are."""

    class Place(EntitySchema):
        city: str = "Tannhollow"
        floor: int | None

    text: str
    owner: str | None
    n: int | None
    sure: bool | None
    due_at: UTCDateTime | None
    tags: list[str]
    notes: list[str] | None
    anything: Any
    place: Place
    second: Place | None
    lines: list[Line]
    rest: list[Line] | None


#: What a form that shows them empty says, but for the text: whoever leaves that out forgot it.
EMPTY: dict[str, Any] = {
    "owner": None, "n": None, "sure": None, "due_at": None, "tags": [], "notes": None, "anything": None,
    "place": {"floor": None}, "second": None, "lines": [], "rest": None,
}  # fmt: skip


def test_what_a_new_row_must_have_and_was_left_empty_is_sent_empty():
    form = SchemaForm(Asked, None, shown(Asked, None, text="Call Bo"))

    assert form.changes.patch == {"text": "Call Bo", **EMPTY}
    assert Asked.model_validate_json(dump_json(form.changes.patch)).place.city == "Tannhollow"


def test_an_input_that_was_not_posted_is_not_sent_empty():
    assert SchemaForm(Asked, None, {"data.text": "Call Bo"}).changes.patch == {"text": "Call Bo"}


def test_what_an_older_row_lacks_is_sent_empty_with_the_next_change():
    older = {"text": "Call Bo", "tags": ["piano"]}

    assert not edited(older, schema=Asked).changes
    changed = edited(older, schema=Asked, text="Call Cy").changes.patch
    assert changed == {"text": "Call Cy", **{key: EMPTY[key] for key in EMPTY if key != "tags"}}


def test_what_a_row_of_a_table_must_have_and_was_left_empty_is_null():
    class Stop(EntitySchema):
        city: str
        floor: int | None

    class Route(EntitySchema):
        stops: list[Stop] = []

    form = edited({"stops": []}, schema=Route, **{"stops.0.city": "Tannhollow"})

    assert form.changes.patch == {"stops": [{"city": "Tannhollow", "floor": None}]}


def test_rows_that_were_emptied_are_left_out():
    form = edited(TASK, **{"lines.0.sku": "", "lines.0.quantity": ""})

    assert form.changes.patch == {"lines": [TASK["lines"][1]]}


def test_errors_of_the_store_stand_at_their_inputs():
    form = edited(TASK, **{"lines.0:delete": "1", "lines.2.sku": "ST-9"})

    form.attach(
        {"lines.1.sku": ["too short"], "address.city": ["no such place"], "tags.1": ["bad"], "": ["odd"]}
    )

    assert form["lines"].rows[2].parts[0].errors == ["too short"]  # the second of those that were sent
    assert form["address"].parts[1].errors == ["no such place"]
    assert form["tags"].errors == ["Line 2: bad"]
    assert form.errors == ["odd"]
    assert form.error_count == 4


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tags", "no list"), ("tags", ["two\nlines"]), ("tags", [1, None]), ("lines", {"sku": 1}),
        ("lines", ["PN-1"]), ("address", [1]), ("priority", "many"), ("done", "maybe"), ("due_at", "soon"),
        ("due_at", 5), ("channel", "fax"), ("text", 7), ("day", {"a": 1}),
    ],
)  # fmt: skip
def test_a_value_that_is_not_allowed_is_shown_and_stays_as_it_is(key, value):
    document = {**TASK, key: value}

    form = edited(document)

    assert not form.changes
    assert edited(document, priority="9").changes.patch == {"priority": 9}


def test_a_spoiled_table_can_be_repaired_as_json():
    form = edited({**TASK, "lines": "none"}, **{"lines:json": "[]"})

    assert form.changes.patch == {"lines": []}


def test_a_huge_table_is_edited_as_json():
    """Django takes at most 1,000 inputs a form."""
    lines = [{"sku": f"S-{number}", "quantity": number} for number in range(600)]

    form = edited({**TASK, "lines": lines})

    assert form["lines"].shape.kind == "json"
    assert not form.changes


def test_a_script_in_a_value_is_inert():
    html = "".join(
        render_to_string(field.template, {"field": field})
        for field in SchemaForm(
            TaskData, {**TASK, "text": "</textarea><script>x</script>", "tags": ["<script>"]}
        )
    )

    assert "<script>" not in html


def test_a_row_with_what_no_page_can_carry_is_shown():
    form = edited({**TASK, "text": "half \ud800 and \0"})

    assert form["text"].text == "half \\ud800 and \\0"
    assert not form.changes


class Tree(EntitySchema):
    name: str
    children: list[Tree] = []


class Money(EntitySchema):
    amount: Decimal
    at: UTCDateTime | None = None
    note: str = Field(default="", max_length=2000)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
MOMENTS = st.datetimes(timezones=st.just(timezone.get_fixed_timezone(0))).map(
    lambda moment: moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
LINE = st.fixed_dictionaries({"sku": TEXTS, "quantity": st.integers()})
DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXTS | JSON,
        "due_at": MOMENTS | JSON,
        "done": st.booleans() | JSON,
        "priority": st.integers() | JSON,
        "score": st.floats(allow_nan=False, allow_infinity=False) | JSON,
        "channel": st.sampled_from(["call", "email", "chat"]) | JSON,
        "day": st.dates().map(str) | JSON,
        "tags": st.lists(TEXTS, max_size=3) | JSON,
        "address": st.fixed_dictionaries({"street": TEXTS, "city": TEXTS}) | JSON,
        "lines": st.lists(LINE, max_size=3) | JSON,
    },
)


@given(DOCUMENT)
@settings(max_examples=150, deadline=None)
def test_no_document_whatever_is_changed_by_an_untouched_save(document):
    form = edited(document)

    assert form.touched == []


@given(MOMENTS, st.decimals(allow_nan=False, allow_infinity=False).map(str), TEXTS)
@settings(max_examples=100, deadline=None)
def test_changing_one_field_leaves_the_others_to_the_digit(moment, amount, note):
    document = {"amount": amount, "at": moment, "note": note}

    form = edited(document, schema=Money, note="another note")

    assert set(form.changes.patch) <= {"note"}


class Tag(StrEnum):
    RED = "red"


class Odd_(EntitySchema):
    key: int = Field(default=0, alias="a-b")


class Rest(EntitySchema):
    numbers: list[int] = []
    colours: list[Tag] = []
    mixed: list[int | str] = []
    truth: Literal[True] = True
    strange: Annotated[Odd_ | None, "mark"] = None
    place: Annotated[Line | None, "mark"] = None
    thing: str = "a\0b"
    made: list[str] = Field(default_factory=list)
    marked: list[Annotated[Line, "mark"]] = []


def test_the_rarer_types_have_widgets_too():
    kinds = {field.path: field.shape.kind for field in SchemaForm(Rest)}

    assert kinds == {
        "numbers": "lines", "colours": "lines", "mixed": "json", "truth": "boolean", "strange": "json",
        "place": "group", "thing": "text", "made": "lines", "marked": "table",
    }  # fmt: skip


def test_numbers_stand_one_per_line():
    form = edited({"numbers": [1, 20]}, schema=Rest, numbers="1\r\n20\r\n300")

    assert form.changes.patch == {"numbers": [1, 20, 300]}
    assert SchemaForm(Rest, {"numbers": [1, True]})["numbers"].shape.kind == "json"


def test_lines_that_were_posted_count_though_the_value_is_shown_as_json_now():
    """The value became one that lines can't show while the form was open."""
    posted = shown(TaskData, TASK, tags="piano\r\nmine")

    form = SchemaForm(TaskData, {**TASK, "tags": ["two\nlines"]}, posted)

    assert form["tags"].shape.kind == "lines"
    assert form.changes.patch == {"tags": ["piano", "mine"]}


def test_errors_of_a_whole_group_or_table_stand_above_it():
    form = SchemaForm(TaskData, TASK)

    form.attach(
        {"address": ["not there"], "lines": ["too many"], "lines.9.sku": ["gone"], "ghost.x": ["odd"]}
    )

    assert form["address"].errors == ["not there"]
    assert form["lines"].errors == ["too many", "9.sku: gone"]
    assert form.errors == ["ghost.x: odd"]
