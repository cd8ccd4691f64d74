"""The OpenAPI document and the API agree: schemathesis, with a bounded budget, finds nothing.

It runs every check it has on every operation of the demo's entities: no 500, no undocumented status,
no answer that breaks its schema, no valid request refused, no invalid one taken.
"""

from __future__ import annotations

import re
from collections import Counter

import hypothesis
import pytest
import schemathesis
from django.contrib.auth import get_user_model
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.config import SchemathesisConfig

from agentstore.entities.registry import all_entities

NAME, PASSWORD = "admin", "secret"
#: Stock checks, all of them; only the budget is ours.
CONFIG = {
    "auth": {"basic": {"username": NAME, "password": PASSWORD}},
    "generation": {"max-examples": 6, "database": "none"},
}
#: Without the phase that tries each boundary of each parameter, which takes a thousand requests a list.
BRIEF = {**CONFIG, "phases": {"coverage": {"enabled": False}}}
#: The entity that has most types: nested objects, lists, choices, times, decimals, bounds, nulls.
THOROUGHLY = ("orders",)
#: On rows that are there, a made-up tag in If-Match is a valid request whose condition fails, and it
#: fails before the data is looked at, whatever is wrong with that.
ON_ROWS = {
    **CONFIG,
    "checks": {
        "positive_data_acceptance": {"expected-statuses": ["2xx", "3xx", "403", "404", "409", "412"]},
        "negative_data_rejection": {"expected-statuses": ["4xx"]},
    },
}
BUDGET = hypothesis.settings(
    deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck), stateful_step_count=6
)


def demo(config, *, thorough=None):
    """Return the demo's entities as schemathesis sees them; the document is made without a database."""
    names = [model.entity.name for model in all_entities() if model.__module__.startswith("project.")]
    if thorough is not None:
        names = [name for name in names if (name in THOROUGHLY) is thorough]
    loaded = schemathesis.openapi.from_wsgi(
        "/api/schema/", WSGIHandler(), config=SchemathesisConfig.from_dict(config)
    )
    return loaded.include(path_regex=rf"^/api/entities/(({'|'.join(map(re.escape, names))})/.*)?$")


some, others = demo(CONFIG, thorough=True), demo(BRIEF, thorough=False)


@pytest.fixture
def admin(db):
    """A user who may act for any tenant, on one connection that is kept from request to request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield get_user_model().objects.create_superuser(NAME, "", PASSWORD)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@some.parametrize()
@BUDGET
def test_api_and_document_agree_at_every_boundary(case, admin):
    case.call_and_validate()


@others.parametrize()
@BUDGET
def test_api_and_document_agree(case, admin):
    case.call_and_validate()


def test_api_and_document_agree_on_rows_that_are_there(admin):
    """Follow the document's links from the rows that it makes."""
    seen = Counter()

    class Machine(demo(ON_ROWS).as_state_machine()):
        def after_call(self, response, case):
            seen[case.method, response.status_code] += 1

    run_state_machine_as_test(Machine, settings=hypothesis.settings(BUDGET, max_examples=20))

    assert seen["POST", 201] > 5
    assert seen["GET", 200] > 2
    assert seen["PATCH", 200] + seen["PUT", 200] + seen["DELETE", 204] > 0
