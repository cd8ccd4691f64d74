"""The demo's agent files: believable pasts, a deleted file, a version that was blanked out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from agentstore.files import FileStore, agents
from agentstore.files.models import HistoricalAgentFile
from project.companies import BRIGHTQUILL, COMPANIES, KESTERLY, TANNHOLLOW
from project.demo.edits import tell_files
from project.demo.filling import FILES

AGENTS = {TANNHOLLOW: "bia", BRIGHTQUILL: "recall", KESTERLY: "concierge"}


@pytest.fixture
def stores(filled):
    return [FileStore(tenant, agent) for tenant, agent in AGENTS.items()]


def test_three_agents_have_five_to_eight_files_each(stores):
    assert {tenant: agents(tenant) for tenant in COMPANIES} == {
        tenant: [agent] for tenant, agent in AGENTS.items()
    }
    for store in stores:
        assert 5 <= len(store.list()) <= 8


def test_their_histories_go_back_for_months_and_reach_to_today(stores):
    now = timezone.now()
    for store in stores:
        changes = store.changes(now - timedelta(days=400))
        assert changes[-1].at < now - timedelta(days=55)
        assert changes[0].at > now - timedelta(days=7)
        assert all(change.at <= now for change in changes)
        assert len({change.actor for change in changes}) >= 2
        assert any(change.reason for change in changes)
        assert any(change.op == "restored" for change in changes) or store.agent == "concierge"


def test_edits_of_a_file_are_in_the_order_of_their_numbers(stores):
    for store in stores:
        for info in store.list():
            times = [info.at, *(version.at for version in store.versions(info.name))]
            assert times == sorted(times, reverse=True)
            assert len(set(times)) == len(times)


def test_changes_are_small_as_real_edits_are(stores):
    for store in stores:
        for info in store.list():
            for version in store.versions(info.name)[1:]:
                if info.name != "notes/day.md" and not version.redacted:
                    assert store.diff(info.name, version.version).added < 40


def test_one_file_is_deleted_and_one_version_blanked_out(stores):
    assert [gone.name for store in stores for gone in store.deleted()] == ["notes/handoff.md"]
    [row] = HistoricalAgentFile._base_manager.filter(redacted_at__isnull=False)
    assert (row.name, row.redacted_by, row.content) == ("SOUL.md", "user:maren", "")
    assert not HistoricalAgentFile._base_manager.filter(content__contains="5550134").exists()


def test_a_busy_file_is_trimmed_and_keeps_its_days(stores):
    versions = stores[0].versions("notes/day.md")

    assert 20 < len(versions) <= 27
    assert stores[0].info("notes/day.md").version > 100


def test_a_file_keeps_its_line_ends(stores):
    content = stores[0].read("USER.md")

    assert content.count("\r\n") == content.count("\n") > 5


@pytest.mark.parametrize("tenant", AGENTS)
@pytest.mark.parametrize("hour", [0, 5, 12, 23])
def test_it_can_be_filled_at_any_hour(db, tenant, hour):
    now = timezone.localtime().replace(hour=hour, minute=3)

    assert tell_files(tenant, FILES[tenant](), now=now) > 10

    store = FileStore(tenant, AGENTS[tenant])
    assert all(info.at <= now for info in store.list())


@pytest.mark.parametrize("tenant", AGENTS)
def test_it_can_be_filled_in_the_night_in_which_clocks_go_forward(db, tenant):
    """Seconds before three o'clock it was not past two: there is no such time on that day."""
    now = timezone.localtime(datetime(2027, 3, 28, 1, 0, 5, tzinfo=UTC))

    tell_files(tenant, FILES[tenant](), now=now)

    store = FileStore(tenant, AGENTS[tenant])
    assert all(change.at <= now for change in store.changes(now - timedelta(days=400)))
