"""The system checks of declared entities; each test is named after the id."""

from __future__ import annotations

import enum
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from django.apps import apps
from django.core.checks import run_checks
from django.db import models
from django.test.utils import isolate_apps
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    RootModel,
    Secret,
    SecretStr,
    field_serializer,
    field_validator,
)
from typing_extensions import TypeAliasType

from agentstore.core.models import StoreQuerySet
from agentstore.entities import EntityModel, EntitySchema, UTCDateTime, checks


class Sound(EntitySchema):
    text: str = ""


class Loose(BaseModel):
    n: int = 0


class Mood(enum.StrEnum):
    GLAD = "glad"


class Size(enum.IntEnum):
    BIG = 1


class Mixed(enum.Enum):
    TEXT, NUMBER = "a", 1


@pytest.fixture
def declare(monkeypatch):
    """Declare an entity that no other test sees, and return the ids that its checks give."""
    declared = []
    monkeypatch.setattr(checks, "all_entities", lambda: declared)

    def declare(name="Thing", schema=Sound, doc="Things.", meta=None, entity=None, **attributes):
        options = {"name": name.lower() + "s", **(entity or {})}
        namespace = {
            "__module__": __name__,
            "__qualname__": name,
            "Meta": type("Meta", (), {"app_label": "testapp", **(meta or {})}),
            "Entity": type("Entity", (), options),
            **attributes,
        }
        if schema is not None:
            namespace["Schema"] = schema
        if doc:
            namespace["__doc__"] = doc
        with isolate_apps("tests.testapp"):
            declared.append(type(EntityModel)(name, (EntityModel,), namespace))
        return [message.id for message in checks.check_entities(None)]

    return declare


def schema(**fields):
    """Make a schema of ``name=annotation`` or ``name=(annotation, field)``."""
    pairs = {name: given if isinstance(given, tuple) else (given, Field()) for name, given in fields.items()}
    annotations = {name: annotation for name, (annotation, _) in pairs.items()}
    values = {name: field for name, (_, field) in pairs.items()}
    return type("Schema", (EntitySchema,), {"__annotations__": annotations, **values})


def test_a_sound_declaration_has_nothing_to_tell(declare):
    assert declare() == []


def test_every_entity_of_the_project_is_sound(db):
    assert [message for message in run_checks() if str(message.id).startswith("agentstore.E")] == []


@pytest.mark.parametrize(
    "given", [None, Loose, "Sound", Sound()], ids=["none", "pydantic", "text", "instance"]
)
def test_agentstore_E101(declare, given):
    """A schema that is none."""
    assert declare(schema=given) == ["agentstore.E101"]


@pytest.mark.parametrize(
    "name",
    ["Abc", "1a", "_a", "a-b", "a b", "é", "aé", "", "abc\n", "x" * 41, "entity", "a.b", "٣"],
    ids=repr,
)
def test_agentstore_E102(declare, name):
    """A name that can't be one in URLs and tools."""
    assert declare(entity={"name": name}) == ["agentstore.E102"]


@pytest.mark.parametrize("name", ["a", "a1", "a__b_", "audit", "entities", "x" * 40])
def test_names_that_are_allowed(declare, name):
    assert declare(entity={"name": name}) == []


@pytest.mark.parametrize(("doc", "description"), [("", None), ("", " "), ("Doc.", "")])
def test_agentstore_E103(declare, doc, description):
    """No description for the language model."""
    entity = {} if description is None else {"description": description}

    assert declare(doc=doc, entity=entity) == ["agentstore.E103"]


def test_the_description_may_stand_in_the_options(declare):
    assert declare(doc="", entity={"description": "Things."}) == []


def test_agentstore_E104(declare):
    """Two entities of one name; the message names both owners."""
    declare("First", entity={"name": "things"})
    found = declare("Second", entity={"name": "things"})

    assert found == ["agentstore.E104"]
    assert "testapp.First and testapp.Second" in checks.check_entities(None)[0].msg


def test_agentstore_E105(declare):
    """A column of its own."""
    assert declare(extra=models.TextField(default="")) == ["agentstore.E105"]


def test_agentstore_E106(declare):
    """A manager that would let writes pass the store."""
    assert declare("Default", objects=models.Manager()) == ["agentstore.E106"]


def test_agentstore_E106_of_a_second_manager(declare):
    assert declare(others=models.Manager()) == ["agentstore.E106"]


def test_agentstore_E106_of_a_base_manager(declare):
    assert declare(meta={"base_manager_name": "objects"}) == ["agentstore.E106"]


def test_a_manager_over_the_stores_queryset_is_allowed(declare):
    class Things(StoreQuerySet):
        def open(self):
            return self.filter(data__done=False)

    assert declare(objects=Things.as_manager()) == []


@pytest.mark.parametrize("extra", ["ignore", "allow", None])
def test_agentstore_E107(declare, extra):
    """A schema that would lose or keep unknown keys."""
    bad = type("Schema", (Sound,), {"model_config": {"extra": extra}})

    assert declare(schema=bad) == ["agentstore.E107"]


