"""``manage.py play`` on what the demo filled: the run of a transcript, twice."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import call_command

from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from project.companies import TANNHOLLOW
from project.desk.models import Order, Reminder

HARPS = {"customer": "Fennimore Harps"}


@pytest.fixture(scope="module")
def played(filled):
    """What two runs printed, one after the other."""
    outputs = [StringIO(), StringIO()]
    for output in outputs:
        call_command("play", stdout=output, no_color=True)
    return [output.getvalue() for output in outputs]


def test_the_run_tells_the_whole_story(played):
    text = played[0]

    steps = [
        "Customer: Ada Fennimore here",
        "orders_query",
        "strategy_find",
        "orders_create",
        "error validation",
        "Did you mean 'deliver_by'?",
        "ship_to.postcode: Input should be a valid string",
        "orders_create",
        "version 1 of",
        "Meanwhile: Tobi",
        "version 2 of",
        "error conflict",
        "is at version 2, not 1. Read it again and reapply your change.",
        "orders_get",
        "orders_update",
        "version 3 of",
        "reminders_create",
        "file_write",
        "strategy_save",
    ]
    places = [text.index(steps[0])]
    for step in steps[1:]:
        places.append(text.index(step, places[-1]))
    assert text.count("error ") == 2


def test_it_shows_what_was_there_before_and_what_is_other_after(played):
    before, _, after = played[0].partition("\nAfter\n")

    orders = int(re.search(r"^  orders +(\d+)$", before, re.MULTILINE)[1])
    assert re.search(rf"^  orders +{orders} -> {orders + 1}$", after, re.MULTILINE)
    assert re.search(r"^  reminders +\d+ -> \d+$", after, re.MULTILINE)
    assert re.search(r"^  notes/town-hall.md +not there -> version 1$", after, re.MULTILINE)
    assert "SOUL.md" in before and "SOUL.md" not in after and "contacts" not in after


def test_the_rows_are_real(played):
    orders = list(Order.store(TANNHOLLOW).query(HARPS, order_by="created_at"))

    assert [order.version for order in orders] == [3, 3]
    for order in orders:
        assert order.data.status == "confirmed" and order.data.tags == ["harp", "stairs"]
        assert "third floor" in order.data.note.lower()
    assert Reminder.store(TANNHOLLOW).count({"text__startswith": "Call Ada Fennimore"}) == 2
    assert FileStore(TANNHOLLOW, "bia").info("notes/town-hall.md").source == "tool"


def test_the_audit_tells_who_did_what_in_which_run(played):
    order = next(iter(Order.store(TANNHOLLOW).query(HARPS, order_by="created_at")))
    run = re.search(r"run (play-\w+)\.", played[0])[1]

    history = Order.store(TANNHOLLOW).history(order.id)

    assert [entry.actor for entry in history] == ["agent:bia", "user:tobi", "agent:bia"]
    assert {entry.context["run"] for entry in history} == {run}
    _, _, told = played[0].partition("What the audit has of this run\n")
    assert told.count(str(order.id)) == 3 and told.count("reminders") == 1


def test_the_second_run_finds_what_the_first_one_learned(played):
    first, second = (text[text.index("strategy_find") :].splitlines()[1] for text in played)

    assert "no_match" in first
    assert "Harps go up the stairs" in second
    assert '"status": "merged"' in played[1]
    assert len(list(StrategyStore(TANNHOLLOW).find("harps stairs"))) == 1
