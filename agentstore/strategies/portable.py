"""The portable back end of strategies: the ORM inside ``atomic()``, the first statement a write.

Every write of a tenant takes its counter's row first, so that writers queue, the cap holds and
nobody deadlocks. What to write is decided by the rules beside; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest

from agentstore.core.models import Usage
from agentstore.core.storage import translate_errors
from agentstore.core.values import new_id
from agentstore.strategies import ranking
from agentstore.strategies.models import Strategy
from agentstore.strategies.terms import TOKENIZER_VERSION
from agentstore.strategies.values import StoredStrategy

__all__ = ["COUNTER", "TIME", "Light", "PortableStrategies", "RawStrategy", "values_of"]

T = TypeVar("T")

#: The counter's name; no entity can have it.
COUNTER = "@strategies"
#: How many rows one statement names: databases limit the parameters of a statement.
AT_ONCE = 500


class RawStrategy(NamedTuple):
    """One stored strategy, as it is in the table."""

    id: UUID
    strategy_id: str
    problem: str
    strategy: str
    confidence: float
    ts: datetime
    teacher_model: str | None
    signature: str | None
    origin: str
    terms: Any
    term_count: int
    dedup_key: str
    tokenizer_version: str


class Light(NamedTuple):
    """What the order of a strategy depends on."""

    pk: UUID
    id: str
    confidence: float
    ts: datetime
    term_count: int

    @classmethod
    def of(cls, pk: UUID, id: str, confidence: Any, ts: datetime, term_count: Any) -> Light:
        """Return these values; SQLite lets a hand write what is not a number, and that counts as 0."""
        sure = confidence if isinstance(confidence, int | float) else 0
        return cls(pk, id, float(sure), ts, term_count if isinstance(term_count, int) else 0)


def values_of(row: StoredStrategy) -> dict[str, Any]:
    """Return the columns of a row, the key and tenant aside."""
    return {
        "strategy_id": row.id,
        "problem": row.problem,
        "strategy": row.strategy,
        "confidence": row.confidence,
        "ts": row.ts,
        "teacher_model": row.teacher_model,
        "signature": row.signature,
        "origin": row.origin,
        "terms": sorted(row.terms),
        "term_count": row.term_count,
        "dedup_key": row.dedup_key,
        "rank": ranking.rank(row.confidence, row.ts),
        "tokenizer_version": TOKENIZER_VERSION,
    }


class PortableStrategies:
    """One tenant's strategies through the ORM; the same on every database."""

    def __init__(self, alias: str, tenant: str) -> None:
        self.alias, self.tenant = alias, tenant

    def rows(self) -> models.QuerySet[Strategy]:
        """Return the tenant's strategies."""
        return Strategy._base_manager.using(self.alias).filter(tenant=self.tenant)

    def _counter(self) -> models.QuerySet[Usage]:
        return Usage._base_manager.using(self.alias).filter(tenant=self.tenant, entity=COUNTER)

    # --- reads ------------------------------------------------------------------------------

    @translate_errors
    def with_terms(self, terms: Collection[str]) -> list[RawStrategy]:
        """Return the strategies whose problem has all the terms, and those tokenised otherwise."""
        return self._having(sorted(terms))

    def _having(self, terms: list[str]) -> list[RawStrategy]:
        wanted = Q(HasTerms(terms)) | ~Q(tokenizer_version=TOKENIZER_VERSION)
        return self._raw(self.rows().filter(wanted))

    @translate_errors
    def by_ids(self, ids: Collection[str]) -> list[RawStrategy]:
        """Return the strategies of these ids."""
        parts = (self._raw(self.rows().filter(strategy_id__in=some)) for some in _in_parts([*ids]))
        return [raw for part in parts for raw in part]

    @translate_errors
    def all(self) -> list[RawStrategy]:
        """Return every strategy of the tenant."""
        return self._raw(self.rows())

    def _raw(self, rows: models.QuerySet[Strategy]) -> list[RawStrategy]:
        found = map(RawStrategy._make, rows.values_list(*_with_time(RawStrategy._fields)))
        return [raw._replace(ts=_read_time(raw.ts)) for raw in found]

    @translate_errors
    def light(self) -> list[Light]:
        """Return what the order of every strategy depends on."""
        return list(_lights(self.rows()))

    @translate_errors
    def has(self, dedup_key: str) -> bool:
        """Tell whether the content of that key is stored."""
        return self.rows().filter(dedup_key=dedup_key).exists()

    @translate_errors
    def used(self) -> int:
        """Return the tenant's counter."""
        return self._counter().values_list("used", flat=True).first() or 0

    # --- writes, each inside the caller's atomic block ----------------------------------------

    @translate_errors
    def lock(self) -> int:
        """Take the tenant's counter until the transaction ends, and return it."""
        while not self._counter().update(used=F("used")):  # an erasure may remove what another just made
            first = Usage(id=new_id(), tenant=self.tenant, entity=COUNTER, used=0)
            Usage._base_manager.using(self.alias).bulk_create([first], ignore_conflicts=True)
        return self._counter().values_list("used", flat=True).get()

    def save(self, row: StoredStrategy, *, capacity: int, now: datetime) -> list[str] | None:
        """Insert ``row`` if that is plain, and return the ids that went; None where a save has to lock."""
        return None

    @translate_errors
    def recount(self) -> int:
        """Count the rows, correct the counter that ``lock`` has taken, and return it."""
        used = self.rows().count()
        self._counter().update(used=used)
        return used

    @translate_errors
    def look(self, new: StoredStrategy, *, over: int, now: datetime) -> tuple[list[RawStrategy], list[Light]]:
        """Return the rows with the new one's content or id, and the ``over`` lowest-ranked rows.

        Rows dated ahead of ``now`` rank lower than their stored rank says: they come besides.
        """
        same = self._raw(self.rows().filter(Q(dedup_key=new.dedup_key) | Q(strategy_id=new.id)))
        if over <= 0:
            return same, []
        ordered = self.rows().filter(ts__lte=now).order_by("rank", "-term_count", "ts", "-strategy_id")
        return same, [*_lights(ordered[:over]), *_lights(self.rows().filter(ts__gt=now))]

    @translate_errors
    def apply(self, row: StoredStrategy | None, *, pk: UUID | None, gone: Collection[UUID]) -> None:
        """Insert ``row``, or write it over the one at ``pk``; remove ``gone``; move the counter."""
        moves = -len(gone)
        if row is not None and pk is not None:
            self.rows().filter(pk=pk).update(**values_of(row))
        elif row is not None:
            made = Strategy(id=new_id(), tenant=self.tenant, **values_of(row))
            Strategy._base_manager.using(self.alias).bulk_create([made])
            moves += 1
        self.remove(gone, moves=moves)

    @translate_errors
    def remove(self, pks: Collection[UUID], *, moves: int | None = None) -> int:
        """Delete rows and move the counter (by as many, unless told); return how many went."""
        parts = _in_parts([*pks])
        count = sum(self.rows().filter(pk__in=some).delete()[0] for some in parts)
        change = -count if moves is None else moves
        if change:
            # Fixtures and hand-written SQL bypass the counter, so it may be too low already.
            self._counter().update(used=Greatest(F("used") + change, 0))
        return count

    @translate_errors
    def rewrite(self, rows: Iterable[tuple[UUID, StoredStrategy]]) -> None:
        """Store what is derived from the text anew, after a change of the tokenizer."""
        for pk, row in rows:
            self.rows().filter(pk=pk).update(**values_of(row))


