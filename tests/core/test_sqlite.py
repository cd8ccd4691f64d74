"""The functions that SQLite gets: on every connection, in every thread."""

from __future__ import annotations

import sqlite3
from threading import Thread
from types import SimpleNamespace

import pytest
from django.db import connection, connections

from agentstore.core import ordering, sqlite


@pytest.fixture
def plain():
    """A bare connection with the functions on it."""
    raw = sqlite3.connect(":memory:")
    sqlite._on_connect(sender=None, connection=SimpleNamespace(vendor="sqlite", connection=raw))
    yield lambda sql, *params: raw.execute(sql, params).fetchone()[0]
    raw.close()


@pytest.mark.parametrize(
    ("data", "contained", "expected"),
    [('{"a": 1.0}', '{"a": 1}', 1), ('{"a": 1}', '{"b": 1}', 0), ("[1]", "1", 1), ("5", '{"a": 1}', 0)],
)
def test_containment(plain, data, contained, expected):
    assert plain("SELECT AGENTSTORE_CONTAINS(?, ?)", data, contained) == expected


@pytest.mark.parametrize(
    "data", ['{"a": "1"}', '{"a": true}', '{"a": null}', '{"b": 1}', "[1]", "5", "null", '"a"']
)
def test_no_number_is_null(plain, data):
    """Whatever a hand wrote into a row, no function raises: one row must not poison a page."""
    assert plain("SELECT AGENTSTORE_NUMBER(? -> '$.\"a\"')", data) is None


def test_what_all_rows_are_held_against_is_parsed_once(plain, monkeypatch):
    parsed = []
    exact_json = ordering.exact_json
    monkeypatch.setattr(ordering, "exact_json", lambda text: parsed.append(text) or exact_json(text))
    rows = " UNION ALL ".join("SELECT '[1, 2]' AS data" for _ in range(5))

    assert plain(f"SELECT sum(AGENTSTORE_CONTAINS(data, ?)) FROM ({rows})", "[2, 2.0]") == 5
    assert parsed.count("[2, 2.0]") == 1


def test_numbers_compare_as_numbers(plain):
    sql = "SELECT AGENTSTORE_NUMBER(? -> '$.a') < AGENTSTORE_NUMBER(? -> '$.a')"

    assert plain(sql, '{"a": 9}', '{"a": 10}') == 1
    assert plain(sql, '{"a": 9007199254740993}', '{"a": 9007199254740992}') == 0
    assert plain(sql, '{"a": 1e400}', f'{{"a": 2{"0" * 400}}}') == 1
    assert plain(sql, '{"a": -0.5}', '{"a": -0.25}') == 1


def test_folding(plain):
    assert plain("SELECT AGENTSTORE_FOLD(?)", "ÄÖÜß") == "äöüß"
    assert plain("SELECT AGENTSTORE_FOLD(NULL)") is None


@pytest.mark.skipif(connection.vendor != "sqlite", reason="says something about SQLite")
def test_connections_of_other_threads_have_them(db):
    found = []

    def work():
        with connection.cursor() as cursor:
            cursor.execute("SELECT AGENTSTORE_FOLD('Ä')")
            found.append(cursor.fetchone()[0])
        connections.close_all()

    thread = Thread(target=work)
    thread.start()
    thread.join()

    assert found == ["ä"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="says something about SQLite")
def test_a_connection_that_was_open_before_gets_them(db):
    connection.ensure_connection()
    connection.connection.create_function("AGENTSTORE_FOLD", 1, None)

    sqlite.register()

    with connection.cursor() as cursor:
        cursor.execute("SELECT AGENTSTORE_FOLD('Ä')")
        assert cursor.fetchone()[0] == "ä"


def test_other_databases_are_left_alone():
    sqlite._on_connect(sender=None, connection=SimpleNamespace(vendor="postgresql", connection=None))
