"""Definitions of an entity with every shape that a schema can have, and arguments that follow them."""

import json

import pytest
from anthropic.types import ToolParam
from django.test.utils import isolate_apps
from google.genai.types import FunctionDeclaration
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.types import Tool as McpTool
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from agentstore.core.errors import ValidationFailed
from agentstore.entities import EntityModel
from agentstore.entities.reading import codec_of
from agentstore.tools import toolset
from agentstore.tools.arguments import check_arguments
from agentstore.tools.spec import DIALECTS
from tests.tools.checker import problems
from tests.tools.shapes import FULL, Shapes, Tree, deep, many_kinds

TYPES = {
    "openai": FunctionToolParam,
    "openai_chat": ChatCompletionFunctionToolParam,
    "anthropic": ToolParam,
    "gemini": FunctionDeclaration,
    "mcp": McpTool,
}


@pytest.fixture(scope="module")
def model():
    with isolate_apps("tests.testapp"):

        class Shape(EntityModel):
            """Rows of every shape."""

            Schema = Shapes

            class Entity:
                name = "shapes"
                indexes = ["colour", "day", "at", "share", "type"]

            class Meta:
                app_label = "testapp"

    return Shape


@pytest.fixture
def make(model, tenant):
    def build(**options):
        return toolset(tenant, entities=[model], **options)

    return build


def tool_named(tools, name):
    return next(tool for tool in tools if tool.name == name)


def parts(definition):
    function = definition.get("function", definition)
    schemas = ("parameters", "input_schema", "inputSchema")
    return function["name"], next(function[key] for key in schemas if key in function)


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_shape_keeps_the_vendors_rules(make, dialect, generic, strict):
    for definition in make(strict=strict, generic=generic).definitions(dialect):
        name, schema = parts(definition)
        assert problems(name, schema, strict=strict, dialect=dialect) == []


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_vendors_own_types_take_every_shape(make, dialect, strict):
    adapter = TypeAdapter(TYPES[dialect])

    for definition in make(strict=strict).definitions(dialect):
        adapter.validate_python(definition)


def test_the_schema_takes_what_the_store_takes(make, model):
    schema = tool_named(make(), "shapes_create").input_schema
    encoded = codec_of(model).encode(FULL, max_bytes=100_000, max_depth=20)[1].value

    for data in (FULL, encoded, {"text": "a"}):
        assert [error.message for error in Draft202012Validator(schema).iter_errors({"data": data})] == []


def test_a_field_that_is_named_like_a_keyword_stays(make):
    for dialect in DIALECTS:
        definition = make().definitions(dialect)[2]
        properties = parts(definition)[1]["properties"]["data"]["properties"]
        assert {"additionalProperties", "type", "properties"} <= properties.keys()


def test_a_schema_that_holds_itself_is_open_below(tenant):
    with isolate_apps("tests.testapp"):

        class Branch(EntityModel):
            """Trees."""

            Schema = Tree

            class Entity:
                name = "branches"

            class Meta:
                app_label = "testapp"

    for dialect in DIALECTS:
        for definition in toolset(tenant, entities=[Branch]).definitions(dialect):
            assert problems(*parts(definition), strict=False, dialect=dialect) == []
    properties = tool_named(toolset(tenant, entities=[Branch]), "branches_create").input_schema["properties"]
    below = properties["data"]["properties"]["below"]["items"]["properties"]["below"]
    assert below["items"] == {
        "type": "object", "additionalProperties": True, "description": "An object as above: Tree.",
    }  # fmt: skip


@pytest.fixture
def made_of(tenant):
    """Return a function that makes the tools of an entity of a schema."""

    def build(schema, **options):
        with isolate_apps("tests.testapp"):

            class Made(EntityModel):
                """Rows."""

                Schema = schema

                class Entity:
                    name = "mades"

                class Meta:
                    app_label = "testapp"

        return toolset(tenant, entities=[Made], **options)

    return build


