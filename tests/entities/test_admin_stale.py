"""Two tabs of one form in the admin: the later save keeps its text, shows the other's, overwrites nothing."""

from __future__ import annotations

import pytest

from agentstore.core.models import AuditEntry
from agentstore.entities.store import EntityStore
from tests.browser import buttons, read_form, text_of
from tests.entities.admin_pages import messages_of, opened, save, url
from tests.testapp.models import Task

TASK = {"text": "Call Bo", "due_at": "2026-12-02T09:00:00Z", "tags": ["piano"], "priority": 3}


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


@pytest.fixture
def row(store):
    return store.create({**TASK, "address": {"street": "Old Quay 41"}, "lines": [{"sku": "PN-1"}]})


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
