"""Seeding: the whole batch is checked before anything is written, and a replay changes nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentstore.core.errors import StorageFailed, ValidationFailed
from agentstore.core.values import Usage, clock_at
from agentstore.strategies.seed import plan_seed, seed_strategies
from tests.strategies.rows import NOW

EARLIER = NOW - timedelta(days=30)


def entries(*names, **fields):
    return [
        {"id": name, "problem": f"problem {name}", "strategy": f"strategy {name}", **fields} for name in names
    ]


def stored(store):
    return {row.id: row for row in store.list(limit=100)}


def test_every_entry_is_written_as_seeded_for_the_stores_tenant(store, tenant, now):
    batch = entries("a", origin="earned", tenant="globex") + entries(
        "b", ts=EARLIER, confidence=3, teacher_model="m"
    )

    result = seed_strategies(store, batch)

    rows = stored(store)
    assert (result.written, result.failed_at) == (2, None)
    assert {(row.tenant, row.origin) for row in rows.values()} == {(tenant, "seeded")}
    assert (rows["a"].ts, rows["a"].confidence) == (now, 2)
    assert (rows["b"].ts, rows["b"].confidence, rows["b"].teacher_model) == (EARLIER, 3, "m")


def test_ids_are_supplied_where_none_is_given(store):
    store.seed([{"problem": "p", "strategy": "s"}, {"id": None, "problem": "q", "strategy": "s"}])

    assert len(stored(store)) == 2


def test_an_empty_batch_writes_nothing(store):
    assert seed_strategies(store, []).written == 0


def test_any_iterable_of_objects_is_a_batch(store):
    assert store.seed(entry for entry in entries("a", "b")).written == 2


@pytest.mark.parametrize("batch", [None, 5, "text", b"bytes", {"problem": "p"}], ids=repr)
def test_what_is_no_list_is_refused(store, batch):
    with pytest.raises(ValidationFailed, match="Expected a list of objects"):
        store.seed(batch)


@pytest.mark.parametrize(
    ("bad", "path", "message"),
    [
        ({"confidence": 4}, "1.confidence", "4 is not between 0 and 3."),
        ({"id": "winter ferry"}, "1.id", "'winter ferry' is no strategy id."),
        ({"strategy": None}, "1.strategy", "Missing."),
        ({"strategy": "x" * 4097}, "1.strategy", "4,097 bytes; the limit is 4,096."),
        ({"ts": "soon"}, "1.ts", "'soon' is no ISO time."),
        ({"id": "a"}, "1.id", "Same id as entry 1."),
        ({"problem": "Problem  A", "strategy": "STRATEGY a"}, "1", "Same content as entry 1."),
        ({"teacherModel": "m"}, "1.teacherModel", "There is no such field."),
    ],
    ids=lambda value: str(value)[:30],
)
def test_one_bad_entry_keeps_the_whole_batch_out(store, bad, path, message):
    first, second, third = entries("a", "b", "c")

    with pytest.raises(ValidationFailed, match="The seed was refused. Entry 2: ") as info:
        store.seed([first, second | bad, third])

    assert info.value.errors == {path: [message]}
    assert "Nothing was written." in info.value.hint
    assert stored(store) == {}


def test_unknown_fields_are_told_in_the_order_given(store):
    names = ["zeta", "beta", "omega", "alpha"]

    plan = plan_seed(store, [entries("a")[0] | dict.fromkeys(names, 1)])

    assert [problem.field for problem in plan.problems] == names


def test_every_problem_is_reported_at_once(make_store, tenant):
    store = make_store(tenant, capacity=1)
    batch = [*entries("a", "b"), {"id": "a", "problem": "", "confidence": -1}, 5, *entries("a")]

    with pytest.raises(ValidationFailed, match=r"\(7 more\)") as info:
        store.seed(batch)

    assert info.value.errors == {
        "2.problem": ["Blank."],
        "2.strategy": ["Missing."],
        "2.confidence": ["-1 is not between 0 and 3."],
        "2.id": ["Same id as entry 1."],
        "3": ["Expected an object, found int."],
        "4.id": ["Same id as entry 1."],
        "4": ["Same content as entry 1."],
        "": ["2 new strategies, room for 1."],
    }
    assert stored(store) == {}


def test_a_batch_too_large_for_the_room_writes_nothing(make_store, tenant):
    store = make_store(tenant, capacity=3)
    store.save(problem="p", strategy="s")

    with pytest.raises(ValidationFailed, match="3 new strategies, room for 2.") as info:
        store.seed(entries("a", "b", "c"))

    assert info.value.hint == "Nothing was written. Prune 1 first, or leave 1 out."
    assert len(stored(store)) == 1


def test_only_new_content_takes_room_so_a_replay_into_a_full_tenant_passes(make_store, tenant):
    store = make_store(tenant, capacity=3)
    store.seed(entries("a", "b", "c"))

    assert store.seed(entries("a", "b", "c")).written == 3
    with pytest.raises(ValidationFailed, match="1 new strategies, room for 0."):
        store.seed(entries("a", "b", "c", "d"))


def test_a_replay_refreshes_neither_time_nor_text(store):
    with clock_at(EARLIER):
        store.seed(entries("a"))
    before = stored(store)["a"]

    with clock_at(NOW):
        store.seed([entries("a")[0] | {"strategy": "STRATEGY A", "confidence": 1}])

    after = stored(store)["a"]
    assert (after.ts, after.strategy, after.confidence) == (EARLIER, "strategy a", before.confidence)


def test_a_replay_raises_confidence_but_never_lowers_it(store):
    store.seed(entries("a", confidence=1))

    store.seed(entries("a", confidence=3))
    store.seed(entries("a", confidence=0))

    assert stored(store)["a"].confidence == 3


def test_a_time_that_the_entry_gives_counts(store):
    store.seed(entries("a", ts=EARLIER))

    store.seed(entries("a", ts=EARLIER + timedelta(days=1)))

    assert stored(store)["a"].ts == EARLIER + timedelta(days=1)


def test_an_earned_row_stays_earned_under_its_own_id(store):
    store.save(id="mine", problem="problem a", strategy="strategy a")

    result = store.seed(entries("a"))

    assert result.written == 1
    assert {id: row.origin for id, row in stored(store).items()} == {"mine": "earned"}


def failing(store, monkeypatch, error, *, at):
    """Let the store's save fail for the problem of the entry ``at``."""
    save = store.save

    def break_at(**fields):
        if fields["problem"] == f"problem {at}":
            raise error
        return save(**fields)

    monkeypatch.setattr(store, "save", break_at)


