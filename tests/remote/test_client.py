"""The clients: addresses, who they are to the server, connections kept, and no secret shown."""

from __future__ import annotations

import asyncio
import base64
import socket
import traceback

import httpx
import pytest

from agentstore.core.errors import PermissionDenied, ValidationFailed
from agentstore.remote import AsyncEntityClient, EntityClient, RemoteFailed
from tests.live import credentials
from tests.remote.faults import ID, URL, answering, async_answering, row
from tests.testapp.models import TaskData

SECRET = "s3cr3t-t0k3n"


def asked(url=URL, store="tasks", **options):
    """Return the request of a count."""
    seen = []

    def answer(request):
        seen.append(request)
        return httpx.Response(200, json={"count": 0})

    answering(answer, url, **options).store(store).count()
    return seen[0]


# --- addresses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "full"),
    [
        ("https://host/api/", "https://host/api/entities/tasks/count/"),
        ("https://host/api", "https://host/api/entities/tasks/count/"),
        ("https://host", "https://host/entities/tasks/count/"),
        ("https://host/", "https://host/entities/tasks/count/"),
        ("http://host:8000/a/b/c//", "http://host:8000/a/b/c/entities/tasks/count/"),
        ("HTTPS://Host/API/", "https://host/API/entities/tasks/count/"),
        ("http://[::1]:8000/api/", "http://[::1]:8000/api/entities/tasks/count/"),
        ("https://zürich.example/api/", "https://xn--zrich-kva.example/api/entities/tasks/count/"),
    ],
)
def test_an_address_may_have_a_path_and_may_end_with_a_slash(url, full):
    assert str(asked(url).url) == full


@pytest.mark.parametrize(
    "url",
    ["", "host/api", "ftp://host/", "https://", "https:///api/", "https://host/?a=1", "https://host/#a",
     "http://host:port/", "http://ho\nst/", None, 5, b"https://host/", "http://host:99999/",
     "http://a..b/", "http://.host/", "http://xn--/", f"http://{'a' * 64}/"],
    ids=repr,
)  # fmt: skip
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ValidationFailed) as info:
        EntityClient(url)

    assert list(info.value.errors) == ["url"]
    assert "agentstore.urls" in info.value.hint


def test_a_server_below_a_path_is_reached(live, connect, tenant):
    def below(application):
        def serve(environ, start_response):
            environ["SCRIPT_NAME"], environ["PATH_INFO"] = "/site", environ["PATH_INFO"].removeprefix("/site")
            return application(environ, start_response)

        return serve

    live.wrap = below
    client = EntityClient(f"{live.url.removesuffix('/api/')}/site/api", auth=credentials(), timeout=120)

    with client:
        made = client.store("tasks", tenant=tenant).create({"text": "a"})
        assert client.store("tasks", tenant=tenant).get(made.id).data["text"] == "a"
    assert live.requests[-1][1].startswith("/site/api/entities/tasks/")


@pytest.mark.parametrize("name", ["", "Tasks", "tasks/../odds", "tasks?x=1", "a b", "tasks\n", None, 5])
def test_what_is_no_entitys_name_is_refused(name):
    with pytest.raises(ValidationFailed) as info:
        answering(lambda request: httpx.Response(200)).store(name)

    assert list(info.value.errors) == ["name"]


# --- who the client is ----------------------------------------------------------------------


def test_a_token_goes_into_the_authorization_header():
    assert asked(token=SECRET).headers["Authorization"] == f"Bearer {SECRET}"
    assert asked(token=SECRET, scheme="Token").headers["Authorization"] == f"Token {SECRET}"
    assert "Authorization" not in asked().headers


@pytest.fixture
def takes():
    """Return a function that makes the answer of a server that takes its token behind one scheme only."""

    def server(scheme, seen):
        def answer(request):
            seen.append(request.headers["Authorization"])
            if seen[-1] == f"{scheme} {SECRET}":
                return httpx.Response(200, json={"count": 3})
            return httpx.Response(401, json={"code": "not_authenticated", "detail": "Who?"})

        return answer

    return server


@pytest.mark.parametrize(("scheme", "asked"), [("Bearer", 2), ("Token", 3)])
def test_a_token_is_said_as_the_server_takes_it(takes, scheme, asked):
    """REST framework's own tokens stand behind Token, all others behind Bearer."""
    seen = []
    store = answering(takes(scheme, seen), token=SECRET).store("tasks")

    assert store.count() == store.count() == 3
    assert len(seen) == asked
    assert {text.split()[0] for text in seen[-2:]} == {scheme}


def test_a_token_is_said_otherwise_by_async_clients_too(takes):
    seen = []

    assert asyncio.run(async_answering(takes("Token", seen), token=SECRET).store("tasks").acount()) == 3
    assert len(seen) == 2


