"""Add and change in the admin: only what was changed is written, and never over somebody else's save."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.db.models import JSONField, Value
from django.utils import timezone

from agentstore.core.models import AuditEntry
from agentstore.entities.store import EntityStore
from tests.browser import buttons, read_form, text_of
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
    assert 'id="id_data.text_errors"><li>Field required</li>' in page


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


# --- stale --------------------------------------------------------------------------------------


@pytest.fixture
def stale(admin_client, store, row):
    """A form opened at version 1; then an agent saves version 2."""
    posted = opened(
        admin_client, row, **{"text": "My text", "tags": "piano\r\nground floor", "due_at.time": "14:00"}
    )
    changes = {"text": "Their text", "channel": "chat", "due_at": "2026-12-02T15:30:00Z"}
    store.update(row.id, changes, reason="moved by phone")
    return posted


def test_a_second_tab_keeps_its_text_and_shows_the_others(admin_client, store, row, stale):
    response = save(admin_client, row, stale)

    page = response.content.decode()
    posted = read_form(page, "task_form")
    assert response.status_code == 409
    assert store.get(row.id).version == 2
    assert posted["data.text"] == "My text"
    assert posted["data.channel"] == "chat"
    assert posted["version"] == "2"
    assert "Their text" in page


def test_the_notice_says_who_saved_what_and_sorts_the_fields(admin_client, row, stale):
    words = text_of(save(admin_client, row, stale).content.decode())

    assert "Not saved yet: somebody else saved this task first" in words
    assert "You opened version 1. agent:bia saved version 2 at" in words
    assert "(reason: “moved by phone”)" in words
    assert "Changed by both of you: Text, Due at." in words
    assert "Changed by agent:bia only: Channel." in words
    assert "Changed by you only: Tags." in words
    assert "Was email when you opened the form, is chat now." in words
    assert "Added ground floor." in words


def test_the_button_names_the_version_that_is_saved_over(admin_client, row, stale):
    page = save(admin_client, row, stale).content.decode()

    assert buttons(page, "task_form")["_save"] == "Save on top of version 2"


def test_saving_on_top_keeps_mine_and_theirs(admin_client, store, row, stale):
    page = save(admin_client, row, stale).content.decode()

    save(admin_client, row, read_form(page, "task_form"))

    saved = store.get(row.id)
    assert saved.version == 3
    assert (saved.raw["text"], saved.raw["channel"], saved.raw["tags"]) == (
        "My text",
        "chat",
        ["piano", "ground floor"],
    )


def test_take_theirs_drops_mine(admin_client, store, row, stale):
    page = save(admin_client, row, stale).content.decode()

    save(admin_client, row, {**read_form(page, "task_form"), "data.text:choice": "theirs"})

    assert store.get(row.id).raw["text"] == "Their text"
    assert store.get(row.id).raw["due_at"] == "2026-12-02T13:00:00.000000Z"


def test_a_third_save_is_stale_again(admin_client, store, row, stale):
    page = save(admin_client, row, stale).content.decode()
    store.update(row.id, {"text": "Their second text"}, actor="agent:cy")

    response = save(admin_client, row, read_form(page, "task_form"))

    posted = read_form(response.content.decode(), "task_form")
    assert response.status_code == 409
    assert (posted["version"], posted["data.text"]) == ("3", "My text")
    assert "Their second text" in response.content.decode()


def test_a_stale_form_that_was_not_touched_saves_nothing(admin_client, store, row):
    posted = opened(admin_client, row)
    store.update(row.id, {"text": "Their text"})

    response = save(admin_client, row, posted)

    assert messages_of(response) == ["Nothing was changed, so nothing was saved."]
    assert store.get(row.id).raw["text"] == "Their text"


def test_the_same_change_twice_is_no_conflict(admin_client, store, row):
    posted = opened(admin_client, row, text="Same text")
    store.update(row.id, {"text": "Same text"})

    response = save(admin_client, row, posted)

    assert messages_of(response) == ["Nothing was changed, so nothing was saved."]
    assert store.get(row.id).version == 2


def test_a_list_of_objects_counts_as_one_field_and_theirs_is_a_table(admin_client, store, row):
    posted = opened(admin_client, row, **{"lines.1.sku": "MINE-1"})
    store.update(row.id, {"lines": [{"sku": "THEIRS-1", "quantity": 2}], "address": {"street": "Pier 1"}})

    page = save(admin_client, row, posted).content.decode()

    sent = read_form(page, "task_form")
    assert sent["data.lines.1.sku"] == "MINE-1"
    assert sent["data.lines:choice"] == "mine"
    assert "<td>THEIRS-1</td>" in page
    save(admin_client, row, sent)
    assert [line["sku"] for line in store.get(row.id).raw["lines"]] == ["PN-1", "MINE-1"]
    assert store.get(row.id).raw["address"]["street"] == "Pier 1"


def test_your_own_other_tab_is_told_as_that(admin_client, store, row):
    posted = opened(admin_client, row, text="My text")
    store.update(row.id, {"text": "Other tab"}, actor="user:admin")

    words = text_of(save(admin_client, row, posted).content.decode())

    assert "you saved this task elsewhere first" in words


def test_a_race_between_reading_and_writing_is_told_as_stale(admin_client, store, row, monkeypatch):
    posted = opened(admin_client, row, text="My text")
    update = EntityStore.update

    def overtaken(self, *args, **kwargs):
        monkeypatch.setattr(EntityStore, "update", update)
        store.update(row.id, {"text": "Faster"})
        return update(self, *args, **kwargs)

    monkeypatch.setattr(EntityStore, "update", overtaken)

    response = save(admin_client, row, posted)

    assert response.status_code == 409
    assert store.get(row.id).raw["text"] == "Faster"


def test_a_form_whose_row_was_deleted_keeps_its_text(admin_client, store, row):
    posted = opened(admin_client, row, text="My text")
    store.delete(row.id, reason="twice")

    response = save(admin_client, row, posted)

    page = response.content.decode()
    assert response.status_code == 409
    assert "somebody deleted this task meanwhile" in page
    assert read_form(page, "task_form")["data.text"] == "My text"


@pytest.mark.parametrize("version", ["", "0", "99", "-1", "x", "9" * 30])
def test_a_form_of_an_unknown_version_overwrites_nothing(admin_client, store, row, version):
    posted = opened(admin_client, row, text="My text")

    response = save(admin_client, row, {**posted, "version": version})

    assert response.status_code == 409
    assert store.get(row.id).version == 1


def test_a_script_in_what_they_saved_is_inert(admin_client, store, row):
    posted = opened(admin_client, row, text="My text")
    store.update(
        row.id, {"text": "<script>1</script>"}, actor="<script>2</script>", reason="<script>3</script>"
    )

    page = save(admin_client, row, posted).content.decode()

    assert not any(f"<script>{number}" in page for number in "123")
    assert "&lt;script&gt;1" in page and "&lt;script&gt;2" in page and "&lt;script&gt;3" in page


def test_a_text_that_means_the_same_value_is_no_change(admin_client, store, row):
    store.update(row.id, {"score": 1.5})

    response = save(admin_client, row, opened(admin_client, row, score="1.50"))

    assert messages_of(response) == ["Nothing was changed, so nothing was saved."]
    assert store.get(row.id).version == 2


def test_save_and_add_another_leads_to_an_empty_form(admin_client, row):
    response = save(admin_client, row, opened(admin_client, row, text="Call Cy"), "_addanother")

    assert response.url == url("add")


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_row_purged_while_its_page_is_made_is_not_found(admin_client, row, monkeypatch, method):
    monkeypatch.setattr(EntityStore, "get", lambda *args, **kwargs: None)
    monkeypatch.setattr(EntityStore, "get_deleted", lambda *args, **kwargs: None)

    response = getattr(admin_client, method)(url("change", row.id), {"version": "1"})

    assert "doesn’t exist" in messages_of(response)[0]


def test_a_save_of_another_day_is_told_with_its_date(admin_client, store, row, stale):
    AuditEntry._base_manager.filter(version=2).update(at="2026-11-02T10:00:00Z")

    assert "saved version 2 at 2 Nov 2026, 11:00" in text_of(save(admin_client, row, stale).content.decode())


def test_without_an_audit_the_notice_says_what_it_knows(admin_client, row, stale):
    AuditEntry._base_manager.all().delete()

    words = text_of(save(admin_client, row, stale).content.decode())

    assert "Somebody saved version 2." in words
    assert "Changed by both of you: Text, Due at, Channel, Tags." in words


def test_a_field_that_was_not_there_before_is_theirs(admin_client, store, row, spoil):
    spoil({key: value for key, value in row.raw.items() if key != "channel"}, row)
    posted = opened(admin_client, row, text="My text")
    AuditEntry._base_manager.filter(row_id=row.id).update(
        patch={key: value for key, value in row.raw.items() if key != "channel"}
    )
    store.update(row.id, {"channel": "call"})

    assert "Changed by agent:bia only: Channel." in text_of(save(admin_client, row, posted).content.decode())
