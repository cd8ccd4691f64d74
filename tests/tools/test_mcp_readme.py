"""What the README shows of MCP over HTTP works as it says."""

import asyncio

import pytest
from django.utils import timezone

from agentstore.tools.mcp import mcp_app
from tests.readme import blocks
from tests.tools.mcp_clients import LIST, headers, over_http, post

pytestmark = pytest.mark.django_db(transaction=True)


def example(file):
    """Return the namespace of the block that belongs to ``file``."""
    (block,) = (block for block in blocks("python") if block.file == file)
    namespace: dict = {"__name__": "example"}
    exec(compile(block.text, file, "exec"), namespace)  # noqa: S102 - the page's own code
    return namespace


@pytest.fixture
def tokens():
    return example("shop/tokens.py")


def test_the_asgi_module_serves_mcp_beside_django():
    application = example("mysite/asgi.py")["application"]

    assert post(application, url="http://testserver/mcp").status_code == 401
    assert post(application, method="GET", url="http://testserver/admin/login/").status_code == 200


def test_the_signed_tokens_name_their_user_for_a_week(user, tokens, monkeypatch):
    app = mcp_app(authenticate=tokens["user_of"])
    token = tokens["issue"](user)
    in_a_week = timezone.now().timestamp() + 7 * 24 * 3600

    fresh = post(app, headers=headers(token), json=LIST)
    forged = post(app, headers=headers(f"{token}x"), json=LIST)
    monkeypatch.setattr("time.time", lambda: in_a_week + 60)
    old = post(app, headers=headers(token), json=LIST)

    assert (fresh.status_code, forged.status_code, old.status_code) == (200, 401, 401)


def test_each_user_has_an_agent_of_their_own(user, tokens):
    app = mcp_app(authenticate=tokens["user_of"], tools=example("shop/tools.py")["tools_of"])

    async def work():
        async with over_http(app, tokens["issue"](user)) as client:
            await client.call_tool("file_write", {"name": "SOUL.md", "content": "I am yours."})
            return await client.list_resources()

    assert [resource.name for resource in asyncio.run(work()).resources] == ["SOUL.md"]
