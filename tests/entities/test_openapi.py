"""The OpenAPI of the entities: complete, valid, without warnings, and true to what the views do."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Annotated

import jsonschema  # type: ignore[import-untyped]
import pytest
from django.core.management import call_command
from django.urls import include, path, resolve
from drf_spectacular.generators import SchemaGenerator
from pydantic import Field, computed_field

from agentstore.core.openapi import StoreAutoSchema
from agentstore.entities import EntitySchema
from agentstore.entities.api import making
from agentstore.entities.components import components_of, prefix_of
from agentstore.entities.filter_schemas import filter_parameters, orderable
from agentstore.entities.options import EntityOptions
from agentstore.entities.registry import all_entities
from tests.testapp.models import Odd, Plain, Small, Task

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def document():
    """The whole OpenAPI document of the project."""
    return SchemaGenerator().get_schema(request=None, public=True)


def operations(document, prefix="/api/entities/"):
    return {
        (method, path): item[method]
        for path, item in document["paths"].items()
        if path.startswith(prefix)
        for method in METHODS
        if method in item
    }


def validator(document, name):
    """Return a validator of one component of the document."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


def references(part):
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for item in part:
            yield from references(item)


def test_the_document_is_valid_and_gives_no_warning(capsys):
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=io.StringIO())

    assert capsys.readouterr().err == ""


def test_every_entity_has_every_operation(document):
    found = operations(document)

    for model in all_entities():
        base = f"/api/entities/{model.entity.name}/"
        row = f"{base}{{id}}/"
        expected = [
            ("get", base), ("post", base), ("post", f"{base}bulk/"),
            ("get", f"{base}count/"), ("post", f"{base}count/"), ("post", f"{base}query/"),
            ("get", f"{base}usage/"),
            ("get", row), ("put", row), ("patch", row), ("delete", row),
            ("get", f"{row}history/"), ("post", f"{row}undelete/"),
        ]  # fmt: skip
        assert [key for key in found if key[1].startswith(base)] != []
        assert sorted(key for key in found if key[1].startswith(base)) == sorted(expected)
    assert ("get", "/api/entities/") in found


def test_every_operation_is_named_once_and_described(document):
    found = operations(document).values()

    ids = [operation["operationId"] for operation in found]
    assert len(ids) == len(set(ids))
    assert all(operation["summary"] and operation["description"] for operation in found)
    assert all(operation["security"] for operation in found)


def test_every_reference_leads_somewhere(document):
    schemas = document["components"]["schemas"]

    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas


@pytest.mark.parametrize(
    ("key", "statuses"),
    [
        (("get", ""), "200 400 401 403 503"),
        (("post", ""), "201 400 401 403 409 413 415 503"),
        (("post", "bulk/"), "201 400 401 403 409 413 415 503"),
        (("get", "{id}/"), "200 304 400 401 403 404 503"),
        (("put", "{id}/"), "200 400 401 403 404 409 412 413 415 503"),
        (("patch", "{id}/"), "200 400 401 403 404 409 412 413 415 503"),
        (("delete", "{id}/"), "204 400 401 403 404 412 503"),
        (("get", "{id}/history/"), "200 400 401 403 404 503"),
        (("post", "{id}/undelete/"), "200 400 401 403 404 409 413 415 503"),
    ],
    ids=str,
)
def test_every_status_is_documented(document, key, statuses):
    method, path = key

    responses = operations(document)[method, f"/api/entities/tasks/{path}"]["responses"]

    assert " ".join(responses) == statuses


def test_every_error_has_the_same_body(document):
    error = {"$ref": "#/components/schemas/AgentstoreError"}
    for operation in operations(document).values():
        for status, response in operation["responses"].items():
            if status[0] in "45":
                assert response["content"] == {"application/json": {"schema": error}}


def test_every_operation_takes_the_tenant_header(document):
    for operation in operations(document).values():
        assert "X-Agentstore-Tenant" in [p["name"] for p in operation["parameters"] if p["in"] == "header"]


