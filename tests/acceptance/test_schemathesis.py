"""The OpenAPI document and the API agree: schemathesis, with a bounded budget, finds nothing.

It runs every check it has on every operation of the demo's entities, and on those of files,
strategies and tools: no 500, no undocumented status, no answer that breaks its schema, no valid
request refused, no invalid one taken.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime

import hypothesis
import pytest
import schemathesis
from django.contrib.auth import get_user_model
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.config import SchemathesisConfig

from agentstore.core.openapi import ERROR
from agentstore.core.values import clock_at
from agentstore.entities.registry import all_entities
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.tools import toolset
from tests.files.test_archive import make_zip

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
#: What a model is told of a tool's arguments is not all that is checked: no vendor takes every rule.
OF_TOOLS = {
    **BRIEF,
    "checks": {
        "positive_data_acceptance": {"enabled": False},
        "negative_data_rejection": {"expected-statuses": ["4xx"]},
    },
}
BUDGET = hypothesis.settings(
    deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck), stateful_step_count=6
)


def demo(config, *, thorough=None):
    """Return the demo's entities as schemathesis sees them; the document is made without a database.

    A count takes the filters that a list does: it is not tried as thoroughly once more.
    """
    names = [model.entity.name for model in all_entities() if model.__module__.startswith("project.")]
    most = "|".join(re.escape(name) for name in names if name in THOROUGHLY)
    rest = "|".join(re.escape(name) for name in names if name not in THOROUGHLY)
    paths = {
        None: rf"({most}|{rest})/(\{{id\}}/.*)?",  # where rows are made, and where each of them is
        True: rf"({most})/(?!count/).*",
        False: rf"(({rest})/.*|({most})/count/)?",
    }
    return load(config, f"^/api/entities/{paths[thorough]}$")


def load(config, paths):
    """Return what is at these addresses as schemathesis sees it."""
    config = SchemathesisConfig.from_dict(config)
    return schemathesis.openapi.from_wsgi("/api/schema/", WSGIHandler(), config=config).include(
        path_regex=paths
    )


#: What no schema says of a file's name: a segment neither begins nor ends with white space, nor is it
#: all dots. Some names are those of files that are there.
SEGMENTS = st.text(st.sampled_from("aZ0_-.~%&é日 "), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text and text.strip(".")
)
FILES = ("a.md", "ü b")
#: Nor that a moment lies in the years of UTC, and that of a strategy not in the future of ``filled``.
MOMENTS = st.builds(
    "{}T{:%H:%M:%S}{}{}".format,
    st.dates(date(1, 1, 3), date(9989, 12, 30)),
    st.times(),
    st.just("") | st.text("0123456789", min_size=1, max_size=6).map(".{}".format),
    st.just("Z") | st.builds("{}{:%H:%M}".format, st.sampled_from("+-"), st.times()),
)
ZIPS = st.dictionaries(SEGMENTS.map(str.casefold), st.text("a\n\ré", max_size=9), max_size=3)
schemathesis.openapi.format("date-time", MOMENTS)
schemathesis.openapi.format("agent-id", st.just("0"))
schemathesis.openapi.format("agent-file-name", st.sampled_from(FILES) | SEGMENTS)
schemathesis.openapi.media_type("application/zip", ZIPS.map(lambda files: make_zip(*files.items())))
schemathesis.serializer.alias("text/markdown", "text/plain")

some, others = demo(CONFIG, thorough=True), demo(BRIEF, thorough=False)
rest = load(ON_ROWS, r"^/api/(agents|strategies|tools)/")


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
    """Follow the document's links from the rows that it makes, until each kind of request was answered."""
    seen = Counter()

    class Machine(demo(ON_ROWS).as_state_machine()):
        def after_call(self, response, case):
            seen[case.method, response.status_code] += 1

    for seed in range(20):
        budget = hypothesis.settings(BUDGET, max_examples=20)
        run_state_machine_as_test(hypothesis.seed(seed)(Machine), settings=budget)
        changed = seen["PATCH", 200] + seen["PUT", 200] + seen["DELETE", 204]
        if seen["POST", 201] > 5 and seen["GET", 200] > 2 and changed:
            return
    raise AssertionError(f"rows were not made, read and changed: {seen}")


@pytest.fixture
def filled(admin):
    """Files and strategies of the user's own tenant, and of the tenant that occurs to everybody: 0.

    The clock is far ahead, so that no time that is made up lies in its future.
    """
    with clock_at(datetime(9990, 1, 1, tzinfo=UTC)):
        for tenant in ("0", f"user:{admin.pk}"):
            for name in FILES:
                for text in ("one\n", "two\n", "three\n"):
                    FileStore(tenant, "0").write(name, text)
            StrategyStore(tenant).save(id="0", problem="0 00", strategy="0")
        yield admin


@rest.parametrize()
@BUDGET
def test_files_strategies_and_tools_agree_with_the_document(case, filled):
    case.call_and_validate()


def calls():
    """Return a document that has each tool as an operation of its own, as its definition says."""
    error = {"application/json": {"schema": ERROR}}
    errors = dict.fromkeys(["400", "403", "404", "409"], {"description": "", "content": error})
    paths = {}
    for tool in toolset("0", agent="0", writable=["*"]).definitions("mcp"):
        if tool["name"].split("_")[0] in ("orders", "reminders", "file", "strategy"):
            body = {"application/json": {"schema": tool["inputSchema"]}}
            answer = {"application/json": {"schema": tool["outputSchema"]}}
            paths[f"/api/tools/{tool['name']}/"] = {
                "post": {
                    "requestBody": {"required": True, "content": body},
                    "responses": {"200": {"description": "", "content": answer}, **errors},
                }
            }
    return {"openapi": "3.1.0", "info": {"title": "Tools", "version": "1"}, "paths": paths}


API = WSGIHandler()


def with_files(environ, start_response):
    """Answer as the API does where the address names an agent and every file may be written."""
    return API({**environ, "QUERY_STRING": "agent=0&writable=*"}, start_response)


tools = schemathesis.openapi.from_dict(calls(), config=SchemathesisConfig.from_dict(OF_TOOLS))
tools.app = with_files


@tools.parametrize()
@BUDGET
def test_tools_do_what_their_definitions_say(case, filled):
    case.call_and_validate()
