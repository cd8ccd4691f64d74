"""Containment: what PostgreSQL's ``@>`` says, our Python says, and so SQLite says."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentstore.core import ordering
from agentstore.core.values import new_id, now
from tests.entities.answers import contained
from tests.testapp.models import Plain

SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 1.0, 1.5, 2**53, 2**53 + 1, float(2**53), 10**22, 1e22, 10**400])
    | st.sampled_from(["", "a", "A", "1", "true", "null", "ä", "🙂", "\uffff", '"', "\\"])
)
#: Few keys, values and shapes, so that true answers are as common as false ones.
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def pairs(draw):
    """Return two values, the second often a part of the first."""
    left = draw(JSON)
    right = draw(JSON | st.just(left) | st.builds(lambda value: part_of(value, draw), st.just(left)))
    return left, right


def part_of(value, draw):
    if isinstance(value, dict):
        return {key: part_of(item, draw) for key, item in value.items() if draw(st.booleans())}
    if isinstance(value, list):
        return [part_of(item, draw) for item in value if draw(st.booleans())]
    return value


def in_python(left, right):
    return ordering.contains(*(ordering.exact_json(json.dumps(value)) for value in (left, right)))


def by_the_book(left, right):
    """The documented rules; the whole of an array also contains a bare scalar."""
    if isinstance(left, list) and not isinstance(right, dict | list):
        return contained(left, [right])
    return contained(left, right)


MANY = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@MANY
@example(
    [([1], 1), ([[1]], 1), (1, [1]), ({}, {}), ([], []), ({}, []), ([], {}), ([True], 1), ([1, 2], [2, 2, 1])]
)
@given(st.lists(pairs(), min_size=20, max_size=60))
def test_the_database_says_what_python_says(db, many):
    texts = [(json.dumps(left), json.dumps(right)) for left, right in many]
    operator = (
        "%s::jsonb @> %s::jsonb" if connection.vendor == "postgresql" else "AGENTSTORE_CONTAINS(%s, %s)"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT " + ", ".join([operator] * len(many)), [text for pair in texts for text in pair]
        )
        found = [bool(value) for value in cursor.fetchone()]

    assert found == [in_python(left, right) for left, right in many] == [by_the_book(*pair) for pair in many]


@MANY
@given(st.lists(JSON, min_size=5, max_size=10), JSON)
def test_an_equality_filter_is_containment(db, tenant, stored, wanted):
    Plain._base_manager.all().delete()
    at = now()
    rows = {new_id(): value for value in stored}
    Plain._base_manager.bulk_create(
        Plain(id=id, tenant=tenant, data={"value": value}, version=1, created_at=at, updated_at=at)
        for id, value in rows.items()
    )

    found = {row.id for row in Plain.store(tenant).iterate({"value": wanted})}

    assert found == {id for id, value in rows.items() if contained(value, wanted)}


@pytest.mark.parametrize(
    ("stored", "filter", "found"),
    [
        ({"value": {"a": 1, "b": 2}}, {"value": {"a": 1}}, True),
        ({"value": {"a": 1}}, {"value": {}}, True),
        ({"value": [1, 2, 3]}, {"value": [3, 1, 1]}, True),
        ({"value": [1]}, {"value": []}, True),
        ({"value": [1]}, {"value": 1}, False),
        ({"value": None}, {"value": None}, True),
        ({}, {"value": None}, False),
        ({"value": 1}, {"value": True}, False),
        ({"value": "1"}, {"value": 1}, False),
        ({"value": 1}, {"value": 1.0}, True),
    ],
)
def test_the_documented_rules(db, backend, tenant, stored, filter, found):
    at = now()
    row = Plain(id=new_id(), tenant=tenant, data=stored, version=1, created_at=at, updated_at=at)
    Plain._base_manager.bulk_create([row])

    assert Plain.store(tenant).count(filter) == found
