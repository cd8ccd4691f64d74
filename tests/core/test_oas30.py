"""The document of a project that asks for no version: drf-spectacular writes OpenAPI 3.0 then."""

from __future__ import annotations

import jsonschema  # type: ignore[import-untyped]
import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import patched_settings
from drf_spectacular.validation import validate_schema

from agentstore.core.oas30 import document_30, schema_30
from tests.openapi import document

REF = {"$ref": "#/components/schemas/Line"}
NULL = {"type": "null"}
NOTHING = {"type": "object", "nullable": True, "maxProperties": 0}


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": ["string", "null"], "maxLength": 3}, {"type": "string", "nullable": True, "maxLength": 3}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (NULL, NOTHING),
        ({**NULL, "description": "d"}, {**NOTHING, "description": "d"}),
        (
            {"anyOf": [{"type": "number"}, NULL], "default": 1},
            {"type": "number", "nullable": True, "default": 1},
        ),
        ({"anyOf": [REF, NULL]}, {"allOf": [REF], "nullable": True}),
        (
            {"anyOf": [{"type": "number"}, {"type": "string"}, NULL]},
            {"anyOf": [{"type": "number"}, {"type": "string"}], "nullable": True},
        ),
        ({"anyOf": [{"type": "number"}, REF]}, {"anyOf": [{"type": "number"}, REF]}),
        (
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        ),
        (
            {"type": "number", "exclusiveMaximum": 9},
            {"type": "number", "maximum": 9, "exclusiveMaximum": True},
        ),
        ({"const": "a"}, {"enum": ["a"]}),
        ({"type": "string", "contentMediaType": "application/zip"}, {"type": "string", "format": "binary"}),
        ({"type": "object", "propertyNames": {"pattern": "a"}}, {"type": "object"}),
        ({"type": "array", "items": {"const": 1}}, {"type": "array", "items": {"enum": [1]}}),
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
        (
            {"properties": {"const": {"const": 1}, "type": NULL, "examples": {"type": "string"}}},
            {"properties": {"const": {"enum": [1]}, "type": NOTHING, "examples": {"type": "string"}}},
        ),
    ],
    ids=str,
)
def test_a_schema_is_said_in_the_words_of_30(schema, found):
    assert schema_30(schema) == found


def test_of_an_operation_the_schemas_change_and_nothing_else():
    operation = {"parameters": [{"name": "const", "schema": {"const": 1}}], "const": {"type": ["a", "null"]}}

    assert document_30(operation) == {
        "parameters": [{"name": "const", "schema": {"enum": [1]}}],
        "const": {"type": ["a", "null"]},
    }


def test_the_document_is_valid_without_warnings_where_no_version_is_asked_for(capsys):
    GENERATOR_STATS.reset()

    with patched_settings({"OAS_VERSION": "3.0.3"}):
        found = SchemaGenerator().get_schema(request=None, public=True)
        validate_schema(found)

    assert found["openapi"] == "3.0.3"
    assert not GENERATOR_STATS
    assert capsys.readouterr().err == ""
    assert found["paths"].keys() == document()["paths"].keys()
    assert found["components"]["schemas"].keys() >= document()["components"]["schemas"].keys()


def test_where_31_is_asked_for_its_own_words_stay():
    order = document()["components"]["schemas"]["TasksQuery.order_by"]

    assert order["type"] == ["string", "null"]
    assert jsonschema.Draft202012Validator(order).is_valid(None)
