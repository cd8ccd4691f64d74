"""What every strategy store promises, whichever kind it is; what it finds: ``test_methods_finding``."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import math
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.errors import AlreadyExists, NotFound, ValidationFailed
from agentstore.core.values import clock_at
from agentstore.strategies.methods import StrategyMethods
from tests.strategies.rows import NOW, ids, save_some

DAY = timedelta(days=1)


# --- save -----------------------------------------------------------------------------------------


def test_a_save_is_stored_with_id_time_and_origin_supplied(store, tenant, now):
    saved = store.save(problem="Extract tables", strategy="Use pdfplumber")

    row = store.get(saved.id)
    assert (saved.status, saved.evicted_ids) == ("created", [])
    assert (row.tenant, row.problem, row.strategy) == (tenant, "Extract tables", "Use pdfplumber")
    assert (row.confidence, row.ts, row.origin, row.score) == (2, now, "earned", 2)
    assert (row.teacher_model, row.signature) == (None, None)


def test_a_save_keeps_what_it_is_given_verbatim(store, now):
    given = {
        "id": "str_0193-A",
        "problem": " Straße\r\nＰＤＦ ",
        "strategy": "rm -R\t./*",
        "confidence": 0.5,
        "teacher_model": " Model\n",
        "signature": "sig",
        "origin": "seeded",
    }

    store.save(ts="2026-01-01T00:00:00+01:00", **given)

    row = dataclasses.asdict(store.get("str_0193-A"))
    assert row | given == row
    assert row["ts"].isoformat() == "2025-12-31T23:00:00+00:00"


class Word(str, enum.Enum):  # noqa: UP042 - str() of it is not its text
    """Texts of a project's own, as many name their models."""

    MODEL = "gpt-5"
    PROBLEM = "extract tables"
    ID = "one"
    ORIGIN = "seeded"


def test_a_text_that_is_an_enum_is_kept_as_its_text(store, tenant, now):
    store.save(problem=Word.PROBLEM, strategy="Use pdfplumber", id=Word.ID, teacher_model=Word.MODEL,
               signature=Word.MODEL, origin=Word.ORIGIN)  # fmt: skip

    row = store.get("one")
    texts = (row.tenant, row.id, row.problem, row.teacher_model, row.signature, row.origin)
    assert texts == (tenant, "one", "extract tables", "gpt-5", "gpt-5", "seeded")
    assert {*map(type, texts)} == {str}
    assert store.get(Word.ID) == row and ids(store.find(Word.PROBLEM)) == ["one"]
    assert store.seed([{"id": Word.ID, "problem": Word.PROBLEM, "strategy": "Use pdfplumber"}]).written == 1
    assert store.delete(Word.ID) and store.usage().used == 0


def test_the_same_content_is_one_row_under_the_stored_id_and_origin(store):
    store.save(id="first", problem="Read the FILE", strategy="Use ＰＤＦ", confidence=1, ts=NOW - DAY)

    saved = store.save(
        id="second",
        problem=" read  the file",
        strategy="use pdf",
        confidence=3,
        ts=NOW - 2 * DAY,
        origin="seeded",
    )

    (row,) = store.list()
    assert (saved.status, saved.id) == ("merged", "first")
    assert (row.id, row.origin, row.confidence, row.ts) == ("first", "earned", 3, NOW - DAY)
    assert (row.problem, row.strategy) == ("Read the FILE", "Use ＰＤＦ")


def test_the_later_text_stays(store):
    store.save(id="a", problem="Delete", strategy="rm -r", teacher_model="old", ts=NOW - 2 * DAY)

    store.save(problem="Delete", strategy="rm -R", teacher_model="new", ts=NOW - DAY)

    assert (store.get("a").strategy, store.get("a").teacher_model) == ("rm -R", "new")


def test_the_same_save_again_changes_nothing(store, now):
    fields = {"id": "a", "problem": "p", "strategy": "s", "confidence": 1, "ts": NOW - DAY}
    store.save(**fields)
    before = store.get("a")

    saved = store.save(**fields)

    assert (saved.status, saved.id) == ("merged", "a")
    assert store.get("a") == before


