"""What stands around a body: query string, tenant header, reason and context, keys."""

from __future__ import annotations

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.core.requests import (
    CONTEXT_HEADER,
    REASON_HEADER,
    checked_keys,
    encoded,
    query_pairs,
    read_integer,
    said,
    wanted_tenant,
)


@pytest.mark.parametrize(
    ("raw", "pairs"),
    [
        ("", []),
        ("a=1&a=2&b=", [("a", "1"), ("a", "2"), ("b", "")]),
        ("a=%C3%BC+x", [("a", "ü x")]),
        ("a=\xc3\xbc", [("a", "ü")]),  # as WSGI hands over raw UTF-8
        ("a=%00", [("a", "\0")]),
        ("a", [("a", "")]),
        ("a=100%25", [("a", "100%")]),
    ],
)
def test_a_query_string_is_read_in_order(raw, pairs):
    assert query_pairs(raw) == pairs


@pytest.mark.parametrize("raw", ["a=%ff", "a=%", "a=%zz", "%=1", "a=\xff", "a=%ED%A0%80", "a=ф"])
def test_a_query_string_that_is_not_utf_8_is_refused(raw):
    with pytest.raises(ValidationFailed, match="not percent-encoded UTF-8"):
        query_pairs(raw)


def test_too_many_fields_are_refused(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2

    with pytest.raises(ValidationFailed, match="more than 2 fields"):
        query_pairs("a=1&b=2&c=3")


def test_a_host_may_take_any_number_of_fields(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = None

    assert len(query_pairs("&".join(["a=1"] * 2000))) == 2000


@pytest.mark.parametrize(
    ("header", "tenant"),
    [
        (None, None),
        ("acme", "acme"),
        ("user:42", "user:42"),
        ("Z%C3%BCrich%20AG", "Zürich AG"),
        ("a+b", "a+b"),
        ("", ""),
    ],
)
def test_the_tenant_header_is_decoded(header, tenant):
    assert wanted_tenant(header) == tenant


@pytest.mark.parametrize("header", ["%", "%zz", "%ff", "Zürich", "a b", "a\tb", "%ED%A0%80"])
def test_a_tenant_header_that_is_not_percent_encoded_is_refused(header):
    with pytest.raises(ValidationFailed, match="not percent-encoded") as caught:
        wanted_tenant(header)

    assert "X-Agentstore-Tenant" in caught.value.errors


def test_known_keys_are_kept_and_ignored_ones_dropped():
    assert checked_keys({"data": 1, "id": 2}, known=["data"], ignored=["id"]) == {"data": 1}


def test_an_unknown_key_is_refused_and_the_closest_named():
    with pytest.raises(ValidationFailed) as caught:
        checked_keys({"dat": 1, "x": 2}, known=["data", "unset"], path="3")

    assert caught.value.errors == {"3.dat": ["There is no such key."], "3.x": ["There is no such key."]}
    assert caught.value.hint == "Did you mean 'data'? Valid: data, unset."


def test_where_no_key_is_known_the_hint_says_so():
    with pytest.raises(ValidationFailed) as caught:
        checked_keys({"zz": 1}, known=[])

    assert caught.value.hint == "Valid: none."


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("-5", -5), ("+5", 5), ("9" * 100, int("9" * 100))])
def test_whole_numbers_are_read(text, number):
    assert read_integer(text, "limit") == number


@pytest.mark.parametrize("text", ["", "x", "1.0", "1e3", "٣", " 1", "9" * 5000, "0x1", "1_0"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(ValidationFailed) as caught:
        read_integer(text, "limit")

    assert list(caught.value.errors) == ["limit"]


# --- why and in which run -------------------------------------------------------------------


def test_nothing_said_is_nothing():
    assert said({}) == {"reason": None, "context": None}


def test_what_is_said_is_decoded():
    headers = {REASON_HEADER: "paid%0A100%25", CONTEXT_HEADER: '{"run":"%C3%BC"}'}

    assert said(headers) == {"reason": "paid\n100%", "context": {"run": "ü"}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (REASON_HEADER, "100%"),
        (REASON_HEADER, "a b"),
        (REASON_HEADER, "%FF"),
        (CONTEXT_HEADER, "ü"),
        (CONTEXT_HEADER, "{"),
        (CONTEXT_HEADER, "[]"),
        (CONTEXT_HEADER, "null"),
    ],
)
def test_what_cannot_be_read_is_refused_under_the_name_of_its_header(name, value):
    with pytest.raises(ValidationFailed) as info:
        said({name: value})

    assert list(info.value.errors) == [name]


@pytest.mark.parametrize("text", ["", "a b", "100 %", "zürich\r\n", '{"a":[1]}', "名"])
def test_text_comes_back_from_a_header(text):
    assert said({REASON_HEADER: encoded(text)})["reason"] == text
    assert encoded(text).isascii()
    assert not set(encoded(text)) & set(" \r\n")
