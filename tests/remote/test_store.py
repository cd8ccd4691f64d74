"""What only a store over REST does or can't do; all else is held to the local stores' own tests."""

from __future__ import annotations

import inspect

import pytest

from agentstore import acting
from agentstore.core.errors import (
    AlreadyExists,
    Conflict,
    PermissionDenied,
    QuotaExceeded,
    TooLarge,
    ValidationFailed,
)
from agentstore.core.values import new_id
from agentstore.entities.store import EntityStore
from agentstore.remote import LocalOnly, RemoteStore
from tests.remote.faults import ID
from tests.testapp.models import Odd, Plain, Small, Task, TaskData

METHODS = [
    name
    for name, value in inspect.getmembers(EntityStore, inspect.isfunction)
    if not name.startswith("_") and name != "not_found"
]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_a_local_store_is_there_with_its_signature(name):
    local, remote = getattr(EntityStore, name), getattr(RemoteStore, name)

    found = inspect.signature(remote)
    assert found == inspect.signature(local).replace(return_annotation=found.return_annotation)
    assert inspect.iscoroutinefunction(remote) == inspect.iscoroutinefunction(local)


def test_rows_are_equal_to_those_of_a_local_store(remote, local):
    made = remote.create({"text": "a", "due_at": "2026-01-01T10:00:00+01:00", "lines": [{"sku": "x"}]})
    remote.update(made.id, {"priority": 2}, reason="because")

    assert remote.get(made.id) == local.get(made.id)
    assert remote.get(made.id, version=1) == local.get(made.id, version=1)
    assert remote.history(made.id) == local.history(made.id)
    assert remote.query(order_by="text").rows == local.query(order_by="text").rows
    assert remote.usage() == local.usage()
    remote.delete(made.id)
    assert remote.get_deleted(made.id) == local.get_deleted(made.id)


@pytest.mark.parametrize("version", [0, -1, 2, 10**30])
@pytest.mark.parametrize("method", ["update", "replace", "delete"])
def test_a_stale_version_is_told_in_the_words_of_a_local_store(remote, local, method, version):
    id = local.create({"text": "a"}).id.hex
    given = () if method == "delete" else ({"text": "b"},)
    said = []

    for store in (remote, local):
        with pytest.raises(Conflict) as caught:
            getattr(store, method)(id, *given, expected_version=version)
        said.append(caught.value.as_dict())

    assert said[0] == said[1] and said[0]["current_version"] == 1


def test_without_a_schema_data_is_a_dict(connect, tenant, spoil_task):
    store = connect().store("tasks", tenant=tenant)
    row = store.create({"text": "a"})
    bad = spoil_task({"done": True})

    assert row.data == row.raw == store.get(row.id).data
    assert store.update(row.id, {**row.data, "text": "b"}).data["text"] == "b"
    assert (store.get(bad).data, store.get(bad).raw) == (None, {"done": True})
    assert list(store.get(bad).schema_errors) == ["text"]


@pytest.fixture
def spoil_task(db, tenant):
    def write(data):
        id = Task.store(tenant).create({"text": "spoiled"}).id
        Task._base_manager.filter(pk=id).update(data=data)
        return id

    return write


def test_a_model_may_be_handed_over_whatever_the_schema(connect, tenant):
    store = connect().store("tasks", tenant=tenant)

    row = store.create(TaskData(text="a", tags=["x"]))

    assert store.replace(row.id, TaskData(text="b")).data["tags"] == []


# --- tenants --------------------------------------------------------------------------------


def test_without_a_tenant_the_server_says_whose_rows_they_are(connect, local):
    store = connect("agent:bia").store("tasks")

    row = store.create({"text": "a"})

    assert row.tenant.startswith("user:")
    assert store.tenant is None
    assert Task.store(row.tenant).get(row.id).data.text == "a"
    assert local.count() == 0


@pytest.mark.parametrize(
    "tenant", ["acme/../globex", "a%2Fb", "zürich", "user:42", "a b", "名前", "+49 30 1"]
)
def test_a_tenant_travels_to_the_character(connect, tenant):
    store = connect().store("tasks", tenant=tenant)

    row = store.create({"text": "a"})

    assert row.tenant == store.query().rows[0].tenant == tenant
    assert Task.store(tenant).get(row.id).data.text == "a"