def test_agentstore_E107_of_a_schema_without_fields(declare):
    assert declare(schema=type("Schema", (EntitySchema,), {})) == ["agentstore.E107"]


Hidden = TypeAliasType("Hidden", dict[str, SecretStr])
Loosely = TypeAliasType("Loosely", list[Loose])
Words = TypeAliasType("Words", "str | list[Words]")


class HidesInside(EntitySchema):
    secret: SecretStr = SecretStr("x")


@pytest.mark.parametrize(
    "given",
    [
        schema(f=(str, Field(exclude=True))),
        schema(f=(str, Field(default="", exclude_if=lambda value: not value))),
        schema(f=SecretStr),
        schema(f=SecretStr | None),
        schema(f=list[SecretStr]),
        schema(f=Secret[int]),
        schema(f=Hidden | None),
        schema(f=(str, Field(alias="a", serialization_alias="b"))),
        schema(f=(str, Field(validation_alias="b"))),
        schema(f=(str, Field(serialization_alias="b"))),
    ],
    ids=[
        "exclude",
        "exclude-if",
        "secret",
        "secret-or-none",
        "secrets",
        "secret-int",
        "secret-alias",
        "two-aliases",
        "alias-in",
        "alias-out",
    ],
)
def test_agentstore_E108(declare, given):
    """A field that does not read back what it writes."""
    assert declare(schema=given) == ["agentstore.E108"]


def test_agentstore_E108_of_a_nested_field(declare):
    class Nested(EntitySchema):
        inner: HidesInside | None = None

    assert declare(schema=Nested) == ["agentstore.E108"]


def test_agentstore_E108_of_a_default(declare):
    """What the schema can be tried on is its defaults: they must come back as they went."""

    class Lossy(EntitySchema):
        n: Annotated[int, PlainSerializer(lambda value: value + 1, return_type=int)] = 0

    assert declare(schema=Lossy) == ["agentstore.E108"]


def test_agentstore_E108_of_a_default_that_does_not_fit(declare):
    assert declare(schema=schema(n=(int, Field(default="five")), text=str)) == ["agentstore.E108"]


def test_required_fields_that_no_sample_fits_are_left_to_the_writes(declare):
    assert declare(schema=schema(n=(int, Field(gt=100)), ref=UUID, at=datetime, on=date)) == []


def test_one_alias_for_both_ways_is_allowed(declare):
    assert declare(schema=schema(made_by=(str, Field(alias="madeBy")))) == []


@pytest.mark.parametrize("key", ["a__b", "a-b", "ä", "1a", "_a", "a b", "a.b", "$", "__a", "a\n"])
def test_agentstore_E109(declare, key):
    """A stored key that filters and tools can't name."""
    assert declare(schema=schema(f=(str, Field(alias=key)))) == ["agentstore.E109"]


def test_agentstore_E109_of_an_indexed_key(declare):
    """It is told by the check too, not by a traceback while models load."""
    assert declare(schema=schema(f=(str, Field(alias="a-b"))), entity={"indexes": ["a-b"]}) == [
        "agentstore.E109"
    ]


@pytest.mark.parametrize("key", ["a", "A", "a_b", "aB9_", "x" * 60])
def test_keys_that_are_allowed(declare, key):
    assert declare(schema=schema(f=(str, Field(alias=key)))) == []


@pytest.mark.parametrize("option", ["indexes", "sweep_indexes"])
def test_agentstore_E110(declare, option):
    """An index on a field that is not there; the hint names those that are, by their stored keys."""
    found = declare(schema=schema(made_by=(str, Field(alias="madeBy"))), entity={option: ["made_by"]})

    assert found == ["agentstore.E110"]
    assert "madeBy" in checks.check_entities(None)[0].hint


@pytest.mark.parametrize(
    "annotation",
    [
        datetime,
        datetime | None,
        Decimal,
        list[str],
        dict[str, int],
        Loose,
        int | str,
        int | float,
        UUID,
        time,
        timedelta,
        Size,
        Mixed,
        Literal["a", 1],
        object,
        Any,
        bytes,
    ],
    ids=str,
)
def test_agentstore_E111(declare, annotation):
    """An index on a type whose stored form has no order, or none that fits."""
    found = declare(schema=schema(f=annotation), entity={"indexes": ["f"]})

    assert [id for id in found if id != "agentstore.W101"] == ["agentstore.E111"]


@pytest.mark.parametrize(
    "annotation",
    [str, int, float, bool, date, UTCDateTime, Mood, Literal["a", "b"]],
    ids=["str", "int", "float", "bool", "date", "UTCDateTime", "enum", "Literal"],
)
@pytest.mark.parametrize("optional", [False, True])
def test_types_that_can_be_indexed(declare, annotation, optional):
    given = schema(f=annotation | None if optional else annotation)

    assert declare(schema=given, entity={"indexes": ["f"], "sweep_indexes": ["f"]}) == []


def test_agentstore_E112(declare):
    """An indexed field whose name is too long."""
    name = "x" * 41

    assert declare(schema=schema(**{name: str}), entity={"indexes": [name]}) == ["agentstore.E112"]


