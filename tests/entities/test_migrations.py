"""Migrations: Django's own autodetector does them, in the host's app, the same under any settings."""

from __future__ import annotations

import json
import re
from datetime import date

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.questioner import MigrationQuestioner
from django.db.migrations.state import ModelState, ProjectState
from django.test.utils import isolate_apps
from pydantic import Field

from agentstore.core.values import new_id, now
from agentstore.entities import EntityModel, EntitySchema, UTCDateTime
from tests.isolated import run_python
from tests.testapp.models import Task


class Data(EntitySchema):
    text: str = ""
    due_at: UTCDateTime | None = None
    n: int = 0
    on: date | None = None


class Renamed(EntitySchema):
    text: str = ""
    deadline: UTCDateTime | None = None
    n: int = 0


class TextN(EntitySchema):
    text: str = ""
    n: str = ""


class Yes(MigrationQuestioner):
    """Answers every question about renaming with yes, as a developer would."""

    def ask_rename_model(self, old, new):
        return True


def state(*declared):
    """Return the state of a project with (name, schema, options, meta) as its entities."""
    found = ProjectState()
    with isolate_apps("tests.testapp"):
        for name, schema, options, meta in declared:
            namespace = {
                "__module__": __name__,
                "__qualname__": name,
                "__doc__": "Things.",
                "Schema": schema,
                "Meta": type("Meta", (), {"app_label": "testapp", **meta}),
                "Entity": type("Entity", (), options),
            }
            found.add_model(ModelState.from_model(type(EntityModel)(name, (EntityModel,), namespace)))
    return found


def entity(name="Thing", schema=Data, meta=None, **options):
    return name, schema, options, meta or {}


def changes(before, after, questioner=None):
    """Return the operations that turn one state into the other."""
    # The autodetector takes the states apart, so it is given copies.
    detected = MigrationAutodetector(before.clone(), after.clone(), questioner or Yes())._detect_changes()
    return [operation for migration in detected.get("testapp", []) for operation in migration.operations]


def kinds(before, after, questioner=None):
    return [type(operation).__name__ for operation in changes(before, after, questioner)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [entity()], ["CreateModel"]),
        ([entity()], [entity(), entity("Other")], ["CreateModel"]),
        ([entity()], [entity()], []),
        ([entity()], [entity(indexes=["n"])], ["AddIndex"]),
        ([entity()], [entity(sweep_indexes=["n"])], ["AddIndex"]),
        ([entity(indexes=["n"])], [entity()], ["RemoveIndex"]),
        ([entity(indexes=["n"])], [entity(indexes=["text"])], ["RemoveIndex", "AddIndex"]),
        ([entity(indexes=["n", "text"])], [entity(indexes=["text", "n"])], []),
        (
            [entity(indexes=["due_at"])],
            [entity(schema=Renamed, indexes=["deadline"])],
            ["RemoveIndex", "AddIndex"],
        ),
        ([entity(indexes=["n"])], [entity(schema=TextN, indexes=["n"])], ["RemoveIndex", "AddIndex"]),
        ([entity()], [entity(schema=Renamed)], []),
        ([entity()], [entity(schema=TextN)], []),
        ([entity(max_rows_per_tenant=5)], [entity(max_rows_per_tenant=lambda tenant: 7)], []),
        ([entity(description="One.")], [entity(description="Another.")], []),
    ],
    ids=[
        "first",
        "added",
        "nothing",
        "index added",
        "sweep index added",
        "index dropped",
        "index exchanged",
        "order of indexes",
        "indexed field renamed",
        "indexed field of another type",
        "field renamed",
        "type changed",
        "limit changed",
        "description changed",
    ],
)
def test_a_change_of_the_declaration_gives_its_operations(before, after, expected):
    assert kinds(state(*before), state(*after)) == expected


def test_a_removed_entity_is_deleted():
    *before, last = kinds(state(entity()), state())

    assert last == "DeleteModel"
    assert set(before) <= {"RemoveIndex"}  # Django 6.1 takes the indexes away first


def test_the_public_name_is_not_in_the_migrations():
    before, after = entity(), entity()

    assert (
        kinds(state((*before[:2], {"name": "things"}, {})), state((*after[:2], {"name": "others"}, {}))) == []
    )


def test_a_renamed_class_keeps_its_table_and_renames_its_indexes():
    found = kinds(state(entity(indexes=["n"])), state(entity("Item", indexes=["n"])))

    assert found == ["RenameModel", "RenameIndex", "RenameIndex"]


def test_nothing_callable_and_nothing_of_the_hosts_schema_gets_into_a_migration():
    (operation,) = changes(state(), state(entity(indexes=["n"])))

    for _, field in operation.fields:
        assert field.deconstruct()[1].startswith("django.db.models.")
        assert not any(callable(value) for value in field.deconstruct()[3].values())
    assert operation.bases == (models.Model,)
    assert operation.managers == []
    assert set(operation.options) <= {"default_permissions", "indexes", "abstract"}


