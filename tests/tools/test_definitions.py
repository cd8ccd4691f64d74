import json

import pytest
from django.test.utils import isolate_apps
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from agentstore.core.errors import ValidationFailed
from agentstore.entities import EntityModel, EntitySchema
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from agentstore.tools import toolset
from agentstore.tools.spec import DIALECTS
from tests.isolated import run_python
from tests.testapp.models import Odd, Task
from tests.tools.checker import problems

pytestmark = pytest.mark.django_db


def schema_of(definition):
    function = definition.get("function", definition)
    return next(function[key] for key in ("parameters", "input_schema", "inputSchema") if key in function)


def name_of(definition):
    return definition.get("function", definition)["name"]


@pytest.fixture
def everything(tenant):
    """Return what makes a set with every tool there is."""

    def build(**options):
        return toolset(tenant, agent="bia", writable=["*"], **options)

    return build


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_definition_keeps_the_vendors_rules(everything, dialect, generic, strict):
    definitions = everything(strict=strict, generic=generic).definitions(dialect)

    found = [
        problem
        for definition in definitions
        for problem in problems(name_of(definition), schema_of(definition), strict=strict, dialect=dialect)
    ]
    assert definitions
    assert found == []


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
def test_every_schema_is_valid_json_schema(everything, strict):
    for tool in everything(strict=strict).definitions("mcp"):
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])


def test_definitions_are_the_same_every_time(everything):
    first = json.dumps([everything().definitions(dialect) for dialect in DIALECTS])

    second = json.dumps([everything().definitions(dialect) for dialect in DIALECTS])

    assert first == second


MADE_ANEW = """
import django, hashlib, json
django.setup()
from agentstore.tools import toolset
from agentstore.tools.spec import DIALECTS
sets = [
    toolset("acme", agent="bia", writable={"notes/*", "a*", "b*", "c*"}, strict=strict, generic=generic)
    for strict in (False, True) for generic in (False, True)
]
found = [[tools.definitions(dialect) for dialect in DIALECTS] + [tools.instructions()] for tools in sets]
text = json.dumps(found)
print(len(text), hashlib.sha256(text.encode()).hexdigest())
"""


def test_definitions_are_the_same_in_every_process():
    """A vendor's prompt cache holds them, so another order of a set would cost at every start."""
    environ = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": "sqlite://"}

    found = {run_python(MADE_ANEW, PYTHONHASHSEED=seed, **environ).stdout for seed in ("0", "1", "2", "3")}

    assert len(found) == 1
    assert int(found.pop().split()[0]) > 10_000


