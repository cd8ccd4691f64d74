"""Add and change in the admin: only what was changed is written."""

from __future__ import annotations

import re

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.db.models import JSONField, Value
from django.utils import timezone

from tests.browser import read_form, text_of
from tests.entities.admin_pages import OnlyAcme, access, messages_of, opened, save, url
from tests.testapp.models import Odd, Small, Task

TASK = {"text": "Call Bo", "due_at": "2026-12-02T09:00:00Z", "tags": ["piano"], "priority": 3}


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


@pytest.fixture
def row(store):
    return store.create({**TASK, "address": {"street": "Old Quay 41"}, "lines": [{"sku": "PN-1"}]})


def added(client, model=Task, **texts):
    page = client.get(url("add", model=model)).content.decode()
    posted = read_form(page, f"{model._meta.model_name}_form")
    named = {name if name == "tenant" else f"data.{name}": text for name, text in texts.items()}
    return client.post(url("add", model=model), {**posted, **named, "_save": "Save"})


# --- add ----------------------------------------------------------------------------------------


def test_a_row_is_added_through_the_store(admin_client, store):
    response = added(
        admin_client, tenant="acme", text="Call Cy", **{"due_at.date": "2026-12-02", "due_at.time": "10:00"}
    )

    (row,) = store.query()
    assert response.status_code == 302
    assert row.raw["due_at"] == "2026-12-02T09:00:00.000000Z"
    (entry,) = store.history(row.id)
    assert (entry.op, entry.actor) == ("create", "user:admin")


def test_an_addition_is_logged(admin_client, store):
    added(admin_client, tenant="acme", text="Call Cy")

    entry = LogEntry.objects.get()
    assert (entry.action_flag, entry.object_repr) == (ADDITION, "Call Cy")
    assert entry.object_id == str(store.query().rows[0].id)


def test_what_is_left_alone_gets_the_schemas_default(admin_client, store):
    added(admin_client, tenant="acme", text="Call Cy")

    assert store.query().rows[0].raw["channel"] == "email"


@pytest.mark.parametrize(
    ("tenant", "message"),
    [("", "Choose a tenant."), (" acme", "white space"), ("a\0b", "NUL")],
    ids=["none", "blank", "nul"],
)
def test_a_row_needs_a_tenant(admin_client, db, tenant, message):
    response = added(admin_client, tenant=tenant, text="Call Cy")

    assert message in text_of(response.content.decode())
    assert not Task.objects.exists()
    assert 'value="' in response.content.decode() and "Call Cy" in response.content.decode()


def test_a_missing_field_is_an_error_at_its_input(admin_client, db):
    response = added(admin_client, tenant="acme")

    page = response.content.decode()
    assert "Please correct the error below. Nothing was saved." in page
    assert re.search(r'id="id_data\.text_errors">\s*<li>Field required</li>', page)


def test_a_full_quota_is_told_with_numbers(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 5)

    response = added(admin_client, model=Small, tenant=tenant, n="3")

    assert "No place left: 5 of 5 are used." in response.content.decode()
    assert Small.store(tenant).count() == 5


def test_a_row_that_is_too_large_is_refused_in_words(admin_client, store, row, settings):
    settings.AGENTSTORE = {"MAX_ROW_BYTES": 600}
    posted = opened(admin_client, row, text="x" * 700)

    response = save(admin_client, row, posted)

    assert "the limit is 600" in text_of(response.content.decode())
    assert store.get(row.id).version == 1


def test_limited_staff_choose_among_their_tenants(admin_client, settings, db):
    access(settings, OnlyAcme)

    page = admin_client.get(url("add")).content.decode()

    assert '<option value="acme">Acme &amp; Sons</option>' in page


def test_limited_staff_add_to_no_other_tenant(admin_client, settings, other_tenant, db):
    access(settings, OnlyAcme)

    response = added(admin_client, tenant=other_tenant, text="Call Cy")

    assert "You may not add rows for this tenant." in text_of(response.content.decode())
    assert not Task.objects.exists()


def test_the_tenant_of_the_list_is_filled_in(admin_client, db):
    page = admin_client.get(url("add"), {"_changelist_filters": "tenant=acme&done=no"}).content.decode()

    assert read_form(page, "task_form")["tenant"] == "acme"


# --- change -------------------------------------------------------------------------------------


def test_only_the_changed_field_is_written(admin_client, store, row):
    response = save(admin_client, row, opened(admin_client, row, text="Call Cy"))

    entry = store.history(row.id)[0]
    assert entry.patch == {"set": {"text": "Call Cy"}, "unset": []}
    assert entry.actor == "user:admin"
    assert "version 1 became version 2" in messages_of(response)[0]


def test_a_change_is_logged_with_its_fields_and_versions(admin_client, row):
    save(admin_client, row, opened(admin_client, row, text="Call Cy"))

    entry = LogEntry.objects.get()
    assert entry.action_flag == CHANGE
    assert entry.change_message == "Changed text: version 1 became version 2."


def test_a_change_may_have_a_reason(admin_client, store, row):
    save(admin_client, row, {**opened(admin_client, row, text="Call Cy"), "reason": " typing  error "})

    assert store.history(row.id)[0].reason == "typing error"