@pytest.mark.parametrize("count", [3, 7, 12])
@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
def test_models_that_hold_each_other_do_not_make_a_schema_explode(made_of, count, strict):
    tools = made_of(many_kinds(count), strict=strict)

    for dialect in DIALECTS:
        definitions = tools.definitions(dialect)
        assert len(json.dumps(definitions)) < 200_000
        for definition in definitions:
            assert problems(*parts(definition), strict=strict, dialect=dialect) == []
    rule = {
        "kind": "Kind0",
        "items": [{"kind": "Kind1", "items": [{"kind": "Kind2", "items": [{"kind": "Kind0"}]}]}],
    }
    data = json.dumps({"rule": rule}) if strict else {"rule": rule}
    arguments = check_arguments(tool_named(tools, "mades_create"), {"data": data}, strict=strict)
    assert arguments == {"data": {"rule": rule}}


def test_no_more_levels_of_objects_are_shown_than_openai_takes(made_of):
    tools = made_of(deep(12), strict=True)

    shown, levels = parts(tools.definitions("openai")[2])[1], 0
    while "properties" in shown:
        shown, levels = next(iter(shown["properties"].values())), levels + 1

    assert levels == 10
    assert shown == {"type": "string", "description": "An object: Level2. As JSON text."}


def test_what_a_variant_can_not_say_stands_in_its_descriptions(make):
    strict = parts(make(strict=True).definitions("openai")[2])[1]["properties"]["data"]["properties"]
    gemini = parts(make().definitions("gemini")[2])[1]["properties"]["data"]["properties"]

    assert strict["text"] == {
        "type": "string", "description": "A word. (pattern ^[a-z], minLength 1, maxLength 5)",
    }  # fmt: skip
    assert strict["day"]["anyOf"][0] == {"type": "string", "format": "date"}
    assert gemini["level"] == {"type": "integer", "description": "How loud. (enum 1, 2)"}
    assert gemini["blank"] == {"type": "string", "description": '(enum "", a)'}
    assert gemini["figure"]["anyOf"][0]["description"] == "What is drawn."
    assert [option.get("nullable") for option in gemini["figure"]["anyOf"]] == [True, None]
    assert "nullable" not in gemini["maps"] and "nullable" not in gemini["same"]
    assert gemini["day"] == {"type": "string", "description": "(format date)", "nullable": True}
    assert gemini["counts"] == {"type": "string", "description": "An object. As JSON text."}


def test_in_the_strict_variant_objects_begin_with_what_tells_them_apart(make):
    strict = parts(make(strict=True).definitions("openai")[2])[1]["properties"]["data"]["properties"]

    circle, square, nothing = strict["figure"]["anyOf"]
    assert [list(part["properties"]) for part in (circle, square)] == [["shape", "size"]] * 2
    assert circle["properties"]["shape"] == {"type": "string", "enum": ["circle"]}
    assert nothing == {"type": "null"}
    person, firm, _ = strict["party"]["anyOf"]
    assert (next(iter(person["properties"])), next(iter(firm["properties"]))) == ("age", "name")


# --- arguments ------------------------------------------------------------------------------------


@pytest.fixture
def checked(make):
    """Check the data of a create as a call does."""

    def check(data, *, strict=False):
        tools = make(strict=strict)
        return check_arguments(tool_named(tools, "shapes_create"), {"data": data}, strict=strict)["data"]

    return check


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
def test_arguments_that_fit_come_through_as_they_are(checked, strict):
    given = {key: value for key, value in FULL.items() if value is not None}
    given["node"] = {"size": 2, "parent": {"size": 4}}

    assert checked(given, strict=strict) == given


@pytest.mark.parametrize(
    "key", ["node", "nodes", "pets", "counts", "by_name", "pair", "words", "table", "things", "odd", "odds"]
)
def test_an_object_or_list_inside_may_come_as_json_text(checked, key):
    assert checked({"text": "a", key: json.dumps(FULL[key])}) == {"text": "a", key: FULL[key]}


def test_json_text_inside_of_json_text_is_parsed_too(checked):
    nodes = [json.dumps({"size": 2, "parent": json.dumps({"size": 4})})]

    assert checked({"nodes": json.dumps(nodes)}) == {"nodes": [{"size": 2, "parent": {"size": 4}}]}


@pytest.mark.parametrize("key", ["text", "type", "union", "anything", "amount"])
@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "{"])
def test_where_a_text_is_allowed_it_stays_one(checked, key, text):
    assert checked({key: text}) == {key: text}


def test_text_is_not_parsed_twice(checked):
    twice = json.dumps(json.dumps({"size": 2}))

    assert checked({"node": twice}) == {"node": twice}