@pytest.mark.parametrize(
    ("key", "header"),
    [
        (("post", ""), "Idempotency-Key"),
        (("post", "bulk/"), "Idempotency-Key"),
        (("get", "{id}/"), "If-None-Match"),
        (("put", "{id}/"), "If-Match"),
        (("patch", "{id}/"), "If-Match"),
        (("delete", "{id}/"), "If-Match"),
        (("put", "{id}/"), "If-None-Match"),
    ],
    ids=str,
)
def test_the_headers_of_conditions_are_documented(document, key, header):
    operation = operations(document)[key[0], f"/api/entities/tasks/{key[1]}"]

    assert header in [p["name"] for p in operation["parameters"] if p["in"] == "header"]


def test_throttled_views_document_429(document, monkeypatch):
    view = resolve("/api/entities/tasks/").func.cls
    monkeypatch.setattr(view, "throttle_classes", [object])

    throttled = SchemaGenerator().get_schema(request=None, public=True)

    assert "429" in operations(throttled)["get", "/api/entities/tasks/"]["responses"]
    assert "429" not in operations(document)["get", "/api/entities/tasks/"]["responses"]


def test_an_api_below_a_variable_prefix_is_described():
    patterns = [path("<slug:org>/api/", include("agentstore.urls"))]

    below = SchemaGenerator(patterns=patterns).get_schema(request=None, public=True)

    operation = below["paths"]["/{org}/api/entities/tasks/{id}/"]["get"]
    assert [(p["name"], p["schema"]) for p in operation["parameters"] if p["in"] == "path"] == [
        ("org", {"type": "string"}),
        ("id", {"type": "string", "format": "uuid"}),
    ]


def test_a_view_must_say_what_it_does():
    with pytest.raises(NotImplementedError):
        StoreAutoSchema().operation()


# --- parameters -----------------------------------------------------------------------------


def parameters(model):
    return {found["name"]: found["schema"] for found in filter_parameters(model)}


def test_filters_are_query_parameters_of_their_types(document):
    found = parameters(Task)

    assert found["priority"] == {"type": "integer"}
    assert found["priority__gte"] == {"type": "integer"}
    assert found["priority__in"] == {
        "type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 100,
    }  # fmt: skip
    assert found["score"] == {"type": ["number", "null"]}
    assert found["done"] == {"type": "boolean"}
    assert found["due_at__lt"] == {"type": "string", "format": "date-time"}
    assert found["day"] == {"type": "string", "format": "date"}
    assert found["channel"]["enum"] == ["call", "email", "chat"]
    assert found["text__startswith"]["type"] == "string"
    assert found["tags__isnull"] == {"type": "boolean"}
    assert found["id"] == {"type": "string", "format": "uuid"}
    assert found["updated_at__gte"] == {"type": "string", "format": "date-time"}
    listed = operations(document)["get", "/api/entities/tasks/"]["parameters"]
    assert {p["name"] for p in listed} >= {*found, "order_by", "limit"}


def test_of_fields_without_an_index_only_equality_is_listed():
    found = parameters(Small)

    assert "n" in found
    assert "n__gt" not in found


class Split(EntitySchema):
    number: Annotated[int, Field(ge=10)] | Annotated[int, Field(le=-10)] = 10
    limit: int = 0


def test_a_field_that_one_schema_can_not_describe_is_not_listed():
    assert "number" not in parameters(declared("splits", Split))


def test_a_field_named_like_a_control_is_listed_with_its_operator():
    found = parameters(declared("splits", Split))

    assert "limit__eq" in found
    assert "limit" not in found


@pytest.mark.django_db
@pytest.mark.parametrize("model", [Task, Small, Odd, Plain], ids=lambda model: model.entity.name)
def test_every_listed_parameter_is_one_that_the_list_takes(api_client, model):
    samples = {"integer": "1", "number": "1.5", "boolean": "true", "date": "2026-01-31", "uuid": "0" * 32}
    samples["date-time"] = "2026-01-31T09:00:00Z"
    for name, schema in parameters(model).items():
        schema = schema.get("items", schema)
        kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
        value = schema.get("enum", [samples.get(schema.get("format", kind), "1")])[0]

        response = api_client.get(f"/api/entities/{model.entity.name}/", {name: value})

        assert response.status_code == 200, response.content