def apply(operations, before, after_app="testapp", *, backwards=False):
    """Run operations on the database, forwards or backwards, and return the state they lead to."""
    states = [before]
    for operation in operations:
        following = states[-1].clone()
        operation.state_forwards(after_app, following)
        states.append(following)
    steps = list(zip(operations, states[:-1], states[1:], strict=True))
    for operation, old, new in reversed(steps) if backwards else steps:
        with connection.schema_editor() as editor:
            if backwards:
                operation.database_backwards(after_app, editor, new, old)
            else:
                operation.database_forwards(after_app, editor, old, new)
    return states[-1]


def indexes_of(table):
    with connection.cursor() as cursor:
        return {
            name
            for name, found in connection.introspection.get_constraints(cursor, table).items()
            if found["index"] and not found["primary_key"]
        }


def tables():
    with connection.cursor() as cursor:
        return {table.name for table in connection.introspection.get_table_list(cursor)}


def test_a_whole_life_forwards_and_backwards_with_rows(transactional_db):
    versions = [
        state(),
        state(entity("Thing", indexes=["n"])),
        state(entity("Thing", indexes=["n", "due_at"], sweep_indexes=["due_at"])),
        state(entity("Thing", Renamed, indexes=["deadline"])),
        state(entity("Item", Renamed, indexes=["deadline"])),
        state(),
    ]
    steps = [changes(old, new) for old, new in zip(versions, versions[1:], strict=False)]
    made = []

    try:
        for number, operations in enumerate(steps):
            apply(operations, versions[number])
            made.append(number)
            if number == 0:
                model = versions[1].apps.get_model("testapp", "Thing")
                at = now()
                model.objects.create(
                    id=new_id(), tenant="acme", data={"n": 5}, version=1, created_at=at, updated_at=at
                )
            if number < 4:
                name = "Thing" if number < 3 else "Item"
                model = versions[number + 1].apps.get_model("testapp", name)
                assert model.objects.get().data == {"n": 5}
                if connection.vendor == "postgresql":
                    expected = {index.name for index in model._meta.indexes}
                    assert indexes_of(model._meta.db_table) == expected
        assert not {"testapp_thing", "testapp_item"} & tables()
    finally:
        for number in reversed(made):
            apply(steps[number], versions[number], backwards=True)

    assert not {"testapp_thing", "testapp_item"} & tables()


def test_migrate_zero_and_back(transactional_db, tenant):
    """With rows in every table: no migration of ours stands in the way of leaving."""
    Task.store(tenant).create({"text": "a"}, idempotency_key="k")
    ours = {name for name in tables() if name.startswith(("testapp_", "agentstore_"))}
    assert {"testapp_task", "agentstore_auditentry"} <= ours

    try:
        call_command("migrate", "testapp", "zero", verbosity=0)
        assert not [name for name in tables() if name.startswith("testapp_")]
        call_command("migrate", "agentstore", "zero", verbosity=0)
        assert not ours & tables()
    finally:
        call_command("migrate", verbosity=0)

    assert ours <= tables()
    assert Task.store(tenant).create({"text": "a"}).version == 1