def test_an_id_with_other_content_is_refused_and_changes_nothing(store, now):
    store.save(id="a", problem="p", strategy="s")
    before = store.get("a")

    with pytest.raises(AlreadyExists, match="Strategy a exists with other content"):
        store.save(id="a", problem="p", strategy="another", confidence=3)

    assert store.get("a") == before


def test_the_content_decides_before_the_id(store):
    store.save(id="a", problem="p", strategy="s")
    store.save(id="b", problem="q", strategy="s")

    assert store.save(id="b", problem="p", strategy="s").id == "a"


def test_one_problem_may_have_several_strategies(store):
    store.save(problem="p", strategy="s")
    store.save(problem="p", strategy="t")

    assert store.usage().used == 2


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"problem": ""}, "problem"),
        ({"problem": " \n"}, "problem"),
        ({"strategy": "\u200b"}, "strategy"),
        ({"problem": "a\0b"}, "problem"),
        ({"problem": "a\ud800"}, "problem"),
        ({"strategy": None}, "strategy"),
        ({"confidence": 3.1}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"confidence": "2"}, "confidence"),
        ({"origin": "other"}, "origin"),
    ],
)
def test_what_no_store_can_work_with_is_refused(store, fields, field):
    with pytest.raises(ValidationFailed) as info:
        store.save(**{"problem": "p", "strategy": "s", **fields})

    assert list(info.value.errors) == [field]
    assert store.usage().used == 0


# --- the cap --------------------------------------------------------------------------------------


def test_over_the_cap_the_lowest_ranked_goes_and_the_result_says_so(make_store, tenant):
    store = make_store(tenant, capacity=2)
    store.save(id="weak", problem="p", strategy="1", confidence=1)
    store.save(id="strong", problem="p", strategy="2", confidence=3)

    saved = store.save(id="new", problem="p", strategy="3", confidence=2)

    assert (saved.status, saved.id, saved.evicted_ids) == ("created", "new", ["weak"])
    assert ids(store.list()) == ["strong", "new"]


def test_a_save_that_ranks_too_low_is_not_kept_and_says_so(make_store, tenant):
    store = make_store(tenant, capacity=1)
    store.save(id="strong", problem="p", strategy="1", confidence=3)

    saved = store.save(id="weak", problem="p", strategy="2", confidence=1)

    assert (saved.status, saved.id, saved.evicted_ids) == ("not_kept", "weak", [])
    assert ids(store.list()) == ["strong"]


def test_a_merge_into_a_full_tenant_evicts_nothing(make_store, tenant):
    store = make_store(tenant, capacity=2)
    store.save(id="a", problem="p", strategy="1", confidence=1)
    store.save(id="b", problem="p", strategy="2", confidence=3)

    saved = store.save(problem="p", strategy="1", confidence=1)

    assert (saved.status, saved.evicted_ids) == ("merged", [])


def test_a_merge_can_save_a_row_from_eviction(make_store, tenant):
    store = make_store(tenant, capacity=2)
    store.save(id="a", problem="p", strategy="1", confidence=1)
    store.save(id="b", problem="p", strategy="2", confidence=2)
    store.save(problem="p", strategy="1", confidence=3)

    assert store.save(problem="p", strategy="3", confidence=2.5).evicted_ids == ["b"]


def test_a_lowered_cap_takes_effect_at_the_next_save(make_store, tenant):
    store = make_store(tenant, capacity=5)
    save_some(store, [0.5, 1, 1.5, 2, 2.5])
    store = lowered(make_store, store, tenant, 2)

    assert (store.usage().used, store.usage().capacity, store.usage().remaining) == (5, 2, 0)
    saved = store.save(id="new", problem="p", strategy="s", confidence=3, ts=NOW)

    assert (saved.status, saved.evicted_ids) == ("created", ["id3", "id2", "id1", "id0"])
    assert ids(store.list()) == ["new", "id4"]


