"""What OpenAPI says of a filter in a body is what the store takes, neither more nor less."""

from __future__ import annotations

import jsonschema  # type: ignore[import-untyped]
import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.entities.codec import Codec
from agentstore.entities.components import components_of
from agentstore.entities.fields import fields_of
from agentstore.entities.filter_schemas import filter_parameters, filter_schema, orderable
from agentstore.entities.options import EntityOptions
from agentstore.entities.query import operators_of, parse_filter
from agentstore.entities.schema import EntitySchema
from agentstore.tools.entity_schemas import EntitySchemas
from tests.testapp.models import Odd, Plain, Small, Task

TAKEN = [
    {},
    {"text": "a", "done": True, "priority": 3, "score": 1},
    {"text": None, "priority": None, "priority__ne": None},
    {"priority": [1], "text": {"a": 1}, "priority__in": [1, None, [2]]},
    {"channel": "call", "channel__in": ["email"], "day__gte": "2026-01-31"},
    {"due_at__lt": "2026-01-31T09:00:00Z", "due_at__isnull": True},
    {"text__startswith": "", "text__icontains": "x", "text__contains": "%"},
    {"tags": ["x"], "tags__contains": {"any": ["thing"]}, "address": {"city": "c"}, "lines": None},
    {"text__in": []},
    {
        "id": "01a22bce-2930-70ad-9ae0-22bf66b66735",
        "version__gt": 1,
        "created_at__lte": "2026-01-31T09:00:00Z",
    },
]
REFUSED = [
    {"nope": 1},
    {"text__nope": "a"},
    {"priority": "3"},
    {"priority": True},
    {"done": 1},
    {"score": "1"},
    {"channel": "pigeon"},
    {"day": 5},
    {"due_at": 5},
    {"text": 5},
    {"text": "\0"},
    {"priority__lt": None},
    {"priority__ne": [1]},
    {"priority__in": 1},
    {"priority__in": list(range(101))},
    {"text__startswith": None},
    {"text__isnull": "true"},
    {"tags": "x"},
    {"address": 5},
    {"version": "1"},
    {"id": 5},
    {"created_at": 5},
]


def validator(model):
    components = components_of(model)
    prefix = next(name.removesuffix("Filter") for name in components if name.endswith("Filter"))
    schema = {"$ref": f"#/components/schemas/{prefix}Filter", "components": {"schemas": components}}
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


@pytest.mark.parametrize("filter", TAKEN, ids=range(len(TAKEN)))
def test_what_the_schema_allows_the_store_takes(filter):
    validator(Task).validate(filter)

    assert len(parse_filter(filter, fields_of(Task.Schema))) == len(filter)


@pytest.mark.parametrize("filter", REFUSED, ids=range(len(REFUSED)))
def test_what_the_store_refuses_the_schema_does_not_allow(filter):
    assert not validator(Task).is_valid(filter)

    with pytest.raises(ValidationFailed):
        parse_filter(filter, fields_of(Task.Schema))


@pytest.mark.parametrize("model", [Task, Odd, Plain, Small], ids=lambda model: model.__name__)
def test_every_operator_that_is_listed_is_one(model):
    listed = components_of(model)
    (schema,) = (part for name, part in listed.items() if name.endswith("Filter"))
    fields = fields_of(model.Schema)

    for name in schema["properties"]:
        key, _, op = name.partition("__")
        if key in fields:
            assert (op or "eq") in operators_of(fields[key])
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_field_whose_values_no_schema_describes_exactly_is_listed_for_null_only():
    (schema,) = (part for name, part in components_of(Odd).items() if name.endswith("Filter"))

    assert [name for name in schema["properties"] if name.startswith("amount")] == ["amount__isnull"]
    assert "madeBy" in schema["properties"]


@pytest.mark.parametrize("text", ["1.50", "-.5", "7."])
def test_a_decimal_in_the_query_string_may_be_what_its_pattern_says(text):
    assert in_query(Odd, "amount").is_valid(text)
    assert parse_filter({"amount": text}, fields_of(Odd.Schema))


@pytest.mark.parametrize("text", ["±", "", "soon"])
def test_a_decimal_in_the_query_string_may_be_nothing_else(text):
    assert not in_query(Odd, "amount").is_valid(text)
    with pytest.raises(ValidationFailed):
        parse_filter({"amount": text}, fields_of(Odd.Schema))


def in_query(model, name):
    (parameter,) = (found for found in filter_parameters(model) if found["name"] == name)
    return jsonschema.Draft202012Validator(parameter["schema"])


class Shadowed(EntitySchema):
    """Fields that share their names with the row's own columns, which those names mean in a filter."""

    id: str = ""
    version: str = ""
    created_at: str | None = None
    updated_at: list[str] = []
    name: str = ""


def shadowed():
    return type(
        "Model", (), {"Schema": Shadowed, "entity": EntityOptions(name="shadows", indexes=("version",))}
    )


def test_a_filter_is_listed_once_and_takes_what_the_store_takes_by_that_name():
    names = [parameter["name"] for parameter in filter_parameters(shadowed())]
    properties = filter_schema(shadowed())["properties"]

    assert len(set(names)) == len(names)
    assert "version__startswith" not in [*names, *properties]
    assert properties["version"] == {"type": "integer"}


def test_an_order_is_listed_once():
    assert len(set(orderable(shadowed()))) == len(orderable(shadowed()))


def test_a_tool_lists_a_filter_and_an_order_as_the_store_takes_them():
    schemas = EntitySchemas(Codec(Shadowed, "shadows", ["version", "created_at"]), ["version", "created_at"])

    assert set(schemas.filter["properties"]) == {"name"}
    assert len(set(schemas.order["enum"])) == len(schemas.order["enum"])