def test_the_projects_own_migrations_are_complete(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_permissions_are_made(db):
    permission = apps.get_model("auth.Permission")

    found = set(permission.objects.filter(content_type__model="task").values_list("codename", flat=True))

    assert found == {f"{action}_task" for action in ("add", "change", "delete", "view", "undelete")}


HOST_SETTINGS = """
SECRET_KEY = "x"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "simple_history", "agentstore",
    "host",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "host.sqlite3"}}
AUTH_USER_MODEL = "host.Account"
DEFAULT_AUTO_FIELD = "django.db.models.SmallAutoField"
DEFAULT_TABLESPACE = DEFAULT_INDEX_TABLESPACE = "elsewhere"
LANGUAGE_CODE = "de"
TIME_ZONE = "Asia/Kolkata"
SIMPLE_HISTORY_HISTORY_ID_USE_UUID = True
SIMPLE_HISTORY_HISTORY_CHANGE_REASON_USE_TEXT_FIELD = True
SIMPLE_HISTORY_DATE_INDEX = "composite"
SIMPLE_HISTORY_ENABLED = False
SIMPLE_HISTORY_REVERT_DISABLED = True
AGENTSTORE = {"BACKEND": "portable"}
"""
HOST_USER = """
from django.contrib.auth.models import AbstractUser
from django.db import models

from agentstore.entities import EntityModel, EntitySchema, UTCDateTime

class Account(AbstractUser):
    id = models.UUIDField(primary_key=True)
"""
FIRST = """
class Reminder(EntityModel):
    "Reminders."

    class Schema(EntitySchema):
        text: str
        due_at: UTCDateTime
        done: bool = False

    class Entity:
        name = "reminders"
        indexes = ["due_at", "done"]

class Note(EntityModel):
    "Notes."

    class Schema(EntitySchema):
        text: str
"""
SECOND = """
class Reminder(EntityModel):
    "Reminders."

    class Schema(EntitySchema):
        text: str
        deadline: UTCDateTime
        done: bool = False

    class Entity:
        name = "reminders"
        indexes = ["deadline", "text"]
        sweep_indexes = ["deadline"]

class Contact(EntityModel):
    "Contacts."

    class Schema(EntitySchema):
        name: str
"""
#: Make the migrations of a version of the host, and look again.
MAKE = """
import io, json, os
os.environ["DJANGO_SETTINGS_MODULE"] = "host_settings"
import django
django.setup()
from django.core.management import call_command
call_command("check")
said = io.StringIO()
call_command("makemigrations", "host", name=os.environ["NAME"], interactive=False, stdout=said)
again = io.StringIO()
call_command("makemigrations", check=True, stdout=again)
call_command("makemigrations", check=True, dry_run=True, stdout=again)
print(json.dumps([said.getvalue(), again.getvalue()]))
"""
#: Run them, there and back.
RUN = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "host_settings"
import django
django.setup()
from django.core.management import call_command
from host.models import Reminder
for _ in range(2):
    call_command("migrate", verbosity=0)
    store = Reminder.store("acme")
    row = store.create({"text": "a", "deadline": "2026-01-01T00:00:00Z"})
    assert store.get(row.id).data == row.data
    call_command("migrate", "host", "0001", verbosity=0)
    call_command("migrate", "host", verbosity=0)
    assert store.get(row.id).data == row.data
    for app in ("host", "agentstore"):
        call_command("migrate", app, "zero", verbosity=0)
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """Make one host project a hash seed, each with the migrations of two versions of its models."""
    made = {}
    for seed in ("0", "1", "2", "3"):
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        (folder / "host" / "migrations").mkdir(parents=True)
        for package in ("host", "host/migrations"):
            (folder / package / "__init__.py").touch()
        (folder / "host_settings.py").write_text(HOST_SETTINGS)
        said = []
        for name, declared in (("first", FIRST), ("second", SECOND)):
            (folder / "host" / "models.py").write_text(HOST_USER + declared)
            done = run_python(MAKE, cwd=folder, PYTHONHASHSEED=seed, NAME=name)
            said.append(json.loads(done.stdout.splitlines()[-1]))
        made[seed] = folder, said
    return made


SEEDS = ("0", "1", "2", "3")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hostile_hosts_migrations_land_in_the_host_and_hold_what_changed(hosts, seed):
    folder, ((first, _), (second, _)) = hosts[seed]

    assert re.findall(r"[+~-] (.*)", first) == [
        "Create model Account",
        "Create model Note",
        "Create model Reminder",
    ]
    assert sorted(re.sub(r"index host_\w+", "index", line) for line in re.findall(r"[+~-] (.*)", second)) == [
        "Create index on F(tenant), data.deadline (text), F(updated_at), F(id) on model reminder",
        "Create index on F(tenant), data.text (text), F(updated_at), F(id) on model reminder",
        "Create index on data.deadline (text), F(updated_at), F(id) on model reminder",
        "Create index on field(s) tenant, updated_at, id of model contact",
        "Create model Contact",
        "Delete model Note",
        *["Remove index from note"] * ("from note" in second),  # Django 6.1 says so
        "Remove index from reminder",
        "Remove index from reminder",
    ]
    migrations = {path.name for path in (folder / "host" / "migrations").glob("0*.py")}
    assert migrations == {"0001_first.py", "0002_second.py"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_second_look_finds_nothing_in_any_app(hosts, seed):
    _, said = hosts[seed]

    for _, again in said:
        assert again.splitlines() == ["No changes detected"] * 2


def test_hash_seeds_make_no_difference(hosts):
    texts = set()
    for folder, _ in hosts.values():
        for path in sorted((folder / "host" / "migrations").glob("0*.py")):
            texts.add((path.name, re.sub(r"# Generated by .*", "", path.read_text())))

    assert len(texts) == 2


def test_a_hosts_migrations_import_one_thing_of_ours(hosts):
    folder, _ = hosts["0"]
    text = "".join(path.read_text() for path in (folder / "host" / "migrations").glob("0*.py"))

    assert set(re.findall(r"agentstore[\w.]*", text)) == {
        "agentstore.indexes",
        "agentstore.indexes.EntityFieldIndex",
    }
    assert "pydantic" not in text


def test_a_hostile_host_migrates_there_and_back(hosts):
    folder, _ = hosts["0"]

    run_python(RUN, cwd=folder)


def test_fields_may_be_described_without_a_migration():
    described = type(
        "Data", (Data,), {"__annotations__": {"n": int}, "n": Field(default=1, ge=0, description="x")}
    )

    assert kinds(state(entity(indexes=["n"])), state(entity(schema=described, indexes=["n"]))) == []