def test_a_merged_row_can_go_when_the_cap_was_lowered(make_store, tenant):
    store = make_store(tenant, capacity=3)
    save_some(store, [0.5, 1, 1.5])
    store = lowered(make_store, store, tenant, 2)

    saved = store.save(problem="problem 0", strategy="s", confidence=0.5, ts=NOW)

    assert (saved.status, saved.id, saved.evicted_ids) == ("not_kept", "id0", [])
    assert ids(store.list()) == ["id2", "id1"]


def lowered(make_store, store, tenant, capacity):
    """Return a store of the same strategies with another capacity."""
    if hasattr(store, "size"):
        store.capacity = capacity
        return store
    return make_store(tenant, capacity=capacity)


@pytest.mark.parametrize("capacity", [math.nan, -1, 0, 2.5, True, "3", -math.inf])
def test_a_capacity_is_an_int_of_at_least_1(make_store, tenant, capacity):
    with pytest.raises(ValidationFailed, match="capacity must be an int of at least 1"):
        make_store(tenant, capacity=capacity)


def test_a_capacity_of_infinity_is_refused_by_name(make_store, tenant):
    with pytest.raises(ValidationFailed, match="capacity must not be Infinity"):
        make_store(tenant, capacity=math.inf)


def test_the_default_capacity_is_1000(store):
    assert store.usage().capacity == 1000


# Distinct contents of few confidences and times, so that equal ranks are the norm.
SAVES = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from([0, 1, 2.0, 3]), st.integers(0, 4), st.integers(0, 2)),
    max_size=12,
    unique_by=lambda save: save[0],
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(SAVES, st.integers(1, 5), st.randoms())
def test_survivors_are_the_top_ranked_of_all_ever_saved_in_any_order(make_store, tenant, saves, cap, random):
    def after(saves, capacity):
        store = make_store(tenant, capacity=capacity)
        store.prune(0)
        for number, confidence, age, extra in saves:
            store.save(
                id=f"id{number}",
                problem=f"problem{number}" + " more words"[: extra * 6],
                strategy="s",
                confidence=confidence,
                ts=NOW - 45 * age * DAY,
            )
        return ids(store.list())

    with clock_at(NOW):
        best = after(saves, 1000)[:cap]

        assert after(saves, cap) == best
        assert after(random.sample(saves, len(saves)), cap) == best


# Equal scores, the best first: fewer terms, then the later time, then the smaller id by code point.
TIED = [
    {"id": "Z", "problem": "pdf tables.", "ts": NOW},
    {"id": "_", "problem": "pdf tables?", "ts": NOW},
    {"id": "b", "problem": "pdf tables", "ts": NOW},
    {"id": "A", "problem": "pdf tables!", "ts": NOW - DAY},
    {"id": "0", "problem": "pdf tables in reports", "ts": NOW},
]
TURNED = [TIED[at:] + TIED[:at] for at in range(len(TIED))]
ORDERS = [*TURNED, *(order[::-1] for order in TURNED)]


@pytest.mark.parametrize("backend", ["auto", "portable"])
@pytest.mark.parametrize("cap", [1, 2, 3, 4])
def test_of_equal_scores_the_last_in_the_total_order_goes(make_store, tenant, settings, now, backend, cap):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": backend}
    best = [fields["id"] for fields in TIED][:cap]

    for order in ORDERS:
        store = make_store(tenant, capacity=cap)
        for fields in order:
            store.save(strategy="s", confidence=0, **fields)

        assert ids(store.list()) == best, [fields["id"] for fields in order]
        store.prune(0)


# --- prune and delete -----------------------------------------------------------------------------


def test_prune_keeps_the_best_and_returns_what_went(stocked):
    gone = stocked.prune(2)

    assert ids(gone) == ["id2", "id1", "id0"]
    assert gone[0].problem == "problem 2"
    assert ids(stocked.list()) == ["id4", "id3"]


def test_a_dry_run_returns_the_same_and_removes_nothing(stocked, now):
    would_go = stocked.prune(2, dry_run=True)

    assert stocked.usage().used == 5
    assert stocked.prune(2) == would_go


