"""Creating rows: what comes back, what is refused, how many have room; refusals change nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentstore.core.errors import QuotaExceeded, TooLarge, ValidationFailed
from agentstore.core.models import AuditEntry
from agentstore.core.values import clock_at
from tests.testapp.models import Plain, Small, TaskData

# --- create ---------------------------------------------------------------------------------------


def test_create_returns_what_get_then_finds(tasks):
    row = tasks.create({"text": "call Bia", "due_at": "2026-01-01T10:00:00+01:00", "lines": [{"sku": "x"}]})

    found = tasks.get(row.id)
    assert row.changed
    assert not found.changed
    assert (row.id, row.tenant, row.version, row.data) == (found.id, "acme", 1, found.data)
    assert (row.raw, row.created_at, row.updated_at) == (found.raw, found.created_at, found.updated_at)
    assert row.created_at == row.updated_at
    assert isinstance(row.data, TaskData)
    assert row.data.due_at == datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert (found.schema_errors, found.deleted_at) == ({}, None)


@pytest.mark.local_only
def test_ids_are_version_7_and_times_are_aware_utc_with_microseconds(tasks):
    before = datetime.now(UTC)
    row = tasks.get(tasks.create({"text": "a"}).id)

    assert row.id.version == 7
    assert before <= row.created_at <= datetime.now(UTC)
    assert row.created_at.utcoffset() == timedelta(0)
    with clock_at(datetime(2026, 1, 1, 9, 0, 0, 123457, tzinfo=UTC)):
        assert tasks.get(tasks.create({"text": "b"}).id).created_at.microsecond == 123457


def test_what_create_is_given_is_not_changed_nor_kept(tasks):
    given = {"text": "a", "tags": ["x"]}
    row = tasks.create(given)
    given["tags"].append("y")

    assert row.data.tags == ["x"]
    assert tasks.get(row.id).data.tags == ["x"]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"text": "a", "tags": ["\0"]}, "tags.0"),
        ({"text": "\ud800"}, "text"),
        ({"text": "a", "score": float("nan")}, "score"),
        ({"text": "a", "score": float("inf")}, "score"),
        ({"text": "x" * 1001}, "text"),
        ({"text": 5}, "text"),
        ({"text": "a", "nope": 1}, "nope"),
        ({}, "text"),
        ("text", ""),
    ],
    ids=range(9),
)
def test_create_refuses_with_the_path_and_changes_nothing(tasks, unchanged, data, path):
    with pytest.raises(ValidationFailed) as info:
        tasks.create(data)

    assert list(info.value.errors) == [path]
    unchanged()


def test_create_refuses_what_is_too_large_or_too_deep(store_of, tenant, unchanged, settings):
    store = store_of(Plain, tenant)
    deep = 0
    for _ in range(64):
        deep = [deep]

    with pytest.raises(TooLarge):
        store.create({"text": "x" * (256 * 1024)})
    with pytest.raises(ValidationFailed, match="nested too deeply"):
        store.create({"value": deep})
    settings.AGENTSTORE = {**settings.AGENTSTORE, "MAX_ROW_BYTES": 100, "MAX_DEPTH": 3}
    with pytest.raises(TooLarge, match="the limit is 100"):
        store.create({"text": "x" * 100})
    with pytest.raises(ValidationFailed, match="nested too deeply"):
        store.create({"value": [[[1]]]})
    unchanged()


def test_the_largest_and_deepest_row_is_kept(store_of, tenant):
    deep = 0
    for _ in range(63):
        deep = [deep]
    store = store_of(Plain, tenant)

    row = store.create({"value": deep, "text": "x" * 200_000, "number": 1e308})

    assert store.get(row.id).data == row.data


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        -(2**63) - 1,
        10**400,
        10**4300 - 1,
        1e-7,
        5e-324,
        "\x01\x7f",
        "\ufffe\uffff",
        "🙂",
        "\\u0000",
        "%s",
        {"%": "%(a)s"},
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else f"int{value.bit_length()}",
)
def test_unusual_values_come_back(store_of, tenant, value):
    store = store_of(Plain, tenant)

    row = store.create({"value": value})
    changed = store.update(row.id, {"value": [value]})

    assert store.get(row.id).data.value == [value] == changed.data.value
    assert store.get(row.id, version=1).data.value == value


def test_validation_wins_over_quota(smalls):
    smalls.create_many([{}] * 5)

    with pytest.raises(ValidationFailed):
        smalls.create({"n": "x"})
    with pytest.raises(QuotaExceeded):
        smalls.create({})


# --- quota ----------------------------------------------------------------------------------------


def test_a_full_tenant_is_told_the_limit_and_nothing_changes(smalls, unchanged):
    smalls.create_many([{}] * 5)
    unchanged(reset=True)

    with pytest.raises(QuotaExceeded, match="smalls: there is no place left; the limit is 5 rows") as info:
        smalls.create({})

    assert info.value.hint
    unchanged()


def test_each_tenant_and_entity_has_its_own_places(smalls, store_of, other_tenant, tenant):
    smalls.create_many([{}] * 5)

    store_of(Small, other_tenant).create_many([{}] * 5)
    store_of(Plain, tenant).create({})

    assert (smalls.usage().used, smalls.usage().capacity, smalls.usage().remaining) == (5, 5, 0)
    assert store_of(Small, "empty").usage().used == 0


def test_deleting_frees_a_place_and_undeleting_takes_one(smalls):
    first, *_ = smalls.create_many([{}] * 5)
    smalls.delete(first.id)
    assert smalls.usage().used == 4
    smalls.create({})

    with pytest.raises(QuotaExceeded):
        smalls.undelete(first.id)

    assert smalls.get(first.id) is None
    assert smalls.usage().used == 5
    assert [entry.op for entry in smalls.history(first.id)] == ["delete", "create"]


def test_the_limit_may_depend_on_the_tenant(store_of):
    store_of(Plain, "small-1").create_many([{}] * 2)

    with pytest.raises(QuotaExceeded, match="the limit is 2"):
        store_of(Plain, "small-1").create({})
    assert store_of(Plain, "acme").usage().capacity == 1_000_000


@pytest.mark.parametrize(("limit", "fits"), [(0, 0), (1, 1), (10**12, 3), (2**31 - 1, 3)])
def test_limits_of_every_size(store_of, tenant, monkeypatch, limit, fits):
    monkeypatch.setattr(type(Small.entity), "capacity", lambda self, tenant: limit)
    store = store_of(Small, tenant)

    for number in range(3):
        if number < fits:
            store.create({})
        else:
            with pytest.raises(QuotaExceeded):
                store.create({})

    assert store.count() == fits


def test_a_lowered_limit_blocks_creates_only(smalls, monkeypatch):
    row, other, *_ = smalls.create_many([{}] * 5)
    monkeypatch.setattr(type(Small.entity), "capacity", lambda self, tenant: 2)

    assert smalls.update(row.id, {"n": 1}).changed
    assert smalls.delete(other.id)
    with pytest.raises(QuotaExceeded):
        smalls.create({})
    assert smalls.usage().remaining == 0


def test_a_callable_that_gives_nonsense_is_told(db, monkeypatch, tenant, unchanged):
    monkeypatch.setattr(
        Small, "entity", type(Small.entity)(name="smalls", max_rows_per_tenant=lambda tenant: "5")
    )

    with pytest.raises(ImproperlyConfigured, match="smalls: max_rows_per_tenant"):
        Small.store(tenant).create({})
    unchanged()


# --- create_many ----------------------------------------------------------------------------------


def test_create_many_keeps_the_order(tasks):
    rows = tasks.create_many({"text": str(number)} for number in range(20))

    assert [row.data.text for row in rows] == [str(number) for number in range(20)]
    assert [row.data for row in rows] == [tasks.get(row.id).data for row in rows]
    assert len({row.created_at for row in rows}) == 1
    assert [row.id for row in rows] == sorted(row.id for row in rows)
    assert all(row.version == 1 and row.changed for row in rows)
    assert tasks.usage().used == 20


@pytest.mark.local_only
@pytest.mark.parametrize("count", [499, 500, 501, 1001])
def test_create_many_takes_more_than_one_statement_holds(db, backend, tenant, count):
    store = Plain.store(tenant)

    rows = store.create_many({"number": number} for number in range(count))

    assert store.count() == store.usage().used == len(rows) == count
    assert AuditEntry.objects.filter(op="create").count() == count
    assert store.get(rows[-1].id).data.number == count - 1


def test_create_many_of_nothing_is_nothing(tasks, unchanged):
    assert tasks.create_many([]) == []
    unchanged()


def test_create_many_is_all_or_nothing_when_items_do_not_fit(tasks, unchanged):
    items = [{"text": "a"}, {"text": 5}, {"text": "b"}, {"lines": [{}], "text": "c"}, 7]

    with pytest.raises(ValidationFailed) as info:
        tasks.create_many(items)

    assert sorted(info.value.errors) == ["1.text", "3.lines.0.sku", "4"]
    assert "3 of 5 items do not fit; 1.text: " in info.value.message
    unchanged()


@pytest.mark.parametrize("items", [None, 5, "ab", b"ab", {"text": "a"}])
def test_create_many_takes_a_list(tasks, unchanged, items):
    with pytest.raises(ValidationFailed, match=f"Expected a list of objects, found {type(items).__name__}"):
        tasks.create_many(items)
    unchanged()


def test_create_many_is_all_or_nothing_when_the_places_do_not_suffice(smalls, unchanged):
    smalls.create_many([{}] * 3)
    unchanged(reset=True)

    with pytest.raises(QuotaExceeded, match="no place left for 3 rows; the limit is 5"):
        smalls.create_many([{}] * 3)
    with pytest.raises(QuotaExceeded):
        smalls.create_many([{}] * 6)

    unchanged()
    assert len(smalls.create_many([{}] * 2)) == 2


@pytest.mark.local_only
def test_create_many_over_many_statements_is_all_or_nothing(db, backend, tenant, unchanged, monkeypatch):
    monkeypatch.setattr(type(Plain.entity), "capacity", lambda self, tenant: 1100)

    with pytest.raises(QuotaExceeded):
        Plain.store(tenant).create_many([{}] * 1101)
    unchanged()
    Plain.store(tenant).create_many([{}] * 100)
    with pytest.raises(QuotaExceeded):
        Plain.store(tenant).create_many([{}] * 1001)

    assert Plain.store(tenant).usage().used == Plain.store(tenant).count() == 100
