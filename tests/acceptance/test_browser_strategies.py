"""The strategies' pages pass axe, in light and in dark, on a wide screen and on a small one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from agentstore.core.values import clock_at
from agentstore.strategies import StrategyStore
from agentstore.strategies.models import Strategy
from tests.acceptance.accessibility import SCREENS, check_pages
from tests.acceptance.chromium import needs_chromium, press

pytestmark = [pytest.mark.django_db(transaction=True), needs_chromium]

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
UNBROKEN = "unbroken" * 60
PROBLEMS = [
    "Extract tables from a customs report that arrives as a scanned PDF",
    "Extract one table from a customs report PDF",
    "从 PDF 中提取表格 (customs report)",
    "파일을 삭제",
    "Read totals from a customs report " + UNBROKEN,
]
OBJECTIVE = "Please extract the tables from the customs report.pdf"
BAD = [{"id": "no id", "problem": "p", "strategy": "s", "confidence": 9}, {"problem": "q"}, 5]
GOOD = [{"id": "labels-429", "problem": "Carrier answers 429", "strategy": "Wait for Retry-After."}]


def url(name, *args, **query):
    page = "agentstore_incident_changelist" if name == "incidents" else f"agentstore_strategy_{name}"
    address = reverse(f"admin:{page}", args=args)
    return f"{address}?{urlencode({'tenant': 'acme', **query})}"


@pytest.fixture
def stored(transactional_db, tenant):
    """Strategies of several scripts and ages, one of them spoiled by hand, and an incident."""
    store = StrategyStore(tenant)
    for number, problem in enumerate([*PROBLEMS, *(f"problem {n}" for n in range(30))]):
        with clock_at(NOW - timedelta(days=9 * number)):
            store.save(id=f"str_{number}", problem=problem, strategy="Run OCR first. " * 9, confidence=2.5)
    Strategy._base_manager.filter(strategy_id="str_3").update(confidence=7.0)
    store.find("파일")


def ask(page, objective):
    page.goto(url("find"))
    page.fill("#id_objective", objective)
    press(page, "#find_form [type=submit]")


def check(page, entries):
    page.goto(url("seed"))
    page.set_input_files(
        "#id_file",
        [{"name": "seed.json", "mimeType": "application/json", "buffer": json.dumps(entries).encode()}],
    )
    press(page, "#seed_form [type=submit]")


def delete_all_shown(page):
    page.goto(url("changelist"))
    for box in page.query_selector_all("input[name=_selected_action]"):
        box.check()
    page.select_option("select[name=action]", "delete_selected")
    press(page, "#changelist-form .actions [type=submit]")


def states(pk):
    """Return every state of the pages: by name, what leads there."""
    addresses = {
        "list": url("changelist"),
        "nothing listed": url("changelist", q="nowhere"),
        "one": url("change", pk),
        "deletion": url("delete", pk),
        "add": url("add"),
        "find": url("find"),
        "prune": url("prune"),
        "cut": url("prune", size=30),
        "nothing to cut": url("prune", size=100),
        "all go": url("prune", size=0),
        "no size": url("prune", size="many"),
        "seed": url("seed"),
        "incidents": url("incidents"),
    }
    led = {name: (lambda page, to=to: page.goto(to)) for name, to in addresses.items()}
    acts = {
        "found": lambda page: ask(page, OBJECTIVE),
        "not found": lambda page: ask(page, "extract images"),
        "a long word": lambda page: ask(page, f"customs report {UNBROKEN}"),
        "a long word is missing": lambda page: ask(page, f"customs report un{UNBROKEN}"),
        "no words": lambda page: ask(page, "of the"),
        "bad seed": lambda page: check(page, BAD),
        "good seed": lambda page: check(page, GOOD),
        "no seed": lambda page: check(page, {}),
        "deletion of many": delete_all_shown,
    }
    return led | acts


@pytest.mark.postgres_only  # it takes long, and pages look alike on every database
@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_pages_of_strategies_pass_axe_and_fit_the_screen(live_server, admin_user, stored, scheme, width):
    pk = Strategy.objects.get(strategy_id="str_0").pk

    check_pages(live_server.url, states(pk), scheme=scheme, width=width)
