"""Import and export: what fits is written as a whole, and what is exported can be imported."""

from __future__ import annotations

import gc
import io
import json
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import model_serializer

from agentstore.core.errors import QuotaExceeded, StorageFailed, ValidationFailed
from agentstore.core.models import AuditEntry
from agentstore.core.values import EntityRow
from agentstore.entities import EntitySchema
from agentstore.entities.codec import Codec
from agentstore.entities.io import Import, export_rows
from tests.parallel import run_parallel
from tests.testapp.models import Odd, Plain, Small, Task

FORMATS = ["csv", "json", "jsonl"]


def lines(*records):
    return io.BytesIO(b"".join(json.dumps(record).encode() + b"\n" for record in records))


def load(store, content, format="jsonl"):
    """Import a file as the command does; return the problems."""
    job = Import(store, content if isinstance(content, io.BytesIO) else io.BytesIO(content), format)
    problems = list(job.problems())
    if not problems:
        job.write()
    return problems


def exported(store, format="jsonl"):
    out = io.StringIO()
    return export_rows(store, out, format), out.getvalue()


def stored(store):
    return [row.raw for row in store.iterate(order_by="id")]


# --- import -------------------------------------------------------------------------------------


def test_records_are_rows_in_the_order_of_the_file(tasks, actor):
    assert load(tasks, lines(*({"text": str(n)} for n in range(1100)))) == []

    rows = list(tasks.iterate(order_by="created_at"))
    assert [row.data.text for row in rows] == [str(n) for n in range(1100)]
    assert tasks.usage().used == 1100
    assert [(e.op, e.actor, e.patch) for e in tasks.history(rows[-1].id)] == [("create", actor, rows[-1].raw)]


def test_problems_name_record_line_and_every_reason(tasks):
    problems = load(tasks, b'\n{"text": "a"}\n{"text": 5, "colour": "red"}\n{"text": "b"}\n7\n{}\n')

    assert [str(problem) for problem in problems] == [
        "record 2, line 3: text: Input should be a valid string; colour: There is no such field.",
        "record 4, line 5: Expected an object, found int.",
        "record 5, line 6: text: Field required",
    ]
    assert "Valid: text" in problems[0].hint
    assert tasks.count() == tasks.usage().used == 0


BAD = [
    (b'{"text": 5}', "text: Input should be a valid string"),
    (b"{}", "text: Field required"),
    (b'{"text": "a", "colour": 1}', "colour: There is no such field."),
    (b'{"text": "a", "score": NaN}', "NaN is not a JSON number."),
    (b'{"text": "a", "score": 1e999}', "score: inf is not a JSON number."),
    (b'{"text": "a\\u0000"}', "text: The text holds a NUL character at position 1."),
    (b'{"text": "\\ud800"}', "text: The text holds a lone surrogate at position 0."),
    (b'{"text": "\xed\xa0\x80"}', "The text is not valid UTF-8: byte 10 can't be decoded."),
    (b'{"text": "a", "text": "b"}', "The key 'text' occurs twice in one object."),
    (b'{"text": "a", "priority": ' + b"9" * 5000 + b"}", "A number has more than 4,300 digits."),
    (b'{"text": ' + b"[" * 70 + b"]" * 70 + b"}", "nested too deeply"),
    (b'{"text": ' + b"[" * 200_000 + b"}", "nested too deeply"),
    (b'{"text": "\xff"}', "The text is not valid UTF-8: byte 10 can't be decoded."),
    (b'{"text": "' + b"x" * 300_000 + b'"}', "The tasks row has 300,011 bytes; the limit is 262,144."),
    (b'{"text": "' + b"x" * 3_000_000 + b'"}', "The record has more than 2,097,152 bytes."),
    (b'{"text": "' + b"x" * 1001 + b'"}', "text: The field is indexed: 1,001 bytes are over 1,000."),
    (b'["text"]', "Expected an object, found list."),
    (b'{"text": "a"', "The record is not JSON"),
]


def closed(record):
    """Tell whether every bracket is closed: one that is not ends no element of an array."""
    return all(record.count(left) == record.count(right) for left, right in (b"{}", b"[]"))


@pytest.mark.parametrize(
    ("format", "record", "reason"),
    [
        pytest.param(format, record, reason, id=f"{format} {number}")
        for number, (record, reason) in enumerate(BAD)
        for format in ("json", "jsonl")
        if format == "jsonl" or closed(record)
    ],
)
def test_each_kind_of_bad_record_is_told_and_no_other_is(tasks, format, record, reason):
    parts = [b'{"text": "a"}', record, b'{"text": "b"}']
    content = b"\n".join(parts) if format == "jsonl" else b"[" + b",\n".join(parts) + b"]"

    (problem,) = load(tasks, content, format)

    assert (problem.number, problem.line) == (2, 2)
    assert reason in problem.reason


