"""``clock_at``: records of other days, written through the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agentstore.core.values import clock_at, now
from tests.testapp.models import Small

NOON = datetime(2020, 2, 29, 12, tzinfo=UTC)


def test_everything_in_the_block_happens_at_its_moment(db, tenant):
    store = Small.store(tenant)

    with clock_at(NOON):
        row = store.create({"n": 1})
    with clock_at(NOON + timedelta(hours=1)):
        store.update(row.id, {"n": 2})
        store.delete(row.id)

    assert [entry.at - NOON for entry in store.history(row.id)] == [timedelta(hours=1)] * 2 + [timedelta()]
    assert store.undelete(row.id).created_at == NOON
    assert store.get(row.id).updated_at == NOON + timedelta(hours=1)


def test_the_moment_is_kept_in_utc():
    with clock_at(NOON.astimezone(timezone(timedelta(hours=5)))):
        moment = now()

    assert moment == NOON
    assert moment.tzinfo is UTC


def test_the_clock_runs_again_after_the_block_even_when_it_fails():
    with pytest.raises(KeyError), clock_at(NOON):
        raise KeyError

    assert now() > NOON + timedelta(days=365)


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="aware"), clock_at(datetime(2020, 1, 1)):
        pass
