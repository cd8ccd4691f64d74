"""Every statement on a tenant's table names the tenant: the SQL of every store method is captured."""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext

import pytest
from django.db import connection

from agentstore.core.errors import AgentStoreError
from agentstore.core.values import new_id
from tests.entities.test_aio import METHODS as PUBLIC
from tests.testapp.models import Plain, Small, Task

TENANT = "the-tenant-of-this-test"
TABLES = (
    r"testapp_(?:task|small|plain)"
    r"|agentstore_(?:auditentry|usage|idempotencykey|strategy|incident|agentfile|historicalagentfile)"
)
#: A place in a statement where rows of a table are read, changed or written.
USE = re.compile(
    rf'\b(?P<verb>FROM|JOIN|USING|UPDATE|INTO)\s+"?(?P<table>{TABLES})"?(?:\s+AS\s+(?P<alias>\w+))?',
    re.IGNORECASE,
)
NAMED = re.compile(r'"?\btenant"?\s*=\s*', re.IGNORECASE)


@contextmanager
def captured():
    """Collect (sql, parameters) of every statement inside the block, whoever sends it."""
    found = []

    def note(execute, sql, params, many, context):
        found.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield found


def scope(sql, position):
    """Return the part of a statement that a place belongs to: up to the brackets around it."""
    start = end = position
    depth = 0
    while start > 0 and depth >= 0:
        start -= 1
        depth += {")": 1, "(": -1}.get(sql[start], 0)
    depth = 0
    while end < len(sql) and depth >= 0:
        depth += {"(": 1, ")": -1}.get(sql[end], 0)
        end += 1
    return sql[start:end]


def own(part):
    """Return a part of a statement without the queries inside it: what those restrict is theirs alone."""
    found, depth, skipped = [], 0, None
    for position, char in enumerate(part):
        if char == "(":
            depth += 1
            if position and skipped is None and re.match(r"\(\s*SELECT\b", part[position:], re.IGNORECASE):
                skipped = depth
        if skipped is None:
            found.append(char)
        if char == ")":
            skipped, depth = None if skipped == depth else skipped, depth - 1
    return "".join(found)


def complaints(sql, params, tenant=TENANT):
    """Return what is wrong with a statement: a table that is used without its tenant."""
    values = list(params.values()) if isinstance(params, dict) else list(params or ())
    values = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    for match in USE.finditer(sql):
        part = scope(sql, match.start())
        if match["verb"].upper() == "INTO":
            columns = sql[match.end() :].split("(", 1)[1].split(")", 1)[0]
            if "tenant" not in columns or tenant not in values:
                yield f"INSERT without the tenant: {sql}"
        elif not NAMED.search(own(part)) or tenant not in values:
            yield f"{match['verb']} {match['table']} without the tenant: {part}"


