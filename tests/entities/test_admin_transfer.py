"""Import and export in the admin: all of a file or nothing, told record by record."""

from __future__ import annotations

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile

from agentstore.entities.admin import transfer
from tests.browser import text_of
from tests.entities.admin_pages import OnlyAcme, access, grant, messages_of, url
from tests.testapp.models import Small, Task


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


def sent(client, content, *, name="tasks.jsonl", tenant="acme", button="_import", model=Task, **more):
    file = SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
    return client.post(url("import", model=model), {"tenant": tenant, "file": file, button: "x", **more})


GOOD = '{"text": "a"}\n{"text": "b"}\n'
BAD = '{"text": "a"}\n{"text": 5}\n{"done": true}\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [("t.jsonl", GOOD), ("t.json", '[{"text": "a"}, {"text": "b"}]'), ("t.csv", "text,done\na,\nb,true\n")],
)
def test_a_file_becomes_rows(admin_client, store, name, content):
    response = sent(admin_client, content, name=name, reason="moved")

    assert messages_of(response) == ["Imported 2 tasks for acme."]
    assert {row.raw["text"] for row in store.query()} == {"a", "b"}
    entry = store.history(store.query().rows[0].id)[0]
    assert (entry.actor, entry.reason) == ("user:admin", "moved")


def test_an_import_is_logged_once(admin_client, store):
    sent(admin_client, GOOD)

    entry = LogEntry.objects.get()
    assert (entry.object_repr, entry.change_message) == ("2 tasks", "Imported 2 tasks for acme.")


def test_a_file_with_a_bad_record_writes_nothing_and_tells_each(admin_client, store):
    words = text_of(sent(admin_client, BAD).content.decode())

    assert "Nothing was imported 2 of 3 records do not fit; the other 1 do." in words
    assert "2 2 text: Input should be a valid string" in words
    assert "3 3 text: Field required" in words
    assert store.count() == 0
    assert not LogEntry.objects.exists()


def test_records_that_do_not_fit_can_be_left_out(admin_client, store):
    response = sent(admin_client, BAD, skip="1")

    assert messages_of(response) == ["Imported 1 task for acme. 2 records were left out."]
    assert store.count() == 1


@pytest.mark.parametrize(
    ("content", "told"), [(GOOD, "All 2 records fit."), (BAD, "2 of 3 records do not fit")]
)
def test_a_file_can_be_checked_only(admin_client, store, content, told):
    response = sent(admin_client, content, button="_check", skip="1")

    assert told in response.content.decode()
    assert store.count() == 0


def test_many_problems_are_counted_and_the_first_are_listed(admin_client, store, monkeypatch):
    monkeypatch.setattr(transfer, "LISTED", 2)

    words = text_of(sent(admin_client, "{}\n" * 5).content.decode())

    assert "5 of 5 records do not fit" in words
    assert "and 3 more" in words


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"\xff\xfea", "t.jsonl", "UTF-16"),
        (b"hello", "t.txt", "neither its name nor its content tells the format"),
        (b"[1", "t.json", ""),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(admin_client, store, content, name, told):
    response = sent(admin_client, content, name=name)

    assert response.status_code == 200
    assert told in response.content.decode()
    assert store.count() == 0


def test_a_file_that_is_too_large_is_left_to_the_command(admin_client, store, monkeypatch):
    monkeypatch.setattr(transfer, "MOST", 5)

    assert "Use manage.py agentstore_import" in sent(admin_client, GOOD).content.decode()
    assert store.count() == 0


def test_the_page_asks_for_a_file_and_writes_nothing(admin_client, store):
    page = admin_client.get(url("import"), {"tenant": "acme", "_import": "x"}).content.decode()

    assert "Import tasks" in text_of(page)
    assert 'enctype="multipart/form-data"' in page
    assert store.count() == 0


def test_no_file_is_told(admin_client, store):
    response = admin_client.post(url("import"), {"tenant": "acme", "_import": "x"})

    assert "Choose a file." in response.content.decode()


def test_a_file_for_which_there_is_no_room_is_refused_in_numbers(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 4)

    page = sent(admin_client, "{}\n{}\n", model=Small).content.decode()

    assert "No place left: 4 of 5 are used." in page
    assert Small.store(tenant).count() == 4


def test_limited_staff_import_into_no_other_tenant(admin_client, other_tenant, settings, db):
    access(settings, OnlyAcme)

    response = sent(admin_client, GOOD, tenant=other_tenant)

    assert "You may not add rows for this tenant." in response.content.decode()
    assert Task.store(other_tenant).count() == 0


def test_import_takes_the_add_permission(client, staff, store):
    client.force_login(grant(staff, "view", "change", "delete", "undelete"))

    assert sent(client, GOOD).status_code == 403
    assert url("import") not in client.get(url("changelist")).content.decode()
    assert url("export") in client.get(url("changelist")).content.decode()


def test_the_list_leads_to_import_and_export(admin_client, store):
    page = admin_client.get(url("changelist"), {"tenant": "acme"}).content.decode()

    assert f'<a href="{url("import")}?_changelist_filters=tenant%3Dacme">Import</a>' in page
    assert (
        'value="acme"'
        in admin_client.get(url("export"), {"_changelist_filters": "tenant=acme"}).content.decode()
    )


@pytest.mark.parametrize("format", ["jsonl", "json", "csv"])
def test_what_is_exported_can_be_imported(admin_client, store, other_tenant, format):
    store.create_many(
        [{"text": "a, <b>\r\n", "tags": ["x"], "score": 1.5}, {"text": "ä", "lines": [{"sku": "s"}]}]
    )

    response = admin_client.get(url("export"), {"tenant": "acme", "format": format})
    content = b"".join(response.streaming_content)
    sent(admin_client, content, name=f"t.{format}", tenant=other_tenant)

    assert response["Content-Disposition"] == f'attachment; filename="tasks.{format}"'
    copies = {row.raw["text"]: row.raw for row in Task.store(other_tenant).query()}
    assert copies == {row.raw["text"]: row.raw for row in store.query()}


def test_an_export_has_one_tenants_live_rows(admin_client, store, other_tenant):
    Task.store(other_tenant).create({"text": "theirs"})
    store.delete(store.create({"text": "gone"}).id)
    store.create({"text": "mine"})

    response = admin_client.get(url("export"), {"tenant": "acme", "format": "json"})

    assert [row["text"] for row in json.loads(b"".join(response.streaming_content))] == ["mine"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({}, "Export tasks"),
        ({"tenant": "", "format": "json"}, "Choose a tenant."),
        ({"tenant": "globex", "format": "json"}, "You may not see the rows of this tenant."),
        ({"tenant": "acme", "format": "exe"}, "Export tasks"),
    ],
)
def test_an_export_that_can_not_be_asks_again(admin_client, settings, db, query, told):
    access(settings, OnlyAcme)

    response = admin_client.get(url("export"), query)

    assert told in response.content.decode()


def test_export_takes_the_view_permission(client, staff, db):
    client.force_login(staff)

    assert client.get(url("export"), {"tenant": "acme", "format": "json"}).status_code == 403
