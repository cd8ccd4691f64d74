"""The registry: a view over Django's own models."""

from __future__ import annotations

import pytest
from django.apps import apps

from agentstore.core.errors import NotFound, ValidationFailed
from agentstore.entities import EntityModel, entity_db
from agentstore.entities.registry import all_entities, get_entity
from tests.testapp.models import Small, Task


def test_every_concrete_entity_is_listed_by_its_public_name():
    names = [model.entity.name for model in all_entities()]

    assert names == sorted(names)
    assert {"tasks", "smalls", "odds", "plains"} <= set(names)
    assert all(issubclass(model, EntityModel) for model in all_entities())
    assert {*all_entities()} <= {*apps.get_models()}


def test_an_entity_is_found_by_its_public_name():
    assert get_entity("tasks") is Task


def test_an_unknown_entity_is_told_with_the_closest():
    with pytest.raises(NotFound, match="There is no entity 'taks'") as info:
        get_entity("taks")

    assert info.value.hint.startswith("Did you mean 'tasks'?")


def test_stores_by_name(db):
    stores = entity_db("acme", actor="agent:bia", reason="tests", context={"run": 1})

    row = stores.tasks.create({"text": "a"})

    assert stores.tasks.model is Task
    entry = Task.store("acme").history(row.id)[0]
    assert (entry.actor, entry.reason, entry.context) == ("agent:bia", "tests", {"run": 1})
    assert stores.smalls.model is Small
    assert "tasks" in dir(stores)


def test_an_unknown_store_is_an_attribute_error_that_names_the_closest():
    stores = entity_db("acme")

    with pytest.raises(AttributeError, match="'taks'.*Did you mean 'tasks'"):
        stores.taks  # noqa: B018
    assert not hasattr(stores, "_tasks")


@pytest.mark.parametrize("tenant", ["", " a", None, 5])
def test_the_tenant_is_checked_at_once(tenant):
    with pytest.raises(ValidationFailed):
        entity_db(tenant)
