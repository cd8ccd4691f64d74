"""Bodies that say no length, as those in chunks: they are read, or refused, but never taken as empty."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIRequest
from django.test import Client, RequestFactory
from rest_framework.response import Response
from rest_framework.test import force_authenticate

from agentstore.core.api import StoreView
from agentstore.files import FileStore

USER = User(pk=7, username="ursula")
CHUNKED = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}


class Echo(StoreView):
    """Answers with what it was given."""

    capability = "echo"

    def post(self, request):
        return Response(request.data)


class Broken(io.BytesIO):
    """Breaks off, as a connection does."""

    def read(self, *args):
        raise ConnectionResetError("gone")


def over_asgi(body):
    headers = [(b"content-type", b"application/json"), (b"host", b"testserver")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    return ASGIRequest(scope, io.BytesIO(body))


def over_wsgi(body, **environ):
    request = RequestFactory().post("/", b"{}", content_type="application/json", **CHUNKED)
    request.META.update({"wsgi.input": body if isinstance(body, io.BytesIO) else io.BytesIO(body), **environ})
    return request


def terminated(body):
    return over_wsgi(body, **{"wsgi.input_terminated": True})


def answered(request):
    force_authenticate(request, USER)
    response = Echo.as_view()(request)
    response.render()
    return response.status_code, json.loads(response.content)


@pytest.fixture(params=[over_asgi, terminated], ids=["asgi", "wsgi"])
def server(request):
    """How a server hands over a body in chunks."""
    return request.param


def test_a_body_in_chunks_is_read(server):
    assert answered(server(b'{"a": 1}')) == (200, {"a": 1})


def test_a_body_in_chunks_may_be_empty(server):
    assert answered(server(b"")) == (200, {})


def test_a_body_in_chunks_keeps_to_the_limit(server, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 8

    assert answered(server(b'{"a": 1}')) == (200, {"a": 1})
    status, body = answered(server(b'{"a": 10}'))

    assert (status, body["code"]) == (413, "too_large")


def test_where_there_is_no_limit_there_is_none_on_chunks_either(server, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = None

    assert answered(server(b'{"a": 1}')) == (200, {"a": 1})


def test_chunks_that_somebody_read_before_are_not_lost():
    request = over_asgi(b'{"a": 1}')
    assert request.body

    assert answered(request) == (200, {"a": 1})


def test_chunks_that_break_off_are_400():
    status, body = answered(terminated(Broken()))

    assert (status, body["code"]) == (400, "parse_error")


def test_chunks_that_the_server_does_not_hand_over_are_refused():
    """Django would read nothing, and a patch would change nothing without a word."""
    status, body = answered(over_wsgi(b'{"a": 1}'))

    assert (status, body["code"], body["hint"]) == (400, "validation", "Send a Content-Length.")


def test_a_file_sent_in_chunks_is_never_emptied(admin_user):
    files = FileStore(f"user:{admin_user.pk}", "bia")
    files.write("SOUL.md", "kind\n")
    client = Client()
    client.force_login(admin_user)

    response = client.put("/api/agents/bia/files/SOUL.md", b"x", content_type="text/plain", **CHUNKED)

    assert response.status_code == 400
    assert files.read("SOUL.md") == "kind\n"
