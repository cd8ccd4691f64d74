"""Values on their way out: Python values as JSON, what no request can carry refused with its path."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum

import pytest

from agentstore.core import guards, tenancy
from agentstore.core.errors import ValidationFailed
from agentstore.entities.reading import parse_id as local_parse_id
from agentstore.remote import encoding
from tests.testapp.models import Channel, Line


class Number(Enum):
    ONE = 1


class Key(Enum):
    A = "a"


VALUES: list[object] = [
    None, True, False, 0, -1, 2**63, 10**4299, 1.5, -0.0, "", "ü🙂",
    [1, [2, (3, 4)]], {"a": {"b": []}}, {1, 2}, frozenset("ab"), Channel.CALL, Number.ONE, {Key.A: 1},
    datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1), Decimal("1.10"), uuid.UUID(int=7), b"x",
    Line(sku="x"),
]  # fmt: skip
REFUSED = [
    (float("nan"), ""),
    ({"a": [0, float("inf")]}, "a.1"),
    (object(), ""),
    ({"a": {"b": object()}}, "a.b"),
    ({1: 2}, ""),
    ({"a": {None: 1}}, "a"),
    (10**4300, ""),
    ([-(10**4300)], "0"),
    (b"\xff", ""),
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values_become_what_a_local_store_makes_of_them(value):
    assert encoding.to_json(value) == guards.to_json(value)
    assert json.loads(encoding.dump_body(encoding.to_json(value))) == guards.to_json(value)


@pytest.mark.parametrize(("value", "path"), REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_json_form_is_refused_as_by_a_local_store(value, path):
    for refuse in (encoding.to_json, guards.to_json):
        with pytest.raises(ValidationFailed) as info:
            refuse(value)
        assert list(info.value.errors) == [path]


def test_nesting_has_an_end():
    deep = []
    deep.append(deep)

    with pytest.raises(ValidationFailed, match="nested too deeply"):
        encoding.to_json(deep)


def test_a_lone_surrogate_travels_escaped_so_that_the_server_can_say_where_it_is():
    assert encoding.dump_body({"a": "\ud800"}) == b'{"a":"\\ud800"}'
    assert encoding.dump_body({"a": "ü"}) == '{"a":"ü"}'.encode()


@pytest.mark.parametrize(
    ("key", "sent"),
    [("k-1", "k-1"), ("a/b", "a/b"), ("%", "%25"), ("é", "%C3%A9"), (" ", "%20"), ("\r\n", "%0D%0A")],
)
def test_a_key_is_sent_as_a_header_can_hold_it(key, sent):
    assert encoding.check_key(key) == sent


def test_keys_too_long_for_their_encoding_stay_apart():
    sent = {encoding.check_key("é" * number) for number in range(40, 256)}

    assert len(sent) == 216
    assert all(len(key) <= 255 and key.isascii() for key in sent)


TENANTS = [
    "a",
    "x" * 255,
    "a b",
    "\u00e9",
    "",
    " a",
    "a ",
    "\u2003a",
    "a\n",
    "\x7fa",
    "\x85",
    "x" * 256,
    "\0",
    5,
    None,
]


@pytest.mark.parametrize("tenant", TENANTS, ids=lambda tenant: repr(tenant)[:20])
def test_tenants_are_checked_as_by_a_local_store(tenant):
    results = []
    for check in (encoding.check_tenant, tenancy.check_tenant):
        try:
            results.append(check(tenant))
        except ValidationFailed as error:
            results.append(list(error.errors))

    assert results[0] == results[1]


@pytest.mark.parametrize(
    "id",
    [
        uuid.UUID(int=7),
        str(uuid.UUID(int=7)),
        "F" * 32,
        "{" + "0" * 32 + "}",
        "x",
        "",
        "0" * 31,
        5,
        None,
        b"x",
    ],
)
def test_ids_are_read_as_by_a_local_store(id):
    assert encoding.parse_id(id) == local_parse_id(id)
