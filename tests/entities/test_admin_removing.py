"""Delete and undelete in the admin: a question first, the store underneath, one log entry each."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import CHANGE, DELETION, LogEntry

from agentstore.core import errors
from agentstore.entities.admin import removing
from agentstore.entities.store import EntityStore
from tests.browser import buttons, read_form, text_of
from tests.entities.admin_pages import NoWrites, OnlyAcme, access, grant, messages_of, url
from tests.testapp.models import Small, Task

TICKED = "_selected_action"


@pytest.fixture
def store(db, tenant, actor):
    return Task.store(tenant, actor=actor)


@pytest.fixture
def row(store):
    return store.create({"text": "Call Bo"})


def choose(client, action, rows, *, model=Task, deleted=False, **more):
    """Tick rows in the list and press Go."""
    address = url("changelist", model=model) + ("?deleted=1" if deleted else "")
    return client.post(
        address, {"action": action, TICKED: [str(row.id) for row in rows], "index": "0", **more}
    )


def answer(client, question, **more):
    """Press the button of a question."""
    posted = read_form(question.content.decode().split('<div id="content-main">')[1])
    return client.post(question.wsgi_request.get_full_path(), {**posted, **more})


# --- one row ------------------------------------------------------------------------------------


def test_deleting_asks_first(admin_client, store, row):
    page = admin_client.get(url("delete", row.id))

    words = text_of(page.content.decode())
    assert "Delete this task? It disappears for everybody and frees its place. It can be undeleted." in words
    assert "No, take me back" in words
    assert store.count() == 1


def test_a_row_is_deleted_with_a_reason_and_logged(admin_client, store, row):
    question = admin_client.get(url("delete", row.id))

    response = answer(admin_client, question, reason="twice")

    assert store.count() == 0
    entry = store.history(row.id)[0]
    assert (entry.op, entry.actor, entry.reason) == ("delete", "user:admin", "twice")
    logged = LogEntry.objects.get()
    assert (logged.action_flag, logged.change_message) == (DELETION, "Deleted at version 1. Reason: twice")
    assert "was deleted at version 1" in messages_of(response)[0]
    assert response.url == url("changelist")


def test_a_row_that_changed_meanwhile_is_shown_again_and_not_deleted(admin_client, store, row):
    question = admin_client.get(url("delete", row.id))
    store.update(row.id, {"text": "Call Cy"})

    response = answer(admin_client, question)

    assert response.status_code == 409
    assert "It is now at version 2" in response.content.decode()
    assert "Call Cy" in response.content.decode()
    assert store.count() == 1


def test_a_row_deleted_meanwhile_is_not_found(admin_client, store, row):
    question = admin_client.get(url("delete", row.id))
    store.delete(row.id)

    response = answer(admin_client, question)

    assert "doesn’t exist" in messages_of(response)[0]
    assert not LogEntry.objects.exists()


def test_a_deleted_row_is_shown_for_reading_and_offers_undelete(admin_client, store, row):
    store.delete(row.id)

    page = admin_client.get(url("change", row.id)).content.decode()

    assert "This task was deleted" in page
    assert url("undelete", row.id) in page
    assert "<textarea" not in page


def test_the_tab_of_a_deleted_row_promises_no_editing(admin_client, store, row):
    store.delete(row.id)

    tabs = admin_client.get(url("history", row.id)).context["tabs"]

    assert [tab.label for tab in tabs] == ["View", "History (2)"]


def test_undeleting_asks_first_and_brings_the_row_back(admin_client, store, row):
    store.delete(row.id)
    question = admin_client.get(url("undelete", row.id))
    assert store.count() == 0

    response = answer(admin_client, question, reason="wrong one")

    assert store.get(row.id).version == 1
    assert store.history(row.id)[0].reason == "wrong one"
    logged = LogEntry.objects.get()
    assert (logged.action_flag, logged.change_message) == (
        CHANGE,
        "Undeleted at version 1. Reason: wrong one",
    )
    assert "was undeleted at version 1" in messages_of(response)[0]


def test_undelete_of_one_row_without_a_place_is_refused_in_numbers(admin_client, tenant, db):
    store = Small.store(tenant)
    rows = store.create_many([{}] * 5)
    store.delete(rows[0].id)
    question = admin_client.get(url("undelete", rows[0].id, model=Small))
    store.create({})

    response = answer(admin_client, question)

    assert "No place left: 5 of 5 are used." in text_of(response.content.decode())
    assert store.count() == 5


@pytest.mark.parametrize("page", ["delete", "undelete"])
def test_what_is_no_row_of_that_kind_is_not_found(admin_client, store, row, page):
    if page == "delete":
        store.delete(row.id)

    assert "doesn’t exist" in messages_of(admin_client.get(url(page, row.id)))[0]
    assert "doesn’t exist" in messages_of(admin_client.get(url(page, "nonsense")))[0]


# --- many rows ----------------------------------------------------------------------------------


def test_ticked_rows_are_asked_about_and_nothing_happens_yet(admin_client, store):
    rows = store.create_many([{"text": f"t{number}"} for number in range(25)])

    question = choose(admin_client, "delete_selected", rows)

    words = text_of(question.content.decode())
    assert "Delete 25 tasks?" in words
    assert "and 5 more" in words
    assert buttons(question.content.decode().split('<div id="content-main">')[1]) == {}
    assert store.count() == 25


def test_ticked_rows_are_deleted_and_logged_each(admin_client, store):
    rows = store.create_many([{"text": "a"}, {"text": "b"}, {"text": "c"}])
    question = choose(admin_client, "delete_selected", rows[:2])

    response = answer(admin_client, question, reason="old")

    assert messages_of(response) == ["Deleted 2 tasks."]
    assert [row.raw["text"] for row in store.query()] == ["c"]
    assert LogEntry.objects.filter(action_flag=DELETION, change_message="Deleted. Reason: old").count() == 2
    assert store.history(rows[0].id)[0].reason == "old"


def test_ticked_rows_are_undeleted_as_far_as_there_are_places(admin_client, tenant, db):
    store = Small.store(tenant)
    rows = store.create_many([{}] * 5)
    for row in rows[:3]:
        store.delete(row.id)
    store.create({})
    question = choose(admin_client, "undelete_selected", rows[:3], model=Small, deleted=True)

    response = answer(admin_client, question)

    assert messages_of(response) == ["Undeleted 2 smalls.", "No place left: 5 of 5 are used."]
    assert store.count() == 5
    assert LogEntry.objects.filter(change_message="Undeleted.").count() == 2


def test_each_tab_has_its_own_action(admin_client, store):
    store.create({"text": "a"})
    store.delete(store.create({"text": "b"}).id)

    live = admin_client.get(url("changelist")).content.decode()
    deleted = admin_client.get(url("changelist"), {"deleted": "1"}).content.decode()

    assert "Delete selected tasks…" in live and "Undelete selected" not in live
    assert "Undelete selected tasks" in deleted and "Delete selected" not in deleted


def test_rows_purged_while_the_question_stood_are_left_out(admin_client, store, row):
    other = store.create({"text": "b"})
    for each in (row, other):
        store.delete(each.id)
    question = choose(admin_client, "undelete_selected", [row, other], deleted=True)
    Task._base_manager.filter(pk=row.id).delete()

    response = answer(admin_client, question)

    assert messages_of(response) == ["Undeleted 1 task."]


def test_too_many_rows_at_once_are_refused(admin_client, store, monkeypatch):
    monkeypatch.setattr(removing, "MOST", 2)
    rows = store.create_many([{"text": "x"}] * 3)

    response = choose(admin_client, "delete_selected", rows, post="yes")

    assert messages_of(response) == ["Choose at most 2 rows at a time."]
    assert store.count() == 3


def test_rows_of_the_other_tab_are_not_touched(admin_client, store, row):
    gone = store.create({"text": "gone"})
    store.delete(gone.id)

    choose(admin_client, "delete_selected", [gone], post="yes")
    choose(admin_client, "undelete_selected", [row], post="yes", deleted=True)

    assert [entry.op for entry in store.history(gone.id)] == ["delete", "create"]
    assert [entry.op for entry in store.history(row.id)] == ["create"]


# --- permissions --------------------------------------------------------------------------------

POSTS = [
    ("add", {"tenant": "acme", "data.text": "new"}),
    ("change", {"version": "1", "data.text": "new"}),
    ("delete", {"post": "yes"}),
    ("undelete", {"post": "yes"}),
]


@pytest.mark.parametrize(("page", "posted"), POSTS)
@pytest.mark.parametrize("permissions", [["view"], ["view", "add", "change", "delete", "undelete"]])
def test_each_change_takes_its_own_permission(client, staff, store, page, posted, permissions):
    row, gone = store.create_many([{"text": "a"}, {"text": "b"}])
    store.delete(gone.id)
    allowed = [name for name in permissions if name != page]
    client.force_login(grant(staff, *allowed))
    target = {"add": [], "undelete": [gone.id]}.get(page, [row.id])

    response = client.post(url(page, *target), posted)

    assert response.status_code == 403
    assert store.count() == 1
    assert store.get(row.id).version == 1


@pytest.mark.parametrize(("page", "posted"), POSTS)
def test_the_access_class_has_the_last_word(admin_client, store, settings, page, posted):
    row, gone = store.create_many([{"text": "a"}, {"text": "b"}])
    store.delete(gone.id)
    access(settings, NoWrites)
    target = {"add": [], "undelete": [gone.id]}.get(page, [row.id])

    admin_client.post(url(page, *target), posted)

    assert store.count() == 1
    assert store.get(row.id).version == 1
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("action", ["delete_selected", "undelete_selected"])
def test_staff_who_may_view_start_no_action(client, staff, store, action):
    row, gone = store.create_many([{"text": "a"}, {"text": "b"}])
    store.delete(gone.id)
    client.force_login(grant(staff, "view", "change", "add"))
    target, deleted = (row, False) if action == "delete_selected" else (gone, True)

    choose(client, action, [target], post="yes", deleted=deleted)

    assert store.get(row.id) is not None
    assert store.get(gone.id) is None


@pytest.mark.parametrize("action", ["delete_selected", "undelete_selected"])
def test_the_access_class_is_asked_about_each_ticked_tenant(admin_client, store, settings, action):
    row, gone = store.create_many([{"text": "a"}, {"text": "b"}])
    store.delete(gone.id)
    access(settings, NoWrites)
    target, deleted = (row, False) if action == "delete_selected" else (gone, True)

    response = choose(admin_client, action, [target], post="yes", deleted=deleted)

    assert response.status_code == 403
    assert store.count() == 1


def test_staff_who_may_view_see_the_row_without_inputs(client, staff, store, row):
    client.force_login(grant(staff, "view"))

    page = client.get(url("change", row.id)).content.decode()

    assert "View task" in page
    assert 'name="data.text"' not in page
    assert 'name="_save"' not in page


@pytest.mark.parametrize("page", ["change", "history", "delete", "undelete"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_another_tenants_row_is_as_unknown_as_one_that_never_was(
    admin_client, other_tenant, settings, page, method, db
):
    row = Task.store(other_tenant).create({"text": "theirs"})
    access(settings, OnlyAcme)

    response = getattr(admin_client, method)(url(page, row.id))

    assert response.status_code == 302
    assert messages_of(response) == [f"task with ID “{row.id}” doesn’t exist. Perhaps it was deleted?"]
    assert Task.store(other_tenant).count() == 1


def test_another_tenants_rows_can_not_be_ticked(admin_client, other_tenant, settings, db):
    row = Task.store(other_tenant).create({"text": "theirs"})
    access(settings, OnlyAcme)

    choose(admin_client, "delete_selected", [row], post="yes")

    assert Task.store(other_tenant).count() == 1


@pytest.mark.parametrize("page", ["delete", "undelete"])
def test_a_row_purged_in_the_moment_of_the_answer_is_not_found(admin_client, store, row, monkeypatch, page):
    if page == "undelete":
        store.delete(row.id)

    def purged(self, id, **options):
        Task._base_manager.filter(pk=id).delete()
        raise errors.NotFound("gone") if page == "undelete" else errors.Conflict("changed")

    monkeypatch.setattr(EntityStore, page, purged)

    response = admin_client.post(url(page, row.id), {"version": "7"})

    assert response.status_code == 302
    assert "Perhaps it was deleted?" in messages_of(response)[0]


@pytest.mark.parametrize("text", ["nope", "", "\0", "x" * 5000, "%s"], ids=range(5))
def test_what_is_no_id_is_no_row_that_can_be_ticked(admin_client, store, row, text):
    posted = {"action": "delete_selected", TICKED: [text, str(row.id)], "index": "0"}
    question = admin_client.post(url("changelist"), posted)
    nothing = admin_client.post(url("changelist"), {**posted, TICKED: [text]})

    assert "Call Bo" in text_of(question.content.decode())
    assert nothing.status_code == 302
    assert "No items have been changed" in messages_of(nothing)[0]
    assert store.count() == 1


def test_a_form_without_its_token_is_refused(admin_user, row, client):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin_user)

    assert strict.post(url("delete", row.id)).status_code == 403
    assert strict.post(url("change", row.id), {"version": "1"}).status_code == 403


def test_rows_that_others_removed_in_the_same_moment_are_not_counted(admin_client, store, row, monkeypatch):
    def purged(*args, **kwargs):
        raise errors.NotFound("gone")

    monkeypatch.setattr(EntityStore, "delete", lambda *args, **kwargs: False)
    monkeypatch.setattr(EntityStore, "undelete", purged)
    gone = store.create({"text": "b"})
    Task._base_manager.filter(pk=gone.id).update(deleted_at=gone.created_at)

    one = admin_client.post(url("delete", row.id), {"version": "1"})
    many = choose(admin_client, "delete_selected", [row], post="yes")
    back = choose(admin_client, "undelete_selected", [gone], post="yes", deleted=True)

    assert "doesn’t exist" in messages_of(one)[0]
    assert messages_of(many) == messages_of(back) == messages_of(one)  # nothing was said since
    assert not LogEntry.objects.exists()
