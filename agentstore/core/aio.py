"""How an async twin runs its store method: one hop to a thread, chosen so that runs don't queue."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import AsyncToSync, SyncToAsync, sync_to_async
from django.db import close_old_connections

__all__ = ["run", "run_in"]

P = ParamSpec("P")
R = TypeVar("R")


async def run(operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run ``operation`` in a thread and return what it returns; context variables go with it.

    Inside a request, or under ``async_to_sync`` (Django's async tests, for one), it runs in that
    context's own thread and so sees its transaction. Elsewhere asgiref would send every call of
    the process to one shared thread, where agents' runs would queue behind each other: there it
    takes any free thread, and gives the connection back afterwards as a request would.
    """
    return await run_in(None, operation, *args, **kwargs)


async def run_in(
    threads: ThreadPoolExecutor | None, operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Do what ``run`` does, where any thread will do in one of ``threads``; None: the loop's own."""
    if _has_own_thread():
        return await sync_to_async(operation)(*args, **kwargs)
    hop = sync_to_async(_isolated, thread_sensitive=False, executor=threads)
    return await hop(operation, *args, **kwargs)


def _has_own_thread() -> bool:
    # asgiref decides by these two which thread a synchronous call gets, and has no function that tells.
    if SyncToAsync.thread_sensitive_context.get(None) is not None:
        return True
    return getattr(AsyncToSync.executors, "current", None) is not None


def _isolated(operation: Callable[..., R], *args: object, **kwargs: object) -> R:
    close_old_connections()
    try:
        return operation(*args, **kwargs)
    finally:
        close_old_connections()
