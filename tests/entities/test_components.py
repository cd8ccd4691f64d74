"""The component schemas of an entity: defaults in the form that a body has."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import jsonschema  # type: ignore[import-untyped]
import pytest
from pydantic import BeforeValidator, Field, Json, PlainSerializer, model_serializer

from agentstore.entities import EntitySchema, UTCDateTime
from agentstore.entities.components import components_of
from agentstore.entities.options import EntityOptions
from tests.openapi import document


def _double(value: object) -> int:
    return int(str(value)) * 2


def defaults(schema):
    model = type("Model", (), {"Schema": schema, "entity": EntityOptions(name="things")})
    given = components_of(model)["ThingsData"]["properties"]
    return {key: part["default"] for key, part in given.items()}


def test_defaults_have_the_form_that_a_body_has():
    class Data(EntitySchema):
        code: Annotated[
            int, BeforeValidator(int, json_schema_input_type=str), PlainSerializer(str, return_type=str)
        ] = 7
        none: Annotated[int, PlainSerializer(str, return_type=str)] | None = None
        at: UTCDateTime = datetime(2026, 1, 1, tzinfo=UTC)
        plain: int = 3

    assert defaults(Data) == {
        "code": "7",
        "none": None,
        "at": "2026-01-01T00:00:00.000000Z",
        "plain": 3,
    }


@pytest.mark.filterwarnings("ignore::pydantic.json_schema.PydanticJsonSchemaWarning")
def test_a_default_that_is_no_value_yet_stays_as_it_is():
    class Data(EntitySchema):
        number: Annotated[int, PlainSerializer(_double)] = Field(default="x")

    assert defaults(Data) == {"number": "x"}


def test_every_default_in_the_document_fits_its_own_schema():
    components = document()["components"]

    for name, component in components["schemas"].items():
        for key, part in component.get("properties", {}).items():
            if "default" in part:
                whole = {**part, "components": components}
                assert jsonschema.Draft202012Validator(whole).is_valid(part["default"]), (name, key)


def test_json_inside_a_text_is_text_in_a_stored_row():
    class Data(EntitySchema):
        inside: Json[list[int]]

    model = type("Model", (), {"Schema": Data, "entity": EntityOptions(name="things")})

    stored = components_of(model)["ThingsStored"]["properties"]["inside"]

    assert stored == {"type": "string", "contentMediaType": "application/json"}


def test_a_serializer_of_the_schemas_own_may_leave_out_keys_of_a_stored_row():
    class Data(EntitySchema):
        text: str
        note: str | None = None

        @model_serializer(mode="wrap")
        def without_nulls(self, handler):
            return {key: value for key, value in handler(self).items() if value is not None}

    model = type("Model", (), {"Schema": Data, "entity": EntityOptions(name="things")})

    assert "required" not in components_of(model)["ThingsStored"]
    assert components_of(model)["ThingsData"]["required"] == ["text"]
