"""Filter, order and paging on random data give the same ids in the same order, wherever they run.

Each database and back end is held to the same answers, computed in plain Python (``answers.py``),
so that each can be checked alone and all of them agree.
"""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from django.db.models import JSONField, Value

from agentstore.core.values import new_id
from tests.entities.answers import Stored, answer
from tests.testapp.models import Task

KINDS = {
    "text": "text",
    "due_at": "text",
    "done": "boolean",
    "priority": "number",
    "score": "number",
    "channel": "text",
    "day": "text",
    "tags": "array",
    "address": "object",
    "lines": "array",
}
TEXTS = [
    "",
    " ",
    "a",
    "A",
    "aa",
    "ab",
    "aB",
    "AB",
    "b",
    "B",
    "Z",
    "z",
    "_x",
    "10",
    "9",
    "ä",
    "Ä",
    "äb",
    "é",
    "e\u0301",
    "É",
    "ß",
    "ẞ",
    "ss",
    "SS",
    "ı",
    "İ",
    "i",
    "I",
    "K",
    "\u212a",
    "k",
    "ſ",
    "s",
    "ς",
    "σ",
    "Σ",
    "ﬁ",
    "名",
    "名前",
    "ж",
    "Ж",
    "🙂",
    "a🙂",
    "%",
    "a%b",
    "_",
    "a_b",
    "\\",
    "a\\b",
    "'",
    '"',
    "\n",
    "\x01",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U0010ffff",
    "a\ud7ff",
    "a\U0010ffff",
    "a\U0010ffffb",
    "null",
    "true",
    "1",
    "x" * 300,
    "Ĳ",
    "ǅ",
    "Ⅷ",
    "Ꭰ",
    "\u0345",
]
INTS = [
    0,
    1,
    -1,
    2,
    9,
    10,
    99,
    100,
    1000,
    2**53 - 1,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    10**19,
    10**22,
    10**22 + 1,
    10**100,
    -(10**100),
]
FLOATS = [
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.5,
    1.5,
    0.1,
    0.30000000000000004,
    2.0**53,
    1e22,
    1e308,
    -1e308,
    5e-324,
    -5e-324,
    1e-7,
]
TIMES = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=n) for n in (0, 1, 500_000, 10**6, 10**10)]
DAYS = [date(2026, 1, 1), date(2025, 12, 31), date(999, 1, 1), date(2026, 10, 10)]
OBJECTS: list = [{}, {"street": "s"}, {"street": "s", "city": "c"}, {"city": "c"}, {"street": None}]
ARRAYS: list = [
    [],
    ["a"],
    ["a", "b"],
    ["b", "a", "a"],
    [["a"]],
    [1],
    [1.0, True],
    [None],
    [{}],
    [{"sku": "a", "quantity": 1}],
]