@pytest.mark.parametrize("limit", [-1, 1.5, True, "5", None], ids=repr)
def test_agentstore_E113(declare, limit):
    """A limit that is not a number of rows."""
    assert declare(entity={"max_rows_per_tenant": limit}) == ["agentstore.E113"]


async def ask_later(tenant):
    """A limit that could only be awaited."""


class Plan:
    def __init__(self, places):
        self.places = places

    def __call__(self, tenant):
        return self.places

    async def later(self, tenant):
        """A limit that could only be awaited."""


@pytest.mark.parametrize(
    "limit",
    [ask_later, Plan(5).later, lambda: 5, lambda self, tenant: 5, lambda *, tenant: 5],
    ids=["async", "async-method", "no-operand", "with-self", "by-keyword"],
)
def test_agentstore_E113_of_a_callable_that_can_not_be_asked(declare, limit):
    """It is told at once, not by every create."""
    assert declare(entity={"max_rows_per_tenant": limit}) == ["agentstore.E113"]


@pytest.mark.parametrize(
    "limit",
    [
        0,
        1,
        10**12,
        lambda tenant: 5,
        lambda tenant, *, plan="free": 5,
        lambda *names: 5,
        len,
        Plan(5),
        int,
    ],
    ids=["0", "1", "many", "function", "more-options", "any-operands", "built-in", "object", "no-signature"],
)
def test_limits_that_are_allowed(declare, limit):
    assert declare(entity={"max_rows_per_tenant": limit}) == []


class Words_(RootModel[list[str]]):
    """Stored as a list."""


class StrictWords(Words_):
    model_config = ConfigDict(strict=True)


class Hides(RootModel[SecretStr]):
    """Stored as asterisks."""


def test_a_root_model_reads_back_what_it_writes(declare):
    assert declare(schema=schema(words=StrictWords, lists=(list[StrictWords], Field(default=[])))) == []


def test_a_root_model_that_is_not_strict_is_told_how_it_gets_so(declare):
    assert declare(schema=schema(words=Words_)) == ["agentstore.W101"]
    assert "ConfigDict(strict=True)" in checks.check_entities(None)[0].hint


def test_a_root_model_with_a_secret_is_told(declare):
    assert declare(schema=schema(word=Hides)) == ["agentstore.E108", "agentstore.W101"]


class Choosy(EntitySchema):
    """Its validator raises what pydantic does not expect, for a sample that nobody would send."""

    country: str

    @field_validator("country")
    @classmethod
    def look_up(cls, value: str) -> str:
        return {"DE": "DE"}[value]


class Ticket(EntitySchema):
    """Its default can't be made while checks run."""

    number: int = Field(default_factory=lambda: dict[str, int]()["next"])


class Unwritable(EntitySchema):
    text: str = "x"

    @field_serializer("text")
    def shorten(self, value: str) -> str:
        return dict[str, str]()[value]


@pytest.mark.parametrize("given", [Choosy, Ticket])
def test_code_that_fails_on_samples_does_not_break_the_checks(declare, given):
    assert declare(schema=given) == []


def test_agentstore_E108_of_a_serializer_that_fails(declare):
    assert declare(schema=Unwritable) == ["agentstore.E108"]
    assert "KeyError: 'x'" in checks.check_entities(None)[0].msg


@pytest.mark.parametrize("annotation", [Loose, Loose | None, list[Loose], dict[str, Loose], Loosely], ids=str)
def test_agentstore_W101(declare, annotation):
    """A nested model that is not strict."""
    assert declare(schema=schema(f=annotation)) == ["agentstore.W101"]


def test_a_schema_that_nests_itself_is_no_trouble(declare):
    assert declare(schema=Tree) == []


def test_an_alias_that_refers_to_itself_is_no_trouble(declare):
    assert (
        declare(schema=schema(words=(Words, Field(default="")), free=(JsonValue, Field(default=None)))) == []
    )


class Tree(EntitySchema):
    name: str = ""
    children: list[Tree] = []


@pytest.mark.parametrize("key", ["id", "version", "created_at", "updated_at", "tenant"])
def test_agentstore_W102(declare, key):
    """A field that a filter can't reach, because the row's own column has its name."""
    assert declare(schema=schema(**{key: str})) == ["agentstore.W102"]


def test_every_message_has_a_hint_and_names_its_entity(declare):
    declare(
        schema=schema(f=(SecretStr, Field(alias="a-b"))),
        doc="",
        entity={"name": "No", "indexes": ["x", "a-b"], "max_rows_per_tenant": -1},
        meta={"base_manager_name": "objects"},
        extra=models.TextField(default=""),
    )
    found = checks.check_entities(None)

    assert len(found) >= 7
    assert all(message.hint for message in found)
    assert all(message.msg.startswith("Thing: ") for message in found)


def test_only_the_chosen_apps_are_checked(declare):
    declare(doc="")

    assert checks.check_entities([apps.get_app_config("auth")]) == []
    assert [m.id for m in checks.check_entities([apps.get_app_config("testapp")])] == ["agentstore.E103"]