def test_prune_to_0_empties_and_a_larger_size_removes_nothing(stocked):
    assert stocked.prune(5) == stocked.prune(10**30) == []
    assert len(stocked.prune(0)) == 5
    assert stocked.usage().used == 0
    assert stocked.prune(0) == []


@pytest.mark.parametrize("size", [-1, math.nan, 2.5, True, None, "0", math.inf, -math.inf])
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_size_that_is_none_removes_nothing(stocked, size, dry_run):
    with pytest.raises(ValidationFailed, match="max_size"):
        stocked.prune(size, dry_run=dry_run)

    assert stocked.usage().used == 5


def test_deleting_frees_the_place_and_the_id(make_store, tenant):
    store = make_store(tenant, capacity=1)
    store.save(id="a", problem="p", strategy="s", confidence=3)

    assert store.delete("a") is True
    assert store.delete("a") is False
    assert store.save(id="a", problem="q", strategy="s", confidence=1).status == "created"


# --- tenants --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [("foo", "foobar"), ("user_1", "userX1"), ("a%", "ab"), ("Acme", "acme"), ("é", "e\u0301")],
)
def test_nothing_crosses_tenants_in_either_direction(make_store, one, other):
    for mine, theirs in [(make_store(one), make_store(other)), (make_store(other), make_store(one))]:
        mine.save(id="a", problem="Extract tables", strategy=mine.tenant, confidence=1)

        assert theirs.find("tables", limit=math.inf).empty_because == "no_match"
        assert theirs.list().rows == []
        assert theirs.get("a") is None
        assert theirs.usage().used == 0
        assert not theirs.has(problem="Extract tables", strategy=mine.tenant)
        assert not theirs.delete("a")
        assert theirs.prune(0) == []
        with pytest.raises(NotFound):
            theirs.explain("tables", "a")
        assert (
            theirs.save(id="a", problem="Extract tables", strategy=mine.tenant, confidence=3).status
            == "created"
        )
        assert mine.get("a").confidence == 1
        mine.prune(0)
        assert theirs.usage().used == 1
        theirs.prune(0)


@pytest.mark.parametrize("tenant", [None, "", " acme", "a\n", 5, "x" * 256], ids=repr)
def test_a_store_has_one_tenant(make_store, tenant):
    with pytest.raises(ValidationFailed) as info:
        make_store(tenant)

    assert list(info.value.errors) == ["tenant"]


# --- async ----------------------------------------------------------------------------------------


def test_every_public_method_has_an_async_twin():
    methods = {name for name in StrategyMethods.__dict__ if not name.startswith("_")} - {"hold"}
    plain = {name for name in methods if f"a{name}" in methods}

    assert methods == plain | {f"a{name}" for name in plain}
    assert plain == {"save", "find", "explain", "get", "has", "usage", "prune", "delete", "seed", "list"}


def test_async_twins_do_what_the_methods_do(async_store):
    async def story():
        saved = await async_store.asave(id="a", problem="Extract tables", strategy="s", confidence=1)
        assert (saved.status, saved.id) == ("created", "a")
        assert (
            await async_store.aseed([{"id": "b", "problem": "Read tables", "strategy": "t"}])
        ).written == 1
        assert ids(await async_store.afind("tables", limit=1)) == ["b"]
        assert (await async_store.aexplain("read", "a")).missing_terms == ("read",)
        assert (await async_store.aget("a")).problem == "Extract tables"
        assert await async_store.ahas(problem="extract tables", strategy="S")
        assert (await async_store.ausage()).used == 2
        page = await async_store.alist(limit=1)
        assert ids(page) == ["b"]
        assert ids(await async_store.alist(limit=1, cursor=page.next_cursor)) == ["a"]
        assert ids(await async_store.aprune(1, dry_run=True)) == ["a"]
        assert await async_store.adelete("b")
        assert ids(await async_store.aprune(0)) == ["a"]
        with pytest.raises(ValidationFailed):
            await async_store.afind("tables", limit=-1)

    asyncio.run(story())
