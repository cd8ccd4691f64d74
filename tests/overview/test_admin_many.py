"""The overview of many tenants: the fullest, the search, and how much it asks of the database."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.access import Access
from agentstore.files import FileStore
from agentstore.overview.admin import tenants
from agentstore.strategies import StrategyStore
from agentstore.strategies.incidents import report
from agentstore.strategies.values import Incident as Report
from tests.browser import text_of
from tests.entities.admin_pages import access
from tests.overview.pages import cards_of, get, rows_of, url
from tests.testapp.models import Plain, Small, Task

pytestmark = pytest.mark.django_db


class Labelled(Access):
    """Tenants have names of their own."""

    def label(self, tenant):
        return f"Company {tenant[1:]}!"


class Named(Labelled):
    """The access class names each tenant."""

    def admin_tenants(self, user):
        return {f"t{number:02}" for number in range(40)}


def fill(count, first=0, *, files=False):
    """Give tenants t00, t01, ... one row more each, up to five of five."""
    for number in range(first, first + count):
        Small.store(f"t{number:02}").create_many([{"n": n} for n in range(min(5, number % 6))] or [{}])
        if files:
            FileStore(f"t{number:02}", "bia").write("a.md", "x")


def keep_everything(first, count, rows):
    """Give some tenants rows, files, strategies and incidents."""
    for number in range(first, first + count):
        name = f"t{number:02}"
        for each in range(rows):
            Task.store(name).create({"text": f"row {each}"})
            Small.store(name).create({"n": each})
            FileStore(name, f"agent{each}").write("a.md", "x")
            StrategyStore(name).save(problem=f"problem {each}", strategy="way", id=f"s{each}")
            report("default", name, Report(op="parse", id=f"s{each}", error="It broke."))


def queries(client):
    with CaptureQueriesContext(
        connection,
    ) as asked:
        get(client)
    return len(asked)


@pytest.mark.parametrize("cls", [Labelled, Named])
def test_the_number_of_queries_depends_neither_on_tenants_nor_on_rows(admin_client, settings, cls):
    access(settings, cls)
    keep_everything(0, 2, 1)
    get(admin_client)
    few = queries(admin_client)

    keep_everything(0, 3, 3)
    more = queries(admin_client)
    keep_everything(3, 11, 2)
    many = queries(admin_client)

    assert few == more == many
    assert len(cards_of(get(admin_client))) == 12


def test_the_fullest_twelve_have_a_card_the_fullest_first(admin_client):
    fill(14)

    page = get(admin_client)
    cards = cards_of(page)

    assert list(cards)[:3] == ["t05", "t11", "t04"]
    assert len(cards) == 12
    assert not {"t00", "t01", "t06", "t07", "t12", "t13"} <= set(cards)
    assert "14 tenants." in text_of(page)
    assert "The 12 fullest are shown. Search for the others." in text_of(page)


def test_files_count_among_what_makes_a_tenant_full(admin_client, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 100}
    fill(13)
    FileStore("quiet", "bia").write("a.md", "x" * 95)

    assert list(cards_of(get(admin_client)))[:3] == ["t05", "t11", "quiet"]


def test_limits_per_tenant_are_those_of_the_tenant(admin_client):
    """``plains`` are limited by a function: two for who is small."""
    fill(13)
    Plain.store("small one").create_many([{}, {}])

    cards = cards_of(get(admin_client))

    assert list(cards)[0] == "small one"
    assert cards["small one"]["Plains"] == "full 2 of 2"


@pytest.mark.parametrize(
    ("search", "found"),
    [("T01", ["t01"]), ("company 02!", ["t02"]), ("t1", ["t11", "t10", "t12", "t13"]), ("nobody", [])],
)
def test_the_search_finds_tenants_by_name_and_label(admin_client, settings, search, found):
    access(settings, Labelled)
    fill(14)

    page = get(admin_client, q=search)

    assert list(cards_of(page)) == [f"Company {name[1:]}!" for name in found]
    assert ("No tenant fits. Show all tenants." in text_of(page)) is (not found)
    assert f'value="{search}"' in page


def test_a_search_narrows_changes_and_incidents(admin_client):
    keep_everything(0, 14, 1)

    page = get(admin_client, q="t13")

    assert {row[1] for row in rows_of(page, "Recent changes")} == {"t13"}
    assert {row[2] for row in rows_of(page, "Incidents")} == {"t13"}


def test_without_a_search_changes_of_every_tenant_are_shown(admin_client):
    fill(13)
    keep_everything(13, 1, 1)

    page = get(admin_client)

    assert "t13" not in cards_of(page)
    assert {row[2] for row in rows_of(page, "Recent changes") if row[1] == "t13"} >= {
        "task",
        "strategy",
        "file",
    }
    assert {row[2] for row in rows_of(page, "Incidents")} == {"t13"}


def test_a_search_for_what_no_text_can_be_finds_nothing(admin_client):
    fill(13)

    assert cards_of(get(admin_client, q="\0t01", tenant="\0")) != {}
    assert cards_of(get(admin_client, tenant=" t01\n")) == {}


def test_few_tenants_need_no_search(admin_client):
    fill(12)

    assert 'name="q"' not in get(admin_client)
    assert 'name="q"' in get(admin_client, tenant="t01")


@pytest.mark.parametrize(
    ("query", "found"),
    [({}, ["t05", "t11", "t04"]), ({"q": "t01"}, ["t01"]), ({"tenant": "t00"}, ["t00"])],
    ids=str,
)
def test_of_too_many_tenants_those_with_the_most_rows_are_compared(admin_client, monkeypatch, query, found):
    monkeypatch.setattr(tenants, "MANY", 6)
    monkeypatch.setattr("agentstore.overview.admin.MANY", 6)
    fill(12, files=True)
    fill(1, first=12)

    page = get(admin_client, **query)

    assert list(cards_of(page))[:3] == found
    assert ("More than 6 tenants." in text_of(page)) is (not query)


def test_whoever_sees_one_tenant_is_asked_nothing_of_the_others(client, settings):
    access(settings, Named)
    fill(3)
    Small.store("x9 and not theirs").create({})
    client.force_login(User.objects.create_superuser("root"))

    assert len(cards_of(get(client))) == 3
    assert "x9 and" not in client.get(url(q="x9")).content.decode()
