"""Lists over REST: filters in the query string, order, pages."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from tests.testapp.models import Odd, Plain, Task

pytestmark = pytest.mark.django_db
TASKS = "/api/entities/tasks/"
ROWS = [
    {"text": "alpha 100%", "priority": -3, "score": 1.5, "done": True, "tags": ["x", "y"], "channel": "call"},
    {"text": "beta_1", "priority": 0, "score": None, "day": "2026-01-31", "due_at": "2026-01-31T09:00:00Z"},
    {"text": "Gamma\\", "priority": 10, "score": 0.5, "tags": ["y"], "address": {"street": "s", "city": "c"}},
    {
        "text": "null",
        "priority": 2,
        "score": 1000,
        "tags": ["5", "ü"],
        "lines": [{"sku": "a", "quantity": 2}],
    },
]


@pytest.fixture
def store(user):
    """The store that ``api_client`` works on, with four rows."""
    store = Task.store(f"user:{user.pk}")
    store.create_many(ROWS)
    return store


def found(client, query, url=TASKS):
    """Return the texts of the rows that a query string finds, sorted."""
    response = client.get(f"{url}?{query if isinstance(query, str) else urlencode(query, doseq=True)}")
    assert response.status_code == 200, response.content
    return sorted(row["data"]["text"] for row in response.json()["results"])


def refused(client, query, url=TASKS):
    """Return the errors of a query string that is refused."""
    response = client.get(f"{url}?{query if isinstance(query, str) else urlencode(query, doseq=True)}")
    assert response.status_code == 400, response.content
    assert response.json()["code"] == "validation"
    return response.json()["errors"]


A, B, G, N = "alpha 100%", "beta_1", "Gamma\\", "null"


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ({"text": "null"}, [N]),
        ({"text__eq": B}, [B]),
        ({"text__ne": N}, [G, A, B]),
        ({"text__startswith": "alpha 100%"}, [A]),
        ({"text__contains": "_"}, [B]),
        ({"text__contains": "\\"}, [G]),
        ({"text__icontains": "GAMMA"}, [G]),
        ({"text__lt": "a"}, [G]),
        ({"text__in": [A, N]}, [A, N]),
        ({"text__in": [A]}, [A]),
        ({"priority": "-3"}, [A]),
        ({"priority__gte": "2"}, [G, N]),
        ({"priority__in": ["-3", "0"]}, [A, B]),
        ({"score": "1000.0"}, [N]),
        ({"score": "null"}, [B]),
        ({"score__isnull": "true"}, [B]),
        ({"score__isnull": "false"}, [G, A, N]),
        ({"score__lt": "1e1"}, [G, A]),
        ({"done": "true"}, [A]),
        ({"done": "false", "priority__gt": "0"}, [G, N]),
        ({"channel": "call"}, [A]),
        ({"channel__ne": "call"}, [G, B, N]),
        ({"day": "2026-01-31"}, [B]),
        ({"day__isnull": "true"}, [G, A, N]),
        ({"due_at": "2026-01-31T10:00:00+01:00"}, [B]),
        ({"due_at__gt": "2026-01-31T08:59:59.999999Z"}, [B]),
        ({"tags__contains": "y"}, [G, A]),
        ({"tags__contains": "5"}, [N]),
        ({"tags__contains": "ü"}, [N]),
        ({"tags": '["y","x"]'}, [A]),
        ({"address": '{"city":"c"}'}, [G]),
        ({"address": "null"}, [A, B, N]),
        ({"address__isnull": "false"}, [G]),
        ({"lines__contains": '{"sku":"a"}'}, [N]),
        ({"lines": '[{"quantity":2}]'}, [N]),
        ({"version": "1"}, [G, A, B, N]),
        ({"version__gt": "1"}, []),
        ({"created_at__lt": "2000-01-01T00:00:00Z"}, []),
        ({"updated_at__gte": "2000-01-01T00:00:00Z"}, [G, A, B, N]),
        ({"id": "00000000-0000-0000-0000-000000000000"}, []),
    ],
    ids=lambda value: urlencode(value, doseq=True) if isinstance(value, dict) else "",
)
def test_values_are_read_by_the_type_of_their_field(api_client, store, query, texts):
    assert found(api_client, query) == sorted(texts)


def test_several_ids_may_be_asked_for(api_client, store):
    ids = [str(row.id) for row in store.query({"priority__gte": 2})]

    assert found(api_client, {"id__in": ids}) == [G, N]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("nope=1", ["nope"]),
        ("text__nope=1", ["text__nope"]),
        ("nope__gt=1", ["nope__gt"]),
        ("priority=x", ["priority"]),
        ("priority=1.5", ["priority"]),
        ("priority=", ["priority"]),
        ("priority=true", ["priority"]),
        ("priority=null", ["priority"]),
        ("priority=NaN", ["priority"]),
        ("priority=1e400", ["priority"]),
        (f"priority={'9' * 5000}", ["priority"]),
        ("score=x&priority=x", ["priority", "score"]),
        ("done=True", ["done"]),
        ("done=1", ["done"]),
        ("score__isnull=1", ["score__isnull"]),
        ("channel=fax", ["channel"]),
        ("day=0", ["day"]),
        ("day=2026-02-30", ["day"]),
        ("due_at=0", ["due_at"]),
        ("due_at=2026-01-31T09:00:00", ["due_at"]),
        ("tags=y", ["tags"]),
        ("address=c", ["address"]),
        ("address__gt=1", ["address__gt"]),
        ("text=%00", ["text"]),
        ("text=a&text=b", ["text"]),
        ("id=x", ["id"]),
        ("id__gt=1", ["id__gt"]),
        ("version=x", ["version"]),
        ("created_at=x", ["created_at"]),
        ("limit=x", ["limit"]),
        ("limit=", ["limit"]),
        ("limit=1.0", ["limit"]),
        ("limit=1&limit=2", ["limit"]),
        (f"limit={'9' * 5000}", ["limit"]),
        ("order_by=nope", ["order_by"]),
        ("order_by=", ["order_by"]),
        ("order_by=tags", ["order_by"]),
        ("order_by=--text", ["order_by"]),
        ("cursor=x", ["cursor"]),
        ("cursor=", ["cursor"]),
        ("cursor=%00", ["cursor"]),
        ("__=1", ["__"]),
        ("=1", [""]),
        ("text__in__in=1", ["text__in__in"]),
        ("data__text=1", ["data__text"]),
        ("tenant=x", ["tenant"]),
        ("deleted_at__isnull=true", ["deleted_at__isnull"]),
        ("_connector=OR", ["_connector"]),
        ("format=json", ["format"]),
        ("text=%ff", [""]),
        ("text=%zz", [""]),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(api_client, store, query, names):
    assert sorted(refused(api_client, query)) == names


def test_too_many_values_are_refused(api_client, store):
    assert list(refused(api_client, {"priority__in": list(range(101))})) == ["priority__in"]


def test_too_many_parameters_are_refused(api_client, store):
    assert list(refused(api_client, "&".join(["priority__in=1"] * 1001))) == [""]


@pytest.mark.parametrize(("limit", "used"), [("2", 2), ("0", 1), ("-5", 1), ("101", 100), ("9" * 100, 100)])
def test_the_limit_is_clamped(api_client, store, limit, used):
    page = api_client.get(f"{TASKS}?limit={limit}").json()

    assert page["limit"] == used
    assert len(page["results"]) == min(used, 4)


def test_a_page_says_what_it_is(api_client, store):
    page = api_client.get(TASKS).json()

    assert sorted(page) == ["limit", "next", "next_cursor", "results"]
    assert (page["next"], page["next_cursor"], page["limit"]) == (None, None, 25)


def test_the_last_updated_row_comes_first(api_client, store):
    row = store.query({"text": B}).rows[0]
    store.update(row.id, {"done": True})

    assert api_client.get(TASKS).json()["results"][0]["id"] == str(row.id)


@pytest.mark.parametrize(
    ("order", "priorities"), [("priority", [-3, 0, 2, 10]), ("-priority", [10, 2, 0, -3])]
)
def test_rows_come_in_the_order_asked_for(api_client, store, order, priorities):
    rows = api_client.get(f"{TASKS}?order_by={order}").json()["results"]

    assert [row["data"]["priority"] for row in rows] == priorities


def walk(client, url):
    """Follow ``next`` to the end; return the ids and the addresses."""
    ids, urls = [], []
    while url:
        page = client.get(url).json()
        ids += [row["id"] for row in page["results"]]
        urls.append(url)
        url = page["next"]
    return ids, urls


def test_following_next_gives_every_row_once_among_equal_keys(api_client, store):
    store.create_many([{"text": "same", "priority": 1}] * 50)
    query = urlencode({"priority": 1, "order_by": "-score", "limit": 7, "text__contains": "a"})

    ids, urls = walk(api_client, f"{TASKS}?{query}")

    assert len(ids) == len(set(ids)) == 50
    assert len(urls) == 8
    assert urls[1].startswith(f"http://testserver{TASKS}?")


def test_next_keeps_filter_order_and_limit(api_client, store):
    query = "text__in=%C3%BC&text__in=null&text__in=beta_1&order_by=-priority&limit=1"

    page = api_client.get(f"{TASKS}?{query}").json()

    again = parse_qs(urlsplit(page["next"]).query)
    assert again.pop("cursor") == [page["next_cursor"]]
    assert again == {"text__in": ["ü", "null", "beta_1"], "order_by": ["-priority"], "limit": ["1"]}


def test_the_cursor_may_be_sent_by_hand(api_client, store):
    page = api_client.get(f"{TASKS}?limit=3").json()

    rest = api_client.get(TASKS, {"limit": 3, "cursor": page["next_cursor"]}).json()

    assert len(rest["results"]) == 1
    assert rest["next"] is None


def test_a_cursor_is_good_for_its_own_list_only(api_client, store):
    cursor = api_client.get(f"{TASKS}?limit=1").json()["next_cursor"]
    other = APIClient()
    other.force_authenticate(User.objects.create_user("other"))

    assert list(refused(api_client, {"cursor": cursor, "done": "true"})) == ["cursor"]
    assert list(refused(api_client, {"cursor": cursor, "order_by": "text"})) == ["cursor"]
    assert list(refused(api_client, {"cursor": cursor + "x"})) == ["cursor"]
    assert list(refused(api_client, {"cursor": cursor}, url="/api/entities/plains/")) == ["cursor"]
    assert list(refused(other, {"cursor": cursor})) == ["cursor"]


def test_values_of_an_open_type_are_json_or_else_text(api_client, user):
    store = Odd.store(f"user:{user.pk}")
    rows = {store.create({"either": value}).id: value for value in (5, "5", "abc")}

    def matching(text):
        page = api_client.get("/api/entities/odds/", {"either": text}).json()
        return [rows[key] for key in rows if str(key) in {row["id"] for row in page["results"]}]

    assert matching("5") == [5]
    assert matching('"5"') == ["5"]
    assert matching("abc") == ["abc"]


def test_an_open_value_may_be_anything(api_client, user):
    store = Plain.store(f"user:{user.pk}")
    store.create({"value": {"a": [1, 2]}, "text": "object"})
    store.create({"value": "plain words", "text": "text"})
    store.create({"text": "null"})
    url = "/api/entities/plains/"

    assert found(api_client, {"value": '{"a":[2]}'}, url) == ["object"]
    assert found(api_client, {"value": "plain words"}, url) == ["text"]
    assert found(api_client, {"value": "null"}, url) == ["null"]


def test_fields_are_filtered_by_their_stored_key(api_client, user):
    Odd.store(f"user:{user.pk}").create({"madeBy": "x", "amount": "1.10", "ref": "0" * 32})
    url = "/api/entities/odds/"

    assert len(api_client.get(url, {"madeBy": "x"}).json()["results"]) == 1
    assert len(api_client.get(url, {"amount": "1.10"}).json()["results"]) == 1
    assert list(refused(api_client, {"made_by": "x"}, url)) == ["made_by"]
    assert list(refused(api_client, {"amount": "much"}, url)) == ["amount"]


def test_deleted_rows_and_other_tenants_rows_are_not_listed(api_client, store):
    store.delete(store.query({"text": A}).rows[0].id)
    Task.store("acme").create({"text": "theirs"})

    assert found(api_client, "") == [G, B, N]
