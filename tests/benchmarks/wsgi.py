"""Creates through the whole WSGI application, and the one statement that such a create comes down to."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from typing import Any

from django.contrib.auth.models import User
from django.core.wsgi import get_wsgi_application
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from agentstore.core.values import new_id, now
from agentstore.entities.postgres import INSERT_ONE
from tests.benchmarks.database import Raw
from tests.benchmarks.models import Reminder

__all__ = ["Bearer", "poster", "raw_create"]


@cache
def _somebody() -> User:
    return User(pk=1, username="somebody")


class Bearer(BaseAuthentication):
    """Signs everybody in: authentication is the host's, and not what is measured."""

    def authenticate(self, request: Request) -> tuple[User, None]:
        return _somebody(), None


def poster(document: Callable[[], dict[str, Any]]) -> Callable[[], object]:
    """Return a call that creates one reminder by POST and checks the answer."""
    application = get_wsgi_application()

    def post() -> bytes:
        body = json.dumps({"data": document()}).encode()
        answer: list[str] = []
        response = application(_environ(body), lambda status, headers, *_: answer.append(status))  # type: ignore[arg-type]
        content = b"".join(response)
        response.close()
        assert answer[0].startswith("201"), (answer, content)
        return content

    return post


def _environ(body: bytes) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": f"/api/entities/{Reminder.entity.name}/",
        "QUERY_STRING": "",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_ACCEPT": "application/json",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }


def raw_create(raw: Raw, document: Callable[[], dict[str, Any]]) -> Callable[[], object]:
    """Return a call that runs the store's own statement (counter, row, audit) on psycopg."""
    sql = INSERT_ONE.replace("{table}", Reminder._meta.db_table)

    def create() -> Any:
        params = {
            "tenant": "user:1", "entity": Reminder.entity.name,
            "usage_id": new_id(), "places": 1, "limit": 10_000_000,
            "id": new_id(), "audit_id": new_id(), "data": json.dumps(document()),
            "actor": "user:1", "reason": "", "context": "{}", "at": now(),
        }  # fmt: skip
        return raw.run(sql, params).rowcount

    return create