def test_the_rest_can_be_written_without_the_bad_ones(tasks):
    records = [{"text": str(n)} if n % 3 else {"text": n} for n in range(1200)]
    job = Import(tasks, lines(*records), "jsonl")

    problems = list(job.problems())
    written = job.write()

    assert (job.total, job.bad, job.good, len(problems), written) == (1200, 400, 800, 400, 800)
    assert [row["text"] for row in stored(tasks)] == [str(n) for n in range(1200) if n % 3]


def test_a_quota_that_is_reached_on_the_way_leaves_nothing(db, backend, tenant, monkeypatch):
    monkeypatch.setattr("agentstore.entities.io.CHUNK", 2)
    store = Small.store(tenant)
    job = Import(store, lines(*({"n": n} for n in range(6))), "jsonl")
    assert list(job.problems()) == []

    with pytest.raises(QuotaExceeded, match="6 rows need a place; 0 of 5 are taken"):
        job.check_room()
    with transaction.atomic(), pytest.raises(QuotaExceeded):
        job.write()

    assert (store.count(), store.usage().used) == (0, 0)
    assert not AuditEntry.objects.for_tenant(tenant).exists()


def test_a_file_that_changed_after_it_was_looked_through_leaves_nothing(tasks, monkeypatch):
    monkeypatch.setattr("agentstore.entities.io.CHUNK", 1)
    for later in (b'{"text": 12}\n', b'{"text": NaN\n'):
        file = io.BytesIO(b'{"text": "a"}\n{"text": "b"}\n')
        job = Import(tasks, file, "jsonl")
        assert list(job.problems()) == []
        file.seek(14)
        file.write(later)

        with pytest.raises(ValidationFailed):
            job.write()

    assert tasks.count() == tasks.usage().used == 0


def test_an_import_is_one_transaction_of_one_tenant(transactional_db, backend, tenant, other_tenant):
    """Nobody sees a row before the last is there, and only the tenant's own readers do after."""
    mine, other, seen = Plain.store(tenant), Plain.store(other_tenant), []

    def look(count):
        seen.append((count, run_parallel(1, lambda _: mine.count())))

    job = Import(mine, lines(*({"text": str(n)} for n in range(1001))), "jsonl", progress=look)
    assert list(job.problems()) == []
    seen.clear()

    job.write()

    assert seen == [(500, [0]), (1000, [0])]
    assert (mine.count(), other.count(), other.usage().used) == (1001, 0, 0)


def test_inside_a_block_of_the_caller_a_refusal_leaves_the_block_usable(db, backend, tenant):
    store = Small.store(tenant)
    with transaction.atomic():
        job = Import(store, lines(*[{}] * 6), "jsonl")
        assert list(job.problems()) == []
        with pytest.raises(QuotaExceeded):
            job.write()
        store.create({"n": 1})

    assert store.count() == 1


def test_a_failing_commit_is_a_storage_error(tasks, monkeypatch, caplog):
    from django.db import OperationalError

    def fail(*args, **kwargs):
        raise OperationalError("lost")

    job = Import(tasks, lines({"text": "a"}), "jsonl")
    assert list(job.problems()) == []
    monkeypatch.setattr(transaction, "atomic", fail)

    with pytest.raises(StorageFailed):
        job.write()


def test_debug_keeps_no_statements_of_an_import(tasks, settings, monkeypatch):
    """With DEBUG Django logs every statement with its data: a gigabyte for a million rows."""
    settings.DEBUG = True
    monkeypatch.setattr("agentstore.entities.io.CHUNK", 10)

    load(tasks, lines(*({"text": str(n)} for n in range(100))))

    assert len(connection.queries_log) <= 10