def utc(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


#: Values that fit each field, as they are stored.
FITTING: dict[str, list] = {
    "text": TEXTS,
    "due_at": [utc(at) for at in TIMES],
    "done": [True, False],
    "priority": INTS,
    "score": FLOATS,
    "channel": ["call", "email", "chat"],
    "day": [day.isoformat() for day in DAYS],
    "tags": [array for array in ARRAYS if all(isinstance(item, str) for item in array)],
    "address": OBJECTS,
    "lines": [[], [{"sku": "a", "quantity": 1}], [{"sku": "a", "quantity": 2}, {"sku": "b", "quantity": 1}]],
}
#: Values of any type, as a hand or an older schema may have left them.
SPOILED = [None, True, False, 0, 1, 1.5, "", "a", "1", "true", [], ["a"], {}, {"street": "s"}, 10**22, -1e308]
SCALARS = ("text", "due_at", "done", "priority", "score", "channel", "day")


def make_rows(rng, tenant, count):
    """Put random rows into the table, around the store, and return what stands there."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows, stored = [], []
    for _ in range(count):
        data = {
            name: rng.choice(SPOILED if rng.random() < 0.15 else FITTING[name])
            for name in FITTING
            if rng.random() < 0.85
        }
        if rng.random() < 0.02:
            data = rng.choice(SPOILED)
        common = {
            "id": new_id(),
            "version": rng.choice([1, 2, 50]),
            "created_at": start + timedelta(seconds=rng.randrange(3)),
            "updated_at": start + timedelta(microseconds=rng.choice([0, 0, 1, 10**6])),
        }
        deleted = rng.random() < 0.1
        stored.append(Stored(data=data, deleted=deleted, **common))
        kept = Value(None, JSONField()) if data is None else data
        rows.append(Task(tenant=tenant, data=kept, deleted_at=start if deleted else None, **common))
    rng.shuffle(rows)
    Task._base_manager.bulk_create(rows)
    return stored


def operand(rng, name):
    """Return a value as a caller gives it, and the form that it is compared in."""
    if name == "due_at":
        at = rng.choice(TIMES)
        shown = rng.choice([at, at.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat(), utc(at)])
        return shown, utc(at)
    if name == "day":
        day = rng.choice(DAYS)
        return rng.choice([day, day.isoformat()]), day.isoformat()
    if name in ("tags", "lines", "address"):
        value = rng.choice(OBJECTS if name == "address" else [*ARRAYS, *FITTING[name]])
        return value, value
    value = rng.choice(FITTING[name])
    return value, value


def system_clause(rng, stored):
    row = rng.choice(stored)
    name = rng.choice(["id", "version", "created_at", "updated_at"])
    ops = ["eq", "ne", "in"] if name == "id" else ["eq", "ne", "lt", "lte", "gt", "gte", "in"]
    op = rng.choice(ops)
    value = [getattr(row, name), getattr(rng.choice(stored), name)] if op == "in" else getattr(row, name)
    given = str(value) if name == "id" and op != "in" else value
    return f"{name}__{op}", given, value


def field_clause(rng):
    name = rng.choice([*FITTING, *SCALARS])
    ops = ["eq", "isnull"]
    if name in SCALARS:
        ops += ["ne", "in", "lt", "lte", "gt", "gte"]
    if name == "text":
        ops += ["startswith", "contains", "icontains"] * 3
    if name in ("tags", "lines"):
        ops += ["contains"] * 3
    op = rng.choice(ops)
    if op == "isnull":
        value = rng.random() < 0.5
        return f"{name}__isnull", value, value
    if op == "in":
        pairs = [operand(rng, name) if rng.random() < 0.9 else (None, None) for _ in range(rng.randrange(5))]
        return f"{name}__in", [given for given, _ in pairs], [value for _, value in pairs]
    if op == "contains" and name != "text":
        value = rng.choice(["a", "b", 1, True, None, ["a"], {}, {"sku": "a"}, {"quantity": 1.0}])
        return f"{name}__contains", value, value
    given, value = (None, None) if op in ("eq", "ne") and rng.random() < 0.15 else operand(rng, name)
    return (name if op == "eq" and rng.random() < 0.5 else f"{name}__{op}"), given, value


def make_query(rng, stored):
    """Return a random filter as a caller gives it, the same in comparable form, and an order."""
    given, plain = {}, {}
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        key, shown, value = system_clause(rng, stored) if rng.random() < 0.15 else field_clause(rng)
        given[key], plain[key] = shown, value
    order = rng.choice([None, *SCALARS, "created_at", "updated_at", "id"])
    return given, plain, rng.choice(["", "-"]) + order if order else None


def walk(store, filter, order_by, limit):
    """Return the ids of all pages."""
    found, cursor = [], None
    for _ in range(1000):
        page = store.query(filter, order_by=order_by, limit=limit, cursor=cursor)
        assert len(page.rows) <= limit
        found += [row.id for row in page]
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise AssertionError("the pages do not end")


def compare(tenant, other_tenant, seed):
    rng = random.Random(seed)
    stored = make_rows(rng, tenant, 120)
    make_rows(rng, other_tenant, 20)
    store = Task.store(tenant)
    for _ in range(120):
        given, plain, order_by = make_query(rng, stored)
        expected = answer(stored, plain, order_by, KINDS)

        found = walk(
            store, given, order_by, limit=rng.choice([1, 3, 7, 25, 100]) if len(expected) < 60 else 40
        )

        assert found == expected, f"filter {given!r}, order {order_by!r}, seed {seed}"
        assert store.count(given) == len(expected), f"filter {given!r}, seed {seed}"


@pytest.mark.parametrize("seed", [1, 2])
def test_random_queries_have_the_expected_answers(db, backend, tenant, other_tenant, seed):
    compare(tenant, other_tenant, seed)


def test_random_queries_have_the_same_answers_where_text_order_is_that_of_a_language(
    icu_database, backend, tenant, other_tenant
):
    compare(tenant, other_tenant, seed=4)


def test_iterate_and_sweep_give_the_same_rows_in_the_same_order(db, backend, tenant):
    rng = random.Random(5)
    stored = make_rows(rng, tenant, 250)
    for order_by in (None, "text", "-score", "done", "-day", "created_at", "-id"):
        expected = answer(stored, {}, order_by, KINDS)

        assert [row.id for row in Task.store(tenant).iterate(order_by=order_by)] == expected
        assert [row.id for row in Task.sweep(order_by=order_by, reason="tests")] == expected


@pytest.mark.parametrize("name", SCALARS)
def test_every_operator_on_every_value(db, backend, tenant, name):
    """Not by chance: each value of a field's list against each, with every operator."""
    rng = random.Random(6)
    values = list(dict.fromkeys(FITTING[name]))
    stored = make_rows(rng, tenant, 40)
    at = datetime(2026, 2, 1, tzinfo=UTC)
    rows = [
        {"id": new_id(), "version": 1, "created_at": at, "updated_at": at, "data": {name: value}}
        for value in values
    ]
    Task._base_manager.bulk_create(Task(tenant=tenant, **row) for row in rows)
    stored += [Stored(deleted=False, **row) for row in rows]
    ops = ["eq", "ne", "lt", "lte", "gt", "gte"] + (
        ["startswith", "contains", "icontains"] if name == "text" else []
    )
    store = Task.store(tenant)

    for value in values:
        for op in ops:
            expected = answer(stored, {f"{name}__{op}": value}, name, KINDS)
            found = [row.id for row in store.iterate({f"{name}__{op}": value}, order_by=name)]
            assert found == expected, f"{name}__{op} {value!r}"