@pytest.mark.django_db
@pytest.mark.parametrize("model", [Task, Small, Odd, Plain], ids=lambda model: model.entity.name)
def test_every_listed_order_is_one_that_the_list_takes(api_client, model):
    for order in orderable(model):
        response = api_client.get(f"/api/entities/{model.entity.name}/", {"order_by": order})

        assert response.status_code == 200, response.content


# --- components -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("tasks", "Tasks"),
        ("order_lines", "OrderLines"),
        ("a_1", "A_1"),
        ("a1", "A1"),
        ("a__b", "A_B"),
        ("a_", "A_"),
    ],
)
def test_a_prefix_is_made_from_the_entitys_name(name, prefix):
    assert prefix_of(name) == prefix


def test_different_names_never_share_a_prefix():
    names = ["a_b", "ab", "a__b", "a_b_", "ab_", "a_1", "a1", "a1_b", "a_1b", "a_1_b", "a1b"]

    assert len({prefix_of(name) for name in names}) == len(names)


def declared(name, schema):
    return type("Model", (), {"Schema": schema, "entity": EntityOptions(name=name)})


def test_nested_models_of_the_same_name_stay_apart():
    def first():
        class Item(EntitySchema):
            a: int

        class Data(EntitySchema):
            items: list[Item]

        return declared("firsts", Data)

    def second():
        class Item(EntitySchema):
            b: str

        class Data(EntitySchema):
            items: list[Item]

        return declared("seconds", Data)

    ones, twos = components_of(first()), components_of(second())

    assert list(ones["Firsts.Item"]["properties"]) == ["a"]
    assert list(twos["Seconds.Item"]["properties"]) == ["b"]
    assert set(ones) & set(twos) == {"AgentstoreJSON"}
    assert ones["FirstsData"]["properties"]["items"]["items"] == {"$ref": "#/components/schemas/Firsts.Item"}


class Node(EntitySchema):
    name: str
    children: list[Node] = []


def test_a_schema_that_refers_to_itself_is_described():
    found = components_of(declared("nodes", Node))

    assert found["NodesData"]["$ref"] == "#/components/schemas/Nodes.Node"
    assert list(found["NodesPatch"]["properties"]) == ["name", "children"]
    assert "required" not in found["NodesPatch"]


class Computing(EntitySchema):
    inner: dict[str, int] = {}
    price: float = Field(default=1.0, ge=0)

    @computed_field
    def double(self) -> float:
        return self.price * 2


def test_what_goes_out_is_what_is_stored_whole_and_without_computed_fields():
    found = components_of(declared("things", Computing))

    assert found["ThingsStored"]["required"] == ["inner", "price"]
    assert list(found["ThingsStored"]["properties"]) == ["inner", "price"]
    assert "required" not in found["ThingsData"]


def test_a_patch_requires_nothing_and_has_no_defaults(document):
    patch = document["components"]["schemas"]["TasksPatch"]

    assert "required" not in patch
    assert patch["additionalProperties"] is False
    assert all("default" not in part for part in patch["properties"].values())


def test_what_can_be_reset_is_what_has_a_default(document):
    schemas = document["components"]["schemas"]

    assert "text" not in schemas["TasksUpdate.unset"]["enum"]
    assert "priority" in schemas["TasksUpdate.unset"]["enum"]


def test_generating_twice_gives_the_same_document(document):
    again = SchemaGenerator().get_schema(request=None, public=True)

    assert again == document


def test_choices_have_a_component_of_their_own_entity(document):
    schemas = document["components"]["schemas"]

    assert schemas["OddsData"]["properties"]["mood"]["$ref"] == "#/components/schemas/OddsData.mood"
    assert schemas["OddsData.mood"] == {"type": "string", "enum": ["good", "bad"]}
    assert [name for name in schemas if name.endswith("Enum")] == []