METHODS = {
    "create": lambda s, row: s.create({"text": "b"}),
    "create with a key": lambda s, row: s.create({"text": "b"}, idempotency_key="new"),
    "create with a known key": lambda s, row: s.create({"text": "a"}, idempotency_key="k"),
    "create with other data": lambda s, row: s.create({"text": "other"}, idempotency_key="k"),
    "create_many": lambda s, row: s.create_many([{"text": "b"}, {"text": "c"}]),
    "create_many, more than a statement": lambda s, row: s.create_many([{"text": "b"}] * 501),
    "create_many with a key": lambda s, row: s.create_many([{"text": "b"}], idempotency_key="new"),
    "get": lambda s, row: s.get(row.id),
    "get a version": lambda s, row: s.get(row.id, version=1),
    "get of an unknown id": lambda s, row: s.get(new_id()),
    "get_deleted": lambda s, row: (s.delete(row.id), s.get_deleted(row.id, version=1)),
    "query": lambda s, row: s.query(),
    "query in order": lambda s, row: s.query({"text__ne": "x", "done": False}, order_by="-priority", limit=1),
    "query, next page": lambda s, row: s.query(limit=1, cursor=s.query(limit=1).next_cursor),
    "query by column": lambda s, row: s.query({"id": row.id, "version__in": [1, 2]}, order_by="id"),
    "query, every operator": lambda s, row: s.query(
        {"text__icontains": "É", "tags__contains": "x", "due_at__isnull": True, "channel__in": ["call", None]}
    ),
    "iterate": lambda s, row: list(s.iterate({"text__startswith": "a"}, order_by="due_at")),
    "count": lambda s, row: s.count({"priority__gte": 0}),
    "usage": lambda s, row: s.usage(),
    "history": lambda s, row: s.history(row.id),
    "history, next page": lambda s, row: s.history(row.id, limit=1, before=s.history(row.id, limit=1)[0].id),
    "update": lambda s, row: s.update(row.id, {"text": "c"}),
    "update with a version": lambda s, row: s.update(row.id, {"text": "c"}, expected_version=2),
    "update, stale": lambda s, row: s.update(row.id, {"text": "c"}, expected_version=1),
    "update without effect": lambda s, row: s.update(row.id, {}),
    "update of an unknown id": lambda s, row: s.update(new_id(), {"text": "c"}),
    "replace": lambda s, row: s.replace(row.id, {"text": "c"}),
    "delete": lambda s, row: s.delete(row.id),
    "delete, stale": lambda s, row: s.delete(row.id, expected_version=1),
    "delete of an unknown id": lambda s, row: s.delete(new_id()),
    "undelete": lambda s, row: (s.delete(row.id), s.undelete(row.id)),
    "undelete of a live row": lambda s, row: s.undelete(row.id),
    "undelete of an unknown id": lambda s, row: s.undelete(new_id()),
}


@pytest.mark.parametrize("method", METHODS)
def test_every_statement_names_the_tenant(db, backend, method):
    store = Task.store(TENANT)
    row = store.create({"text": "a"}, idempotency_key="k")
    row = store.update(row.id, {"priority": 1})
    store.create({"text": "other row"})

    refusals = ("stale", "other data", "update of an unknown", "undelete of an unknown")
    refused = any(words in method for words in refusals)
    with captured() as statements, pytest.raises(AgentStoreError) if refused else nullcontext():
        METHODS[method](store, row)

    own = [(sql, params) for sql, params in statements if USE.search(sql)]
    assert own
    assert [problem for sql, params in own for problem in complaints(sql, params)] == []


def test_a_full_tenant_and_a_failed_undelete_name_the_tenant_too(db, backend):
    store = Small.store(TENANT)
    rows = store.create_many([{}] * 5)
    store.delete(rows[0].id)
    store.create({})

    with captured() as statements:
        for call in (lambda: store.create({}), lambda: store.undelete(rows[0].id)):
            with pytest.raises(AgentStoreError):
                call()

    assert [problem for sql, params in statements for problem in complaints(sql, params)] == []
    assert [sql for sql, _ in statements if USE.search(sql)]


def test_every_public_method_is_captured():
    assert {name.replace(",", " ").split()[0] for name in METHODS} == set(PUBLIC)


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ('SELECT "id" FROM "testapp_task" WHERE "id" = %s', ["x"]),
        ('UPDATE "testapp_task" SET "version" = 2 WHERE "id" = %s', ["x"]),
        ('DELETE FROM "agentstore_idempotencykey" WHERE "key" = %s', ["k"]),
        ('DELETE FROM "testapp_task" WHERE "tenant" = %s', ["another"]),
        (
            "WITH a AS (UPDATE testapp_task SET version = 2 RETURNING id) SELECT 1 WHERE tenant = %s",
            [TENANT],
        ),
        ('INSERT INTO "agentstore_usage" ("id") VALUES (%s)', [TENANT]),
    ],
)
def test_the_capture_sees_what_is_missing(sql, params):
    """The test of the test: each of these would be a hole."""
    assert list(complaints(sql, params))


def test_plain_entities_write_no_other_table(db, backend):
    with captured() as statements:
        Plain.store(TENANT).create({"text": "a"})

    touched = {match["table"] for sql, _ in statements for match in USE.finditer(sql)}
    assert touched == {"testapp_plain", "agentstore_auditentry", "agentstore_usage"}
