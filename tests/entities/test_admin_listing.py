"""The list in the admin: tabs, quota, columns, and who sees what."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.browser import text_of
from tests.entities.admin_pages import OnlyAcme, access, grant, listed, messages_of, names, url
from tests.testapp.models import Plain, Small, Task

NOON = datetime(2026, 11, 30, 11, tzinfo=UTC)  # noon in Berlin


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let it be noon of 30 November 2026 in Berlin."""
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


# --- tabs, quota, columns -----------------------------------------------------------------------


def test_the_tabs_tell_how_many_are_live_and_deleted(admin_client, store):
    rows = store.create_many([{"text": "a"}, {"text": "b"}, {"text": "c"}])
    store.delete(rows[0].id)

    words = text_of(listed(admin_client)[0])

    assert "Live (2) Deleted (1)" in words


def test_deleted_rows_have_their_own_tab_and_say_who_deleted_them(admin_client, store):
    rows = store.create_many([{"text": "a"}, {"text": "b"}])
    store.delete(rows[0].id, actor="user:maren")

    page, found = listed(admin_client, deleted="1")

    assert found == ["a"]
    assert "user:maren" in page
    assert "Text Tenant Deleted By Due at Done" in text_of(page)
    assert listed(admin_client)[1] == ["b"]


def test_the_quota_stands_above_one_tenants_rows(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 4)

    page, _rows = listed(admin_client, Small, tenant=tenant)

    assert "acme uses 4 of 5 smalls" in text_of(page)
    assert "1 place left. Deleted rows take no place." in text_of(page)
    assert 'width="80.00%"' in page
    assert "as-bar-full" not in page


def test_a_full_quota_is_red_and_says_so(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 5)

    page, _rows = listed(admin_client, Small, tenant=tenant)

    assert "Full: new smalls are refused. Delete some or raise the limit." in page
    assert "as-bar-full" in page


def test_without_a_tenant_the_list_asks_for_one_and_shows_whose_rows_they_are(
    admin_client, store, other_tenant
):
    store.create({"text": "a"})
    Task.store(other_tenant).create({"text": "b"})

    page, rows = listed(admin_client)

    assert set(rows) == {"a", "b"}
    assert "Choose a tenant to see its quota." in page
    assert 'class="field-tenant"' in page
    assert 'class="field-tenant"' not in listed(admin_client, tenant=other_tenant)[0]


def test_the_columns_are_the_naming_field_and_the_indexes(admin_client, store):
    store.create({"text": "a"})

    page, _rows = listed(admin_client, tenant="acme")

    columns = re.findall(r'<t[hd] class="field-(\w+)', page)
    assert columns == ["text", "due_at", "done", "priority", "score", "channel", "day", "updated"]


def test_rows_without_a_text_field_are_named_by_their_id(admin_client, tenant, db):
    row = Small.store(tenant).create({})

    assert listed(admin_client, Small)[1] == [str(row.id)]


def test_times_are_the_viewers_and_name_their_zone_once(admin_client, store):
    store.create({"text": "a", "due_at": "2026-12-02T09:00:00Z"})

    page, _rows = listed(admin_client)

    assert (
        '<time datetime="2026-12-02T09:00:00+00:00" title="2026-12-02 09:00:00 UTC">2 Dec 2026, 10:00</time>'
        in page
    )
    assert text_of(page).count("Europe/Berlin") == 1


def test_a_past_due_time_is_tagged_unless_the_row_is_done(admin_client, store):
    store.create({"text": "late", "due_at": NOON - timedelta(hours=1)})
    store.create({"text": "done", "due_at": NOON - timedelta(hours=1), "done": True})
    store.create({"text": "soon", "due_at": NOON + timedelta(hours=1)})

    page, _rows = listed(admin_client)

    assert page.count(">overdue<") == 1


def test_a_deleted_row_is_not_overdue(admin_client, store):
    store.delete(store.create({"text": "late", "due_at": NOON - timedelta(hours=1)}).id)

    assert ">overdue<" not in listed(admin_client, deleted="1")[0]


def test_more_than_one_place_left_is_told_in_the_plural(admin_client, tenant, db):
    Small.store(tenant).create_many([{}] * 3)

    assert "2 places left." in text_of(listed(admin_client, Small, tenant=tenant)[0])


