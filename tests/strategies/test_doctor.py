"""The doctor's look at strategies: counters, rows that were spoiled by hand, older terms."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from agentstore.core.models import Usage
from agentstore.entities.doctor import Examination
from agentstore.strategies import StrategyStore
from agentstore.strategies.doctor import examine
from agentstore.strategies.models import Strategy
from agentstore.strategies.portable import COUNTER

pytestmark = pytest.mark.django_db


@pytest.fixture
def lessons(tenant):
    store = StrategyStore(tenant)
    for number in range(3):
        store.save(id=f"id{number}", problem=f"problem {number}", strategy="s")
    return store


def findings(**options):
    """Return what the strategies' own check finds."""
    return list(examine(Examination(**options)))


def run(*arguments):
    """Return what the command printed, and how it failed."""
    output = StringIO()
    try:
        call_command("agentstore_doctor", *arguments, stdout=output)
    except CommandError as error:
        return output.getvalue(), str(error)
    return output.getvalue(), ""


def miscount(tenant, used):
    Usage._base_manager.filter(tenant=tenant, entity=COUNTER).update(used=used)


def test_healthy_strategies_have_no_findings_and_are_counted(lessons):
    examination = Examination()

    assert list(examine(examination)) == []
    assert examination.rows == 3


@pytest.mark.parametrize("used", [0, 2, 4, 1000])
def test_a_wrong_counter_is_found_and_repaired_only_when_asked_to(lessons, tenant, used):
    miscount(tenant, used)

    (found,) = findings()

    assert (found.kind, found.entity, found.tenant, found.repaired) == (
        "counter",
        "strategies",
        tenant,
        False,
    )
    assert found.message == f"The counter says {used:,}, there are 3 strategies."
    assert lessons.usage().used == used
    (repaired,) = findings(repair=True)
    assert repaired.message.endswith("Recounted: 3.") and repaired.repaired
    assert lessons.usage().used == 3
    assert findings() == []


def test_strategies_without_a_counter_and_a_counter_without_strategies_are_found(
    lessons, tenant, other_tenant
):
    Usage._base_manager.filter(tenant=tenant).delete()
    StrategyStore(other_tenant).save(problem="p q", strategy="s")
    Strategy._base_manager.filter(tenant=other_tenant)._raw_delete("default")

    found = {finding.tenant: finding.message for finding in findings(repair=True)}

    assert found == {
        tenant: "The counter says 0, there are 3 strategies. Recounted: 3.",
        other_tenant: "The counter says 1, there are 0 strategies. Recounted: 0.",
    }
    assert StrategyStore(other_tenant).usage().used == 0


def test_an_examination_can_keep_to_one_tenant(lessons, tenant, other_tenant):
    StrategyStore(other_tenant).save(problem="p q", strategy="s")
    for owner in (tenant, other_tenant):
        miscount(owner, 7)

    assert [found.tenant for found in findings(tenant=other_tenant, repair=True)] == [other_tenant]
    assert lessons.usage().used == 7


def test_entities_counters_are_left_alone(lessons, tenant):
    Usage._base_manager.filter(tenant=tenant).update(entity="tasks", used=9)

    (found,) = findings(repair=True)

    assert (found.entity, found.message) == (
        "strategies",
        "The counter says 0, there are 3 strategies. Recounted: 3.",
    )
    assert Usage._base_manager.get(entity="tasks").used == 9


def test_a_row_spoiled_by_hand_is_found_with_its_reason(lessons, tenant):
    spoiled = Strategy._base_manager.filter(strategy_id="id1")
    spoiled.update(confidence=7)

    (found,) = findings(repair=True)

    assert (found.kind, found.row, found.problem, found.repaired) == ("misfit", spoiled.get().pk, True, False)
    assert found.errors == {"confidence": ["7.0 is not between 0 and 3."]}


def test_older_terms_are_one_hint(lessons):
    Strategy._base_manager.update(tokenizer_version="0/9")

    (found,) = findings()

    assert (found.kind, found.problem, found.hint) == ("tokenizer", False, "Run agentstore_reindex.")
    assert found.message.startswith("3 strategies were tokenised by other rules")


def test_a_table_that_is_not_there_is_no_crash(lessons):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agentstore_strategy RENAME TO elsewhere")
    try:
        assert findings() == []
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO agentstore_strategy")


def test_a_database_that_cant_be_reached_is_no_crash(lessons, monkeypatch):
    def fail(*args, **kwargs):
        raise OperationalError("no route")

    monkeypatch.setattr(type(connection.introspection), "table_names", fail)

    assert findings() == []


# --- the command --------------------------------------------------------------------------------


def test_the_command_fails_at_a_wrong_counter_and_succeeds_when_it_is_repaired(lessons, tenant):
    assert run()[1] == ""
    miscount(tenant, 9)

    out, failure = run()
    assert "problem  strategies of tenant 'acme': The counter says 9, there are 3 strategies." in out
    assert failure == "Problems: 1."

    out, failure = run("--repair")
    assert (
        "repaired  strategies of tenant 'acme': The counter says 9, there are 3 strategies. Recounted: 3."
        in out
    )
    assert failure == ""
    assert lessons.usage().used == 3


def test_as_json_strategies_are_among_the_findings_and_the_rows(lessons, tenant):
    miscount(tenant, 9)
    Strategy._base_manager.filter(strategy_id="id1").update(problem="")

    out, failure = run("--json")

    told = json.loads(out)
    found = [finding for finding in told["findings"] if finding.get("entity") == "strategies"]
    assert [(finding["kind"], finding["tenant"]) for finding in found] == [
        ("misfit", tenant),
        ("counter", tenant),
    ]
    assert {key: told[key] for key in ("ok", "rows", "problems")} == {"ok": False, "rows": 3, "problems": 2}
    assert failure == "Problems: 2."
