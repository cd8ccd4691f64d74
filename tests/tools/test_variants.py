"""What the variants of a schema say for themselves: patterns that every client reads, lists that fit."""

from __future__ import annotations

import pytest

from agentstore.tools import toolset
from agentstore.tools.variants import choices_in, plain_variant, strict_variant
from tests.testapp.models import Odd, Plain, Small, Task

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


# --- what Anthropic takes in one request ------------------------------------------------------------


def choices(part):
    """Count the options, wherever they stand."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return ("anyOf" in part if isinstance(part, dict) else 0) + sum(map(choices, inner))


@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
def test_strict_tools_are_as_many_as_anthropic_takes_in_one_request(tenant, generic):
    """It takes 20, with 16 choices in all of them together, and refuses the whole request otherwise."""
    tools = toolset(
        tenant, entities=[Task, Odd, Plain, Small], agent="bia", writable=["*"], strict=True, generic=generic
    )

    found = tools.definitions("anthropic")
    strict = [tool for tool in found if tool.get("strict")]

    assert 0 < len(strict) <= 20 and sum(choices(tool["input_schema"]) for tool in strict) <= 16
    assert len(strict) < len(found) or generic
    assert all(tool["strict"] for tool in tools.definitions("openai"))


def test_the_first_tools_are_strict_for_which_there_is_room(tenant):
    """A tool without the mark shows the same schema: there too a null means that nothing is given."""
    tools = toolset(tenant, entities=[Small, Task], strict=True)

    found = {tool["name"]: tool.get("strict") for tool in tools.definitions("anthropic")}

    assert found["smalls_query"] and found["smalls_update"] and found["tasks_get"]
    assert found["tasks_query"] is None and found["tasks_create"] is None
    schemas = [tools.definitions(dialect)[5] for dialect in ("anthropic", "openai")]
    assert schemas[0]["input_schema"] == schemas[1]["parameters"]


def test_choices_are_counted_at_every_depth():
    choice = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    inner = {"type": "object", "properties": {"anyOf": choice, "items": {"type": "array", "items": choice}}}
    schema = {"anyOf": [inner, {"type": "null"}]}

    assert choices_in(schema, most=16) == 3
    assert choices_in(schema, most=1) > 1


# --- what OpenAI's strict mode takes of listed values -----------------------------------------------


def listed(*lengths, size=5):
    """Return a schema of fields that list so many values, each of so many characters."""
    fields = {
        f"f{number}": {"type": "string", "enum": [f"{value:0{size}}" for value in range(length)]}
        for number, length in enumerate(lengths)
    }
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [
        ((1000,), [True]),
        ((1001,), [False]),
        ((500, 500), [True, True]),
        ((500, 3, 501), [True, True, False]),
        ((600, 3, 600, 600), [False, True, False, False]),
        ((3,) * 400, [False] * 400),
    ],
    ids=str,
)
def test_strict_lists_have_a_thousand_values_together_the_longest_are_told_in_words(lengths, kept):
    schema = listed(*lengths)

    shown = strict_variant(schema)["properties"].values()

    assert ["enum" in field for field in shown] == kept
    assert all("(enum 00000, 00001, 00002" in field["description"] for field in shown if "enum" not in field)


@pytest.mark.parametrize(
    ("length", "size", "kept"), [(250, 500, True), (251, 59, True), (251, 60, False), (1000, 15, True)]
)
def test_a_long_strict_list_has_fifteen_thousand_characters(length, size, kept):
    field = strict_variant(listed(length, size=size))["properties"]["f0"]

    assert ("enum" in field) == kept


def test_lists_are_counted_at_every_depth():
    field = listed(400)["properties"]["f0"]
    inner = {"anyOf": [{"type": "array", "items": field}, {"type": "null"}]}

    shown = strict_variant({**listed(3), "properties": {"a": inner, "b": field, "c": field}})

    assert "enum" not in str(shown).replace("(enum", "")
