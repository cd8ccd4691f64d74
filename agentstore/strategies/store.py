"""The strategies of one tenant in the database: every read and write passes here.

The rules (match, rank, merge, limits) are those of the pure modules beside, the same as for the
store in memory; this class fetches what they need and persists what they decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from typing import ParamSpec, TypeAlias, TypeVar

from django.db import connections, router, transaction

from agentstore.conf import settings
from agentstore.core import aio, errors, guards
from agentstore.core.context import checked, current
from agentstore.core.storage import atomic, single_statements
from agentstore.core.tenancy import check_tenant
from agentstore.core.values import Usage, now
from agentstore.signals import strategy_changed
from agentstore.strategies import entry, matching, merging, paging, ranking
from agentstore.strategies.incidents import report
from agentstore.strategies.methods import Fields, Rows, StrategyMethods, not_found
from agentstore.strategies.models import Strategy
from agentstore.strategies.portable import Light, PortableStrategies, RawStrategy
from agentstore.strategies.postgres import PostgresStrategies
from agentstore.strategies.rows import decide, merged_from, order_of, read_row
from agentstore.strategies.terms import analyse_query, dedup_key
from agentstore.strategies.values import (
    Explanation,
    FindResult,
    Incident,
    MatchRules,
    SaveResult,
    StoredStrategy,
    StrategyPage,
    StrategyRow,
)

__all__ = ["StrategyStore", "read_row"]

# Inside the class, ``list`` is the method.
Lights: TypeAlias = list[Light]
Ids: TypeAlias = list[str]
P = ParamSpec("P")
R = TypeVar("R")


class StrategyStore(StrategyMethods):
    """Keeps one tenant's strategies under a cap, and finds them again.

    ``capacity`` beats the setting ``STRATEGY_CAPACITY``. Trouble in ``find`` degrades to an empty
    result and an incident; trouble in ``save`` is raised.

    Raises:
        ValidationFailed: the tenant, actor or capacity is not allowed.
    """

    def __init__(self, tenant: str, *, actor: str | None = None, capacity: int | None = None) -> None:
        self.tenant = check_tenant(tenant)
        self.actor = checked(actor=actor).actor
        self._capacity = (
            None if capacity is None else ranking.resolve_capacity_cap("capacity", capacity, least=1)
        )

    def __repr__(self) -> str:
        return f"<StrategyStore of {self.tenant!r}>"

    @property
    def capacity(self) -> int:
        """How many strategies the tenant may have."""
        if self._capacity is not None:
            return self._capacity
        return ranking.resolve_capacity_cap("STRATEGY_CAPACITY", settings.STRATEGY_CAPACITY, least=1)

    @property
    def rules(self) -> MatchRules:
        """How strict a match is, as the settings say."""
        return MatchRules(min_terms=settings.STRATEGY_MIN_TERMS, min_overlap=settings.STRATEGY_MIN_OVERLAP)

    @property
    def alias(self) -> str:
        """The database of every statement."""
        return router.db_for_write(Strategy)

    @property
    def _rows(self) -> PortableStrategies:
        alias = self.alias
        return (PostgresStrategies if single_statements(alias) else PortableStrategies)(alias, self.tenant)

    # --- reads ------------------------------------------------------------------------------

    def find(self, query: str, *, limit: float = ranking.DEFAULT_LIMIT) -> FindResult:
        count = ranking.resolve_find_limit(limit)
        wanted = analyse_query(guards.check_text(query, "query"))
        if not wanted.required:
            return FindResult(empty_because="no_terms")
        if not count:
            return FindResult()
        try:
            with self._savepoint():
                raws = self._rows.with_terms(wanted.required)
        except errors.StorageFailed as error:
            self._report(Incident(op="find", error=f"{error.message} Nothing was found."))
            return FindResult(empty_because="failed")
        return matching.select(
            wanted,
            self._readable(raws),
            tenant=self.tenant,
            limit=count,
            now=now(),
            rules=self.rules,
            budget=entry.INJECTION_BUDGET_BYTES,
        )

    def _savepoint(self) -> AbstractContextManager[None]:
        """Guard a caller's transaction against an error inside; without one there is nothing to guard."""
        inside = connections[self.alias].in_atomic_block
        return atomic(self.alias) if inside else nullcontext()

    def _readable(self, raws: list[RawStrategy]) -> list[StoredStrategy]:
        """Return the rows that have a strategy's shape; the others stay stored, and are reported."""
        found = []
        for raw in raws:
            try:
                found.append(read_row(raw))
            except ValueError as error:
                self._report(Incident(op="parse", error=f"Skipped: {error}", id=raw.strategy_id))
        return found

    def explain(self, query: str, id: str) -> Explanation:
        wanted = analyse_query(guards.check_text(query, "query"))
        row = self._one(id)
        if row is None:
            raise self.not_found(id)
        return matching.explain(wanted, row, now=now(), rules=self.rules)

    def get(self, id: str) -> StrategyRow | None:
        row = self._one(id)
        return None if row is None else matching.show(row, tenant=self.tenant, now=now())

    def _one(self, id: object) -> StoredStrategy | None:
        if not isinstance(id, str) or not entry.STRATEGY_ID_RE.fullmatch(id):
            return None
        return next(iter(self._readable(self._rows.by_ids([str.__str__(id)]))), None)

    def has(self, *, problem: str, strategy: str) -> bool:
        key = dedup_key(guards.check_text(problem, "problem"), guards.check_text(strategy, "strategy"))
        return self._rows.has(key)

    def usage(self) -> Usage:
        return Usage(used=self._rows.used(), capacity=self.capacity)

    def list(self, *, limit: int = paging.DEFAULT_PAGE, cursor: str | None = None) -> StrategyPage:
        count, after = paging.resolve_page_limit(limit), paging.read_cursor(self.tenant, cursor)
        rows, at = self._readable(self._rows.all()), now()
        shown, position = paging.page(rows, after=after, limit=count, now=at)
        return StrategyPage(
            rows=[matching.show(row, tenant=self.tenant, now=at) for row in shown],
            next_cursor=paging.write_cursor(self.tenant, position),
            limit=count,
        )

    # --- writes -----------------------------------------------------------------------------

    def _keep(self, fields: Fields) -> SaveResult:
        at, capacity = now(), self.capacity
        new = merging.derive(entry.validate_for_write(entry.complete(fields, now=at), now=at))
        try:
            with self._savepoint():
                gone = self._rows.save(new, capacity=capacity, now=at)
            saved = (
                self._save(new, capacity) if gone is None else merging.result(new.id, merged=False, gone=gone)
            )
        except errors.StorageFailed as error:
            self._report(
                Incident(op="save", error=f"{error.message} It was not saved.", id=fields.get("id") or "")
            )
            raise
        if saved.status != "not_kept":
            self._announce(saved.status, [saved.id])
        self._announce("evicted", saved.evicted_ids)
        return saved

    def _save(self, new: StoredStrategy, capacity: int) -> SaveResult:
        """Save what is no plain insert, with the tenant's other writers kept out.

        It is ranked by the time at which they are: earlier, all that they save would be dated ahead.
        """
        with atomic(self.alias):
            rows = self._rows
            over, at = rows.lock() + 1 - capacity, now()
            if over > 0:  # rows that went behind the counter's back must not make others go
                over = rows.recount() + 1 - capacity
            same, lowest = rows.look(new, over=over, now=at)
            decided = decide(new, same, lowest, over=over, at=at)
            rows.apply(decided.row, pk=decided.pk, gone=decided.gone)
            if decided.pk is not None and decided.result.status == "not_kept":
                self._announce("evicted", [decided.result.id])  # it was stored, and had to go
            return decided.result

    def prune(self, max_size: int, *, dry_run: bool = False) -> Rows:
        cap = ranking.resolve_capacity_cap("max_size", max_size)
        if dry_run:
            return self._shown(self._over(cap))
        with atomic(self.alias):
            self._rows.lock()
            gone = self._over(cap)
            shown = self._shown(gone)
            self._rows.remove([light.pk for light in gone])
        self._announce("pruned", [light.id for light in gone])
        return shown

    def _over(self, cap: int) -> Lights:
        lights = self._rows.light()
        return sorted(lights, key=partial(order_of, now=now()))[cap:]

    def _shown(self, lights: Lights) -> Rows:
        raws = {raw.strategy_id: raw for raw in self._rows.by_ids([light.id for light in lights])}
        at = now()
        return [_show(raws[light.id], self.tenant, at) for light in lights if light.id in raws]

    def delete(self, id: str) -> bool:
        if not isinstance(id, str) or not entry.STRATEGY_ID_RE.fullmatch(id):
            return False
        with atomic(self.alias):
            self._rows.lock()
            found = self._rows.by_ids([str.__str__(id)])
            done = bool(found) and bool(self._rows.remove([found[0].id]))
        if done:
            self._announce("deleted", [id])
        return done

    @contextmanager
    def hold(self) -> Iterator[None]:
        with atomic(self.alias):
            self._rows.lock()
            yield

    # --- around -----------------------------------------------------------------------------

    async def _hop(self, operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await aio.run(operation, *args, **kwargs)

    def not_found(self, id: object) -> errors.NotFound:
        """Return the error that says there is no such strategy; another tenant's gets the same words."""
        return not_found(id)

    def _report(self, incident: Incident) -> None:
        report(self.alias, self.tenant, incident)

    def _announce(self, op: str, ids: Ids) -> None:
        if not ids or not strategy_changed.receivers or not strategy_changed.has_listeners(Strategy):
            return
        for id in ids:
            send = partial(
                strategy_changed.send_robust,
                sender=Strategy,
                tenant=self.tenant,
                id=id,
                op=op,
                actor=self.actor or current().actor,
            )
            transaction.on_commit(send, using=self.alias)


def _show(raw: RawStrategy, tenant: str, at: datetime) -> StrategyRow:
    return matching.show(merged_from(raw, raw.strategy_id), tenant=tenant, now=at)