def test_the_definitions_of_an_entity_are_made_once_for_all_tenants(tenant, other_tenant):
    ours, theirs = (toolset(name, entities=[Task]) for name in (tenant, other_tenant))

    for _ in range(2):
        for one, other in zip(ours.definitions("gemini"), theirs.definitions("gemini"), strict=True):
            assert one == other and schema_of(one) is schema_of(other)
    ours.call("tasks_create", {"data": {"text": "x"}})
    assert len(ours.call("tasks_query", {})["rows"]) == 1
    assert theirs.call("tasks_query", {})["rows"] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_added_to_a_definition_stays_there(tenant, dialect):
    """A mark for the prompt cache at the last tool must not reach the next run, nor another tenant's."""
    tools = toolset(tenant, entities=[Task])

    tools.definitions(dialect)[-1]["cache_control"] = {"type": "ephemeral"}

    assert "cache_control" not in tools.definitions(dialect)[-1]
    assert "cache_control" not in toolset(tenant, entities=[Task]).definitions(dialect)[-1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_framework_that_changes_a_schema_changes_no_check(tenant, dialect):
    """Several do so in place, to make a schema strict; then every call would lack what is optional."""
    with isolate_apps("tests.testapp"):

        class Fresh(EntityModel):
            """Made for this test: its definitions are spoiled."""

            Schema = Task.Schema

            class Entity:
                name = "fresh"

            class Meta:
                app_label = "testapp"

        tools = toolset(tenant, entities=[Fresh])
        generic = toolset(tenant, entities=[Fresh], generic=True)
        described = generic.call("entity_describe", {"entity": "fresh"})
        for spoiled in (*map(schema_of, tools.definitions(dialect)), *described["arguments"].values()):
            spoiled["required"].extend(spoiled["properties"])
            for part in spoiled["properties"].values():
                part["type"] = "integer"

    kinds = [tool.input_schema["properties"].get("id", {}).get("type") for tool in tools]
    assert kinds == [None, "string", None, "string", "string"]
    assert [tool.input_schema["required"] for tool in tools] == [[], ["id"], ["data"], ["id"], ["id"]]


def test_an_unknown_dialect_is_refused_naming_the_known_ones(everything):
    with pytest.raises(ValidationFailed) as caught:
        everything().definitions("klingon")

    assert "openai_chat" in caught.value.hint


@pytest.mark.parametrize("dialect", ["klingon", None, [], {}], ids=str)
def test_a_set_without_tools_knows_the_dialects_too(dialect):
    with pytest.raises(ValidationFailed, match="There is no dialect"):
        toolset(entities=[]).definitions(dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
def test_a_long_declaration_makes_no_description_that_openai_refuses(tenant, dialect, generic):
    """OpenAI takes 1,024 characters in a tool's description, and any number in those of arguments."""
    text = "Orders as they were taken down, {by hand}. " * 50
    globs = [f"notes/{number}/*" for number in range(300)]
    with isolate_apps("tests.testapp"):

        class Long(EntityModel):
            class Schema(EntitySchema):
                text: str = ""

            class Entity:
                name = "a" * 40
                description = text

            class Meta:
                app_label = "testapp"

        tools = toolset(tenant, entities=[Long], agent="bia", writable=globs, generic=generic)
        definitions = tools.definitions(dialect)

    told = [definition.get("function", definition)["description"] for definition in definitions]
    assert max(map(len, told)) <= 1024
    assert all(text.endswith(".") for text in told)
    assert text.strip() in json.dumps(definitions)


def test_the_tenant_appears_in_no_definition(tenant, everything):
    text = json.dumps([everything().definitions(dialect) for dialect in DIALECTS])

    assert tenant not in text
    assert '"tenant"' not in text
    assert '"agent"' not in text


def test_descriptions_carry_the_declarations_words(tenant):
    tools = {tool["name"]: tool for tool in toolset(tenant, entities=[Task]).definitions("openai")}

    data = tools["tasks_create"]["parameters"]["properties"]["data"]
    assert "Tasks with everything that can be indexed." in tools["tasks_query"]["description"]
    assert data["properties"]["text"]["description"] == "What is to be done."
    assert data["properties"]["channel"]["enum"] == ["call", "email", "chat"]
    assert data["required"] == ["text"]


@pytest.mark.parametrize("generic", [False, True], ids=["per-entity", "generic"])
@pytest.mark.parametrize(
    ("tool", "facts"),
    [
        ("query", ["current user", "last updated first", "at most 100 rows"]),
        ("get", ["current user"]),
        ("create", ["current user"]),
        ("update", ["expected_version", "on a conflict, read it again"]),
        ("delete", ["soft delete"]),
    ],
)
def test_descriptions_carry_the_facts(tenant, generic, tool, facts):
    tools = toolset(tenant, entities=[Task], generic=generic).definitions("anthropic")

    (told,) = [one["description"] for one in tools if one["name"].endswith(f"_{tool}")]
    assert [fact for fact in facts if fact.lower() not in told.lower()] == []


def test_finding_strategies_says_that_every_significant_word_must_occur(everything):
    told = {tool["name"]: tool["description"] for tool in everything().definitions("mcp")}

    assert "Every significant word of the objective must occur" in told["strategy_find"]


def test_a_filter_takes_operators_for_indexed_and_array_fields_only(tenant):
    tool = toolset(tenant, entities=[Task]).definitions("openai")[0]

    keys = set(tool["parameters"]["properties"]["filter"]["properties"])
    assert {"priority__gte", "text__startswith", "tags__contains", "address"} <= keys
    assert not {"address__isnull", "tags__isnull"} & keys


def test_the_strict_variant_filters_by_indexed_and_array_fields_alone(tenant):
    """There every key has to be sent in every call."""
    filters = [
        toolset(tenant, entities=[Task], strict=strict).definitions("openai")[0] for strict in (False, True)
    ]
    plain, strict = (tool["parameters"]["properties"]["filter"] for tool in filters)

    fields = {key.split("__")[0] for key in strict["anyOf"][0]["properties"]}

    assert fields == {*Task.entity.indexes, "tags", "lines"}
    assert plain["properties"].keys() - strict["anyOf"][0]["properties"].keys() == {"address"}


def test_an_alias_is_the_name_that_a_model_sees(tenant):
    tool = toolset(tenant, entities=[Odd]).definitions("anthropic")[2]

    properties = tool["input_schema"]["properties"]["data"]["properties"]
    assert "madeBy" in properties
    assert properties["code"]["type"] == "string"


def test_hints_say_what_a_tool_does(everything):
    hints = {tool["name"]: tool["annotations"] for tool in everything().definitions("mcp")}

    assert hints["tasks_query"]["readOnlyHint"] and not hints["tasks_query"]["destructiveHint"]
    assert not hints["tasks_create"]["readOnlyHint"] and not hints["tasks_create"]["destructiveHint"]
    assert hints["tasks_update"]["destructiveHint"] and hints["tasks_delete"]["idempotentHint"]
    assert all(not hint["openWorldHint"] and len(hint) == 4 for hint in hints.values())


def test_only_what_is_listed_has_tools(tenant, other_tenant):
    tools = toolset(
        entities=[Task.store(tenant)],
        files=FileStore(other_tenant, "support"),
        strategies=StrategyStore(tenant),
        read_only=True,
    )

    assert [tool.name for tool in tools] == [
        "tasks_query", "tasks_get", "file_list", "file_read", "file_versions", "strategy_find",
    ]  # fmt: skip


def test_a_flag_that_is_true_or_false_in_another_form_reaches_no_definition(tenant):
    """Definitions are shared: one toolset made with 1 would have told all others 1."""

    @isolate_apps("tests.testapp")
    def made(*flags):
        class Fresh(EntityModel):
            """Made for this test: nothing has asked for its tools yet."""

            Schema = Task.Schema

            class Meta:
                app_label = "testapp"

        return [toolset(tenant, entities=[Fresh], strict=flag).definitions("openai")[0] for flag in flags]

    assert all(definition["strict"] is True for definition in made(1, True))
    assert all(definition["strict"] is False for definition in made(0, None, False))