AWKWARD = [
    (Task, {"text": "one\r\ntwo\r\n\r\n"}),
    (Task, {"text": "\none\rtwo  "}),
    (Task, {"text": "x", "due_at": "2026-12-02T09:00:00.000001Z"}),
    (Task, {"text": "x", "due_at": "2026-10-25T00:30:00Z"}),
    (Task, {"text": "x", "due_at": "2026-10-25T01:30:00Z"}),
    (Task, {"text": "x", "due_at": "9999-12-31T23:59:59Z", "day": "0001-01-01"}),
    (Task, {"text": "x", "score": 1e300, "tags": ["a\nb", " c ", ""]}),
    (Task, {"text": "x", "lines": [{"sku": "a\r\nb"}, {"sku": ""}]}),
    (Task, {"text": "x", "address": {"street": "<b>&amp;\u2028"}}),
    (Odd, {"amount": "2450.00", "at": "2026-10-25T02:30:00", "either": "5", "madeBy": "Bo"}),
    (Odd, {"amount": "1E+5", "code": 12, "meta": {"a": [None, 1.0]}, "anything": None}),
]


@pytest.mark.parametrize(("model", "data"), AWKWARD)
def test_an_untouched_save_writes_nothing(admin_client, tenant, db, model, data):
    store = model.store(tenant)
    row = store.create(data)
    page = admin_client.get(url("change", row.id, model=model)).content.decode()
    posted = read_form(page, f"{model._meta.model_name}_form")

    with timezone.override("Europe/Berlin"):
        response = admin_client.post(url("change", row.id, model=model), {**posted, "_save": "Save"})

    assert messages_of(response) == ["Nothing was changed, so nothing was saved."]
    assert store.get(row.id).version == 1
    assert len(store.history(row.id)) == 1
    assert not LogEntry.objects.exists()


def test_a_time_that_is_not_there_that_night_is_refused(admin_client, store, row):
    posted = opened(admin_client, row, **{"due_at.date": "2026-03-29", "due_at.time": "02:30"})

    response = save(admin_client, row, posted)

    assert "There is no 02:30 that day in Europe/Berlin" in text_of(response.content.decode())
    assert store.get(row.id).version == 1


def test_several_errors_are_counted_and_keep_the_text(admin_client, store, row):
    posted = opened(admin_client, row, priority="many", score="much", text="Call Cy")

    page = save(admin_client, row, posted).content.decode()

    assert "Please correct the 2 errors below. Nothing was saved." in page
    assert read_form(page, "task_form")["data.priority"] == "many"
    assert store.get(row.id).version == 1


def test_an_error_in_a_row_of_a_table_stands_in_its_cell(admin_client, row):
    posted = opened(admin_client, row, **{"lines.1.sku": "BX-2", "lines.1.quantity": "x"})

    page = save(admin_client, row, posted).content.decode()

    assert 'id="id_data.lines.1.quantity_errors"' in page
    assert read_form(page, "task_form")["data.lines:rows"] == "3"  # what was typed, and a spare row again


def test_save_and_continue_stays_on_the_form(admin_client, row):
    response = save(admin_client, row, opened(admin_client, row, text="Call Cy"), "_continue")

    assert response.url == url("change", row.id)


def test_save_leads_back_to_the_list_as_it_was(admin_client, row):
    response = admin_client.post(
        url("change", row.id) + "?_changelist_filters=tenant%3Dacme",
        {**opened(admin_client, row, text="Call Cy"), "_save": "Save"},
    )

    assert response.url == url("changelist") + "?tenant=acme"


def test_opening_a_form_changes_nothing(admin_client, store, row):
    admin_client.get(url("change", row.id), {"version": "1", "data.text": "Call Cy", "_save": "Save"})

    assert store.get(row.id).raw == row.raw
    assert len(store.history(row.id)) == 1


# --- spoiled rows -------------------------------------------------------------------------------


def test_a_spoiled_row_stays_usable(admin_client, store, row, spoil):
    spoil({**row.raw, "channel": "fax", "ghost": 1}, row)

    page = admin_client.get(url("change", row.id)).content.decode()
    posted = read_form(page, "task_form")
    save(admin_client, row, {**posted, "data.channel": "chat"})

    assert "does not fit the schema any more" in page
    assert "&quot;fax&quot; (not allowed)" in page
    assert store.get(row.id).raw["channel"] == "chat"


def test_an_untouched_save_of_a_spoiled_row_writes_nothing(admin_client, store, row, spoil):
    spoil({"text": 7, "lines": "none", "address": [1], "tags": {"a": 1}, "due_at": "soon"}, row)

    response = save(admin_client, row, opened(admin_client, row))

    assert messages_of(response) == ["Nothing was changed, so nothing was saved."]
    assert store.get(row.id).version == 1


def test_a_spoiled_row_can_be_repaired_field_by_field_in_one_save(admin_client, store, row, spoil):
    spoil({"lines": "none", "priority": "many"}, row)
    posted = opened(admin_client, row, **{"text": "Call Bo", "lines:json": "[]", "priority": "1"})

    save(admin_client, row, posted)

    assert store.get(row.id).schema_errors == {}


@pytest.mark.parametrize(
    "data", [[1, 2], "text", Value(None, JSONField()), 5], ids=["list", "text", "null", "int"]
)
def test_a_row_that_is_no_object_has_a_form(admin_client, store, row, spoil, data):
    spoil(data, row)

    assert admin_client.get(url("change", row.id)).status_code == 200
