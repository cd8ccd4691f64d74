"""One row's life, told through every way in: Python, a tool, REST and the admin see the same row.

Each surface has tests of its own; here they must not drift apart.
"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from rest_framework.test import APIClient

from agentstore import acting
from agentstore.core.errors import Conflict, NotFound
from agentstore.core.models import AuditEntry
from agentstore.tools import toolset
from tests.entities.admin_pages import opened, save, url
from tests.testapp.models import Task

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant(user):
    """The tenant that the default access class gives the user."""
    return f"user:{user.pk}"


@pytest.fixture
def rest(user):
    client = APIClient()
    client.default_format = "json"
    client.force_authenticate(user)
    return client


def test_a_row_from_its_first_word_to_its_return(tenant, rest, admin_client, backend):
    tools = toolset(tenant=tenant, actor="agent:bia")
    store = Task.store(tenant, actor="job")

    # An agent writes down what it was told.
    made = tools.call("tasks_create", {"data": {"text": "call Tom", "due_at": "2026-02-01T10:00:00+01:00"}})
    id = made["row"]["id"]

    # A program finds it by its time, in UTC.
    (found,) = store.query({"due_at": "2026-02-01T09:00:00Z", "done": False}, order_by="-due_at")
    assert (str(found.id), found.data.text, found.version) == (id, "call Tom", 1)

    # The user changes it over REST, on what they have read.
    read = rest.get(f"/api/entities/tasks/{id}/")
    assert read.json()["data"] == made["row"]["data"]
    patched = rest.patch(
        f"/api/entities/tasks/{id}/",
        {"data": {"text": "call Tom and Eva"}},
        headers={"If-Match": read["ETag"]},
    )
    assert (patched.status_code, patched["ETag"]) == (200, '"2"')

    # The agent, which read it before, is told to look again, and then gets through.
    stale = tools.call("tasks_update", {"id": id, "set": {"done": True}, "expected_version": 1})
    assert (stale["error"]["code"], stale["error"]["current_version"]) == ("conflict", 2)
    done = tools.call("tasks_update", {"id": id, "set": {"done": True}, "expected_version": 2})
    assert done["row"]["data"]["text"] == "call Tom and Eva"

    # Meanwhile an operator corrects it in the admin.
    row = store.get(id)
    assert save(admin_client, row, opened(admin_client, row, text="Call Tom and Eva")).status_code == 302
    assert store.get(id).data.text == "Call Tom and Eva"
    assert store.get(id).data.done is True

    # A job deletes it, and every way in says that it is gone.
    with acting(reason="older than a month", context={"run": 7}):
        assert store.delete(id)
    assert store.get(id) is None
    assert rest.get(f"/api/entities/tasks/{id}/").status_code == 404
    assert tools.call("tasks_get", {"id": id})["error"]["code"] == "not_found"
    assert tools.call("tasks_query", {})["rows"] == []

    # It comes back as it was, and its history tells the whole story.
    assert rest.post(f"/api/entities/tasks/{id}/undelete/").status_code == 200
    told = [(entry.op, entry.version) for entry in reversed(store.history(id))]
    assert told == [
        ("create", 1),
        ("update", 2),
        ("update", 3),
        ("update", 4),
        ("delete", 4),
        ("undelete", 4),
    ]
    actors = [entry.actor for entry in reversed(store.history(id))]
    assert actors == ["agent:bia", "user:ursula", "agent:bia", "user:admin", "job", "user:ursula"]
    deletion = store.history(id)[1]
    assert (deletion.reason, deletion.context) == ("older than a month", {"run": 7})
    assert [store.get(id, version=number).data.text for number in (1, 2, 3, 4)] == [
        "call Tom",
        "call Tom and Eva",
        "call Tom and Eva",
        "Call Tom and Eva",
    ]
    page = admin_client.get(url("history", id)).content.decode()
    assert "agent:bia" in page
    assert "older than a month" in page


def test_another_user_meets_nothing_of_it(tenant, rest, admin_user, other_tenant):
    theirs = Task.store(other_tenant).create({"text": "secret"})
    tools = toolset(tenant=tenant)

    assert rest.get(f"/api/entities/tasks/{theirs.id}/").status_code == 404
    assert rest.get(f"/api/entities/tasks/{theirs.id}/history/").status_code == 404
    assert rest.delete(f"/api/entities/tasks/{theirs.id}/").status_code == 404
    assert rest.get("/api/entities/tasks/").json()["results"] == []
    assert tools.call("tasks_get", {"id": str(theirs.id)})["error"]["code"] == "not_found"
    assert Task.store(tenant).get(theirs.id) is None
    with pytest.raises(NotFound):
        Task.store(tenant).update(theirs.id, {"text": "mine"})
    assert AuditEntry.objects.filter(row_id=theirs.id).count() == 1


def test_one_who_may_acts_for_another_tenant_by_name(rest, user, other_tenant):
    theirs = Task.store(other_tenant).create({"text": "shared"})
    address, named = f"/api/entities/tasks/{theirs.id}/", {"X-Agentstore-Tenant": other_tenant}
    assert rest.get(address, headers=named).status_code == 403

    user.user_permissions.add(Permission.objects.get(codename="act_for_tenant"))
    rest.force_authenticate(type(user).objects.get(pk=user.pk))

    assert rest.get(address, headers=named).json()["data"]["text"] == "shared"
    assert rest.get(address).status_code == 404


def test_a_refusal_is_told_in_the_same_words_by_every_way_in(tenant, rest):
    store, tools = Task.store(tenant), toolset(tenant=tenant)
    row = store.create({"text": "a"})
    store.update(row.id, {"text": "b"})

    with pytest.raises(Conflict) as info:
        store.update(row.id, {"text": "c"}, expected_version=1)
    over_rest = rest.patch(
        f"/api/entities/tasks/{row.id}/", {"data": {"text": "c"}}, headers={"If-Match": '"1"'}
    ).json()
    by_tool = tools.call("tasks_update", {"id": str(row.id), "set": {"text": "c"}, "expected_version": 1})[
        "error"
    ]

    expected = info.value.as_dict()
    assert by_tool["code"] == over_rest["code"] == expected["code"] == "conflict"
    assert by_tool["current_version"] == over_rest["current_version"] == expected["current_version"] == 2
    assert by_tool["detail"] == over_rest["detail"] == expected["detail"]


def test_a_row_that_no_longer_fits_is_shown_by_every_way_in_and_repaired_by_one(tenant, rest, admin_client):
    store, tools = Task.store(tenant), toolset(tenant=tenant)
    good, bad = store.create_many([{"text": "good"}, {"text": "bad"}])
    Task._base_manager.filter(pk=bad.id).update(data={"done": True, "old": 1})

    in_python = {row.id: row for row in store.query()}
    over_rest = {row["id"]: row for row in rest.get("/api/entities/tasks/").json()["results"]}
    by_tool = {row["id"]: row for row in tools.call("tasks_query", {})["rows"]}

    assert (in_python[good.id].data.text, in_python[bad.id].data) == ("good", None)
    for found in (over_rest, by_tool):
        assert found[str(good.id)]["data"]["text"] == "good"
        assert str(bad.id) in found
    assert admin_client.get(url("changelist")).status_code == 200
    assert admin_client.get(url("change", bad.id)).status_code == 200

    fixed = tools.call("tasks_update", {"id": str(bad.id), "set": {"text": "mended"}})

    assert (fixed["row"]["data"]["text"], fixed["row"]["data"]["done"]) == ("mended", True)
    assert store.history(bad.id)[0].patch["unset"] == ["old"]
