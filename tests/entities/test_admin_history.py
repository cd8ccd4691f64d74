"""The history tab: every audited change in words, and each version for reading."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.models import AuditEntry
from tests.browser import text_of
from tests.entities.admin_pages import OnlyAcme, access, grant, messages_of, url
from tests.testapp.models import Odd, Plain, Small, Task


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


def told(client, row, model=Task, **query):
    """Return (the page, what each change is told as, newest first)."""
    page = client.get(url("history", row.id, model=model), query).content.decode()
    cells = re.findall(r'(?s)<td role="cell" class="as-long as-what">(.*?)</td>', page)
    return page, [text_of(cell) for cell in cells]


@pytest.fixture
def row(store):
    """A task with one of every kind of change, the last one first in ``TOLD``."""
    row = store.create(
        {"text": "Call Bo", "lines": [{"sku": "PN", "quantity": 1}], "address": {"street": "Quay 41"}}
    )
    store.update(row.id, {"text": "Call Cy", "due_at": "2026-12-02T09:00:00Z"}, reason="typing error")
    store.update(row.id, {"done": True, "tags": ["piano"], "priority": 5})
    store.update(row.id, unset=["priority"], context={"run": "8f2c-1140"})
    store.update(row.id, {"address": {"street": "Quay 14"}})
    store.update(row.id, {"lines": [{"sku": "PN", "quantity": 2}, {"sku": "ST"}]})
    store.delete(row.id, actor="user:maren", reason="twice")
    store.undelete(row.id, actor="user:maren")
    return row


TOLD = [
    "Undeleted",
    "Deleted",
    "Changed lines: 1 row added (ST), 1 row changed (PN: quantity 1 → 2)",
    "Changed address: street Quay 41 → Quay 14",
    "Changed priority: 5 → 0 back to the default",
    "Changed done: No → Yes priority: 0 → 5 tags: empty → piano",
    "Changed text: Call Bo → Call Cy due_at: empty → 2 Dec 2026, 10:00",
    "Created with text, channel, address and lines",
]


def test_every_change_is_told_field_by_field_newest_first(admin_client, row):
    assert told(admin_client, row)[1] == TOLD


def test_who_when_why_and_in_which_run_is_told(admin_client, row):
    words = text_of(told(admin_client, row)[0])

    assert "agent:bia typing error" in words
    assert "agent:bia run 8f2c-1140 none given" in words
    assert "user:maren twice" in words
    assert "8 entries, newest first." in words


def test_deleting_leaves_the_version_which_has_no_view_then(admin_client, row):
    page, _changes = told(admin_client, row)

    assert page.count('<span class="as-quiet">6</span>') == 2
    assert page.count(f"{url('version', row.id, 6)}") == 1
    assert page.count("View<span") == 6


def test_the_current_version_is_marked(admin_client, row):
    assert told(admin_client, row)[0].count(">current<") == 1


def test_a_deleted_row_keeps_its_history_and_its_versions(admin_client, store, row):
    store.delete(row.id)

    assert told(admin_client, row)[1] == ["Deleted", *TOLD]
    assert "Call Bo" in admin_client.get(url("version", row.id, 1)).content.decode()


def test_a_page_goes_on_where_the_one_before_ended(admin_client, store):
    row = store.create({"text": "t1"})
    for number in range(2, 61):
        store.update(row.id, {"text": f"t{number}"})

    page, first = told(admin_client, row)
    older = re.search(r'href="\?before=([0-9a-f-]+)"', page)[1]
    _page, second = told(admin_client, row, before=older)

    assert first[0] == "Changed text: t59 → t60" and len(first) == 25
    assert second[0] == "Changed text: t34 → t35" and len(second) == 25


@pytest.mark.parametrize("before", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_a_page_that_is_none_is_no_error(admin_client, row, before):
    assert admin_client.get(url("history", row.id), {"before": before}).status_code == 200


def test_long_texts_show_the_part_that_changed(admin_client, tenant, db):
    words, store = "word " * 200, Plain.store(tenant)
    row = store.create({"text": f"{words} confirmed {words}"})
    store.update(row.id, {"text": f"{words} on hold {words}"})

    change = told(admin_client, row, Plain)[1][0]

    assert "confirmed" in change and "on hold" in change
    assert len(change) < 500


def test_a_list_says_how_many_it_has(admin_client, store):
    row = store.create({"text": "a", "tags": ["x", "y"]})

    assert told(admin_client, row)[1] == ["Created with text, channel and 2 tags"]


def test_fields_that_the_schema_no_longer_has_are_told(admin_client, store, spoil, row):
    spoil({**store.get(row.id).raw, "ghost": "boo"}, row)
    store.update(row.id, {"text": "Call Di"})

    assert (
        told(admin_client, row)[1][0]
        == "Changed text: Call Cy → Call Di ghost: empty → empty no longer a field"
    )


def test_a_version_shows_the_whole_row_as_it_was(admin_client, row):
    page = admin_client.get(url("version", row.id, 2)).content.decode()

    words = text_of(page)
    assert "Version 2 of the task" in words
    assert "Call Cy" in words and "Quay 41" in words and "2 Dec 2026, 10:00" in words
    assert "<input" not in page.split('<div id="content-main">')[1]


@pytest.mark.parametrize("version", [0, 7, 99])
def test_a_version_that_never_was_is_not_found(admin_client, row, version):
    response = admin_client.get(url("version", row.id, version))

    assert "doesn’t exist" in messages_of(response)[0]


def test_a_row_that_was_written_around_the_store_says_so(admin_client, spoil, row):
    AuditEntry._base_manager.all().delete()

    page = admin_client.get(url("history", row.id)).content.decode()

    assert "Nothing is recorded for this row" in page


def test_scripts_in_what_is_recorded_are_inert(admin_client, store):
    row = store.create(
        {"text": "<script>1</script>", "lines": [{"sku": "<script>2</script>"}]}, actor="<script>3</script>"
    )
    store.update(
        row.id,
        {"text": "<script>4</script>", "tags": ["<script>5</script>"], "lines": []},
        reason="<script>6</script>",
        context={"run": "<script>7</script>"},
    )

    for page in (
        url("history", row.id),
        url("version", row.id, 1),
        url("change", row.id),
        url("delete", row.id),
    ):
        assert not re.search(r"<script>\d", admin_client.get(page).content.decode())


def test_the_number_of_queries_does_not_grow_with_the_changes(admin_client, store):
    row = store.create({"text": "t"})
    for number in range(3):
        store.update(row.id, {"text": f"t{number}"})
    told(admin_client, row)

    with CaptureQueriesContext(connection) as few:
        told(admin_client, row)
    for number in range(40):
        store.update(row.id, {"text": f"u{number}"})
    with CaptureQueriesContext(connection) as many:
        told(admin_client, row)

    assert len(many) <= len(few) + 2  # the row before the page is rebuilt, however long the page


def test_reading_changes_nothing(admin_client, store, row):
    before = AuditEntry.objects.count()

    for page in ("history", "change", "delete"):
        admin_client.get(url(page, row.id))

    assert AuditEntry.objects.count() == before


def test_staff_who_may_view_see_the_history(client, staff, row):
    client.force_login(grant(staff, "view"))

    assert told(client, row)[1] == TOLD


def test_posting_to_the_history_changes_nothing(admin_client, store, row):
    admin_client.post(url("history", row.id), {"_save": "x", "data.text": "x"})
    admin_client.post(url("version", row.id, 1), {"_save": "x", "data.text": "x"})

    assert store.get(row.id).version == 6


def test_another_tenants_versions_are_not_found(admin_client, other_tenant, settings, db):
    row = Task.store(other_tenant).create({"text": "theirs"})
    access(settings, OnlyAcme)

    response = admin_client.get(url("version", row.id, 1))

    assert response.status_code == 302
    assert "theirs" not in response.content.decode()


def test_odd_values_are_told_too(admin_client, tenant, db):
    store = Odd.store(tenant)
    row = store.create({"meta": {"a": 1}})
    store.update(
        row.id, {"meta": {"b": [None]}, "anything": [1, {"x": True}], "amount": "2450.00", "either": "x"}
    )

    change = told(admin_client, row, Odd)[1][0]

    assert "amount: empty → 2450.00" in change
    assert 'anything: empty → [1, {"x": true}]' in change


def test_a_row_of_nothing_is_told_as_empty(admin_client, tenant, db):
    row = Small.store(tenant).create({})

    assert told(admin_client, row, Small)[1] == ["Created empty"]


def test_values_before_that_nobody_knows_are_left_out(admin_client, store, row):
    AuditEntry._base_manager.filter(version=1).delete()

    assert told(admin_client, row)[1][-1] == "Changed text: → Call Cy due_at: → 2 Dec 2026, 10:00"
