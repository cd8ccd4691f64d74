"""What receivers of ``strategy_changed`` hear: what became of stored strategies, and nothing else."""

from __future__ import annotations

import pytest
from django.test import override_settings

from agentstore.signals import strategy_changed
from agentstore.strategies import StrategyStore

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["auto", "portable"], autouse=True)
def backend(request):
    with override_settings(AGENTSTORE={"BACKEND": request.param}):
        yield request.param


@pytest.fixture
def hear(django_capture_on_commit_callbacks):
    """Return a function that does something and returns what receivers heard of it."""

    def heard_of(act):
        heard = []

        def listen(*, op, id, **_):
            heard.append((op, id))

        strategy_changed.connect(listen)
        try:
            with django_capture_on_commit_callbacks(execute=True):
                act()
        finally:
            strategy_changed.disconnect(listen)
        return heard

    return heard_of


def save(store, id, confidence=2):
    return store.save(id=id, problem=f"problem {id}", strategy="s", confidence=confidence)


def test_every_change_is_told_by_what_it_was(hear, tenant):
    store = StrategyStore(tenant, capacity=2)

    assert hear(lambda: save(store, "a")) == [("created", "a")]
    assert hear(lambda: save(store, "a", 3)) == [("merged", "a")]
    assert hear(lambda: save(store, "b", 1)) == [("created", "b")]
    assert hear(lambda: save(store, "c", 2)) == [("created", "c"), ("evicted", "b")]
    assert hear(lambda: store.prune(1)) == [("pruned", "c")]
    assert hear(lambda: store.delete("a")) == [("deleted", "a")]


def test_a_save_that_is_not_kept_changes_nothing_and_is_not_told(hear, tenant):
    store = StrategyStore(tenant, capacity=1)
    save(store, "a", 3)

    assert hear(lambda: save(store, "weak", 1)) == []


def test_a_stored_strategy_that_a_lowered_cap_takes_at_its_own_save_is_told_as_evicted(hear, tenant):
    save(StrategyStore(tenant), "best", 3)
    save(StrategyStore(tenant), "worst", 1)

    assert hear(lambda: save(StrategyStore(tenant, capacity=1), "worst", 1)) == [("evicted", "worst")]


def test_what_changes_nothing_is_not_told(hear, tenant):
    store = StrategyStore(tenant)
    save(store, "a")

    assert hear(lambda: store.prune(0, dry_run=True)) == []
    assert hear(lambda: store.delete("unknown")) == []
