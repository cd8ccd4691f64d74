"""What tools and remote stores cost, against the local store and a bare view in the same run."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import httpx
from django.test.utils import isolate_apps

from agentstore.entities import EntityModel
from agentstore.remote import EntityClient
from agentstore.tools import Toolset, toolset
from agentstore.tools.spec import DIALECTS
from tests.benchmarks.database import ALIASES, Raw, on, set_sync
from tests.benchmarks.entities import document
from tests.benchmarks.fill import settle, warm_up
from tests.benchmarks.measure import Operation, Ratio, Report, Times, micros, race
from tests.benchmarks.models import Reminder
from tests.benchmarks.serving import child, serving

__all__ = ["run"]

#: The tenant of whom ``tests.benchmarks.wsgi`` signs in.
TENANT = "user:1"
NAME = Reminder.entity.name
ENTITIES = 50
INITIALIZE = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
}  # fmt: skip


def run(*, rows: int, rounds: int, only: str) -> str:
    """Run every part and return the table; ``rows`` does not matter here."""
    bench = Tools(rounds)
    try:
        warm_up(bench.raw)
        for name, part in bench.parts().items():
            if only in name:
                part()
    finally:
        bench.raw.close()
    return bench.report.markdown()


class Tools:
    """The parts of this benchmark, on one database."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.raw = Raw()
        self.report = Report(list(ALIASES.values()))

    def parts(self) -> dict[str, Callable[[], None]]:
        """Return the parts in order, by name."""
        return {"call": self.call, "definitions": self.definitions, "mcp": self.mcp, "remote": self.remote}

    def some_ids(self) -> Any:
        """Return the ids of a thousand rows, in an endless circle."""
        set_sync(self.raw, False)
        made = Reminder.store(TENANT).create_many([document() for _ in range(1000)])
        settle(self.raw, Reminder)
        return itertools.cycle(str(row.id) for row in made)

    # --- the parts ------------------------------------------------------------------------------

    def call(self) -> None:
        """Hold each tool against the store's method that it comes down to."""
        store, ids, fresh = Reminder.store(TENANT, actor="agent:bia"), self.some_ids(), itertools.count()
        tools = toolset(entities=[store])

        def change() -> dict[str, Any]:
            return {"text": f"Call again, {next(fresh)}", "done": True}

        pairs: dict[str, tuple[Operation, Operation]] = {
            "get": (
                lambda: told(tools, f"{NAME}_get", {"id": next(ids)}),
                lambda: store.get(next(ids)),
            ),
            "create": (
                lambda: told(tools, f"{NAME}_create", {"data": document()}),
                lambda: store.create(document()),
            ),
            "update": (
                lambda: told(tools, f"{NAME}_update", {"id": next(ids), "set": change()}),
                lambda: store.update(next(ids), change()),
            ),
            "query": (
                lambda: told(tools, f"{NAME}_query", {"filter": {"project": "project 7"}}),
                lambda: store.query({"project": "project 7"}),
            ),
        }
        for act, (tool, method) in pairs.items():
            ratios, notes = {}, []
            for alias, column in ALIASES.items():
                times = race({"tool": on(alias, tool), "store": on(alias, method)}, rounds=self.rounds)
                ratios[column] = Ratio.of(times["tool"], times["store"])
                notes.append(against(times, "tool", "store"))
            self.report.add(f"tool {act} through `call`", f"store.{act}", "<= 1.3", ratios, " / ".join(notes))

    def definitions(self) -> None:
        """Held against the clock: new models, a set that was rendered before, a new set of known models."""
        models = declared(ENTITIES)
        known = toolset(TENANT, entities=models)
        rendered(known)
        cold = [self.cold() for _ in range(self.rounds)]
        again = [timed(lambda: rendered(known)) for _ in range(self.rounds)]
        other = [timed(lambda: rendered(toolset("user:2", entities=models))) for _ in range(self.rounds)]
        what = f"definitions of {ENTITIES} entities, {len(DIALECTS)} dialects"
        for name, limit, times in (("cold", 100, cold), ("warm", 1, again), ("warm, other tenant", 1, other)):
            ratio = Ratio.of(times, [limit * 1000.0] * len(times))
            ratios = dict.fromkeys(ALIASES.values(), ratio)
            self.report.add(f"{what}: {name}", f"{limit} ms", "<= 1.0", ratios, micros(times))

    @staticmethod
    def cold() -> float:
        models = declared(ENTITIES)
        return timed(lambda: rendered(toolset(TENANT, entities=models)))

    def mcp(self) -> None:
        """Measure a round trip to the server over standard input and output, in a process of its own."""
        ids, tools = self.some_ids(), toolset(TENANT, entities=[Reminder])
        with child("manage.py", "agentstore_mcp", "--skip-checks", "--tenant", TENANT) as process:
            ask(process, "initialize", INITIALIZE)
            send(process, {"method": "notifications/initialized"})
            times = race(
                {
                    "mcp": lambda: asked(process, f"{NAME}_get", {"id": next(ids)}),
                    "call": lambda: told(tools, f"{NAME}_get", {"id": next(ids)}),
                },
                rounds=self.rounds,
            )
        self.tell_one("MCP get over stdio, a round trip", "`call` in process", times, "mcp", "call")

    def remote(self) -> None:
        """Hold a remote store's calls against a bare view of the same server, over a kept connection."""
        ids = self.some_ids()
        with serving() as address, httpx.Client() as http, EntityClient(f"{address}/api/", "any") as client:
            store = client.store(NAME, schema=Reminder.Schema)
            pairs: dict[str, tuple[Operation, Operation]] = {
                "get": (
                    lambda: store.get(next(ids)).id,  # type: ignore[union-attr]
                    lambda: http.get(f"{address}/bare/").raise_for_status().json(),
                ),
                "create": (
                    lambda: store.create(document()),
                    lambda: (
                        http.post(f"{address}/bare/", json={"data": document()}).raise_for_status().json()
                    ),
                ),
            }
            for act, (ours, theirs) in pairs.items():
                times = race({"remote": ours, "bare": theirs}, rounds=self.rounds)
                self.tell_one(
                    f"remote {act}, loopback, {rate(times['remote'])}",
                    f"bare Django view, {rate(times['bare'])}", times, "remote", "bare",
                )  # fmt: skip

    def tell_one(self, operation: str, reference: str, times: Times, own: str, other: str) -> None:
        """Add a row without a goal; the server's process has one set of options only."""
        ratios = dict.fromkeys(ALIASES.values(), Ratio.of(times[own], times[other]))
        self.report.add(operation, reference, "", ratios, against(times, own, other))


