"""If-Match and If-None-Match on version numbers."""

from __future__ import annotations

import pytest

from agentstore.core.preconditions import NEVER, Preconditions, etag


def expected(version, **headers):
    return Preconditions(**headers).expected(lambda: version)


def unread():
    raise AssertionError("the version was read")


def test_etag_is_the_version_in_quotes():
    assert etag(3) == '"3"'


def test_headers_are_read_whatever_their_case():
    sent = Preconditions.of({"If-Match": '"1"', "If-None-Match": "*"})

    assert (sent.if_match, sent.if_none_match) == ('"1"', "*")


def test_without_conditions_any_version_will_do_and_none_is_read():
    assert Preconditions().expected(unread) is None
    assert not Preconditions().given


@pytest.mark.parametrize(
    "header", ['"7"', 'W/"7"', ' "7" ', '"7-gzip"', 'W/"7--gzip"', '"7-br"', '"7-zstd"', '"7-deflate"']
)
def test_one_tag_is_the_version_that_a_write_must_meet(header):
    assert Preconditions(if_match=header).expected(unread) == 7


def test_if_match_star_takes_any_version():
    assert Preconditions(if_match="*").expected(unread) is None


@pytest.mark.parametrize(
    ("header", "met"),
    [
        ('"6", "7"', 7),
        ('W/"7","9"', 7),
        ('"6-gzip", "7-gzip"', 7),
        ('"8-gzip", "9"', NEVER),
        ('"7-x"', NEVER),
        ('"7-gzip-gzip"', NEVER),
        ('"8", "9"', NEVER),
        ("7", NEVER),
        ('"07"', NEVER),
        ('"x"', NEVER),
        ("", NEVER),
        ('"99999999999999999999"', NEVER),
        ('"-7"', NEVER),
        ('"7"x', NEVER),
        ('w/"7"', NEVER),
        ('"7", *', NEVER),
        ('"6, "7"', NEVER),
        (', "7" ,, "9",', 7),
    ],
)
def test_if_match_is_met_by_the_tags_it_lists_and_by_nothing_else(header, met):
    assert expected(7, if_match=header) == met


@pytest.mark.parametrize(
    ("header", "met"), [("*", NEVER), ('"7"', NEVER), ('W/"7"', NEVER), ('"6"', 7), ("7", 7), ('"7"x', 7)]
)
def test_if_none_match_refuses_the_tags_it_lists(header, met):
    assert expected(7, if_none_match=header) == met


def test_both_conditions_must_hold():
    assert expected(7, if_match='"7"', if_none_match='"6"') == 7
    assert expected(7, if_match='"7"', if_none_match='"7"') == NEVER
    assert expected(7, if_match='"6"', if_none_match='"5"') == NEVER


def test_where_there_is_nothing_no_version_is_expected():
    assert expected(None, if_none_match="*") is None
    assert expected(None, if_match='"1", "2"') is None


def test_the_refusal_says_the_version_and_its_tag():
    refusal = Preconditions(if_match='"1"').refusal(7)

    assert refusal.current_version == 7
    assert "version 7" in refusal.message
    assert '"7"' in refusal.hint


@pytest.mark.parametrize(
    ("header", "unchanged"),
    [
        (None, False),
        ('"7"', True),
        ('W/"7"', True),
        ('"7-gzip"', True),
        ('"6-gzip", "8"', False),
        ('"6", "7"', True),
        ("*", True),
        ('"8"', False),
        ('"7"x', False),
    ],
)
def test_a_reader_that_has_the_version_is_told_so(header, unchanged):
    assert Preconditions(if_none_match=header).unchanged(7) is unchanged


@pytest.mark.parametrize(("header", "creates"), [(None, False), ("*", True), (" * ", True), ('"1"', False)])
def test_if_none_match_star_wants_to_create_only(header, creates):
    assert Preconditions(if_none_match=header).creates_only is creates
