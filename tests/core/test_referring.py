"""Who refers to our rows with a foreign key."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, models
from django.test.utils import isolate_apps

from agentstore.core.errors import Conflict
from agentstore.core.models import StoreModel
from agentstore.core.referring import referrers, removing
from tests.testapp.models import Task


def declare(name, base=models.Model, **fields):
    meta = type("Meta", (), {"app_label": "testapp"})
    return type(base)(name, (base,), {"__module__": __name__, "Meta": meta, **fields})


@isolate_apps("tests.testapp")
def test_the_foreign_keys_of_a_host_are_named():
    thing = declare("Thing", StoreModel)
    declare(
        "Remark",
        about=models.ForeignKey(thing, on_delete=models.CASCADE),
        also=models.ManyToManyField(thing, related_name="+"),
    )

    with pytest.raises(Conflict) as caught, removing(Task, thing):
        raise IntegrityError

    assert sorted(referrers(thing)) == ["testapp.Remark.about", "testapp.Remark_also.thing"]
    assert "testapp.Remark.about" in caught.value.message
    assert caught.value.hint


def test_without_a_model_it_is_another_table():
    with pytest.raises(Conflict, match="by another table"), removing(Task):
        raise IntegrityError

    assert referrers(Task) == []
