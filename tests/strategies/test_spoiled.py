"""Rows that were spoiled by hand, with SQL: they are skipped or rank low, and keep no store from working."""

from __future__ import annotations

import math

import pytest
from django.db import connection
from django.test import override_settings

from agentstore.core.models import Usage
from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.portable import COUNTER

pytestmark = pytest.mark.django_db

ON_POSTGRES = [
    "ts = 'infinity'",
    "ts = '-infinity'",
    "ts = '4714-11-24 00:00:00+00 BC'",
    "ts = '294276-01-01'",
    "confidence = 'NaN'",
    "confidence = 'Infinity'",
]
ON_SQLITE = [
    "ts = 'yesterday'",
    "ts = '2026-13-45 00:00:00'",
    "ts = ''",
    "ts = 12",
    "confidence = 'sure'",
    "term_count = 'many'",
    "problem = x'ff'",
]
ANYWHERE = [
    "ts = '2999-01-01 00:00:00', rank = 99999",
    "ts = '0001-01-01 00:00:00'",
    "confidence = -1",
    "confidence = 1e300",
    "problem = ''",
    "origin = 'stolen'",
    "strategy_id = 'no id'",
    """terms = '[["extract"], "extract", "tables"]'""",
    "terms = '{}'",
    "terms = 'null'",
    """terms = '"extract"'""",
    "term_count = 0",
    "term_count = 2000000000",
    "dedup_key = ''",
    "rank = -5",
    "tokenizer_version = ''",
    "teacher_model = ''",
]


@pytest.fixture(params=["auto", "portable"], autouse=True)
def backend(request):
    with override_settings(AGENTSTORE={"BACKEND": request.param}):
        yield request.param


@pytest.fixture
def spoiled(tenant, request):
    """A store of two strategies, the first of them spoiled."""
    elsewhere = ON_SQLITE if connection.vendor == "postgresql" else ON_POSTGRES
    if request.param in elsewhere:
        pytest.skip("no such value on this database")
    store = StrategyStore(tenant, capacity=3)
    store.save(id="spoiled", problem="extract tables", strategy="one", confidence=3)
    store.save(id="sound", problem="extract all tables", strategy="two", confidence=1)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE agentstore_strategy SET {request.param} WHERE strategy_id = 'spoiled'")
    return store


each = pytest.mark.parametrize("spoiled", [*ANYWHERE, *ON_POSTGRES, *ON_SQLITE], indirect=True)


@each
def test_the_other_rows_are_found_and_listed(spoiled):
    found = spoiled.find("extract tables", limit=math.inf)

    assert found.empty_because is None
    assert "sound" in [match.id for match in found]
    assert "sound" in [row.id for row in spoiled.list()]
    assert spoiled.get("sound").strategy == "two"
    assert spoiled.explain("extract", "sound").found
    assert Strategy._base_manager.count() == 2


@each
def test_saves_go_on_and_the_cap_holds(spoiled, tenant):
    for number in range(4):
        spoiled.save(problem=f"problem {number}", strategy="s", confidence=2)

    assert Strategy._base_manager.filter(tenant=tenant).count() == 3
    assert Usage._base_manager.get(tenant=tenant, entity=COUNTER).used == 3


@each
def test_the_same_content_can_be_saved_again(spoiled):
    saved = spoiled.save(problem="extract tables", strategy="one", confidence=3)

    assert saved.status in ("created", "merged")
    assert saved.id in [match.id for match in spoiled.find("extract tables", limit=math.inf)]


@each
def test_pruning_removes_it_as_any_other(spoiled, tenant):
    assert len(spoiled.prune(0, dry_run=True)) == 2
    assert len(spoiled.prune(0)) == 2
    assert not Strategy._base_manager.filter(tenant=tenant).exists()


@pytest.mark.parametrize("spoiled", ["confidence = 7", "problem = ' '", "origin = 'x'"], indirect=True)
def test_what_can_not_be_read_is_reported_as_parse_with_its_id(spoiled, tenant):
    spoiled.find("extract tables")

    incident = Incident._base_manager.get(tenant=tenant)
    assert (incident.op, incident.strategy_id) == ("parse", "spoiled")


@pytest.mark.parametrize("spoiled", ["strategy_id = 'no id', confidence = 9"], indirect=True)
def test_saving_its_content_again_gives_a_row_without_an_id_one(spoiled):
    saved = spoiled.save(id="healed", problem="extract tables", strategy="one", confidence=3)

    assert (saved.status, saved.id) == ("merged", "healed")
    assert spoiled.get("healed").confidence == 3


@pytest.mark.parametrize("spoiled", ["dedup_key = 'x'"], indirect=True)
def test_the_same_id_with_the_same_content_merges_whatever_key_is_stored(spoiled, tenant):
    saved = spoiled.save(id="spoiled", problem="Extract TABLES", strategy="one")

    assert (saved.status, saved.id) == ("merged", "spoiled")
    assert Strategy._base_manager.filter(tenant=tenant).count() == 2


@pytest.mark.parametrize("used", [1, 4000, 2_000_000_000])
def test_a_counter_that_is_too_high_costs_no_strategy(tenant, used):
    """Rows that went by hand leave the counter behind; it must not make a save delete the others."""
    store = StrategyStore(tenant, capacity=4)
    for number in range(3):
        store.save(id=f"id{number}", problem=f"problem {number}", strategy="s")
    Usage._base_manager.filter(tenant=tenant).update(used=used)

    saved = store.save(id="new", problem="another problem", strategy="s", confidence=0)

    assert (saved.status, saved.evicted_ids) == ("created", [])
    assert Strategy._base_manager.filter(tenant=tenant).count() == 4


@pytest.mark.parametrize("number", [1201])
def test_more_rows_than_one_statement_may_name_are_pruned(tenant, number):
    store = StrategyStore(tenant, capacity=5000)
    store.seed({"problem": f"problem {n}", "strategy": "s"} for n in range(number))

    assert len(store.prune(0)) == number
    assert store.usage().used == 0
