"""How often strategies are found, and how often rightly, against three searches with tuned cut-offs.

Ten random requests of each intent are stored as problems, the test requests are asked, and the
first hit is right when it has the same intent. The matcher has no cut-off; each other search gets
the one that gives it the matcher's coverage on requests that are neither stored nor asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import bm25s
from django.db import DatabaseError, connection, transaction
from rapidfuzz import fuzz, process, utils

from agentstore.strategies import InMemoryStrategyStore
from agentstore.strategies.values import MatchRules
from tests.benchmarks.requests import Labelled, Requests, load
from tests.benchmarks.scoring import Answer, Share, coverage, cut_off, judge

__all__ = ["run"]

#: Gives the first hit of each query among stored requests.
Search = Callable[[Labelled, Sequence[str]], list[Answer]]
HEAD = (
    "search",
    "coverage where cut-offs were chosen",
    "coverage",
    "precision of the first hit (95 % interval)",
    "out-of-scope requests hit",
)
#: The matcher's hits all have this score.
ANY = 1.0
TIGHTENED = {
    "`STRATEGY_MIN_TERMS=2`": MatchRules(min_terms=2),
    "`STRATEGY_MIN_OVERLAP=1/3`": MatchRules(min_overlap=1 / 3),
    "both": MatchRules(min_terms=2, min_overlap=1 / 3),
}


def run(*, rows: int, rounds: int, only: str, data: Path) -> str:
    """Measure each data set and return the tables; ``only`` picks data sets by name, the rest is unused."""
    return "\n\n".join(_measure(requests) for requests in load(data) if only in requests.name)


def _measure(requests: Requests) -> str:
    ours = {"strategies": _strategies(MatchRules())}
    ours |= {f"strategies, {name}": _strategies(rules) for name, rules in TIGHTENED.items()}
    scores = {name: _scores(search, requests) for name, search in ours.items()}
    lines = [_line(name, requests, search, scores[name], ANY) for name, search in ours.items()]
    wanted = coverage(scores["strategies"], ANY)
    lines += [_tuned(name, requests, search, wanted) for name, search in OTHERS.items()]
    foreign = f"{len(requests.foreign):,} out of scope" if requests.foreign else "none out of scope"
    sizes = f"{len(requests.stored):,} stored, {len(requests.choosing):,} to choose cut-offs by"
    head = f"{requests.name}: {sizes}, {len(requests.asked):,} asked, {foreign}"
    rule = "|".join(["---"] * len(HEAD))
    return "\n".join([head, "", f"| {' | '.join(HEAD)} |", f"|{rule}|", *lines])


def _tuned(name: str, requests: Requests, search: Search, wanted: float) -> str:
    try:
        scores = _scores(search, requests)
    except DatabaseError as error:
        return f"| {name} | not measured: {str(error).splitlines()[0]} | | | |"
    cut = cut_off(scores, wanted)
    return _line(f"{name}, from {cut:.3g} on", requests, search, scores, cut)


def _scores(search: Search, requests: Requests) -> list[float]:
    return [answer.score for answer in search(requests.stored, _texts(requests.choosing))]


def _line(name: str, requests: Requests, search: Search, scores: list[float], cut: float) -> str:
    answers = search(requests.stored, _texts(requests.asked))
    covered, right = judge(answers, [intent for _, intent in requests.asked], cut)
    foreign = "none in the data"
    if requests.foreign:
        hits = [answer for answer in search(requests.stored, requests.foreign) if answer.intent is not None]
        part = sum(answer.score >= cut for answer in hits)
        foreign = str(Share(part=part, whole=len(requests.foreign)))
    line = f"| {name} | {coverage(scores, cut):.3f} | {covered.value:.3f} | {right} | {foreign} |"
    print(line, flush=True)
    return line


def _texts(requests: Labelled) -> list[str]:
    return [text for text, _ in requests]


# --- the searches -------------------------------------------------------------------------------


def _strategies(rules: MatchRules) -> Search:
    """Return the matcher as a search: a hit is a hit, so its score is 1."""

    def search(stored: Labelled, queries: Sequence[str]) -> list[Answer]:
        store = InMemoryStrategyStore("requests", capacity=len(stored), rules=rules)
        intents = {f"{number:06}": intent for number, (_, intent) in enumerate(stored)}
        at = "2026-01-01T00:00:00Z"
        for id, (text, intent) in zip(intents, stored, strict=True):
            store.save(id=id, problem=text, strategy=f"{intent} {id}", confidence=1, ts=at)
        found = [store.find(query, limit=1) for query in queries]
        return [
            Answer(intent=intents[hits[0].id], score=ANY) if hits else Answer(intent=None, score=0.0)
            for hits in found
        ]

    return search


def _bm25(stored: Labelled, queries: Sequence[str]) -> list[Answer]:
    index = bm25s.BM25()
    index.index(bm25s.tokenize(_texts(stored), show_progress=False), show_progress=False)
    tokens = bm25s.tokenize(list(queries), show_progress=False)
    places, scores = index.retrieve(tokens, k=1, show_progress=False)
    return [
        _answer(stored, int(place), float(score)) for (place,), (score,) in zip(places, scores, strict=True)
    ]


def _token_sort(stored: Labelled, queries: Sequence[str]) -> list[Answer]:
    problems = [utils.default_process(text) for text in _texts(stored)]
    answers = []
    for query in queries:
        processed = utils.default_process(query)
        best = process.extractOne(processed, problems, scorer=fuzz.token_sort_ratio, processor=None)
        answers.append(_answer(stored, best[2], best[1]) if best else Answer(intent=None, score=0.0))
    return answers


def _trigrams(stored: Labelled, queries: Sequence[str]) -> list[Answer]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        cursor.execute("CREATE TEMPORARY TABLE problem (place int, text text) ON COMMIT DROP")
        cursor.execute("CREATE TEMPORARY TABLE query (place int, text text) ON COMMIT DROP")
        for table, texts in {"problem": _texts(stored), "query": list(queries)}.items():
            cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", list(enumerate(texts)))  # noqa: S608
        cursor.execute(
            "SELECT best.place, best.score FROM query CROSS JOIN LATERAL ("
            " SELECT place, similarity(problem.text, query.text) AS score FROM problem"
            " ORDER BY score DESC, place LIMIT 1) AS best ORDER BY query.place"
        )
        return [_answer(stored, place, score) for place, score in cursor.fetchall()]


def _answer(stored: Labelled, place: int, score: float) -> Answer:
    """Return a hit; a score of 0 means that nothing fits at all."""
    return Answer(intent=stored[place][1], score=score) if score > 0 else Answer(intent=None, score=0.0)


#: What the matcher is held against.
OTHERS: dict[str, Search] = {
    "BM25 (bm25s)": _bm25,
    "token_sort_ratio (rapidfuzz)": _token_sort,
    "trigrams (pg_trgm)": _trigrams,
}
