"""Who something belongs to: tenants are compared exactly, agents and labels have their shape."""

from __future__ import annotations

import pytest

from agentstore.core.errors import ValidationFailed
from agentstore.core.tenancy import check_agent, check_label, check_tenant, is_tenant


@pytest.mark.parametrize(
    "tenant",
    [
        "a",
        "acme",
        "ACME",
        "user:42",
        "+49 170 1234567",
        "a b",
        "é",
        "e\u0301",
        "名前",
        "🙂",
        "x" * 255,
        "'; --",
        "%_\\",
    ],
)
def test_a_tenant_is_kept_exactly(tenant):
    assert check_tenant(tenant) == tenant


@pytest.mark.parametrize(
    ("tenant", "problem"),
    [
        ("", "empty"),
        (" ", "white space"),
        (" a", "white space"),
        ("a\n", "white space"),
        ("a\u00a0", "white space"),
        ("\u2003a", "white space"),
        ("a\tb", "control character"),
        ("a\x7fb", "control character"),
        ("a\x85b", "control character"),
        ("a\0b", "NUL"),
        ("a\ud800", "surrogate"),
        ("x" * 256, "255"),
        (None, "NoneType"),
        (42, "int"),
        (b"acme", "bytes"),
        (["acme"], "list"),
    ],
    ids=repr,
)
def test_what_can_not_be_a_tenant_is_refused_under_its_name(tenant, problem):
    with pytest.raises(ValidationFailed, match=problem) as info:
        check_tenant(tenant)

    assert list(info.value.errors) == ["tenant"]


def test_whether_something_may_be_a_tenant_can_be_asked():
    assert is_tenant("acme")
    assert not is_tenant(" acme")
    assert not is_tenant(None)


@pytest.mark.parametrize("agent", ["a", "9", "Bia", "a.b_c:d@e-f", "x" * 64])
def test_an_agent_id_is_kept(agent):
    assert check_agent(agent) == agent


@pytest.mark.parametrize(
    "agent", ["", ".a", "-a", "a b", "é", "a/b", "a\n", "x" * 65, None, 5, b"a"], ids=repr
)
def test_what_can_not_be_an_agent_is_refused(agent):
    with pytest.raises(ValidationFailed, match="not an agent id") as info:
        check_agent(agent)

    assert info.value.errors == {"agent": ["This is not an agent id."]}


def test_a_label_is_free_text_up_to_its_length():
    assert check_label("user:7 \n", "actor", longest=8) == "user:7 \n"
    assert check_label("", "actor", longest=8) == ""


@pytest.mark.parametrize(
    ("value", "problem"),
    [("x" * 9, "9 characters; the limit is 8"), (7, "int"), ("\0", "NUL"), ("\udfff", "surrogate")],
)
def test_a_label_is_guarded_under_its_name(value, problem):
    with pytest.raises(ValidationFailed, match=problem) as info:
        check_label(value, "actor", longest=8)

    assert list(info.value.errors) == ["actor"]
