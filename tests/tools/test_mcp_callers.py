"""Requests that no client would send, or that a browser was lured into: each is answered as it deserves."""

import asyncio
import json

import pytest
from rest_framework.authtoken.models import Token

from agentstore.tools.mcp import mcp_app
from tests.tools.mcp_clients import JSON, LIST, headers, over_http, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(user):
    return Token.objects.create(user=user).key


@pytest.fixture
def app():
    return mcp_app()


def is_served(app, token, *, mode="auto"):
    """Tell whether a client gets through."""

    async def work():
        async with over_http(app, token, mode=mode) as client:
            return bool((await client.list_tools()).tools)

    return asyncio.run(work())


# --- what is no call of a client ----------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_there_is_nothing_but_post(app, token, method):
    found = post(app, method=method, headers=headers(token))

    assert found.status_code == 405 and found.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"jsonrpc": "2.0", "method": "notifications/x"}', 202),
    ],
)
def test_a_body_that_is_no_request_is_answered(app, token, body, status):
    assert post(app, headers=headers(token), content=body).status_code == status
    assert is_served(app, token)


def test_a_body_is_as_large_as_django_lets_it_be(settings, app, token):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000

    small = post(app, headers=headers(token), json=LIST)
    large = post(app, headers=headers(token), content=json.dumps(LIST).ljust(1001))

    assert (small.status_code, large.status_code) == (200, 413)


def test_where_django_sets_no_limit_there_is_none(settings, app, token):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = None

    assert post(app, headers=headers(token), content=json.dumps(LIST).ljust(6_000_000)).status_code == 200


def test_the_log_is_not_filled_with_the_life_of_every_request(app, token, caplog):
    caplog.set_level("INFO")

    assert is_served(app, token, mode="legacy")
    assert not [record for record in caplog.records if record.name.startswith("mcp.server")]


# --- browsers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "testserver.evil.example"}, 421),
        ({"Host": "testserver/evil"}, 421),
        ({"Host": "localhost:8000"}, 200),
        ({"Origin": "http://testserver"}, 200),
        ({"Origin": "https://testserver"}, 403),
        ({"Origin": "http://testserver.evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 421),
    ],
    ids=str,
)
def test_a_lured_browser_is_turned_away(app, token, sent, status):
    assert post(app, headers=headers(token, **sent), json=LIST).status_code == status


def test_behind_a_proxy_the_hosts_own_settings_hold(settings, app, token):
    settings.USE_X_FORWARDED_HOST = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.ALLOWED_HOSTS = ["public.example"]
    sent = {
        "X-Forwarded-Host": "public.example",
        "X-Forwarded-Proto": "https",
        "Origin": "https://public.example",
    }

    assert post(app, headers=headers(token, **sent), json=LIST).status_code == 200


def test_pages_of_an_allowed_origin_may_ask_and_read_the_answer(token):
    origin = "https://inspector.example"
    app = mcp_app(allowed_origins=[origin])
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}

    before = post(app, method="OPTIONS", headers={"Origin": origin, **asked})
    answer = post(app, headers=headers(token, Origin=origin), json=LIST)
    refused = post(app, headers={**JSON, "Origin": origin}, json=LIST)
    other = post(app, headers=headers(token, Origin="https://evil.example"), json=LIST)

    assert before.status_code == 200 and "authorization" in before.headers["Access-Control-Allow-Headers"]
    assert answer.status_code == 200 and answer.headers["Access-Control-Allow-Origin"] == origin
    assert refused.status_code == 401 and refused.headers["Access-Control-Allow-Origin"] == origin
    assert other.status_code == 403 and "Access-Control-Allow-Origin" not in other.headers
