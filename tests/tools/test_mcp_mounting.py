"""Beside another application: whose requests are whose, and who hears of the server's start and end."""

import asyncio

import pytest
from django.core.asgi import get_asgi_application
from rest_framework.authtoken.models import Token
from starlette.applications import Starlette
from starlette.routing import Mount

from agentstore.tools.mcp import mcp_app
from agentstore.tools.mcp.mounting import Mounted
from tests.tools.mcp_clients import over_http, post

START, END = {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}


def answering(name):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": name.encode()})

    return app


async def nothing():
    pass


def beside(application, *, path="/mcp", close=nothing):
    return Mounted(answering("mcp"), application, path=path, close=close)


@pytest.mark.parametrize(
    ("path", "asked", "whose"),
    [
        ("/mcp", "/mcp", "mcp"),
        ("/mcp", "/mcp/", "mcp"),
        ("mcp/", "/mcp", "mcp"),
        ("/tools/mcp", "/tools/mcp/", "mcp"),
        ("/", "/", "mcp"),
        ("/mcp", "/", "django"),
        ("/mcp", "/mcpx", "django"),
        ("/mcp", "/mcp/more", "django"),
        ("/mcp", "/x/mcp", "django"),
    ],
)
def test_a_path_of_its_own(path, asked, whose):
    found = post(beside(answering("django"), path=path), url=f"http://testserver{asked}")

    assert found.text == whose


def test_alone_it_has_every_path():
    assert post(beside(None), url="http://testserver/any/where").text == "mcp"


@pytest.mark.parametrize(
    ("path", "prefix", "whose"),
    [
        ("/site/mcp", "/site", b"mcp"),
        ("/mcp", "/site", b"mcp"),
        ("/mcp", "/m", b"mcp"),
        ("/mcp/mcp", "/mcp", b"mcp"),
        ("/site/mcp", "", b"django"),
        ("/site", "/site", b"django"),
    ],
)
def test_a_prefix_that_a_server_takes_off_is_no_part_of_the_path(path, prefix, whose):
    scope = {"type": "http", "path": path, "root_path": prefix}

    assert told(beside(answering("django")), [], scope)[-1]["body"] == whose


def told(app, messages, scope=None):
    """Return what an application sends while it is given ``messages``."""
    left, sent = list(messages), []

    async def receive():
        return left.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope or {"type": "lifespan"}, receive, send))
    assert not left
    return sent


def types(messages):
    return [message["type"] for message in messages]


def test_other_kinds_of_requests_are_the_other_applications():
    seen = []

    async def application(scope, receive, send):
        seen.append(scope["type"])

    told(beside(application), [], {"type": "websocket", "path": "/mcp"})

    assert seen == ["websocket"]


def test_alone_it_takes_no_websockets():
    assert types(told(beside(None), [], {"type": "websocket", "path": "/mcp"})) == ["websocket.close"]


# --- start and end ------------------------------------------------------------------------------


def closing():
    closed = []

    async def close():
        closed.append(True)

    return closed, close


async def unaware(scope, receive, send):
    """As Django's own application does."""
    raise ValueError("Django can only handle ASGI/HTTP connections, not lifespan.")


async def unaware_late(scope, receive, send):
    await receive()
    raise ValueError("Only HTTP is served here.")


async def aware(scope, receive, send):
    for name in ("startup", "shutdown"):
        assert (await receive())["type"] == f"lifespan.{name}"
        await send({"type": f"lifespan.{name}.complete"})


@pytest.mark.parametrize("application", [None, unaware, unaware_late, aware])
def test_the_servers_start_and_end_are_answered_once_and_close_what_is_open(application):
    closed, close = closing()

    sent = told(beside(application, close=close), [START, END])

    assert types(sent) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert closed == [True]


def test_an_application_that_cannot_start_says_so_itself():
    async def application(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    assert types(told(beside(application), [START])) == ["lifespan.startup.failed"]


def test_an_application_that_breaks_after_its_start_is_not_covered_up():
    async def application(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.complete"})
        raise LookupError("later")

    with pytest.raises(LookupError):
        told(beside(application), [START])


def test_djangos_own_application_is_served_beside_it(db):
    app = mcp_app(get_asgi_application())

    assert types(told(app, [START, END])) == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert post(app, method="GET", url="http://testserver/api/entities/").status_code in (401, 403)
    assert post(app).status_code == 401


def count_tools(app, user, url):
    token, _ = Token.objects.get_or_create(user=user)

    async def work():
        async with over_http(app, token.key, url=url) as client:
            return len((await client.list_tools()).tools)

    return asyncio.run(work())


def test_it_works_again_after_an_end_and_without_any_start(transactional_db, user):
    app = mcp_app()

    counts = []
    for _ in range(2):
        counts.append(count_tools(app, user, "http://testserver/mcp"))
        told(app, [START, END])

    assert counts[0] == counts[1] > 0


def test_a_router_may_mount_it_anywhere(transactional_db, user):
    app = Starlette(routes=[Mount("/tools", app=mcp_app())])

    assert count_tools(app, user, "http://testserver/tools/") > 0
