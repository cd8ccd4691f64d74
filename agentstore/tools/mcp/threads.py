"""The threads that carry out an MCP server's calls: a few of them, each with its own connections."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ParamSpec, TypeVar

import anyio
from django.db import connections

from agentstore.core import aio

__all__ = ["DEFAULT_THREADS", "Threads"]

#: How many calls run at the same time, and so the most connections that a server holds.
DEFAULT_THREADS = 8

P = ParamSpec("P")
R = TypeVar("R")


class Threads:
    """Runs sync code for async callers, a bounded number at a time.

    Connections are kept or closed after each call as ``CONN_MAX_AGE`` says; ``close`` gives back
    what the threads still hold. A caller that is cancelled stops waiting at once: what had not
    begun never does, and what had goes on to its end, so that no transaction is torn.
    """

    def __init__(self, limit: int = DEFAULT_THREADS) -> None:
        self._limit = limit
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``operation`` and return what it returns, or raise what it raises."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._limit, thread_name_prefix="agentstore-mcp")
        return await aio.run_in(self._pool, operation, *args, **kwargs)

    async def close(self) -> None:
        """Wait for what still runs, and close every connection that the threads hold."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_end, pool, self._limit)


def _end(pool: ThreadPoolExecutor, threads: int) -> None:
    """Let each thread close its connections; it waits for the others, so that none does it twice."""
    everyone = Barrier(threads)
    for _ in range(threads):
        pool.submit(_leave, everyone)
    pool.shutdown(wait=True)


def _leave(everyone: Barrier) -> None:
    everyone.wait()
    connections.close_all()
