"""What the variants of a schema say for themselves: patterns that every client reads, lists that fit."""

from __future__ import annotations

import pytest

from agentstore.tools.variants import plain_variant

PORTABLE = [
    "^[a-z]",
    r"^\d{3}-\d{4}$",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    r"^(?:a|b)+?(c{2,})?$",
    r"^\+?[0-9]{1,3}\/x\|$",
    r"[^\]\\\s]*",
    "^ä+ .$",
    "",
]
#: Look-around, named groups, flags, classes and anchors of single engines, and what ECMAScript refuses with
#: its flag u: other escapes than those that are needed, ranges of classes, and brackets without a pair.
ODD = [
    r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$", "a(?=b)", "(?<=a)b", "(?P<year>[0-9]{4})", "(?i)abc", "(?x) a b",
    r"^\p{L}+$", r"^\pL$", r"\Aabc\z", r"\Aabc\Z", "^[[:alpha:]]+$", r"^https\:\/\/", r"^a\-b$", r"^[\w-.]+$",
    "a{,3}", "a]b", r"\h", "[a-z&&[^b]]", r"\x{41}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PORTABLE)
def test_a_pattern_that_every_client_reads_stays(pattern):
    schema = {"type": "string", "description": "A code.", "pattern": pattern}

    assert plain_variant(schema) == schema


@pytest.mark.parametrize("pattern", ODD)
def test_a_pattern_that_some_clients_cannot_read_is_told_in_words(pattern):
    """A client that can't compile one pattern shows none of the server's tools, or fails at each call."""
    schema = {"type": "string", "description": "A code.", "maxLength": 9, "pattern": pattern}

    shown = plain_variant({"type": "array", "items": {"anyOf": [schema, {"type": "null"}]}})

    told = {"type": "string", "description": f"A code. (pattern {pattern})", "maxLength": 9}
    assert shown == {"type": "array", "items": {"anyOf": [told, {"type": "null"}]}}


def test_a_pattern_is_read_in_no_time():
    assert "pattern" in plain_variant({"type": "string", "pattern": "[a-z]" * 20_000})
    assert "pattern" not in plain_variant({"type": "string", "pattern": "(a*)*[b-d]+" * 20_000 + r"\p"})


def test_patterns_are_looked_for_at_every_depth():
    odd = {"type": "string", "pattern": "(?i)a"}

    shown = plain_variant(
        {"type": "object", "properties": {"pattern": {"type": "object", "additionalProperties": odd}}}
    )

    told = {"type": "string", "description": "(pattern (?i)a)"}
    assert shown["properties"] == {"pattern": {"type": "object", "additionalProperties": told}}
