"""The rules of storage that can't be changed later, for every table of the app and of the entities."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import models

import agentstore.models
from agentstore.core.models import StoreModel
from agentstore.entities.registry import all_entities

OWN = list(apps.get_app_config("agentstore").get_models(include_auto_created=True))
ALL = [*OWN, *all_entities()]
every_model = pytest.mark.parametrize("model", ALL, ids=lambda model: model._meta.label)


def subclasses(base):
    for child in base.__subclasses__():
        yield child
        yield from subclasses(child)


def test_the_tables_have_their_fixed_names():
    names = {model._meta.db_table for model in OWN}

    assert names <= {
        f"agentstore_{name}"
        for name in (
            "auditentry",
            "usage",
            "idempotencykey",
            "agentfile",
            "historicalagentfile",
            "strategy",
            "incident",
        )
    }
    assert {"agentstore_auditentry", "agentstore_usage", "agentstore_idempotencykey"} <= names


@every_model
def test_every_table_has_a_tenant(model):
    tenant = model._meta.get_field("tenant")

    assert (tenant.null, tenant.max_length, tenant.unique) == (False, 255, False)


@every_model
def test_every_unique_constraint_contains_the_tenant(model):
    unique = [one for one in model._meta.constraints if isinstance(one, models.UniqueConstraint)]

    assert all("tenant" in one.fields for one in unique)
    assert not model._meta.unique_together
    assert [field.name for field in model._meta.get_fields() if getattr(field, "unique", False)] == [
        model._meta.pk.name
    ]


@every_model
def test_primary_keys_are_uuids_that_the_application_makes(model):
    assert isinstance(model._meta.pk, models.UUIDField)
    assert not model._meta.pk.has_default()


@every_model
def test_no_table_refers_to_another_nor_has_one_made_for_it(model):
    assert [field.name for field in model._meta.get_fields() if field.is_relation] == []
    assert not model._meta.auto_created


@every_model
def test_fields_carry_nothing_that_would_freeze_into_migrations(model):
    for field in model._meta.get_fields():
        name, path, args, options = field.deconstruct()
        assert path.startswith("django.db.models."), f"{name} is a {path}"
        assert not any(callable(value) for value in options.values()), name
        assert not {"validators", "encoder", "decoder"} & options.keys(), name


def test_every_model_is_gathered_for_django():
    """One that is forgotten may lose its table to the next makemigrations."""
    defined = {
        model
        for model in subclasses(StoreModel)
        if not model._meta.abstract
        and model.__module__.startswith("agentstore.")
        and model._meta.apps is apps  # else the project knows nothing of it
    }

    assert {model.__name__ for model in defined} <= set(vars(agentstore.models))
    assert {model.__name__ for model in OWN} <= set(agentstore.models.__all__)
    assert defined <= set(OWN)


@every_model
def test_every_model_refuses_writes_around_its_store_and_names_it(model):
    if not issubclass(model, StoreModel):
        pytest.skip("a history table: its rows are written by the files' store")

    assert model.store_hint != StoreModel.store_hint