LIGHT = ("pk", "strategy_id", "confidence", "ts", "term_count")


def _lights(rows: models.QuerySet[Strategy]) -> Iterator[Light]:
    for pk, id, confidence, ts, term_count in rows.values_list(*_with_time(LIGHT)):
        yield Light.of(pk, id, confidence, _read_time(ts), term_count)


def _with_time(names: Sequence[str]) -> list[Any]:
    """Return columns to read, ``ts`` in a form that one spoiled by hand can't break."""
    return [StoredTime() if name == "ts" else name for name in names]


def _read_time(stored: object) -> datetime:
    """Return a time as ``StoredTime`` reads it; one that is none counts as the oldest."""
    if isinstance(stored, datetime):
        return stored
    try:
        moment = datetime.fromisoformat(str(stored))
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return ranking.EPOCH


def _in_parts(values: list[T]) -> list[list[T]]:
    return [values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE)]


class StoredTime(models.Func):
    """The column ``ts``, within the years that Python knows; on SQLite its text, whatever that is."""

    template = "CAST(%(expressions)s AS TEXT)"  # else the driver would read it, by the column's type

    def __init__(self) -> None:
        super().__init__(F("ts"), output_field=models.TextField())

    def as_postgresql(self, compiler: Any, connection: Any, **kwargs: Any) -> Any:
        return self.as_sql(compiler, connection, template=TIME.format("%(expressions)s"), **kwargs)


#: PostgreSQL's times reach from before year 1 to "infinity"; those of Python do not.
TIME = "least(greatest({}, '0001-01-02 00:00:00+00'), '9999-12-30 00:00:00+00')"


class HasTerms(models.Func):
    """Whether a strategy's terms include all of some."""

    def __init__(self, terms: list[str]) -> None:
        super().__init__(
            F("terms"), models.Value(terms, models.JSONField()), output_field=models.BooleanField()
        )

    def as_postgresql(self, compiler: Any, connection: Any, **kwargs: Any) -> tuple[str, list[Any]]:
        return self._render("{} @> {}", compiler)

    def as_sqlite(self, compiler: Any, connection: Any, **kwargs: Any) -> Any:
        return self._render("AGENTSTORE_CONTAINS({}, {})", compiler)

    def _render(self, template: str, compiler: Any) -> tuple[str, list[Any]]:
        (left, own), (right, other) = (compiler.compile(part) for part in self.source_expressions)
        return template.format(left, right), [*own, *other]
