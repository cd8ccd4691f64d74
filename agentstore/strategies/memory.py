"""A strategy store in memory: the same rules without a database, for tests and short-lived agents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import ParamSpec, TypeVar

from agentstore.core import guards
from agentstore.core.tenancy import check_tenant
from agentstore.core.values import Usage, now
from agentstore.strategies import entry, matching, merging, paging, ranking
from agentstore.strategies.methods import Fields, Rows, StrategyMethods, not_found
from agentstore.strategies.terms import analyse_query, dedup_key
from agentstore.strategies.values import (
    Explanation,
    FindResult,
    MatchRules,
    SaveResult,
    StoredStrategy,
    StrategyPage,
    StrategyRow,
)

__all__ = ["InMemoryStrategyStore"]

P = ParamSpec("P")
R = TypeVar("R")


class InMemoryStrategyStore(StrategyMethods):
    """Keeps one tenant's strategies in this object, safe to use from several threads.

    It decides as ``StrategyStore`` does, with two differences on purpose: entries of older shapes
    (too long, an id or time that the write door refuses) are taken, and find has no injection
    budget; ``render_for_prompt`` has.
    """

    def __init__(self, tenant: str, *, capacity: int | None = None, rules: MatchRules | None = None) -> None:
        self.tenant = check_tenant(tenant)
        self.capacity = ranking.resolve_capacity_cap(
            "capacity", ranking.DEFAULT_CAPACITY if capacity is None else capacity, least=1
        )
        self.rules = rules or MatchRules()
        self._rows: dict[str, StoredStrategy] = {}
        self._lock = threading.RLock()

    @property
    def size(self) -> int:
        """How many strategies there are."""
        with self._lock:  # a save in progress may be over the capacity
            return len(self._rows)

    def _keep(self, fields: Fields) -> SaveResult:
        at = now()
        new = merging.derive(entry.validate_loosely(entry.complete(fields, now=at)))
        with self._lock:
            same = self._with_content(new.dedup_key)
            row = merging.admit(new, same_content=same, same_id=self._rows.get(new.id))
            self._rows[row.id] = row
            gone = [other.id for other in self._drop_over(self.capacity, now())]
        return merging.result(row.id, merged=same is not None, gone=gone)

    def find(self, query: str, *, limit: float = ranking.DEFAULT_LIMIT) -> FindResult:
        count = ranking.resolve_find_limit(limit)
        wanted = analyse_query(guards.check_text(query, "query"))
        return matching.select(
            wanted, self._all(), tenant=self.tenant, limit=count, now=now(), rules=self.rules
        )

    def explain(self, query: str, id: str) -> Explanation:
        wanted = analyse_query(guards.check_text(query, "query"))
        row = self._row(id)
        if row is None:
            raise not_found(id)
        return matching.explain(wanted, row, now=now(), rules=self.rules)

    def get(self, id: str) -> StrategyRow | None:
        row = self._row(id)
        return None if row is None else matching.show(row, tenant=self.tenant, now=now())

    def has(self, *, problem: str, strategy: str) -> bool:
        key = dedup_key(guards.check_text(problem, "problem"), guards.check_text(strategy, "strategy"))
        with self._lock:
            return self._with_content(key) is not None

    def usage(self) -> Usage:
        return Usage(used=self.size, capacity=self.capacity)

    def prune(self, max_size: int, *, dry_run: bool = False) -> Rows:
        cap = ranking.resolve_capacity_cap("max_size", max_size)
        with self._lock:
            at = now()  # not that of the call, which may have waited
            gone = ranking.split(self._all(), cap, at)[1] if dry_run else self._drop_over(cap, at)
        return [matching.show(row, tenant=self.tenant, now=at) for row in gone]

    def delete(self, id: str) -> bool:
        with self._lock:
            row = self._row(id)
            return row is not None and self._rows.pop(row.id) is row

    def list(self, *, limit: int = paging.DEFAULT_PAGE, cursor: str | None = None) -> StrategyPage:
        count, after = paging.resolve_page_limit(limit), paging.read_cursor(self.tenant, cursor)
        every, at = self._all(), now()
        rows, position = paging.page(every, after=after, limit=count, now=at)
        shown = [matching.show(row, tenant=self.tenant, now=at) for row in rows]
        return StrategyPage(rows=shown, next_cursor=paging.write_cursor(self.tenant, position), limit=count)

    def hold(self) -> AbstractContextManager[object]:
        return self._lock

    async def _hop(self, operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return operation(*args, **kwargs)  # nothing here waits, so no thread is needed

    def _row(self, id: object) -> StoredStrategy | None:
        with self._lock:
            return self._rows.get(str.__str__(id)) if isinstance(id, str) else None

    def _all(self) -> Iterable[StoredStrategy]:
        with self._lock:
            return tuple(self._rows.values())

    def _with_content(self, key: str) -> StoredStrategy | None:
        return next((row for row in self._rows.values() if row.dedup_key == key), None)

    def _drop_over(self, cap: int, at: datetime) -> tuple[StoredStrategy, ...]:
        if len(self._rows) <= cap:
            return ()
        _, gone = ranking.split(self._rows.values(), cap, at)
        for row in gone:
            del self._rows[row.id]
        return tuple(gone)
