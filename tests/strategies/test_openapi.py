"""The OpenAPI of strategies: complete, and true to what the views do."""

import pytest

from agentstore.strategies import StrategyStore
from tests.openapi import ERROR, check_answer, check_body, operations

BASE = "/api/strategies/"
EXPECTED = {
    ("get", "entries/"): ("strategies_list", "200 400 401 403 503"),
    ("post", "entries/"): ("strategies_save", "200 201 400 401 403 409 413 415 503"),
    ("get", "entries/{id}/"): ("strategies_retrieve", "200 400 401 403 404 503"),
    ("delete", "entries/{id}/"): ("strategies_destroy", "204 400 401 403 404 503"),
    ("post", "find/"): ("strategies_find", "200 400 401 403 413 415 503"),
    ("post", "prune/"): ("strategies_prune", "200 400 401 403 413 415 503"),
    ("get", "usage/"): ("strategies_usage", "200 400 401 403 503"),
    ("post", "seed/"): ("strategies_seed", "200 400 401 403 413 415 503"),
}


@pytest.fixture
def client(admin_user, api_client):
    """A client that may prune, too."""
    client = api_client.__class__()
    client.force_authenticate(admin_user)
    return client


@pytest.fixture
def own(admin_user):
    """The strategies that the client's user owns."""
    return StrategyStore(f"user:{admin_user.pk}")


@pytest.fixture
def post(client):
    """Send a body, hold it and the answer against the document, and return the answer."""

    def send(path, body, status, *, fits=True):
        response = client.post(BASE + path, data=body, format="json")
        assert response.status_code == status, response.content
        check_answer(response, "post", BASE + path)
        if fits:
            check_body(body, "post", BASE + path)
        return response

    return send


def test_every_operation_is_there_with_its_id_and_statuses():
    found = {
        (method, path.removeprefix(BASE)): (operation["operationId"], " ".join(operation["responses"]))
        for (method, path), operation in operations(BASE).items()
    }

    assert found == EXPECTED


def test_every_operation_is_described_and_takes_the_tenant_header():
    for operation in operations(BASE).values():
        assert operation["summary"] and operation["security"] and operation["tags"] == ["strategies"]
        assert "X-Agentstore-Tenant" in [p["name"] for p in operation["parameters"] if p["in"] == "header"]
        assert all(parameter.get("description") for parameter in operation["parameters"])


def test_every_error_has_the_body_of_every_rest_error():
    for operation in operations(BASE).values():
        for status, response in operation["responses"].items():
            assert status[0] not in "45" or response["content"] == {"application/json": {"schema": ERROR}}


@pytest.mark.django_db
def test_saves_are_as_described(post, settings):
    entry = {"problem": "extract tables", "strategy": "use pdfplumber"}
    settings.AGENTSTORE = {**settings.AGENTSTORE, "STRATEGY_CAPACITY": 1}

    post("entries/", {**entry, "id": "one", "teacher_model": "m", "signature": None}, 201)
    post("entries/", {**entry, "confidence": 3, "ts": "2026-01-31T09:00:00Z"}, 200)
    post("entries/", {"problem": "another one", "strategy": "s", "id": "one"}, 409)
    post("entries/", {"problem": "another one", "strategy": "s", "confidence": 0}, 200)
    post("entries/", {"problem": "a third one", "strategy": "s", "confidence": 3}, 201)
    post("entries/", {**entry, "ts": "2999-01-31T09:00:00Z"}, 400)
    post("entries/", {"problem": "p\0"}, 400, fits=False)


@pytest.mark.django_db
def test_reads_are_as_described(client, own):
    id = own.save(problem="extract tables", strategy="use pdfplumber", teacher_model="m").id
    own.save(problem="extract more", strategy="s")

    for path in ("entries/", "entries/?limit=1", "entries/?limit=x", "usage/"):
        check_answer(client.get(BASE + path), "get", BASE + path.split("?")[0])
    for name in (id, "none", "no id"):
        check_answer(client.get(f"{BASE}entries/{name}/"), "get", f"{BASE}entries/{{id}}/")
    for _ in range(2):
        check_answer(client.delete(f"{BASE}entries/{id}/"), "delete", f"{BASE}entries/{{id}}/")


@pytest.mark.django_db
def test_finds_prunings_and_seeds_are_as_described(post, own):
    own.save(problem="extract tables", strategy="use pdfplumber")
    entry = {"problem": "one two", "strategy": "s", "origin": "seeded", "confidence": None}

    post("find/", {"objective": "extract tables", "limit": 5}, 200)
    post("find/", {"objective": "nothing"}, 200)
    post("find/", {"objective": 5}, 400, fits=False)
    post("prune/", {"max_size": 0, "dry_run": True}, 200)
    post("prune/", {"max_size": 0}, 200)
    post("prune/", {"max_size": -1}, 400, fits=False)
    post("seed/", {"entries": [entry, {**entry, "id": "x", "problem": "three four", "origin": None}]}, 200)
    post("seed/", {"entries": []}, 200)
    post("seed/", {"entries": [{"problem": "x"}]}, 400, fits=False)