def test_a_value_that_is_not_allowed_is_shown_raw_and_tagged(admin_client, store, spoil):
    row = store.create({"text": "a"})
    spoil({**row.raw, "channel": "fax"}, row)
    spoil({"text": 5})
    spoil("no object")

    page, rows = listed(admin_client)

    assert (
        '<span class="as-mono">&quot;fax&quot;</span> <span class="as-tag as-tag-warn">not allowed</span>'
        in page
    )
    assert len(rows) == 3


def test_a_missing_value_is_tagged(admin_client, spoil):
    spoil({"done": True})

    page, _rows = listed(admin_client)

    assert '<span class="as-tag as-tag-warn">missing</span>' in page


def test_a_script_in_a_row_is_inert(admin_client, store, spoil):
    row = store.create({"text": "<script>1</script>"}, actor="<script>2</script>")
    spoil({**row.raw, "channel": "<script>3</script>"}, row)
    store.delete(row.id, actor="<script>4</script>", reason="<script>5</script>")

    page = listed(admin_client, deleted="1")[0]

    assert not re.search(r"<script>\d", page)
    assert "&lt;script&gt;1" in page and "&lt;script&gt;4" in page


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "No tasks yet. Add one, import a file, or let an agent create them."),
        ({"q": "x"}, "No task fits these filters. Clear all filters."),
        ({"done": "yes"}, "No task fits these filters. Clear all filters."),
        ({"deleted": "1"}, "No deleted tasks."),
    ],
)
def test_an_empty_list_says_what_to_do(admin_client, db, query, message):
    assert message in text_of(listed(admin_client, **query)[0])


# --- who sees what ------------------------------------------------------------------------------


def test_limited_staff_see_their_tenants_rows_alone(admin_client, store, other_tenant, settings):
    store.create({"text": "mine"})
    Task.store(other_tenant).create({"text": "theirs"})
    access(settings, OnlyAcme)

    page, rows = listed(admin_client)

    assert rows == ["mine"]
    assert "Acme &amp; Sons</strong> uses 1 of 10,000 tasks" in page
    assert "Live (1)" in page
    assert other_tenant not in page
    assert names(admin_client, tenant=other_tenant) == set()


class NamesMoreThanItAllows(OnlyAcme):
    """It names two tenants and lets nobody view the rows of one."""

    def admin_tenants(self, user):
        return {"acme", "globex"}

    def allows(self, user, tenant, capability, action):
        return (tenant, capability) != ("globex", "entities.tasks")


def test_a_tenant_that_is_named_but_may_not_be_viewed_is_not_shown(
    admin_client, store, other_tenant, settings
):
    store.create({"text": "mine"})
    theirs = Task.store(other_tenant).create({"text": "not to be seen"})
    access(settings, NamesMoreThanItAllows)

    page, rows = listed(admin_client)

    assert rows == ["mine"]
    assert other_tenant not in page
    assert names(admin_client, tenant=other_tenant) == set()
    opened = admin_client.get(f"/admin/testapp/task/{theirs.id}/change/", follow=True)
    assert "doesn’t exist" in text_of(opened.content.decode())
    assert "not to be seen" not in opened.content.decode()


def test_staff_without_permission_see_no_list(client, staff):
    client.force_login(staff)

    assert client.get(url("changelist")).status_code == 403


def test_staff_who_may_view_see_no_buttons_that_change(client, staff, store):
    store.create({"text": "a"})
    client.force_login(grant(staff, "view"))

    page, rows = listed(client)

    assert rows == ["a"]
    assert "addlink" not in page
    assert "delete_selected" not in page


def test_no_page_has_inline_script_or_style(admin_client, store):
    store.create({"text": "a"})

    page = listed(admin_client)[0]

    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|<style", page)


def test_an_entity_without_indexes_has_a_list(admin_client, tenant, db):
    Plain.store(tenant).create({"text": "a", "value": {"x": [1]}})

    assert listed(admin_client, Plain)[1] == ["a"]
    assert messages_of(admin_client.get(url("changelist", model=Plain))) == []