@pytest.fixture
def nothing_of_others():
    """Let the collector see the test's own objects alone: those of others are many, and some in cycles."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def test_rows_are_let_go_as_they_are_written(tasks, monkeypatch, nothing_of_others):
    most, create_many = 0, type(tasks).create_many

    def alive():
        gc.collect()
        return sum(isinstance(thing, EntityRow) for thing in gc.get_objects())

    def watched(self, items, **who):
        nonlocal most
        most = max(most, alive())
        return create_many(self, items, **who)

    monkeypatch.setattr(type(tasks), "create_many", watched)
    monkeypatch.setattr("agentstore.entities.io.CHUNK", 50)
    load(tasks, lines(*({"text": str(n)} for n in range(1000))))

    assert most <= 100


# --- export -------------------------------------------------------------------------------------

FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | FINITE
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text("aé\"\n", max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["", '""', r"\N", "null", "a,b", "\r", "a\r\nb", " x ", "'", '"', "=1+1", "\ufeff", "true", "5"]
)
FIELDS = {
    Plain: st.fixed_dictionaries({}, optional={"value": JSON, "text": TEXT, "number": st.none() | FINITE}),
    Task: st.fixed_dictionaries(
        {"text": TEXT},
        optional={
            "due_at": st.none() | st.datetimes().map(lambda at: f"{at.isoformat()[:19]}Z"),
            "done": st.booleans(),
            "score": st.none() | st.floats(-1e9, 1e9),
            "channel": st.sampled_from(["call", "chat"]),
            "day": st.none() | st.dates().map(str),
            "tags": st.lists(TEXT, max_size=3),
            "address": st.none() | st.fixed_dictionaries({"street": TEXT}),
            "lines": st.lists(st.fixed_dictionaries({"sku": TEXT}), max_size=2),
        },
    ),
    Odd: st.fixed_dictionaries(
        {},
        optional={
            "code": st.integers(0, 10**9).map(str),
            "amount": st.none() | st.decimals(allow_nan=False, allow_infinity=False, places=2).map(str),
            "either": st.integers() | TEXT,
            "size": st.integers() | st.floats(-1e9, 1e9),
            "meta": st.dictionaries(st.text("ab", max_size=3), JSON, max_size=2),
            "anything": JSON,
            "madeBy": TEXT,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("model", FIELDS)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_what_is_exported_can_be_imported_and_is_the_same(db, backend, model, format, data):
    with transaction.atomic():
        store, copy = model.store("from"), model.store("to")
        store.create_many(data.draw(st.lists(FIELDS[model], max_size=4)))

        done, text = exported(store, format)
        assert load(copy, text.encode(), format) == []

        assert stored(copy) == stored(store)
        assert (done.rows, done.misfits) == (store.count(), 0)
        assert exported(copy, format)[1] == text
        transaction.set_rollback(True)


class Sparse(EntitySchema):
    """Rows without the keys that have no value, as many a schema writes them."""

    text: str
    note: str | None = None
    n: int | None = None

    @model_serializer(mode="wrap")
    def without_nulls(self, handler):
        return {key: value for key, value in handler(self).items() if value is not None}


@pytest.mark.parametrize(
    ("format", "text"), [("csv", "text,note,n\r\na,,3\r\n"), ("jsonl", '{"text":"a","n":3}\n')]
)
def test_what_a_serializer_left_out_is_not_given(format, text):
    codec = Codec(Sparse, "sparses", [])
    row = SimpleNamespace(data=Sparse(text="a", n=3))

    assert exported(SimpleNamespace(codec=codec, iterate=lambda **_: [row]), format)[1] == text


def test_an_export_holds_the_live_rows_of_its_tenant_in_the_order_they_were_made(tasks, other_tenant):
    first, gone, last = tasks.create_many([{"text": "a"}, {"text": "b"}, {"text": "c"}])
    tasks.delete(gone.id)
    tasks.update(first.id, {"text": "changed"})
    Task.store(other_tenant).create({"text": "strange"})

    _, text = exported(tasks)

    assert [json.loads(line) for line in text.splitlines()] == [{**first.raw, "text": "changed"}, last.raw]


@pytest.mark.parametrize(("format", "text"), [("jsonl", ""), ("json", "[]\n"), ("csv", "n,a,b\r\n")])
def test_nothing_is_exported_as_a_file_that_can_be_imported(db, backend, tenant, format, text):
    store = Small.store(tenant)

    assert exported(store, format)[1] == text
    assert load(store, text.encode(), format) == []


def test_stored_keys_that_the_schema_does_not_have_are_not_exported(tasks, spoil, other_tenant):
    spoil({"text": "a", "colour": "red", "address": {"street": "b", "floor": 2}})

    done, text = exported(tasks)

    assert done.misfits == 0
    assert load(Task.store(other_tenant), text.encode()) == []
    assert "colour" not in text
    assert "floor" not in text


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_a_row_that_does_not_fit_is_exported_as_it_is_stored(tasks, spoil, format):
    tasks.create({"text": "a"})
    spoil({"text": 5, "colour": "red"})
    spoil([1])

    done, text = exported(tasks, format)

    assert (done.rows, done.misfits) == (3, 2)
    found = json.loads(text) if format == "json" else [json.loads(line) for line in text.splitlines()]
    assert found[1:] == [{"text": 5, "colour": "red"}, [1]]


def test_csv_has_no_cells_for_a_row_that_does_not_fit(tasks, spoil):
    tasks.create({"text": "a"})
    spoil({"text": 5})

    done, text = exported(tasks, "csv")

    assert (done.rows, done.misfits, len(text.splitlines())) == (2, 1, 2)


def test_each_row_is_exported_once_whoever_writes_meanwhile(tasks):
    rows = tasks.create_many([{"text": str(n)} for n in range(250)])
    texts = []

    class Out:
        def write(self, text):
            texts.append(json.loads(text)["text"])
            if len(texts) % 50 == 0:  # a page later this row would come again, or not at all
                tasks.update(rows[0].id, {"priority": len(texts)})
                tasks.update(rows[-1].id, {"priority": len(texts)})

    export_rows(tasks, Out(), "jsonl")

    assert texts == [str(n) for n in range(250)]


def test_progress_is_told_every_few_hundred_rows(tasks):
    tasks.create_many([{"text": "a"}] * 1001)
    counts = []

    export_rows(tasks, io.StringIO(), "jsonl", progress=counts.append)

    assert counts == [500, 1000]
