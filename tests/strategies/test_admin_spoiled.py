"""Rows that were spoiled with SQL: every page still opens, shows them, and lets them go."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Strategy
from tests.browser import read_form, text_of
from tests.strategies.admin_pages import fill, get, messages_of, post, rows_of, url

pytestmark = pytest.mark.django_db

ON_POSTGRES = ["ts = 'infinity'", "ts = '-infinity'", "confidence = 'NaN'", "confidence = 'Infinity'"]
ON_SQLITE = ["ts = 'yesterday'", "ts = ''", "confidence = 'sure'", "term_count = 'many'", "problem = x'ff'"]
ANYWHERE = [
    "ts = '2999-01-01 00:00:00', rank = 99999",
    "ts = '0001-01-01 00:00:00'",
    "confidence = -1",
    "confidence = 1e300",
    "problem = ''",
    "strategy = '<script>'",
    "origin = '<b>'",
    "strategy_id = 'no id'",
    "terms = '{}'",
    "term_count = 0",
]


@pytest.fixture
def spoiled(tenant, request):
    """The key of the first of three strategies, which is spoiled."""
    if request.param in (ON_SQLITE if connection.vendor == "postgresql" else ON_POSTGRES):
        pytest.skip("no such value on this database")
    fill(tenant, 3)
    pk = Strategy.objects.get(strategy_id="s1").pk
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE agentstore_strategy SET {request.param} WHERE strategy_id = 's1'")
    return pk


each = pytest.mark.parametrize("spoiled", [*ANYWHERE, *ON_POSTGRES, *ON_SQLITE], indirect=True)


@each
def test_every_page_opens_and_the_list_has_all_rows(admin_client, spoiled):
    pages = [get(admin_client, url(name, spoiled)) for name in ("change", "delete")]
    pages += [get(admin_client, url(name, size=1)) for name in ("list", "prune", "find", "seed", "add")]
    pages += [get(admin_client, url("list", **query)) for query in ({"q": "problem 2"}, {"origin": "seeded"})]
    found = post(admin_client, url("find"), {"objective": "problem", "limit": "9", "explain": "s2"})

    assert len(rows_of(get(admin_client, url("list")))) == 3
    assert "It would be injected" in text_of(found)
    assert all("<script>" not in page and "<b>'" not in page for page in [*pages, found])


@each
def test_the_export_has_all_rows_and_is_json(admin_client, spoiled):
    entries = json.loads(admin_client.get(url("export")).content)

    assert len(entries) == 3


@each
def test_it_can_be_pruned_or_deleted(admin_client, spoiled):
    ticked = {"action": "delete_selected", "_selected_action": [spoiled], "post": "yes"}
    deleted = admin_client.post(url("list"), ticked)
    told = messages_of(deleted)[-1]
    if "removed by pruning" in told:  # it has no id by which a store could delete it
        page = get(admin_client, url("prune", tenant="acme", size=0))
        admin_client.post(url("prune"), {**read_form(page, "prune_form"), "name": "acme"})

    assert not Strategy._base_manager.filter(pk=spoiled).exists()
    assert StrategyStore("acme").usage().used == Strategy._base_manager.count()
