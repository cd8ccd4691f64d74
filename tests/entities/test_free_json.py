"""Free JSON in a field comes back as it was given: rows, versions, history, bulk, on both databases."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from agentstore.core.errors import TooLarge
from tests.core.test_guards import JSON, TEXT
from tests.testapp.models import Plain

#: Floats that no database keeps as such unless they are written out.
LARGE = [1e16, 7.121120383231941e16, -1e23, 1e300, 1.7976931348623157e308, 5e-324, 0.1, 10**23, 2**70]


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=JSON, text=TEXT)
def test_any_json_is_read_as_it_was_written(db, backend, tenant, value, text):
    store = Plain.store(tenant)
    row = store.create({"value": value, "text": text})

    found = store.get(row.id)
    assert (found.data, found.raw) == (row.data, row.raw)
    assert not store.update(row.id, {"value": value}).changed
    store.update(row.id, {"value": {"inside": value}})
    assert store.get(row.id).data.value == {"inside": value}
    assert store.get(row.id, version=1).data == row.data
    assert [entry.patch for entry in store.history(row.id)] == [
        {"set": {"value": {"inside": value}}, "unset": []},
        row.raw,
    ]


def test_large_floats_stay_floats_and_large_integers_integers(db, backend, tenant):
    store = Plain.store(tenant)
    rows = store.create_many([{"value": number} for number in LARGE], idempotency_key="k")
    for row in rows[:2]:
        for number in range(60):  # beyond the version that keeps the full row
            store.update(row.id, {"text": str(number)})

    found = [store.get(row.id).data.value for row in rows]
    assert found == LARGE
    assert [type(number) for number in found] == [type(number) for number in LARGE]
    again = store.create_many([{"value": number} for number in LARGE], idempotency_key="k")
    assert [row.data.value for row in again] == LARGE
    assert [store.get(row.id, version=55).data.value for row in rows[:2]] == LARGE[:2]
    assert [store.count({"value": number}) for number in LARGE] == [1, 1, 1, 1, 1, 1, 1, 1, 1]
    store.replace(rows[0].id, {"value": [1e200]})
    assert store.get(rows[0].id).data.value == [1e200]


def test_a_zero_has_no_sign_wherever_it_is_read(db, backend, tenant):
    """PostgreSQL gives it none, and so SQLite does not either: rows, versions, history and bulk."""
    store = Plain.store(tenant)
    row = store.create({"value": [-0.0, {"a": -0.0}], "number": -0.0, "text": "-0.0"})
    (other,) = store.create_many([Plain.Schema(number=-0.0)])

    store.update(row.id, {"value": 1})
    store.update(row.id, {"value": {"a": [-0.0]}, "number": 2.5})

    found = [store.get(row.id), store.get(row.id, version=1), store.get(other.id), row, other]
    assert [str(item.raw["number"]) for item in found] == ["2.5", "0.0", "0.0", "0.0", "0.0"]
    assert [str(item.data.number) for item in found] == ["2.5", "0.0", "0.0", "0.0", "0.0"]
    assert "-0.0" not in str([item.raw["value"] for item in found])
    assert "-0.0" not in str([entry.patch["set"] for entry in store.history(row.id)[:2]])
    assert row.data.text == "-0.0"
    assert not store.update(other.id, {"number": -0.0}).changed
    assert store.count({"number": -0.0}) == store.count({"number__gte": -0.0, "number__lt": 1}) == 1


@pytest.mark.parametrize("number", [1e300, 1e-300])
def test_a_row_is_as_large_as_the_database_writes_it(db, backend, tenant, number):
    """Else 256 KiB of small texts would be read back as 13 MB, a hundred times a page."""
    store = Plain.store(tenant)
    row = store.create({"value": [number] * 800})

    assert store.get(row.id).data.value == [number] * 800
    with pytest.raises(TooLarge):
        store.create({"value": [number] * 1000})
    with pytest.raises(TooLarge):
        store.update(row.id, {"value": [number] * 1000})