@pytest.mark.parametrize(("options", "asked"), [({"scheme": "Bearer"}, 1), ({}, 2)])
def test_a_token_that_nobody_takes_is_told(takes, options, asked):
    seen = []
    store = answering(takes("Other", seen), token=SECRET, **options).store("tasks")

    for _ in range(2):
        with pytest.raises(PermissionDenied, match="Who"):
            store.count()
    assert len(seen) == asked * 2


def test_a_token_that_is_wrong_is_not_said_otherwise():
    seen = []

    def answer(request):
        seen.append(request)
        return httpx.Response(401, json={"code": "authentication_failed", "detail": "Invalid token."})

    with pytest.raises(PermissionDenied, match="Invalid token"):
        answering(answer, token=SECRET).store("tasks").count()
    assert len(seen) == 1


def test_auth_headers_and_credentials_in_the_address_identify_as_well():
    basic = "Basic " + base64.b64encode(b"ursula:p@ss").decode()

    assert asked(auth=("ursula", "p@ss")).headers["Authorization"] == basic
    assert asked("https://ursula:p%40ss@host/api/").headers["Authorization"] == basic
    assert asked(headers={"X-Api-Key": SECRET}).headers["X-Api-Key"] == SECRET


def test_a_token_wins_over_the_credentials_of_a_client_of_ones_own():
    seen = []

    def answer(request):
        seen.append(request)
        return httpx.Response(200, json={"count": 0})

    http = httpx.Client(transport=httpx.MockTransport(answer), auth=("ursula", "x"))
    EntityClient(URL, SECRET, client=http).store("tasks").count()
    EntityClient(URL, client=http).store("tasks").count()

    assert [request.headers["Authorization"][:6] for request in seen] == ["Bearer", "Basic "]


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"token": f"{SECRET}\r\nX-Evil: 1"}, "token"),
        ({"token": f"{SECRET} "}, "token"),
        ({"token": f"{SECRET}ü"}, "token"),
        ({"token": ""}, "token"),
        ({"token": 5}, "token"),
        ({"token": SECRET, "scheme": "Bea\nrer"}, "scheme"),
        ({"token": SECRET, "auth": ("a", SECRET)}, "token"),
        ({"url": f"https://a:{SECRET}@host/", "token": SECRET}, "url"),
        ({"url": f"https://a:{SECRET}@host/", "auth": ("a", SECRET)}, "url"),
        ({"headers": {"X-Key": f"{SECRET}\n"}}, "headers.X-Key"),
        ({"headers": {"X-Key": 5}}, "headers.X-Key"),
        ({"headers": {"X Key": SECRET}}, "headers"),
        ({"headers": {"X-Key\n": SECRET}}, "headers"),
        ({"retries": -1}, "retries"),
        ({"retries": True}, "retries"),
        ({"retries": 1.5}, "retries"),
        ({"max_wait": -1}, "max_wait"),
        ({"max_wait": float("nan")}, "max_wait"),
        ({"max_wait": "5"}, "max_wait"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": "5"}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"auth": SECRET}, "auth"),
        ({"auth": (SECRET,)}, "auth"),
        ({"auth": ("a", 5)}, "auth"),
        ({"headers": [("X-Key", SECRET)]}, "headers"),
        ({"headers": SECRET}, "headers"),
        ({"client": "http"}, "client"),
    ],
    ids=range(31),
)
def test_an_option_that_cannot_be_used_is_refused_without_showing_secrets(options, path):
    with pytest.raises(ValidationFailed) as info:
        EntityClient(**{"url": URL, **options})

    assert list(info.value.errors) == [path]
    assert SECRET not in str(info.value.as_dict())


def test_a_client_that_waits_takes_no_awaiting_one_and_the_other_way_round():
    with (
        httpx.Client() as http,
        pytest.raises(ValidationFailed, match=r"an httpx\.AsyncClient, found Client"),
    ):
        AsyncEntityClient(URL, client=http)
    with pytest.raises(ValidationFailed, match=r"an httpx\.Client, found AsyncClient"):
        EntityClient(URL, client=httpx.AsyncClient())


@pytest.mark.parametrize("schema", [dict, "TaskData", TaskData(text="x")], ids=type)
def test_a_schema_that_is_no_models_class_is_refused_at_once(schema):
    with (
        EntityClient(URL) as client,
        pytest.raises(ValidationFailed, match="schema: Expected a pydantic model"),
    ):
        client.store("tasks", schema=schema)


def test_no_secret_is_in_what_is_shown(waits):
    def answer(request):
        raise httpx.ConnectError(f"no way to {request.url.host}", request=request)

    client = answering(answer, f"https://ursula:{SECRET}@host/api/")
    other = answering(answer, token=SECRET, headers={"X-Key": SECRET})
    shown = [repr(client), repr(other), repr(client.store("tasks", tenant="acme")), repr(client._address)]
    for found in (client, other):
        with pytest.raises(RemoteFailed) as info:
            found.store("tasks", tenant="acme").create({"text": "private"}, reason="private")
        shown += [
            str(info.value),
            repr(info.value.as_dict()),
            "".join(traceback.format_exception(info.value)),
        ]

    assert not [text for text in shown if SECRET in text or "private" in text.replace('"private"', "")]
    assert repr(client) == "<EntityClient https://host/api/>"
    assert repr(client.store("tasks", tenant="acme")) == "<RemoteStore tasks of 'acme' at https://host/api/>"
    assert repr(client.store("tasks")) == "<RemoteStore tasks of its user at https://host/api/>"


