"""The demo's strategies: real lessons in several languages, one company at its cap, no repeats."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from agentstore.strategies import StrategyStore, normalize_text
from agentstore.strategies.models import Incident, Strategy
from project import settings as demo_settings
from project.companies import BRIGHTQUILL, COMPANIES, KESTERLY, TANNHOLLOW
from project.demo import accounts
from project.demo.content import CONTENT
from project.demo.lessons import lessons, tell_lessons

SCRIPTS = ("CJK UNIFIED", "HIRAGANA", "HANGUL", "DEVANAGARI", "THAI")


@pytest.fixture(scope="module")
def told(django_db_setup, django_db_blocker):
    """The database that the demo fills under its own settings; empty after the module's last test."""
    output = StringIO()
    with (
        override_settings(AGENTSTORE=demo_settings.AGENTSTORE),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        call_command("demo", "--no-serve", stdout=output)
        yield {tenant: StrategyStore(tenant) for tenant in COMPANIES}
        transaction.set_rollback(True)


def everything(store):
    """Return all rows of a store, page by page."""
    rows, cursor = [], None
    while True:
        page = store.list(limit=100, cursor=cursor)
        rows += page.rows
        cursor = page.next_cursor
        if cursor is None:
            return rows


def test_there_are_hundreds_and_every_company_has_many(told):
    used = [store.usage().used for store in told.values()]

    assert sum(used) >= 300
    assert min(used) >= 80


def test_one_company_is_exactly_at_its_cap_and_the_others_have_room(told):
    usages = {tenant: store.usage() for tenant, store in told.items()}

    assert [tenant for tenant, usage in usages.items() if usage.remaining == 0] == [TANNHOLLOW]
    assert usages[TANNHOLLOW].used == usages[TANNHOLLOW].capacity
    assert len(lessons(TANNHOLLOW)) > usages[TANNHOLLOW].capacity


def test_counters_equal_the_rows(told):
    for tenant, store in told.items():
        assert store.usage().used == Strategy._base_manager.filter(tenant=tenant).count()


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_company_has_lessons_in_each_script(told, script):
    for store in told.values():
        problems = "".join(row.problem for row in everything(store))

        assert any(unicodedata.name(char, "").startswith(script) for char in problems)


def test_no_text_is_used_twice(told):
    rows = [row for store in told.values() for row in everything(store)]

    for texts in ({row.problem for row in rows}, {row.strategy for row in rows}):
        assert len({normalize_text(text) for text in texts}) == len(rows)


def test_no_text_is_another_with_other_numbers(told):
    """Believable lessons differ in their words, not in a number that was filled in."""
    rows = [row for store in told.values() for row in everything(store)]
    texts = {"".join(char for char in row.problem.casefold() if not char.isnumeric()) for row in rows}

    assert len(texts) == len(rows)


def test_they_differ_in_origin_age_confidence_and_teacher(told):
    now = timezone.now()
    for store in told.values():
        rows = everything(store)

        assert {row.origin for row in rows} == {"earned", "seeded"}
        assert len({row.confidence for row in rows}) > 10
        assert min(row.ts for row in rows) < now - timedelta(days=80)
        assert now - timedelta(days=10) < max(row.ts for row in rows) <= now
        assert {row.teacher_model for row in rows} > {None}


def test_the_same_lessons_are_told_at_any_time(db):
    first, second = (
        told_at(timezone.now() - timedelta(days=days, hours=hours)) for days, hours in ((0, 0), (40, 9))
    )

    assert first == second
    assert len(first) > 80


def told_at(now):
    """Return what the company's agents know when their lessons are told at ``now``."""
    with transaction.atomic():
        tell_lessons(BRIGHTQUILL, CONTENT[BRIGHTQUILL].agents, now=now)
        rows = [(row.id, row.confidence, now - row.ts) for row in everything(StrategyStore(BRIGHTQUILL))]
        transaction.set_rollback(True)
    return rows


def test_starting_it_again_duplicates_nothing(told):
    before = list(Strategy._base_manager.order_by("id").values())
    incidents = list(Incident._base_manager.order_by("id").values())

    call_command("demo", "--no-serve", stdout=StringIO())

    assert list(Strategy._base_manager.order_by("id").values()) == before
    assert list(Incident._base_manager.order_by("id").values()) == incidents


def test_the_playground_has_something_to_find_and_near_misses(told):
    found = told[TANNHOLLOW].find("Please extract the tables from the customs report in report.pdf")

    assert [match.arm for match in found] == ["full", "full"]
    near = told[TANNHOLLOW].find("extract tables customs pdf")
    assert len(near) == 3


@pytest.mark.parametrize(
    ("tenant", "query"),
    [
        (TANNHOLLOW, "收货地址"),
        (TANNHOLLOW, "송장"),
        (TANNHOLLOW, "ไปรษณีย์"),
        (BRIGHTQUILL, "予約の前日"),
        (KESTERLY, "होटल बुकिंग"),
    ],
)
def test_lessons_are_found_in_their_own_language(told, tenant, query):
    assert told[tenant].find(query)


def test_some_trouble_is_there_to_be_looked_at(told):
    assert Incident._base_manager.filter(tenant__in=COMPANIES).count() == 2
    spoiled = Incident._base_manager.get(op="parse")
    assert told[spoiled.tenant].get(spoiled.strategy_id)


@pytest.mark.postgres_only
def test_reset_starts_over(transactional_db, settings):
    settings.AGENTSTORE = demo_settings.AGENTSTORE
    StrategyStore(KESTERLY).save(problem="Left over", strategy="from an earlier start")
    accounts.make_accounts()

    call_command("demo", "--no-serve", "--reset", stdout=StringIO())

    assert not StrategyStore(KESTERLY).find("left over")
    assert StrategyStore(TANNHOLLOW).usage().remaining == 0
