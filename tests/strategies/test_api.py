import pytest
from django.contrib.auth.models import Permission

from agentstore.strategies import StrategyStore

pytestmark = pytest.mark.django_db

BASE = "/api/strategies/"


@pytest.fixture
def own(user):
    """The strategies that the client's user owns."""
    return StrategyStore(f"user:{user.pk}")


@pytest.fixture
def pruner(user, api_client):
    """A client whose user may prune."""
    user.user_permissions.add(Permission.objects.get(codename="prune_strategy"))
    client = api_client.__class__()
    client.force_authenticate(type(user).objects.get(pk=user.pk))
    return client


def post(client, path, body):
    return client.post(BASE + path, data=body, format="json")


def test_a_strategy_is_saved_found_and_deleted(api_client):
    saved = post(api_client, "entries/", {"problem": "Extract tables", "strategy": "use pdfplumber"})
    merged = post(api_client, "entries/", {"problem": "extract  tables", "strategy": "use pdfplumber"})
    found = post(api_client, "find/", {"objective": "extract the tables", "limit": 5})
    id = saved.json()["id"]

    assert (saved.status_code, merged.status_code) == (201, 200)
    assert merged.json() == {"status": "merged", "id": id, "evicted_ids": []}
    assert [item["id"] for item in found.json()["results"]] == [id]
    assert found.json()["results"][0]["matched_terms"] == ["extract", "tables"]
    assert api_client.get(saved["Location"]).json()["problem"] == "extract  tables"
    assert api_client.delete(saved["Location"]).status_code == 204
    assert api_client.delete(saved["Location"]).status_code == 404
    assert api_client.get(saved["Location"]).status_code == 404


def test_an_empty_result_says_why(api_client):
    assert post(api_client, "find/", {"objective": "the of"}).json()["empty_because"] == "no_terms"
    assert post(api_client, "find/", {"objective": "nothing"}).json()["empty_because"] == "no_match"


def test_entries_are_listed_in_rank_order_by_pages(api_client, own):
    for number in range(5):
        own.save(problem=f"problem {number}", strategy="s", confidence=number / 2)

    first = api_client.get(f"{BASE}entries/?limit=3").json()
    second = api_client.get(first["next"]).json()

    problems = [item["problem"] for page in (first, second) for item in page["results"]]
    assert problems == [f"problem {number}" for number in (4, 3, 2, 1, 0)]
    assert first["limit"] == 3 and second["next"] is None


def test_pruning_takes_its_permission(api_client, own):
    own.save(problem="p q", strategy="s")

    response = post(api_client, "prune/", {"max_size": 0})

    assert response.status_code == 403 and own.usage().used == 1


def test_a_dry_run_removes_nothing(pruner, own):
    for number in range(4):
        own.save(problem=f"problem {number}", strategy="s", confidence=number / 2)

    planned = post(pruner, "prune/", {"max_size": 3, "dry_run": True}).json()
    before = own.usage().used
    done = post(pruner, "prune/", {"max_size": 3}).json()

    assert before == 4 and own.usage().used == 3
    assert planned["removed"] == done["removed"] and done["removed"][0]["problem"] == "problem 0"


def test_usage_is_told(api_client, own):
    own.save(problem="p q", strategy="s")

    assert api_client.get(f"{BASE}usage/").json() == {"used": 1, "capacity": 1000, "remaining": 999}


def test_a_seed_is_checked_whole(api_client, own):
    good = {"problem": "one two", "strategy": "s"}

    refused = post(api_client, "seed/", {"entries": [good, {"problem": "x"}]})
    written = post(api_client, "seed/", {"entries": [good]})

    assert refused.status_code == 400 and refused.json()["errors"]
    assert written.json() == {"written": 1, "failed_at": None}
    assert own.usage().used == 1


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("entries/", {}, "problem"),
        ("entries/", {"problem": "p", "strategy": "s", "confidence": "high"}, "confidence"),
        ("entries/", {"problem": "p", "strategy": "s", "ts": "2999-01-01T00:00:00Z"}, "ts"),
        ("entries/", {"problem": "p\0", "strategy": "s"}, "problem"),
        ("entries/", {"problem": "p", "strategy": "s", "origin": "seeded"}, "origin"),
        ("find/", {}, "objective"),
        ("find/", {"objective": 5}, "objective"),
        ("find/", {"objective": "a\0"}, "objective"),
        ("find/", {"objective": "x", "limit": -1}, "limit"),
        ("find/", {"objective": "x", "limit": 2.5}, "limit"),
        ("find/", {"objective": "x", "limit": None}, "limit"),
        ("find/", {"objective": "x", "limit": True}, "limit"),
        ("find/", {"objective": "x", "limit": "3"}, "limit"),
        ("find/", {"objective": "the of", "limit": -1}, "limit"),
        ("find/", {"objective": "x", "lim": 1}, "lim"),
        ("seed/", {}, "entries"),
        ("seed/", {"entries": {}}, "entries"),
    ],
)
def test_what_a_request_gets_wrong_is_told_by_name(api_client, own, path, body, field):
    response = post(api_client, path, body)

    assert response.status_code == 400 and field in response.json()["errors"]
    assert own.usage().used == 0


@pytest.mark.parametrize("body", [{}, {"max_size": -1}, {"max_size": 1.5}, {"max_size": 1, "dry_run": "no"}])
def test_a_size_that_is_none_removes_nothing(pruner, own, body):
    own.save(problem="p q", strategy="s")

    response = post(pruner, "prune/", body)

    assert response.status_code == 400 and own.usage().used == 1


def test_an_id_with_other_content_is_409(api_client):
    post(api_client, "entries/", {"id": "one", "problem": "p q", "strategy": "s"})

    response = post(api_client, "entries/", {"id": "one", "problem": "r t", "strategy": "s"})

    assert response.status_code == 409 and response.json()["code"] == "exists"


def test_another_tenants_strategy_is_404(api_client, other_tenant):
    saved = StrategyStore(other_tenant).save(problem="theirs alone", strategy="secret")

    assert api_client.get(f"{BASE}entries/{saved.id}/").status_code == 404
    assert api_client.delete(f"{BASE}entries/{saved.id}/").status_code == 404
    assert post(api_client, "find/", {"objective": "theirs alone"}).json()["results"] == []


def test_nobody_gets_in_without_credentials(client):
    for path in ("entries/", "usage/", "entries/x/"):
        assert client.get(BASE + path).status_code in (401, 403)
