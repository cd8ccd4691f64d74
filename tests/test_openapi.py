"""The groups of the OpenAPI document stand in a sensible order, with a text each."""

from agentstore.entities.registry import all_entities
from agentstore.openapi import describe_groups
from tests.openapi import document


def names(tags):
    return [tag["name"] for tag in tags]


def test_the_demo_shows_every_group_once_in_order():
    tags = document()["tags"]

    assert names(tags) == [
        "entities",
        *(model.entity.name for model in all_entities()),
        "files",
        "strategies",
        "tools",
    ]
    assert all(tag["description"] for tag in tags)


def test_no_operation_is_without_a_group():
    known = set(names(document()["tags"]))

    for path, item in document()["paths"].items():
        for operation in item.values():
            assert set(operation["tags"]) <= known and operation["tags"], path


def test_groups_of_the_project_stay_first_and_as_they_are():
    mine = [{"name": "shop", "description": "Mine."}, {"name": "files", "description": "Mine, too."}]
    paths = {
        "/a": {"get": {"tags": ["files"]}, "parameters": []},
        "/b": {"get": {"tags": ["tools", "shop"]}, "post": {}},
    }

    found = describe_groups({"paths": paths, "tags": mine}, generator=None, request=None, public=True)

    assert found["tags"][:2] == mine and names(found["tags"]) == ["shop", "files", "tools"]


def test_summaries_are_plain_text_and_descriptions_are_markdown():
    for path, item in document()["paths"].items():
        for operation in item.values():
            assert "`" not in operation["summary"] and "``" not in operation["description"], path
