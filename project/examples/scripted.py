"""A recorded transcript in the place of a model: its turns are played through a toolset.

What a turn takes from an earlier result stands in it as ``{{toolu_04.row.id}}``, a day from today
as ``{{day+4}}``, since ids and days are others in every run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from pathlib import Path

from agentstore.core.values import JSONObject, JSONValue
from agentstore.tools import Toolset, toolset

__all__ = ["BOOKING", "Step", "Transcript", "play"]

BOOKING = Path(__file__).with_name("booking.json")
_REFERENCE = re.compile(r"\{\{([^{}]+)\}\}")


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """Who talks to whose agent, and the turns: blocks as Anthropic's API has them."""

    tenant: str
    agent: str
    writable: list[str]
    turns: list[JSONObject]

    @classmethod
    def load(cls, path: Path) -> Transcript:
        """Read a transcript.

        Raises:
            OSError: the file can't be read.
            ValueError: it is not JSON, or not the JSON of a transcript.
        """
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except TypeError as error:
            raise ValueError(f"{path} is not a transcript: {error}") from error

    def tools(self, actor: str) -> Toolset:
        """Return what ``actor`` may use: the company's rows and strategies, the agent's files."""
        return toolset(self.tenant, agent=self.agent, actor=actor, writable=self.writable)


@dataclass(frozen=True, kw_only=True)
class Step:
    """Something that is said, or one call and its result."""

    role: str
    text: str = ""
    call: str = ""
    arguments: JSONObject | None = None
    result: JSONObject | None = None


def play(transcript: Transcript, *, run: str, today: date) -> Iterator[Step]:
    """Carry the transcript out, one step at a time.

    ``run`` names this run: with another one, the same calls make new rows.

    Raises:
        ValueError: a turn refers to what no earlier result has.
    """
    results: JSONObject = {"today": today}
    for turn in transcript.turns:
        tools = transcript.tools(turn.get("actor", f"agent:{transcript.agent}"))
        for block in turn["content"]:
            if block["type"] == "text":
                yield Step(role=turn["role"], text=block["text"])
                continue
            arguments = _filled(block["input"], results)
            result = tools.call(block["name"], arguments, call_id=f"{run}:{block['id']}")
            results[block["id"]] = result
            yield Step(role=turn["role"], call=block["name"], arguments=arguments, result=result)


def _filled(value: JSONValue, results: JSONObject) -> JSONValue:
    """Return ``value`` with what its references stand for; one that is a whole text keeps its type."""
    if isinstance(value, dict):
        return {key: _filled(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, results) for item in value]
    if not isinstance(value, str):
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole:
        return _referred(whole[1], results)
    return _REFERENCE.sub(lambda found: str(_referred(found[1], results)), value)


def _referred(path: str, results: JSONObject) -> JSONValue:
    if path.startswith("day+"):
        return (results["today"] + timedelta(days=int(path[4:]))).isoformat()
    try:
        return reduce(_part, path.split("."), results)
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"no earlier result has {path!r}") from None


def _part(value: JSONValue, key: str) -> JSONValue:
    return value[int(key)] if isinstance(value, list) and key.isdigit() else value[key]
