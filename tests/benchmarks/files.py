"""What file operations cost, against stock simple-history and bare psycopg in the same run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from django.db import transaction

from agentstore.files import FileStore
from agentstore.files.diff import compare
from tests.benchmarks.database import ALIASES, Raw, Switch, on, set_sync
from tests.benchmarks.measure import Operation, Ratio, Report, micros, race
from tests.benchmarks.stock import StockFile

__all__ = ["run"]

READ = """
SELECT content FROM agentstore_agentfile
WHERE tenant = %s AND agent = %s AND name_key = %s AND deleted_at IS NULL
"""
KEPT = 20
WORDS = "the agent keeps its notes short, asks before it sends, and never repeats a customer's number"
_numbers = itertools.count()


def run(*, rows: int, rounds: int, only: str) -> str:
    """Run every part and return the table; ``rows`` does not matter here."""
    bench = Files(rounds)
    for name, part in bench.parts().items():
        if only in name:
            part()
    bench.raw.close()
    return bench.report.markdown()


def text(size: int) -> str:
    """Return a text of about so many bytes, each time another."""
    rng, words = random.Random(next(_numbers)), WORDS.split()
    lines = (f"{' '.join(rng.choices(words, k=12))} {rng.randrange(10**6)}\n" for _ in range(size // 20))
    return "".join(lines)[:size]


class Files:
    """The parts of this benchmark, on one database."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.raw = Raw()
        self.report = Report(list(ALIASES.values()))

    def parts(self) -> dict[str, Callable[[], None]]:
        """Return the parts in order, by name."""
        return {"write": self.write, "read": self.read, "diff": self.diff}

    def write(self) -> None:
        store, texts = (
            FileStore("bench", "bia", actor="agent:bia"),
            itertools.cycle([text(4096) for _ in range(97)]),
        )
        stock = StockFile._default_manager.create(tenant="bench", agent="bia", name="SOUL.md")
        for _ in range(KEPT + 2):
            store.write("SOUL.md", next(texts))
            save(stock, next(texts))
        for sync in ("on", "off"):
            set_sync(self.raw, sync == "on")
            ratios, notes = {}, []
            for alias, column in ALIASES.items():
                times = race(
                    {
                        "ours": on(alias, lambda: store.write("SOUL.md", next(texts))),
                        "stock": on(alias, lambda: save(stock, next(texts))),
                    },
                    rounds=self.rounds,
                )
                ratios[column] = Ratio.of(times["ours"], times["stock"])
                notes.append(f"{micros(times['ours'])} against {micros(times['stock'])}")
            self.report.add(
                f"file write, 4 KiB, {KEPT} versions kept, sync {sync}",
                "save and ORM trim with stock simple-history",
                "<= 0.3",
                ratios,
                " / ".join(notes),
            )

    def read(self) -> None:
        store = FileStore("bench", "reader")
        for number in range(50):
            store.write(f"{number}.md", text(4096))
        names = itertools.cycle(f"{number}.md" for number in range(50))
        own = {column: on(alias, lambda: store.read(next(names))) for alias, column in ALIASES.items()}
        raw: Operation = lambda: self.raw.run(READ, ("bench", "reader", next(names))).fetchone()  # noqa: E731
        times = race({**own, "raw": raw}, rounds=self.rounds)
        ratios = {column: Ratio.of(times[column], times["raw"]) for column in own}
        note = " / ".join(micros(times[name]) for name in times)
        self.report.add("file read, 4 KiB", "raw SELECT of the content", "<= 1.5", ratios, note)

    def diff(self) -> None:
        """Held against 100 ms, on the clock: the only row that is no ratio."""
        old = text(102_400)
        lines = old.splitlines(keepends=True)
        for number in range(0, len(lines), 20):
            lines[number] = lines[number].replace("agent", "assistant").replace("notes", "memory") + "More.\n"
        new = "".join(lines)
        taken = []
        for _ in range(self.rounds):
            start = perf_counter_ns()
            compare(old, new)
            taken.append((perf_counter_ns() - start) / 1000)
        ratio = Ratio.of(taken, [100_000.0] * len(taken))
        ratios = dict.fromkeys(ALIASES.values(), ratio)
        self.report.add("diff of two texts of 100 KiB", "100 ms", "<= 1.0", ratios, micros(taken))


def save(file: StockFile, content: str) -> Any:
    """Save, and trim the history, as one does with simple-history and the ORM."""
    with transaction.atomic(using=Switch.alias):
        file.content, file.size, file.version = content, len(content.encode()), file.version + 1
        file.actor, file.reason = "agent:bia", ""
        file.save(using=Switch.alias)
        beyond = file.history.using(Switch.alias).values_list("pk", flat=True)[KEPT + 1 :]
        return file.history.using(Switch.alias).filter(pk__in=list(beyond)).delete()
