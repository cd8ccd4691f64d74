"""Random lives of one tenant's rows, held at every step against a model in plain Python."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.core.errors import Conflict, NotFound, QuotaExceeded
from agentstore.core.values import new_id
from tests.testapp.models import Small

PLACES = 5
FIELDS = ("n", "a", "b")
VALUES = st.dictionaries(st.sampled_from(FIELDS), st.integers(0, 2), max_size=3)
STEP = st.tuples(
    st.sampled_from(["create", "many", "update", "replace", "delete", "undelete", "undo"]),
    st.integers(0, 7),  # which row, modulo how many there are
    VALUES,
    st.lists(st.sampled_from(FIELDS), max_size=2, unique=True),
    st.sampled_from([None, 0, 1, -1]),  # the version expected: any, the right one, one that is off
)


class Life:
    """What the store ought to hold: id -> (documents by version, deleted, operations)."""

    def __init__(self) -> None:
        self.rows: dict[Any, dict[str, Any]] = {}

    @property
    def live(self) -> int:
        return sum(not row["deleted"] for row in self.rows.values())

    def born(self, id: Any, data: dict[str, int]) -> None:
        self.rows[id] = {"versions": [dict.fromkeys(FIELDS, 0) | data], "deleted": False, "ops": ["create"]}

    def changed(self, id: Any, data: dict[str, int]) -> bool:
        row = self.rows[id]
        if row["versions"][-1] == data:
            return False
        row["versions"].append(data)
        row["ops"].append("update")
        return True


def expectation(life: Life, id: Any, off: int | None) -> tuple[int | None, type[Exception] | None]:
    """Return the version to send, and the error that it leads to."""
    row = life.rows.get(id)
    if row is None or row["deleted"]:
        return (None if off is None else 1 + off), NotFound
    if off is None:
        return None, None
    return len(row["versions"]) + off, Conflict if off else None


def take(store: Any, life: Life, step: Any) -> None:
    """Do one step with the store and with the model, which says what has to come of it."""
    op, which, data, unset, off = step
    ids = list(life.rows)
    id = ids[which % len(ids)] if ids and which < 7 else new_id()
    if op in ("create", "many"):
        make(store, life, data, which if op == "many" else None)
    elif op == "undelete":
        bring_back(store, life, id)
    else:
        patch = {key: value for key, value in data.items() if key not in unset}
        given = {"update": (patch, unset), "replace": (data, ()), "delete": (None, ())}[op]
        change(store, life, id, *given, whole=op == "replace", off=off)


def make(store: Any, life: Life, data: dict[str, int], count: int | None) -> None:
    def create() -> Any:
        return [store.create(data)] if count is None else store.create_many([data] * count)

    if life.live + (1 if count is None else count) > PLACES:
        with pytest.raises(QuotaExceeded):
            create()
        return
    for row in create():
        life.born(row.id, data)


def bring_back(store: Any, life: Life, id: Any) -> None:
    row = life.rows.get(id)
    error = NotFound if row is None else QuotaExceeded if row["deleted"] and life.live >= PLACES else None
    if row is None or error:
        with pytest.raises(error or NotFound):
            store.undelete(id)
        return
    assert store.undelete(id).changed is row["deleted"]
    if row["deleted"]:
        row["deleted"] = False
        row["ops"].append("undelete")


def change(store: Any, life: Life, id: Any, data: Any, unset: Any, *, whole: bool, off: int | None) -> None:
    """Update, replace (``whole``) or delete (``data`` is None) a row."""
    version, error = expectation(life, id, off)

    def write() -> Any:
        if data is None:
            return store.delete(id, expected_version=version)
        if whole:
            return store.replace(id, data, expected_version=version)
        return store.update(id, data, unset=unset, expected_version=version)

    if error is NotFound and data is None:
        assert write() is False
    elif error is not None:
        with pytest.raises(error):
            write()
    elif data is None:
        assert write() is True
        life.rows[id]["deleted"] = True
        life.rows[id]["ops"].append("delete")
    else:
        before = dict.fromkeys(FIELDS, 0) if whole else life.rows[id]["versions"][-1]
        new = {**before, **data, **dict.fromkeys(unset, 0)}
        assert write().changed is life.changed(id, new)


def compare(store: Any, life: Life) -> None:
    assert store.usage().used == store.count() == life.live
    assert {row.id for row in store.iterate()} == {id for id, row in life.rows.items() if not row["deleted"]}
    for id, row in life.rows.items():
        read = store.get_deleted if row["deleted"] else store.get
        found = read(id)
        assert (found.raw, found.version) == (row["versions"][-1], len(row["versions"]))
        assert (store.get(id) is None) is row["deleted"]
        assert [entry.op for entry in store.history(id)] == row["ops"][::-1]
        for number, document in enumerate(row["versions"], 1):
            assert read(id, version=number).raw == document
        assert read(id, version=len(row["versions"]) + 1) is None


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEP, max_size=25))
def test_every_step_does_what_the_model_does(db, backend, tenant, other_tenant, steps):
    with transaction.atomic():
        store, life = Small.store(tenant), Life()
        stranger = Small.store(other_tenant).create({"n": 7})
        for step in steps:
            if step[0] == "undo":
                undone = copy.deepcopy(life)
                with pytest.raises(RuntimeError), transaction.atomic():
                    take(store, undone, ("update", *step[1:]))
                    take(store, undone, ("create", *step[1:]))
                    raise RuntimeError
            else:
                take(store, life, step)
        compare(store, life)

        assert Small.store(other_tenant).get(stranger.id).raw == stranger.raw
        assert Small.store(other_tenant).usage().used == 1
        transaction.set_rollback(True)
