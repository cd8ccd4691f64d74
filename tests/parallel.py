"""Races on a real database: many threads at once, each with connections of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread
from typing import TypeVar

from django.db import connection, connections, transaction

__all__ = ["run_parallel", "sessions", "until_somebody_waits", "while_open"]

T = TypeVar("T")


def run_parallel(n: int, fn: Callable[[int], T], *, timeout: float = 120) -> list[T | Exception]:
    """Call ``fn(0)`` to ``fn(n - 1)`` at the same moment and return what each returned or raised.

    The test needs committed data: use the ``transactional_db`` fixture. An error is a value here,
    because in a race a refusal is one of the expected outcomes; ``raise`` it if it is not.
    """
    barrier = Barrier(n, timeout=timeout)

    def work(i: int) -> T | Exception:
        barrier.wait()
        try:
            return fn(i)
        except Exception as error:  # the caller judges it
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=n) as pool:
        return [future.result(timeout=timeout) for future in [pool.submit(work, i) for i in range(n)]]


def sessions() -> set[int]:
    """Return the sessions that clients have on this test's PostgreSQL database, the own one included.

    Compare with what was there before: an earlier test may have left a thread that keeps its session.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend'"
        )
        return {pid for (pid,) in cursor.fetchall()}


def until_somebody_waits(*, timeout: float = 60) -> None:
    """Return once a session waits for a lock of another on this test's PostgreSQL database.

    Do it in the transaction that it waits for.
    """
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")  # else it is told the same again
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    raise TimeoutError("Nobody waits for a lock.")


def while_open(
    act: Callable[[], object], then: Callable[[], T], *, at_last: Callable[[], object] = lambda: None
) -> T | Exception:
    """Return what ``then`` returns or raises while a transaction is open that did ``act``.

    That one goes on with ``at_last``, and ends, once somebody waits for it.
    """
    done, failures = Event(), []

    def hold() -> None:
        try:
            with transaction.atomic():
                act()
                done.set()
                until_somebody_waits()
                at_last()
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    holder = Thread(target=hold)
    holder.start()
    assert done.wait(60)
    try:
        result: T | Exception = then()
    except Exception as error:  # the caller judges it
        result = error
    holder.join(60)
    assert failures == []
    return result
