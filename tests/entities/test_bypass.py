"""Host code that writes around the store is refused; what Django itself does with tables is not."""

from __future__ import annotations

import asyncio
import json
import traceback

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.core.management import call_command
from django.db import connection

from agentstore.core.errors import BypassRefused
from agentstore.core.models import AuditEntry, IdempotencyKey, Usage
from agentstore.core.values import new_id
from tests.testapp.models import Small, Task

WRITES = {
    "save()": lambda row: row.save(),
    "save(update_fields)": lambda row: row.save(update_fields=["data"]),
    "delete()": lambda row: row.delete(),
    "objects.create()": lambda row: Task.objects.create(id=new_id(), tenant="acme", data={}),
    "objects.bulk_create()": lambda row: Task.objects.bulk_create([row]),
    "objects.update()": lambda row: Task.objects.filter(pk=row.pk).update(data={}),
    "objects.bulk_update()": lambda row: Task.objects.bulk_update([row], ["data"]),
    "objects.delete()": lambda row: Task.objects.filter(pk=row.pk).delete(),
    "objects.get_or_create()": lambda row: Task.objects.get_or_create(
        pk=new_id(), defaults={"tenant": "acme"}
    ),
    "objects.get_or_create() of one there": lambda row: Task.objects.get_or_create(pk=row.pk),
    "objects.update_or_create()": lambda row: Task.objects.update_or_create(pk=row.pk, defaults={"data": {}}),
}
ASYNC_WRITES = {
    "save()": lambda row: row.asave(),
    "delete()": lambda row: row.adelete(),
    "objects.create()": lambda row: Task.objects.acreate(id=new_id(), tenant="acme", data={}),
    "objects.bulk_create()": lambda row: Task.objects.abulk_create([row]),
    "objects.update()": lambda row: Task.objects.filter(pk=row.pk).aupdate(data={}),
    "objects.bulk_update()": lambda row: Task.objects.abulk_update([row], ["data"]),
    "objects.delete()": lambda row: Task.objects.filter(pk=row.pk).adelete(),
    "objects.get_or_create()": lambda row: Task.objects.aget_or_create(pk=row.pk),
    "objects.update_or_create()": lambda row: Task.objects.aupdate_or_create(pk=row.pk, defaults={}),
}


@pytest.fixture
def row(db, tenant):
    created = Task.store(tenant).create({"text": "kept"})
    return Task.objects.get(pk=created.id)


@pytest.mark.parametrize("what", WRITES)
def test_a_write_around_the_store_is_refused_and_names_the_store(row, what):
    before = list(Task.objects.values())

    with pytest.raises(BypassRefused) as info:
        WRITES[what](row)

    assert info.value.message.startswith("Task.")
    assert what.split("(")[0] in info.value.message
    assert "Task.store(tenant)" in info.value.hint
    for method in ("create()", "create_many()", "update()", "replace()", "delete()", "undelete()"):
        assert method in info.value.hint
    assert "Task.store(tenant)" in "".join(traceback.format_exception(info.value))
    assert list(Task.objects.values()) == before


@pytest.mark.parametrize("what", ASYNC_WRITES)
def test_an_async_write_around_the_store_is_refused_too(transactional_db, tenant, what):
    created = Task.store(tenant).create({"text": "kept"})
    row = Task.objects.get(pk=created.id)

    with pytest.raises(BypassRefused) as info:
        asyncio.run(ASYNC_WRITES[what](row))

    assert what.split("(")[0] in info.value.message
    assert Task.store(tenant).get(row.pk).data.text == "kept"


@pytest.mark.parametrize("model", [AuditEntry, Usage, IdempotencyKey])
def test_the_tables_behind_the_store_are_guarded_alike(row, model):
    Task.store("acme").create({"text": "b"}, idempotency_key="k")
    found = model.objects.first()

    for write in (
        found.save,
        found.delete,
        model.objects.all().delete,
        lambda: model.objects.update(tenant="x"),
    ):
        with pytest.raises(BypassRefused, match=model.__name__) as info:
            write()
        assert info.value.hint


def test_reads_stay_free(row):
    assert Task.objects.get(pk=row.pk).data["text"] == "kept"
    assert list(Task.objects.for_tenant("acme")) == [row]
    assert not Task.objects.for_tenant("globex").exists()
    assert str(row) == "kept"
    row.refresh_from_db()
    assert Task.objects.in_bulk([row.pk]) == {row.pk: row}


def test_the_base_manager_stays_free(row):
    Task._base_manager.filter(pk=row.pk).update(data={"text": "by hand"})

    assert Task.store("acme").get(row.pk).data.text == "by hand"

    Task._base_manager.filter(pk=row.pk).delete()

    assert Task.store("acme").get(row.pk) is None


def test_a_row_without_text_is_shown_by_its_id(db):
    row = Small.objects.get(pk=Small.store("acme").create({}).id)

    assert str(row) == str(row.pk)
    assert str(Small(id=row.pk, data=["spoiled"])) == str(row.pk)
    assert str(Task(id=row.pk, data={"text": "x" * 300})) == "x" * 100


def test_the_tables_behind_the_store_are_shown_in_words(row):
    Task.store("acme").create({"text": "b"}, idempotency_key="k")

    assert str(AuditEntry.objects.get(row_id=row.pk)) == f"create tasks {row.pk} (version 1)"
    assert str(Usage.objects.get()) == "tasks: 2"
    assert str(IdempotencyKey.objects.get()) == "k"


def test_dumpdata_and_loaddata_bring_everything_back(transactional_db, tenant, tmp_path):
    store = Task.store(tenant, actor="agent:bia")
    kept = store.create({"text": "kept", "score": 1.5, "tags": ["a"]}, idempotency_key="k")
    store.update(kept.id, {"done": True})
    gone = store.create({"text": "gone"})
    store.delete(gone.id)
    fixture = tmp_path / "all.json"
    call_command("dumpdata", "testapp", "agentstore", output=str(fixture), verbosity=0)
    call_command("flush", interactive=False, verbosity=0)
    assert store.get(kept.id) is None

    call_command("loaddata", str(fixture), verbosity=0)

    assert store.get(kept.id).raw == {**kept.raw, "done": True}
    assert store.get(kept.id, version=1).data == kept.data
    assert store.usage().used == 1
    assert [entry.op for entry in store.history(kept.id)] == ["update", "create"]
    assert store.undelete(gone.id).data.text == "gone"
    assert json.loads(fixture.read_text())


def test_serializers_save_a_row_as_loaddata_does(row):
    text = serializers.serialize("json", [row])
    Task._base_manager.all().delete()

    for item in serializers.deserialize("json", text):
        item.save()

    assert Task.store("acme").get(row.pk).data.text == "kept"


def test_flush_empties_every_table(transactional_db, tenant):
    Task.store(tenant).create({"text": "a"}, idempotency_key="k")

    call_command("flush", interactive=False, verbosity=0)

    for model in (Task, AuditEntry, Usage, IdempotencyKey):
        assert not model._base_manager.exists()


def test_deleting_a_user_leaves_the_rows_alone(row, user):
    User.objects.all().delete()

    assert Task.objects.filter(pk=row.pk).exists()


def test_no_table_refers_to_a_row_or_a_user(db):
    for model in (Task, AuditEntry, Usage, IdempotencyKey):
        assert not [field for field in model._meta.get_fields() if field.is_relation]
    with connection.cursor() as cursor:
        for model in (Task, AuditEntry, Usage, IdempotencyKey):
            assert not connection.introspection.get_relations(cursor, model._meta.db_table)
