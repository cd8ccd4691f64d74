"""How the benchmarks measure: contestants take turns in short blocks, and ratios are taken inside a round.

On a machine that does other things as well, absolute times wander; two blocks that run within
milliseconds of each other wander together. So a ratio is the median over the rounds of
"median of this block / median of the reference's block in the same round".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from statistics import median, quantiles
from time import perf_counter_ns

__all__ = ["Operation", "Placed", "Ratio", "Report", "Times", "micros", "race"]

Times = dict[str, list[float]]
Operation = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Placed:
    """An operation inside a context, which is entered once a block: it adds nothing to the time."""

    operation: Operation
    around: Callable[[], AbstractContextManager[None]] = nullcontext


def race(
    contestants: Mapping[str, Operation | Placed], *, rounds: int, blocks: Mapping[str, int] | None = None
) -> Times:
    """Return name -> the median time of its block in each round, in microseconds.

    A block is 25 operations, unless ``blocks`` says otherwise.
    """
    sizes = dict.fromkeys(contestants, 25) | dict(blocks or {})
    placed = {name: one if isinstance(one, Placed) else Placed(one) for name, one in contestants.items()}
    for name, contestant in placed.items():
        _block(contestant, sizes[name])
    names = list(contestants)
    times: Times = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(_block(placed[name], sizes[name]))
    return times


def _block(contestant: Placed, size: int) -> float:
    taken, operation = [], contestant.operation
    with contestant.around():
        operation()  # wakes up this contestant's server process
        for _ in range(size):
            start = perf_counter_ns()
            operation()
            taken.append(perf_counter_ns() - start)
    return median(taken) / 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratio:
    """The median of the rounds' ratios, and where the middle half of them lies."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, times: list[float], reference: list[float], *, per: int = 1) -> Ratio:
        ratios = [own / per / other for own, other in zip(times, reference, strict=True)]
        if len(ratios) == 1:
            return cls(low=ratios[0], middle=ratios[0], high=ratios[0])
        low, _, high = quantiles(ratios, n=4, method="inclusive")
        return cls(low=low, middle=median(ratios), high=high)

    def __str__(self) -> str:
        digits = 2 if self.middle < 10 else 1
        return f"{self.middle:.{digits}f} ({self.low:.{digits}f}-{self.high:.{digits}f})"


@dataclass
class Report:
    """Rows of the table, printed as they come and again at the end, as Markdown."""

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def add(self, operation: str, reference: str, bound: str, ratios: Mapping[str, Ratio], note: str) -> None:
        """Add one row; ``bound`` reads like ``<= 1.6`` or ``>= 5``, and is empty where there is no goal."""
        shown = [_judged(ratios[column], bound) for column in self.columns]
        self.rows.append([operation, reference, bound, *shown, note])
        print("  ".join(self.rows[-1]), flush=True)

    def markdown(self) -> str:
        """Return the whole table."""
        head = ["operation", "measured against", "goal", *self.columns, "medians, µs"]
        lines = [head, ["---"] * len(head), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _judged(ratio: Ratio, bound: str) -> str:
    if not bound:
        return str(ratio)
    sign, number = bound.split()
    met = ratio.middle <= float(number) if sign == "<=" else ratio.middle >= float(number)
    return str(ratio) if met else f"{ratio} missed"


def micros(times: list[float]) -> str:
    """Return the median of some rounds, in whole microseconds."""
    return f"{median(times):,.0f}"
