"""Real, messy tables: imported by the command, then asked about through Python and through REST.

Every answer is compared with what plain Python finds in the file itself.
"""

from __future__ import annotations

import json

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from agentstore.core.models import AuditEntry
from tests.acceptance.real_data import AIRPORTS, CARS, FILES, MODELS, run

TENANT = "demo"


def by(field, *, descending=False):
    """Order as a store does: rows with a value first, those without last, ties by age."""

    def order(rows):
        numbered = list(enumerate(rows))
        some = [pair for pair in numbered if pair[1][field] is not None]
        none = [pair for pair in numbered if pair[1][field] is None]
        some.sort(key=lambda pair: (pair[1][field], pair[0]), reverse=descending)
        none.sort(key=lambda pair: pair[0], reverse=descending)
        return [row for _, row in some + none]

    return order


def newest_first(rows):
    return rows[::-1]


def has(field, test):
    """Return a condition on a value; a missing one passes none."""
    return lambda row: row[field] is not None and test(row[field])


QUESTIONS = {
    "equality": ("airports", {"state": "TX"}, None, has("state", "TX".__eq__), newest_first),
    "equality of a text that looks like no value": (
        "airports", {"state": "NA"}, "name", has("state", "NA".__eq__), by("name"),
    ),
    "two fields": (
        "airports", {"state": "AK", "latitude__gte": 60.0}, "-latitude",
        lambda row: row["state"] == "AK" and row["latitude"] >= 60, by("latitude", descending=True),
    ),
    "a range of numbers": (
        "airports", {"latitude__gt": 40.0, "latitude__lte": 41.5}, "latitude",
        has("latitude", lambda value: 40 < value <= 41.5), by("latitude"),
    ),
    "a range of texts": (
        "airports", {"name__gte": "X", "name__lt": "a"}, "name", has("name", lambda text: "X" <= text < "a"),
        by("name"),
    ),
    "negative numbers": (
        "airports", {"longitude__lt": -150.0}, "-longitude", has("longitude", lambda value: value < -150),
        by("longitude", descending=True),
    ),
    "one of several": (
        "airports", {"iata__in": ["JFK", "SFO", "ORD", "XXX"]}, "iata",
        has("iata", {"JFK", "SFO", "ORD"}.__contains__), by("iata"),
    ),
    "the start of a text": (
        "airports", {"name__startswith": "San "}, "-name", has("name", lambda text: text.startswith("San ")),
        by("name", descending=True),
    ),
    "a part of a text, its case kept": (
        "airports", {"name__contains": "Intl"}, "city", has("name", lambda text: "Intl" in text), by("city"),
    ),
    "a part of a text in any case": (
        "airports", {"name__icontains": "mUNI"}, "id", has("name", lambda text: "muni" in text.lower()), list,
    ),
    "everything but one value": (
        "airports", {"country__ne": "USA"}, None, lambda row: row["country"] != "USA", newest_first,
    ),
    "everything, among equal keys": ("airports", {}, "state", lambda row: True, by("state")),
    "everything, among equal keys, backwards": (
        "airports", {}, "-state", lambda row: True, by("state", descending=True),
    ),
    "everything, oldest first": ("airports", {}, "created_at", lambda row: True, list),
    "everything, newest first": ("airports", {}, "-created_at", lambda row: True, newest_first),
    "no number": (
        "cars", {"Miles_per_Gallon__isnull": True}, None,
        lambda row: row["Miles_per_Gallon"] is None, newest_first,
    ),
    "a number": (
        "cars", {"Horsepower__isnull": False}, "Name", lambda row: row["Horsepower"] is not None, by("Name"),
    ),
    "null itself": ("cars", {"Horsepower": None}, "Name", lambda row: row["Horsepower"] is None, by("Name")),
    "the largest number first, none last": (
        "cars", {}, "-Miles_per_Gallon", lambda row: True, by("Miles_per_Gallon", descending=True),
    ),
    "the smallest number first, none last": ("cars", {}, "Horsepower", lambda row: True, by("Horsepower")),
    "a range leaves out what has no number": (
        "cars", {"Horsepower__lt": 60}, "Horsepower",
        has("Horsepower", lambda value: value < 60), by("Horsepower"),
    ),
    "not a number, or none": (
        "cars", {"Horsepower__ne": 150}, "created_at", lambda row: row["Horsepower"] != 150, list,
    ),
    "dates kept as text": (
        "cars", {"Year__gte": "1980-01-01", "Year__lt": "1982-01-01"}, "Year",
        has("Year", lambda text: "1980" <= text < "1982"), by("Year"),
    ),
    "some of the origins": (
        "cars", {"Origin__in": ["Japan", "Europe"], "Cylinders": 4}, "-Weight_in_lbs",
        lambda row: row["Origin"] in ("Japan", "Europe") and row["Cylinders"] == 4,
        by("Weight_in_lbs", descending=True),
    ),
    "the start of a name": (
        "cars", {"Name__startswith": "ford p"}, "Name",
        has("Name", lambda text: text.startswith("ford p")), by("Name"),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def loaded(django_db_setup, django_db_blocker):
    """Both tables, imported once for all questions, and taken away again."""
    with django_db_blocker.unblock(), transaction.atomic():
        for entity, path in (("airports", AIRPORTS), ("cars", CARS)):
            out, err = run("agentstore_import", entity, path, "--tenant", TENANT, "--actor", "user:7")
            assert (out, err) == (
                f"{len(FILES[entity]):,} imported into {entity} of tenant '{TENANT}'.\n",
                "",
            )
        yield
        transaction.set_rollback(True)


@pytest.fixture
def rest(db, admin_user):
    """A client that may act for the tenant."""
    client = APIClient(headers={"X-Agentstore-Tenant": TENANT})
    client.force_authenticate(admin_user)
    return client


def answer(entity, condition, order):
    return order([row for row in FILES[entity] if condition(row)])


@pytest.mark.parametrize("question", QUESTIONS)
def test_python_answers_as_the_file_does(loaded, db, backend, question):
    entity, filter, order_by, condition, order = QUESTIONS[question]
    store = MODELS[entity].store(TENANT)

    found = [row.raw for row in store.iterate(filter, order_by=order_by)]
    page = store.query(filter, order_by=order_by, limit=7)

    expected = answer(entity, condition, order)
    assert expected
    assert found == expected
    assert [row.raw for row in page] == expected[:7]
    assert store.count(filter) == len(expected)


@pytest.mark.parametrize("question", QUESTIONS)
def test_rest_answers_as_the_file_does(loaded, rest, question):
    entity, filter, order_by, condition, order = QUESTIONS[question]
    query = {key: "null" if value is None else value for key, value in filter.items()}
    query = {key: json.dumps(value) if isinstance(value, bool) else value for key, value in query.items()}
    query |= {"limit": 100} | ({} if order_by is None else {"order_by": order_by})

    found, url = [], f"/api/entities/{entity}/"
    while url:
        response = rest.get(url, query)
        assert response.status_code == 200, response.content
        body = response.json()
        found += [row["data"] for row in body["results"]]
        url, query = body["next"], None

    assert found == answer(entity, condition, order)


@pytest.mark.parametrize("entity", FILES)
def test_every_row_was_audited_with_its_actor(loaded, db, entity):
    store = MODELS[entity].store(TENANT)
    first = next(iter(store.iterate(order_by="created_at")))

    assert store.usage().used == len(FILES[entity])
    assert AuditEntry.objects.for_tenant(TENANT).filter(entity=entity).count() == len(FILES[entity])
    assert [(entry.op, entry.actor) for entry in store.history(first.id)] == [("create", "user:7")]


@pytest.mark.parametrize("format", ["csv", "json", "jsonl"])
@pytest.mark.parametrize("entity", FILES)
def test_what_is_exported_is_what_was_imported(loaded, db, tmp_path, entity, format):
    path, store = tmp_path / f"out.{format}", MODELS[entity].store("copy")

    run("agentstore_export", entity, path, "--tenant", TENANT)
    out, err = run("agentstore_import", entity, path, "--tenant", "copy")

    assert (out, err) == (f"{len(FILES[entity]):,} imported into {entity} of tenant 'copy'.\n", "")
    assert [row.raw for row in store.iterate(order_by="created_at")] == FILES[entity]
