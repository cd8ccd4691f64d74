"""``EntityModel``: an ordinary Django model whose ``Meta`` is completed, and nothing more."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Optional

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.test.utils import isolate_apps

from agentstore.entities import EntityModel, EntitySchema, EntityStore
from agentstore.indexes import EntityFieldIndex
from tests.testapp.models import Small, Task


class NoteData(EntitySchema):
    text: str = ""
    n: int = 0


def test_columns_and_their_types():
    columns = {field.name: field.get_internal_type() for field in Task._meta.get_fields()}

    assert columns == {
        "id": "UUIDField",
        "tenant": "CharField",
        "data": "JSONField",
        "version": "PositiveIntegerField",
        "created_at": "DateTimeField",
        "updated_at": "DateTimeField",
        "deleted_at": "DateTimeField",
    }
    assert [field.name for field in Task._meta.get_fields() if field.null] == ["deleted_at"]


def test_no_column_has_what_would_freeze_into_migrations():
    for field in Task._meta.get_fields():
        assert not field.has_default()
        assert field.deconstruct()[3].keys() <= {"primary_key", "serialize", "editable", "max_length", "null"}


def test_indexes_are_completed():
    live, *own = Task._meta.indexes

    assert (live.fields, live.condition) == (
        ["tenant", "updated_at", "id"],
        models.Q(deleted_at__isnull=True),
    )
    assert [(index.field, index.kind, index.tenant) for index in own] == [
        ("text", "text", True),
        ("due_at", "text", True),
        ("done", "boolean", True),
        ("priority", "number", True),
        ("score", "number", True),
        ("channel", "text", True),
        ("day", "text", True),
        ("due_at", "text", False),
    ]


def test_permissions_are_completed():
    assert Task._meta.default_permissions == ("add", "change", "delete", "view", "undelete")


def test_the_table_keeps_djangos_name():
    assert Task._meta.db_table == "testapp_task"


@isolate_apps("tests.testapp")
def test_the_hosts_own_meta_is_kept():
    class Base(EntityModel):
        class Meta:
            abstract = True
            app_label = "testapp"
            default_permissions = ("view",)

    class Note(Base):
        """Notes."""

        Schema = NoteData

        class Meta(Base.Meta):
            db_table = "my_notes"
            verbose_name = "memo"
            indexes = [models.Index(fields=["created_at"], name="mine")]

        class Entity:
            indexes = ["n"]

    assert (Note._meta.db_table, Note._meta.verbose_name) == ("my_notes", "memo")
    assert Note._meta.default_permissions == ("view",)
    assert not Note._meta.abstract
    assert [index.name for index in Note._meta.indexes][0] == "mine"
    assert [index.name[:11] for index in Note._meta.indexes][1:] == ["my_notes_li", "my_notes_n_"]
    assert Note.entity.name == "note"


@isolate_apps("tests.testapp")
def test_schema_and_options_may_come_from_an_abstract_base():
    class Base(EntityModel):
        Schema = NoteData

        class Entity:
            indexes = ["n"]
            description = "Notes."

        class Meta:
            abstract = True
            app_label = "testapp"

    class First(Base):
        pass

    class Second(Base):
        class Entity(Base.Entity):
            name = "others"

    assert not hasattr(Base, "entity")
    assert (First.entity.name, First.entity.indexes) == ("first", ("n",))
    assert (Second.entity.name, Second.entity.description) == ("others", "Notes.")
    assert not {i.name for i in First._meta.indexes} & {i.name for i in Second._meta.indexes}
    assert [type(index) for index in First._meta.indexes] == [models.Index, EntityFieldIndex]


@isolate_apps("tests.testapp")
def test_a_proxy_is_left_alone():
    class TaskProxy(Task):
        class Meta:
            proxy = True
            app_label = "testapp"

    assert TaskProxy.entity is Task.entity


@isolate_apps("tests.testapp")
def test_an_entity_can_not_inherit_from_an_entity():
    with pytest.raises(ImproperlyConfigured, match="Child: an entity can't inherit from the entity Task"):

        class Child(Task):
            class Meta:
                app_label = "testapp"


def test_an_entity_of_no_app_is_refused():
    with pytest.raises(
        ImproperlyConfigured, match=r"Lost is in no installed app. Add its app to INSTALLED_APPS"
    ):

        class Lost(EntityModel):
            Schema = NoteData


@isolate_apps("tests.testapp")
def test_a_schema_that_is_not_finished_is_refused():
    class Unfinished(EntitySchema):
        other: Optional["NotThere"] = None  # noqa: F821, UP037, UP045

    with pytest.raises(ImproperlyConfigured, match=r"Late.Schema refers to a type that is not defined yet"):

        class Late(EntityModel):
            Schema = Unfinished

            class Meta:
                app_label = "testapp"


@isolate_apps("tests.testapp")
def test_a_schema_with_a_type_that_json_can_not_hold_is_refused():
    with pytest.raises(
        ImproperlyConfigured, match=r"Odd.Schema has a field that JSON can't hold: .*Callable"
    ):

        class Odd(EntityModel):
            class Schema(EntitySchema):
                call: Callable[[], int] | None = None

            class Meta:
                app_label = "testapp"


@isolate_apps("tests.testapp")
def test_a_misspelt_option_is_refused():
    with pytest.raises(ImproperlyConfigured, match=r"Wrong.Entity.index is not an option"):

        class Wrong(EntityModel):
            Schema = NoteData

            class Meta:
                app_label = "testapp"

            class Entity:
                index = ["n"]


def test_the_store_is_bound_to_one_tenant_and_may_say_who():
    store = Task.store("acme", actor="agent:bia")

    assert isinstance(store, EntityStore)
    assert (store.tenant, store.model, store.name) == ("acme", Task, "tasks")
    assert repr(store) == "<EntityStore tasks of 'acme'>"


def test_schemas_rows_and_models_can_be_pickled(db):
    row = Small.store("acme").create({"n": 1})

    again = pickle.loads(pickle.dumps(row))  # noqa: S301

    assert again == row
    assert pickle.loads(pickle.dumps(Small.objects.get())).pk == row.id  # noqa: S301


def test_the_refusal_names_the_models_own_store():
    assert re.match(r"Small\.store\(tenant\) has create\(\)", Small.store_hint)
