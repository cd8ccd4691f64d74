"""Floats are written so that a database that keeps no exponents gives floats back."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings

from agentstore.core.guards import dump_json, quick_json
from agentstore.core.numerals import keep_floats
from tests.core.test_guards import JSON


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("1e+23", "1" + "0" * 23 + ".0"),
        ("[-1.5e16,2]", "[-15000000000000000.0,2]"),
        ('{"1e5":"1e5","a\\"1e5":[1E2]}', '{"1e5":"1e5","a\\"1e5":[100.0]}'),
        ("1.25e1", "12.5"),
        ("[1e-7,-2.5E-3]", "[0.0000001,-0.0025]"),
    ],
)
def test_exponents_are_written_out_and_texts_left_alone(text, kept):
    assert keep_floats(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("-0.0", "0.0"),
        ('{"a":-0.0,"b":[-0.00 ,-0]}', '{"a":0.0,"b":[0.00 ,0]}'),
        ('{"-0.0":"-0.0,","\\"-0]":"-0"}', '{"-0.0":"-0.0,","\\"-0]":"-0"}'),
        ("[-0.0,-0.5,-0.05,-10,1e-05]", "[0.0,-0.5,-0.05,-10,0.00001]"),
    ],
)
def test_a_zero_has_no_sign_as_jsonb_gives_it_none(text, kept):
    assert keep_floats(text) == kept


@pytest.mark.parametrize("text", ["[1,1.0,-5,0.5]", '"e5"', '{"a":"3e5f"}', "10000000000000000000000"])
def test_all_else_stays_as_it_is(text):
    assert keep_floats(text) == text


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=JSON)
def test_the_database_gives_back_what_was_written(db, value):
    for text in (dump_json(value), quick_json(value)):
        kept = keep_floats(text)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT %s::jsonb::text", [kept])
                (kept,) = cursor.fetchone()

        assert json.loads(kept) == value
