"""The server that the benchmarks run on, and who talks to it: the stores, and raw psycopg."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from tests.benchmarks.measure import Operation, Placed

__all__ = ["ALIASES", "Raw", "Switch", "database", "on", "server", "set_sync", "using"]

#: Alias -> what its column is called.
ALIASES = {"default": "prepared", "stock": "stock options"}
#: A server on which a commit waits for the disk, unless the session says otherwise.
DURABLE = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "1GB",
    "min_wal_size": "1GB",
    "max_wal_size": "4GB",
    "random_page_cost": "1.1",
}


@contextmanager
def server() -> Iterator[None]:
    """Have ``DATABASE_URL`` name a server: the caller's own, or one that ends with this block."""
    from tests.postgres import Cluster

    if os.environ.get("DATABASE_URL"):
        yield
        return
    cluster = Cluster.start(DURABLE)
    os.environ["DATABASE_URL"] = f"postgresql://postgres@/agentstore?host={cluster.host}"
    try:
        yield
    finally:
        cluster.stop()


@contextmanager
def database() -> Iterator[None]:
    """Make an empty, migrated database for this block."""
    from django.db import connections
    from django.test.utils import setup_databases, teardown_databases

    made = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        connections.close_all()
        teardown_databases(made, verbosity=0)


class Switch:
    """Sends every model to the alias that is being measured."""

    alias = "default"

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return Switch.alias

    db_for_write = db_for_read


@contextmanager
def using(alias: str) -> Iterator[None]:
    """Send the stores to ``alias`` inside the block."""
    Switch.alias, before = alias, Switch.alias
    try:
        yield
    finally:
        Switch.alias = before


def on(alias: str, operation: Operation) -> Placed:
    """Send ``operation`` to one set of options."""
    return Placed(operation, functools.partial(using, alias))


class Raw:
    """One psycopg connection in autocommit, every statement prepared: what the stores are held against."""

    def __init__(self) -> None:
        from django.db import connections

        wrapper = connections["default"]
        params = wrapper.get_connection_params()
        for name in ("cursor_factory", "context", "server_side_binding"):
            params.pop(name, None)
        self.connection = psycopg.connect(**{**params, "prepare_threshold": 0}, autocommit=True)

    def run(self, sql: str, params: Any = None) -> psycopg.Cursor[Any]:
        """Execute one statement, prepared."""
        return self.connection.execute(sql, params, prepare=True)

    def close(self) -> None:
        self.connection.close()


def set_sync(raw: Raw, on: bool) -> None:
    """Have the commits of every session wait for the disk, or not."""
    from django.db import connections

    sql = f"SET synchronous_commit = {'on' if on else 'off'}"
    raw.connection.execute(sql)
    for alias in ALIASES:
        with connections[alias].cursor() as cursor:
            cursor.execute(sql)