@pytest.mark.parametrize(
    ("error", "text"),
    [(StorageFailed("The database is away."), "The database is away."), (OSError("disk"), "OSError: disk")],
    ids=["ours", "any"],
)
def test_a_failure_in_the_middle_says_how_far_it_came(store, monkeypatch, error, text):
    failing(store, monkeypatch, error, at="c")

    result = store.seed(entries("a", "b", "c", "d"))

    assert result.written == 2
    assert (result.failed_at.number, result.failed_at.id, result.failed_at.error) == (3, "c", text)
    assert stored(store).keys() == {"a", "b"}


def test_a_replay_completes_what_a_failure_left(store, monkeypatch):
    with clock_at(EARLIER), monkeypatch.context() as patch:
        failing(store, patch, StorageFailed("away"), at="b")
        store.seed(entries("a", "b"))

    with clock_at(NOW):
        result = store.seed(entries("a", "b"))

    assert (result.written, result.failed_at) == (2, None)
    assert {id: row.ts for id, row in stored(store).items()} == {"a": EARLIER, "b": NOW}


def test_an_id_that_belongs_to_other_content_stops_the_seed_there(store):
    store.save(id="b", problem="something else", strategy="s")

    result = store.seed(entries("a", "b", "c"))

    assert result.written == 1
    assert result.failed_at.id == "b"
    assert "exists with other content" in result.failed_at.error


def test_a_plan_says_what_a_seed_would_do_and_writes_nothing(make_store, tenant):
    store = make_store(tenant, capacity=5)
    store.seed(entries("a"))

    plan = plan_seed(store, [*entries("a", "b"), *entries("c", confidence=9), *entries("d", ts=EARLIER)])

    assert (plan.new, plan.existing, plan.undated, plan.free) == ([2, 4], [1], [1, 2, 3], 4)
    assert [entry and entry.id for entry in plan.entries] == ["a", "b", None, "d"]
    (problem,) = plan.problems
    assert (problem.number, problem.id, problem.field) == (3, "c", "confidence")
    assert (problem.problem, problem.hint) == ("9 is not between 0 and 3.", "Use a number from 0 to 3.")
    assert stored(store).keys() == {"a"}


def test_a_plan_tells_which_two_entries_collide(store):
    plan = plan_seed(
        store, [*entries("a"), {"problem": "problem a", "strategy": "strategy a", "colour": "red"}]
    )

    assert [(p.number, p.id, p.field, p.problem) for p in plan.problems] == [
        (2, None, "colour", "There is no such field."),
        (2, None, "problem, strategy", "Same content as entry 1."),
    ]
    assert plan.problems[1].hint == "Leave one of the two out."


class Saving:
    """The least that a store can be."""

    def __init__(self):
        self.saved = []

    def save(self, **fields):
        self.saved.append((fields["id"], fields["origin"]))


def test_a_store_that_can_only_save_is_seeded_without_a_look_at_its_room():
    store = Saving()

    result = seed_strategies(store, entries("a", "b"))

    assert (result.written, store.saved) == (2, [("a", "seeded"), ("b", "seeded")])
    with pytest.raises(ValidationFailed, match="Same id as entry 1."):
        seed_strategies(store, entries("a", "a"))


def test_where_a_store_can_not_tell_what_it_has_the_whole_batch_takes_room():
    store = Saving()
    store.usage = lambda: Usage(used=3, capacity=4)

    with pytest.raises(ValidationFailed, match="2 new strategies, room for 1."):
        seed_strategies(store, entries("a", "b"))

    assert store.saved == []
