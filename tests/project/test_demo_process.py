"""The demo as its own process on a new SQLite file, as somebody who tries it starts it."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An SQLite file that the demo filled."""
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite3"
    run(path, "--no-serve")
    return path


def command(*options: str) -> list[str]:
    return [sys.executable, "manage.py", "demo", *options]


def environ(path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return {**kept, "DATABASE_URL": f"sqlite:///{path}"}


def run(path: Path, *options: str) -> str:
    """Run the demo to its end; return what it printed."""
    done = subprocess.run(command(*options), cwd=ROOT, env=environ(path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read(path: Path, query: str) -> list[tuple]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_second_start_changes_no_row(file):
    queries = (
        "SELECT id, version, data FROM desk_order ORDER BY id",
        "SELECT count(*) FROM agentstore_auditentry",
    )
    before = [read(file, query) for query in queries]

    output = run(file, "--no-serve")

    assert [read(file, query) for query in queries] == before
    assert "filled already" in output


def test_reset_starts_over(file):
    before = {id for (id,) in read(file, "SELECT id FROM desk_order")}

    output = run(file, "--no-serve", "--reset")

    after = {id for (id,) in read(file, "SELECT id FROM desk_order")}
    assert len(after) > 50
    assert not before & after
    assert "filled already" not in output


def test_it_serves_every_address_that_it_prints(file):
    port = unused_port()
    options = {"cwd": ROOT, "env": environ(file), "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command("--port", str(port)), text=True, **options) as server:
        try:
            addresses = printed(server, port)
            assert len(addresses) == 4
            for address in addresses:
                assert fetch(address) == 200
        finally:
            server.terminate()


def unused_port() -> int:
    """Return a port below those that the system hands out, so that no other test is given it meanwhile."""
    while True:
        port = secrets.choice(range(20_000, 30_000))
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def printed(server: subprocess.Popen[str], port: int) -> list[str]:
    """Return the addresses that the demo prints before it serves."""
    found: list[str] = []
    for line in server.stdout or ():
        found += re.findall(rf"http://127\.0\.0\.1:{port}/[\w/]*", line)
        if "/api/docs/" in line:
            return found
    raise AssertionError("The demo ended before it printed its addresses.")


def fetch(address: str) -> int:
    for _ in range(1200):
        try:
            with urllib.request.urlopen(address, timeout=120) as response:  # noqa: S310 - this machine
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError(f"{address} does not answer.")
