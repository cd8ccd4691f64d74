"""A Django server in a process of its own, on a free port: ``python -m tests.benchmarks.serving``.

It ends when its standard input does, so nothing is left behind whoever started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

__all__ = ["child", "serving"]


def environ() -> dict[str, str]:
    """Return the environment of a process that works on this benchmark's database."""
    from django.db import connection

    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    return {**os.environ, "DATABASE_URL": url.geturl()}


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python with pipes to it; closing its standard input ends it."""
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environ(), text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()


@contextmanager
def serving() -> Iterator[str]:
    """Yield the address of a server that ends with this block."""
    with child("-m", "tests.benchmarks.serving") as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"


def _serve() -> None:
    import django

    django.setup()
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
    from django.core.wsgi import get_wsgi_application

    class Quiet(WSGIRequestHandler):
        disable_nagle_algorithm = True  # headers and body are two packets: the second would wait 40 ms

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadedWSGIServer(("127.0.0.1", 0), Quiet, connections_override={})
    server.set_app(get_wsgi_application())
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    _serve()