@pytest.mark.parametrize("key", ["counts", "by_name", "anything", "odd"])
def test_in_the_strict_variant_open_objects_come_as_text(checked, key):
    assert checked({key: json.dumps(FULL[key])}, strict=True) == {key: FULL[key]}


def test_broken_json_text_is_told_with_its_path(checked):
    with pytest.raises(ValidationFailed) as caught:
        checked({"nodes": [{"size": 2}, '{"size": ']})

    assert list(caught.value.errors) == ["data.nodes.1"]


def test_in_the_strict_variant_nulls_are_left_out_at_every_depth(checked):
    given = dict.fromkeys(FULL) | {"text": "a", "nodes": [{"size": 2, "parent": None}]}

    assert checked(given, strict=True) == {"text": "a", "nodes": [{"size": 2}]}
    assert checked(json.dumps(given), strict=True) == {"text": "a", "nodes": [{"size": 2}]}
    assert checked({"nodes": json.dumps(given["nodes"])}, strict=True) == {"nodes": [{"size": 2}]}


@pytest.mark.parametrize(
    "data",
    [
        {"party": {"name": "a", "age": None}},
        {"counts": {"a": None}},
        {"anything": {"a": None}},
        {"things": [None]},
    ],
    ids=lambda data: next(iter(data)),
)
def test_in_the_strict_variant_a_null_that_can_only_be_a_value_is_one(checked, data):
    assert checked(data, strict=True) == data
    assert checked(json.dumps(data), strict=True) == data


def test_json_text_is_parsed_in_the_values_of_a_mapping_too(checked):
    assert checked({"by_name": {"a": '{"size": 2}'}}) == {"by_name": {"a": {"size": 2}}}


@pytest.mark.parametrize("key", ["table", "things", "nodes", "counts"])
@pytest.mark.parametrize("depth", [65, 300, 100_000])
def test_json_text_that_is_nested_too_deeply_is_told_with_its_path(checked, key, depth):
    with pytest.raises(ValidationFailed) as caught:
        checked({key: "[" * depth + "]" * depth})

    assert next(iter(caught.value.errors)) == f"data.{key}"


@pytest.mark.parametrize("number", [3, 3.0])
def test_a_whole_number_is_an_integer(make, number):
    arguments = check_arguments(tool_named(make(), "shapes_query"), {"limit": number}, strict=False)

    assert arguments == {"limit": 3} and type(arguments["limit"]) is int


@pytest.mark.parametrize(
    "key", ["level", "nodes", "counts", "by_name", "table", "many", "additionalProperties"]
)
def test_a_whole_number_is_an_integer_at_every_depth(checked, key):
    """Some vendors send every number as a float."""
    floats = json.loads(json.dumps(FULL[key]), parse_int=float)

    assert floats == FULL[key] and "." in json.dumps(floats)
    assert json.dumps(checked({key: floats})[key]) == json.dumps(FULL[key])


@pytest.mark.parametrize("key", ["share", "anything", "things", "above"])
def test_where_a_fraction_is_allowed_a_float_stays_one(checked, key):
    value = [1.0] if key == "things" else 1.0

    assert json.dumps(checked({key: value})[key]) == json.dumps(value)


def test_what_is_no_whole_number_is_left_to_the_schema(checked):
    assert checked({"level": 1.5, "counts": {"a": 1e300}}) == {"level": 1.5, "counts": {"a": int(1e300)}}


def test_a_whole_number_inside_is_an_integer_where_only_those_fit(checked):
    found = checked({"node": {"size": 2.0}, "many": [1.0, 2.5], "share": 1.0, "anything": 1.0})

    assert json.dumps(found) == '{"node": {"size": 2}, "many": [1, 2.5], "share": 1.0, "anything": 1.0}'


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"limit": 3.5}, "Expected integer, found number."),
        ({"limit": "3"}, "Expected integer, found string."),
        ({"limit": True}, "Expected integer, found boolean."),
        ({"filter": "[]"}, "Expected object, found array."),
        ({"filter": 1}, "Expected object, found integer."),
        ({"cursor": True}, "Expected string, found boolean."),
    ],
    ids=str,
)
def test_a_wrong_type_says_what_is_expected(make, arguments, problem):
    with pytest.raises(ValidationFailed) as caught:
        check_arguments(tool_named(make(), "shapes_query"), arguments, strict=False)

    assert list(caught.value.errors.values()) == [[problem]]