@pytest.mark.parametrize(
    "tenant", ["", " a", "a ", "a\r\nX-Evil: 1", "a\0", "\ud800", "x" * 256, 5, b"acme"], ids=repr
)
def test_a_tenant_that_is_none_is_refused_before_anything_is_sent(connect, live, tenant):
    client = connect()

    with pytest.raises(ValidationFailed) as info:
        client.store("tasks", tenant=tenant)

    assert list(info.value.errors) == ["tenant"]
    assert live.requests == []


def test_a_tenant_that_the_user_may_not_act_for_is_refused(connect, live, settings, tenant):
    settings.AGENTSTORE = {}

    with pytest.raises(PermissionDenied, match="You may not act for another tenant"):
        connect().store("tasks", tenant=tenant).count()
    assert connect().store("tasks").count() == 0


# --- why ------------------------------------------------------------------------------------

WRITES = {
    "create": lambda store, row, **who: store.create({"text": "b"}, **who),
    "create_many": lambda store, row, **who: store.create_many([{"text": "b"}], **who)[0],
    "update": lambda store, row, **who: store.update(row.id, {"text": "b"}, **who),
    "replace": lambda store, row, **who: store.replace(row.id, {"text": "b"}, **who),
    "delete": lambda store, row, **who: store.delete(row.id, **who) and row,
    "undelete": lambda store, row, **who: (store.delete(row.id), store.undelete(row.id, **who))[1],
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_why_is_said_by_the_call_before_the_store_before_the_block(connect, local, tenant, write):
    bare = connect("agent:bia").store("tasks", tenant=tenant)
    store = connect("agent:bia").store("tasks", tenant=tenant, reason="store's", context={"store": 1})

    def said(store, **who):
        entry = local.history(write(store, local.create({"text": "a"}), **who).id)[0]
        return entry.actor, entry.reason, entry.context

    with acting(actor="ignored", reason="block's", context={"block": 1}):
        assert said(bare) == ("agent:bia", "block's", {"block": 1})
        assert said(store) == ("agent:bia", "store's", {"store": 1})
        assert said(store, reason="call's", context={}) == ("agent:bia", "call's", {})
    assert said(bare) == ("agent:bia", "", {})


@pytest.mark.parametrize(
    "reason", ["paid, 100 % – Zürich", "a\r\nX-Evil: 1", "  ", '"\\', "x" * 2000, "名" * 800]
)
def test_a_reason_travels_to_the_character(remote, local, reason):
    row = remote.create({"text": "a"}, reason=reason, context={"why": reason[:100], "ü": [1, None]})

    (entry,) = local.history(row.id)
    assert (entry.reason, entry.context) == (reason, {"why": reason[:100], "ü": [1, None]})


@pytest.mark.parametrize(
    ("who", "path"),
    [
        ({"actor": "agent:tom"}, "actor"),
        ({"reason": 5}, "reason"),
        ({"reason": "\0"}, "reason"),
        ({"reason": "\ud800"}, "reason"),
        ({"reason": "x" * 2001}, "reason"),
        ({"reason": "名" * 2000}, "reason"),
        ({"context": [1]}, "context"),
        ({"context": {"a": object()}}, "context.a"),
        ({"context": {"a": float("nan")}}, "context.a"),
        ({"context": {"a": "x" * 9000}}, "context"),
    ],
    ids=range(10),
)
def test_what_cannot_be_said_over_rest_is_refused(remote, connect, local, who, path):
    row = local.create({"text": "a"})

    for write in WRITES.values():
        with pytest.raises(ValidationFailed) as info:
            write(remote, row, **who)
        assert list(info.value.errors) == [path]

    assert [entry.op for entry in local.history(row.id)] in (["create"], ["delete", "create"])
    assert local.count() <= 1


def test_an_actor_for_a_whole_store_is_refused_too(connect):
    with pytest.raises(ValidationFailed, match="the server says who acts"):
        connect().store("tasks", actor="agent:tom")


# --- many rows ------------------------------------------------------------------------------


def test_big_pages_and_many_of_them(connect, tenant):
    store = connect().store("plains", tenant=tenant, schema=Plain.Schema)
    for _ in range(2):
        store.create_many([{"text": "ü" * 2000, "number": number} for number in range(125)])

    page = store.query(limit=100, order_by="number")
    rows = list(store.iterate({"number__gte": 5}, order_by="-number"))

    assert (len(page), page.limit) == (100, 100)
    assert page.next_cursor
    assert len(rows) == len({row.id for row in rows}) == 240
    assert rows[0].data.number == 124


def test_iterate_asks_for_the_first_page_at_once_and_for_the_others_when_they_are_reached(remote, live):
    remote.create_many([{"text": str(number)} for number in range(150)])
    live.requests.clear()

    rows = remote.iterate()
    assert len(live.requests) == 1
    for _ in range(100):
        next(rows)
    assert len(live.requests) == 1
    assert len(list(rows)) == 50
    assert len(live.requests) == 2


def test_a_request_takes_five_hundred_rows(connect, tenant):
    store = connect().store("plains", tenant=tenant)

    assert len(store.create_many([{}] * 500)) == 500
    with pytest.raises(ValidationFailed, match="up to 500 rows, found 501"):
        store.create_many([{}] * 501)

    assert store.count() == 500


def test_more_than_a_body_holds_is_too_large(connect, tenant):
    store = connect().store("plains", tenant=tenant)

    with pytest.raises(TooLarge, match="body"):
        store.create_many([{"text": "x" * 100_000}] * 30)
    assert store.count() == 0


def test_a_long_history_comes_in_pages_and_whole(connect, tenant):
    store = connect().store("smalls", tenant=tenant)
    row = store.create({})
    for number in range(1, 121):
        Small.store(tenant).update(row.id, {"n": number})

    whole = store.history(row.id)

    assert [entry.version for entry in whole] == list(range(121, 0, -1))
    assert store.history(row.id, limit=105) == whole[:105]
    assert store.history(row.id, limit=10, before=whole[4].id) == whole[5:15]


def test_a_filter_may_be_longer_than_any_address(remote):
    remote.create({"text": "a"})

    assert remote.count({"text__in": ["a"] + ["x" * 900] * 99}) == 1
    assert len(remote.query({"text__in": ["a"] + ["x" * 900] * 99})) == 1


def test_text_and_numbers_of_an_open_type_are_told_apart(connect, tenant):
    store = connect().store("odds", tenant=tenant, schema=Odd.Schema)
    text, number = store.create({"either": "5"}), store.create({"either": 5})

    assert [row.id for row in store.query({"either": "5"})] == [text.id]
    assert [row.id for row in store.query({"either": 5})] == [number.id]


# --- what stays local -----------------------------------------------------------------------


def test_what_rest_does_not_offer_says_where_it_is_to_be_had(remote):
    with pytest.raises(LocalOnly, match="all tenants") as info:
        remote.sweep({"done": False}, reason="dispatch")
    assert "sweep()" in info.value.hint
    with pytest.raises(LocalOnly, match="for good") as info:
        remote.purge(days=7)
    assert "agentstore_purge" in info.value.hint


def test_errors_come_as_from_a_local_store(connect, tenant):
    store = connect().store("smalls", tenant=tenant)
    store.create_many([{}] * 5)
    with pytest.raises(QuotaExceeded) as theirs:
        store.create({})
    with pytest.raises(QuotaExceeded) as own:
        Small.store(tenant).create({})

    assert theirs.value.as_dict() == own.value.as_dict()
    assert not isinstance(theirs.value, AlreadyExists)


def test_ids_of_any_kind_go_into_no_address(remote, live):
    for id in ("../../odds", "a/b", "?x=1", "#", "\r\n", ID + "/history", 5, None, object()):
        assert remote.get(id) is None
        assert remote.get_deleted(id) is None
        assert remote.delete(id) is False
        assert remote.history(id) == []
    assert live.requests == []
    assert remote.history(new_id(), before="x") == []
