"""Whatever a model sends, a call answers with an object that can be sent back, and never raises."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.tools import toolset
from agentstore.tools.memory import COMMANDS, MemoryCommands, MemoryFailed
from tests.testapp.models import Odd, Task

pytestmark = pytest.mark.django_db

TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["", "{", "[]", "{}", '{"a": 1}', "null", "x\0y", "\ud800", "9" * 5000, "notes/a.md", "-text"]
    ),
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(10**30), 10**30), st.floats(), TEXTS
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def arguments_of(schema):
    """Return arguments of which some keys are right and the values are anything."""
    keys = {key: part_of(part) for key, part in schema["properties"].items()}
    return st.one_of(
        st.fixed_dictionaries({}, optional=keys), st.dictionaries(TEXTS, VALUES, max_size=2), VALUES
    )


def part_of(schema):
    """Return values for a part of a schema: a few that nearly fit, and anything."""
    if "properties" not in schema:
        return VALUES
    keys = dict.fromkeys(schema["properties"], VALUES)
    return st.one_of(VALUES, st.fixed_dictionaries({}, optional=keys))


def everything(tenant, strict, generic):
    return toolset(
        entities=[Task.store(tenant), Odd.store(tenant)],
        files=FileStore(tenant, "bia"),
        strategies=StrategyStore(tenant),
        writable=["notes/*"],
        strict=strict,
        generic=generic,
    )


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_call_raises(tenant, strict, generic, data):
    tools = everything(tenant, strict, generic)
    tool = data.draw(st.sampled_from(list(tools)))
    arguments = data.draw(arguments_of(tool.input_schema))
    row_id = str(Task.store(tenant).create({"text": "x"}).id)
    if isinstance(arguments, dict):
        if "id" in tool.input_schema["properties"] and data.draw(st.booleans()):
            arguments["id"] = row_id
        if "entity" in tool.input_schema["properties"] and data.draw(st.booleans()):
            arguments["entity"] = "tasks"

    result = tools.call(tool.name, arguments, call_id=data.draw(st.none() | TEXTS))

    assert json.dumps(result, allow_nan=False, ensure_ascii=False).encode()
    if "error" in result:
        assert result["error"]["code"] != "storage" and result["error"]["detail"]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    command=st.fixed_dictionaries(
        {"command": st.sampled_from(COMMANDS) | VALUES},
        optional={
            key: VALUES | st.sampled_from(["/memories", "/memories/a.txt", "/memories/b/c.txt", 0, 1])
            for key in (
                "path", "file_text", "old_str", "new_str", "insert_line", "insert_text", "old_path",
                "new_path", "view_range",
            )
        },
    )
)  # fmt: skip
def test_no_memory_command_fails_but_with_a_text(tenant, command):
    store = FileStore(tenant, "bia")
    store.write("memories/a.txt", "one\ntwo\n")

    try:
        text = MemoryCommands(store).run(command)
    except MemoryFailed as error:
        text = error.message

    assert text.encode()
