"""What every strategy store can do: one interface, with an async twin of each method. Pure Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import ParamSpec, Required, TypedDict, TypeVar, Unpack

from agentstore.core import errors
from agentstore.core.values import Usage
from agentstore.strategies.entry import DEFAULT_CONFIDENCE
from agentstore.strategies.paging import DEFAULT_PAGE
from agentstore.strategies.ranking import DEFAULT_LIMIT
from agentstore.strategies.seed import seed_strategies
from agentstore.strategies.values import (
    Explanation,
    FindResult,
    Origin,
    SaveResult,
    SeedResult,
    StrategyPage,
    StrategyRow,
)

__all__ = ["Fields", "Rows", "StrategyMethods", "not_found"]

P = ParamSpec("P")
R = TypeVar("R")

#: A list, under a name that a store's own method ``list`` does not hide.
Rows = list[StrategyRow]


class Fields(TypedDict, total=False):
    """What ``save`` takes."""

    problem: Required[str]
    strategy: Required[str]
    confidence: float
    id: str | None
    ts: datetime | str | None
    teacher_model: str | None
    signature: str | None
    origin: Origin


def not_found(id: object) -> errors.NotFound:
    """Return the error of every store for an id that it does not have."""
    return errors.NotFound(
        f"There is no strategy {str(id)[:80]!r}.", hint="List the strategies to see their ids."
    )


class StrategyMethods(ABC):
    """What every strategy store can do, and its async form: ``asave`` is ``save``, and so on."""

    @abstractmethod
    async def _hop(self, operation: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a method for async code."""

    @abstractmethod
    def _keep(self, fields: Fields) -> SaveResult:
        """Do what ``save`` does with what it was given."""

    def save(
        self,
        *,
        problem: str,
        strategy: str,
        confidence: float = DEFAULT_CONFIDENCE,
        id: str | None = None,
        ts: datetime | str | None = None,
        teacher_model: str | None = None,
        signature: str | None = None,
        origin: Origin = "earned",
    ) -> SaveResult:
        """Store what worked for a problem; what is stored already merges.

        The lowest-ranked strategies over the capacity go, the new one included if it is one of
        them: the result says so.

        Raises:
            ValidationFailed: ``errors`` has every field that does not fit.
            AlreadyExists: the id belongs to other content.
        """
        return self._keep(
            {
                "problem": problem,
                "strategy": strategy,
                "confidence": confidence,
                "id": id,
                "ts": ts,
                "teacher_model": teacher_model,
                "signature": signature,
                "origin": origin,
            }
        )

    @abstractmethod
    def find(self, query: str, *, limit: float = DEFAULT_LIMIT) -> FindResult:
        """Return the strategies whose problem holds every significant term of ``query``, best first.

        Raises:
            ValidationFailed: the limit is no non-negative int or ``math.inf``, or the query no text.
        """

    @abstractmethod
    def explain(self, query: str, id: str) -> Explanation:
        """Return why ``query`` finds a strategy, or which terms that lacks.

        Raises:
            NotFound: there is no such strategy.
        """

    @abstractmethod
    def get(self, id: str) -> StrategyRow | None:
        """Return one strategy, or None when there is none."""

    @abstractmethod
    def has(self, *, problem: str, strategy: str) -> bool:
        """Tell whether this content is stored; the same content is what a save would merge."""

    @abstractmethod
    def usage(self) -> Usage:
        """Return how many strategies there are, and how many there may be."""

    @abstractmethod
    def prune(self, max_size: int, *, dry_run: bool = False) -> Rows:
        """Keep the best ``max_size`` strategies; return those that go, best first.

        Raises:
            ValidationFailed: ``max_size`` is no non-negative int; nothing goes.
        """

    @abstractmethod
    def delete(self, id: str) -> bool:
        """Delete one strategy; False when there is none."""

    @abstractmethod
    def hold(self) -> AbstractContextManager[object]:
        """Keep other writers of the tenant out inside the block."""

    def seed(self, entries: Iterable[object]) -> SeedResult:
        """Do what ``seed_strategies`` does: check the whole batch, then write it entry by entry.

        Raises:
            ValidationFailed: something in the batch is wrong; nothing was written.
        """
        return seed_strategies(self, entries)

    @abstractmethod
    def list(self, *, limit: int = DEFAULT_PAGE, cursor: str | None = None) -> StrategyPage:
        """Return one page of the strategies, best first; ``limit`` is brought to 1..100.

        Raises:
            ValidationFailed: the limit is not an int, or the cursor none of this list.
        """

    async def asave(self, **fields: Unpack[Fields]) -> SaveResult:
        """Do what ``save`` does."""
        return await self._hop(partial(self.save, **fields))

    async def afind(self, query: str, *, limit: float = DEFAULT_LIMIT) -> FindResult:
        """Do what ``find`` does."""
        return await self._hop(self.find, query, limit=limit)

    async def aexplain(self, query: str, id: str) -> Explanation:
        """Do what ``explain`` does."""
        return await self._hop(self.explain, query, id)

    async def aget(self, id: str) -> StrategyRow | None:
        """Do what ``get`` does."""
        return await self._hop(self.get, id)

    async def ahas(self, *, problem: str, strategy: str) -> bool:
        """Do what ``has`` does."""
        return await self._hop(self.has, problem=problem, strategy=strategy)

    async def ausage(self) -> Usage:
        """Do what ``usage`` does."""
        return await self._hop(self.usage)

    async def aprune(self, max_size: int, *, dry_run: bool = False) -> Rows:
        """Do what ``prune`` does."""
        return await self._hop(self.prune, max_size, dry_run=dry_run)

    async def adelete(self, id: str) -> bool:
        """Do what ``delete`` does."""
        return await self._hop(self.delete, id)

    async def aseed(self, entries: Iterable[object]) -> SeedResult:
        """Do what ``seed`` does."""
        return await self._hop(self.seed, entries)

    async def alist(self, *, limit: int = DEFAULT_PAGE, cursor: str | None = None) -> StrategyPage:
        """Do what ``list`` does."""
        return await self._hop(self.list, limit=limit, cursor=cursor)
