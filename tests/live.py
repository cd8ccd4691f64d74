"""A server for remote stores: the REST API on a port of its own, inside the test's own transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth import get_user_model
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, connections
from django.test.testcases import QuietWSGIRequestHandler

from agentstore.core.access import Access
from agentstore.core.errors import PermissionDenied

__all__ = ["ActorAccess", "LiveServer", "credentials", "serving"]

PASSWORD = "secret"


class ActorAccess(Access):
    """For tests: known users act for any tenant, under the label that their name stands for."""

    def tenant(self, user: Any, capability: str, wanted: str | None = None) -> str:
        if not user.is_authenticated:
            raise PermissionDenied("Only logged-in users have a tenant.")
        return wanted or f"user:{user.pk}"

    def actor(self, user: Any) -> str:
        return bytes.fromhex(user.get_username()[1:]).decode()


def credentials(actor: str = "") -> tuple[str, str]:
    """Return name and password of the user who acts as ``actor``, made where there is none."""
    name = "u" + actor.encode().hex()
    users = get_user_model().objects
    if not users.filter(username=name).exists():
        users.create_user(name, password=PASSWORD)
    return name, PASSWORD


class Handler(QuietWSGIRequestHandler):
    """Sends at once: else each answer would wait for the client to acknowledge its headers."""

    disable_nagle_algorithm = True


class LiveServer(ThreadedWSGIServer):
    """Serves the project with keep-alive; counts what comes in.

    Its threads use the connection to the database that the test has, one request at a time, so
    that a test sees what the server writes and takes it back at its end.
    """

    daemon_threads = True
    connected = 0

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.wrap: Callable[[Any], Any] = lambda application: application
        self._lock = threading.Lock()
        self._application = WSGIHandler()
        shared = {"default": connections["default"]}
        super().__init__(("127.0.0.1", 0), Handler, connections_override=shared)
        self.set_app(self._serve)

    @property
    def url(self) -> str:
        """Where ``agentstore.urls`` is included."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    @contextmanager
    def for_one_test(self) -> Iterator[None]:
        """Start counting anew, and close no connection between requests, as Django's test client does."""
        self.requests.clear()
        for signal in (request_started, request_finished):
            signal.disconnect(close_old_connections)
        try:
            yield
        finally:
            self.wrap = lambda application: application
            for signal in (request_started, request_finished):
                signal.connect(close_old_connections)

    def _serve(self, environ: dict[str, Any], start_response: Any) -> Any:
        with self._lock:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            return [self._finished(environ, start_response)]

    def _finished(self, environ: dict[str, Any], start_response: Any) -> bytes:
        """Answer, and be done with the connection to the database before the test goes on using it."""
        response = self.wrap(self._application)(environ, start_response)
        try:
            return b"".join(response)
        finally:
            response.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connected += 1
        super().process_request(request, client_address)

    def _close_connections(self) -> None:
        """Leave the test's connection open."""


@contextmanager
def serving() -> Iterator[LiveServer]:
    """Run a server while the block lasts."""
    server = LiveServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    connection.inc_thread_sharing()
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        connection.dec_thread_sharing()