def told(tools: Toolset, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call, which must be none that failed."""
    result = tools.call(name, arguments)
    assert "error" not in result, result
    return result


def declared(count: int) -> list[type[EntityModel]]:
    """Return new entities with a schema of their own each, as a host with so many would have them."""
    with isolate_apps("tests.benchmarks"):
        return [_declared(number) for number in range(count)]


def _declared(number: int) -> type[EntityModel]:
    schema = type("Data", (Reminder.Schema,), {"__module__": __name__})
    options = type("Entity", (), {"name": f"things_{number}", "indexes": ["due_at", "project"]})
    meta = type("Meta", (), {"app_label": "benchmarks"})
    body = {"__module__": __name__, "__doc__": "Things.", "Schema": schema, "Entity": options, "Meta": meta}
    made: type[EntityModel] = type(EntityModel)(f"Thing{number}", (EntityModel,), body)  # type: ignore[misc]
    return made


def rendered(tools: Toolset) -> int:
    """Return how many definitions there are in all dialects."""
    return sum(len(tools.definitions(dialect)) for dialect in DIALECTS)


def timed(operation: Operation) -> float:
    """Return what one run takes, in microseconds."""
    start = perf_counter_ns()
    operation()
    return (perf_counter_ns() - start) / 1000


def send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def ask(process: subprocess.Popen[str], method: str, params: dict[str, Any]) -> Any:
    """Send a request and wait for its answer; nothing else is under way."""
    assert process.stdout is not None
    send(process, {"id": 1, "method": method, "params": params})
    while "result" not in (answer := json.loads(process.stdout.readline())):
        assert "error" not in answer, answer
    return answer["result"]


def asked(process: subprocess.Popen[str], name: str, arguments: dict[str, Any]) -> Any:
    result = ask(process, "tools/call", {"name": name, "arguments": arguments})
    assert not result.get("isError"), result
    return result


def against(times: Times, own: str, other: str) -> str:
    return f"{micros(times[own])} against {micros(times[other])}"


def rate(times: list[float]) -> str:
    """Return how many there are in a second."""
    return f"{1_000_000 / sorted(times)[len(times) // 2]:,.0f}/s"
