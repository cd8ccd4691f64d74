"""Labelled requests for measuring retrieval: which are stored, which choose cut-offs, which are asked."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FILES", "Labelled", "Requests", "load", "missing"]

FILES = ("banking77_train.csv", "banking77_test.csv", "clinc150_full.json")
#: How many requests of each intent are stored, and at most how many choose a cut-off.
STORED, CHOOSING = 10, 3000
SEED = 20_260_101

Labelled = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Requests:
    """One data set: texts with their intents, and texts that belong to none."""

    name: str
    stored: Labelled
    choosing: Labelled
    asked: Labelled
    foreign: list[str]


def missing(folder: Path) -> list[str]:
    """Return the names of the files that ``folder`` does not have."""
    return [name for name in FILES if not (folder / name).is_file()]


def load(folder: Path) -> list[Requests]:
    """Return the data sets of ``folder``, which has all the files."""
    return [_clinc(folder), _banking(folder)]


def _clinc(folder: Path) -> Requests:
    parts = json.loads((folder / "clinc150_full.json").read_text("utf-8"))
    labelled = {name: [(text, intent) for text, intent in rows] for name, rows in parts.items()}
    stored, _ = _draw(labelled["train"])
    foreign = [text for text, _ in labelled["oos_test"]]
    return Requests(
        name="CLINC150", stored=stored, choosing=labelled["val"], asked=labelled["test"], foreign=foreign
    )


def _banking(folder: Path) -> Requests:
    train, test = (_read_csv(folder / f"banking77_{part}.csv") for part in ("train", "test"))
    stored, rest = _draw(train)
    choosing = random.Random(SEED).sample(rest, min(CHOOSING, len(rest)))
    return Requests(name="Banking77", stored=stored, choosing=choosing, asked=test, foreign=[])


def _read_csv(path: Path) -> Labelled:
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["text"], row["category"]) for row in csv.DictReader(file)]


def _draw(train: Labelled) -> tuple[Labelled, Labelled]:
    """Return ``STORED`` random requests of each intent, and the others."""
    rng = random.Random(SEED)
    by_intent: dict[str, list[str]] = {}
    for text, intent in train:
        by_intent.setdefault(intent, []).append(text)
    stored, rest = [], []
    for intent in sorted(by_intent):
        texts = rng.sample(by_intent[intent], len(by_intent[intent]))
        stored += [(text, intent) for text in texts[:STORED]]
        rest += [(text, intent) for text in texts[STORED:]]
    return stored, rest