class Required(EntitySchema):
    a: int


def test_where_no_field_has_a_default_there_is_nothing_to_unset():
    assert "unset" not in components_of(declared("musts", Required))["MustsUpdate"]["properties"]


def test_text_that_no_database_holds_does_not_fit_the_documents_either(document):
    task = validator(document, "TasksWrite")
    plain = validator(document, "PlainsWrite")

    assert task.is_valid({"data": {"text": "a"}})
    assert not task.is_valid({"data": {"text": "a\0"}})
    assert plain.is_valid({"data": {"value": {"a": [1, None, "x"]}}})
    assert not plain.is_valid({"data": {"value": {"a": ["\0"]}}})
    assert not plain.is_valid({"data": {"value": {"\0": 1}}})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "tasks",
            {
                "text": "a",
                "score": 1,
                "tags": ["x"],
                "lines": [{"sku": "a"}],
                "due_at": "2026-01-31T09:00:00Z",
            },
        ),
        (
            "odds",
            {
                "code": "5",
                "amount": "1.10",
                "at": "2026-01-31T09:00:00+02:00",
                "meta": {"a": [1]},
                "madeBy": "x",
            },
        ),
        ("odds", {"amount": 1e300, "either": "x", "size": 1.5, "anything": [1, {"a": None}]}),
        ("plains", {"value": 1e300, "number": 0.1}),
        ("smalls", {}),
    ],
)
def test_rows_fit_their_documents_on_the_way_in_and_out(api_client, document, name, data):
    prefix = prefix_of(name)
    validator(document, f"{prefix}Write").validate({"data": data})

    made = api_client.post(f"/api/entities/{name}/", {"data": data}, format="json")

    assert made.status_code == 201, made.content
    validator(document, f"{prefix}Row").validate(made.json())
    validator(document, f"{prefix}Write").validate({"data": made.json()["data"]})
    validator(document, f"{prefix}Page").validate(api_client.get(f"/api/entities/{name}/?limit=1").json())
    history = api_client.get(f"/api/entities/{name}/{made.json()['id']}/history/").json()
    validator(document, "AgentstoreHistory").validate(history)


@pytest.mark.django_db
def test_spoiled_rows_errors_bulk_and_index_fit_their_documents(api_client, document, user):
    row = Task.store(f"user:{user.pk}").create({"text": "a"})
    Task._base_manager.filter(pk=row.id).update(data={"text": 5})
    bulk = api_client.post("/api/entities/tasks/bulk/", [{"data": {"text": "b"}}], format="json")

    validator(document, "TasksRow").validate(api_client.get(f"/api/entities/tasks/{row.id}/").json())
    validator(document, "TasksPage").validate(api_client.get("/api/entities/tasks/").json())
    validator(document, "TasksRows").validate(bulk.json())
    validator(document, "AgentstoreEntities").validate(api_client.get("/api/entities/").json())
    validator(document, "AgentstoreError").validate(api_client.get("/api/entities/tasks/?nope=1").json())


# --- optional -------------------------------------------------------------------------------


def test_without_spectacular_installed_as_an_app_views_are_not_described(monkeypatch):
    monkeypatch.setattr("django.apps.apps.is_installed", lambda name: name != "drf_spectacular")

    assert making._described("EntityAutoSchema") == {}


BARE = """
import sys
sys.modules["drf_spectacular"] = None
import django
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "agentstore",
                    "tests.testapp"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    ROOT_URLCONF="agentstore.urls", SECRET_KEY="x", USE_TZ=True, ALLOWED_HOSTS=["testserver"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
from rest_framework.test import APIClient
client = APIClient()
client.force_authenticate(User.objects.create_user("u"))
print(client.post("/entities/tasks/", {"data": {"text": "a"}}, format="json").status_code)
print(client.get("/entities/").status_code)
"""


def test_the_views_work_where_spectacular_can_not_be_imported():
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, timeout=300)

    assert done.stdout.split() == ["201", "200"], done.stderr