def test_who_is_not_known_is_told_what_to_do(live, kept_alive):
    client = EntityClient(live.url, "nobody's", client=kept_alive)

    with pytest.raises(Exception, match=r"Authentication credentials were not provided\.") as info:
        client.store("tasks").count()

    assert info.value.code == "permission"
    assert "token" in info.value.hint


# --- connections ----------------------------------------------------------------------------


def test_one_connection_serves_many_calls_of_many_stores(live, connect, tenant):
    before = live.connected
    with EntityClient(live.url, auth=credentials(), timeout=120) as client:
        store, others = client.store("tasks", tenant=tenant), client.store("odds", tenant=tenant)
        for number in range(20):
            store.create({"text": str(number)})
            others.count()
        store.create_many([{"text": "a" * 900}] * 100)
        assert len(list(store.iterate())) == 120

    assert live.connected - before == 1
    assert len(live.requests) == 43


def test_one_connection_serves_async_calls_too(live, connect, tenant):
    auth, before = credentials(), live.connected

    async def story():
        async with AsyncEntityClient(live.url, auth=auth, timeout=120) as client:
            store = client.store("tasks", tenant=tenant)
            for number in range(10):
                await store.acreate({"text": str(number)})
            return await store.acount()

    assert asyncio.run(story()) == 10
    assert live.connected - before == 1


def test_a_closed_client_says_so(waits):
    client = EntityClient(URL)
    client.close()

    with pytest.raises(RemoteFailed, match="the client is closed"):
        client.store("tasks").count()
    assert waits == []


def test_a_client_of_ones_own_stays_open():
    http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, json={"count": 5})))

    with EntityClient(URL, client=http) as client:
        assert client.store("tasks").count() == 5

    assert not http.is_closed
    assert client.store("tasks").count() == 5


def test_an_async_client_of_ones_own_stays_open():
    async def story():
        async with async_answering(lambda request: httpx.Response(200, json={"count": 5})) as client:
            assert await client.store("tasks").acount() == 5
        return await client.store("tasks").acount()

    assert asyncio.run(story()) == 5


@pytest.mark.parametrize(
    ("timeout", "read"), [(None, 10.0), (2.5, 2.5), (httpx.Timeout(1.0, read=9.0), 9.0)], ids=str
)
def test_a_timeout_is_what_is_asked_for(timeout, read):
    client = EntityClient(URL, timeout=timeout)
    http = client._kept.here()
    sent = http.build_request("GET", URL, timeout=client._options.get("timeout", http.timeout))

    assert sent.extensions["timeout"]["read"] == read
    client.close()


def test_without_a_timeout_that_of_a_client_of_ones_own_holds():
    seen = []

    def answer(request):
        seen.append(request.extensions["timeout"]["read"])
        return httpx.Response(200, json={"count": 5})

    http = httpx.Client(transport=httpx.MockTransport(answer), timeout=77)
    EntityClient(URL, client=http).store("tasks").count()
    EntityClient(URL, client=http, timeout=3).store("tasks").count()

    assert seen == [77, 3]


def test_a_server_that_does_not_answer_in_time_is_a_failure(waits):
    """A real socket, which takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        silence = httpx.Timeout(60, read=0.05)
        with EntityClient(url, timeout=silence, retries=1) as client, pytest.raises(RemoteFailed) as info:
            client.store("tasks").count()

    assert "ReadTimeout" in info.value.message
    assert info.value.retryable
    assert len(waits) == 1


def test_nobody_listening_is_a_failure(waits):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        with EntityClient(url) as client, pytest.raises(RemoteFailed, match="ConnectError") as info:
            client.store("tasks").update(ID, {"text": "a"})

    assert not info.value.maybe_done
    assert len(waits) == 2


def test_redirects_are_not_followed_and_told():
    def answer(request):
        return httpx.Response(301, headers={"Location": f"https://a:{SECRET}@other/api/?token={SECRET}"})

    with pytest.raises(RemoteFailed, match="sends the client on to https://other/api/") as info:
        answering(answer).store("tasks").create({"text": "a"})

    assert SECRET not in str(info.value)


def test_schemas_and_dicts_come_out_as_they_were_asked_for():
    client = answering(lambda request: httpx.Response(200, json=row()))

    assert client.store("tasks", schema=TaskData).get(ID).data == TaskData(text="a")
    assert client.store("tasks").get(ID).data == {"text": "a"}
