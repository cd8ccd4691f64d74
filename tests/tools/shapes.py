"""One of every shape that a schema can have, for the tests of definitions."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from functools import reduce
from operator import or_
from typing import Annotated, Any, ForwardRef, Literal
from uuid import UUID

from pydantic import AnyUrl, Field, create_model

from agentstore.entities import EntitySchema, UTCDateTime


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(Enum):
    ONE = 1
    TWO = "two"


class Node(EntitySchema):
    """A model that holds another of its kind."""

    size: int = Field(gt=0, lt=10, multiple_of=2)
    parent: Node | None = None


class Cat(EntitySchema):
    kind: Literal["cat"]
    lives: int = 9


class Dog(EntitySchema):
    kind: Literal["dog"]
    tricks: dict[str, int] = {}


class Circle(EntitySchema):
    size: int = 1
    shape: Literal["circle"] = "circle"


class Square(EntitySchema):
    size: int = 1
    shape: Literal["square"] = "square"


class Person(EntitySchema):
    name: str
    age: int | None


class Firm(EntitySchema):
    name: str
    vat: str = ""


class OddKeys(EntitySchema):
    size: int = Field(default=1, alias="größe")
    ok: int = 0


class Shapes(EntitySchema):
    """One of every shape."""

    text: Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]", description="A word.")]
    colour: Colour = Colour.RED
    level: Level = Field(default=Level.LOW, description="How loud.")
    mixed: Mixed = Mixed.ONE
    listed: Literal[1, "a", None] = 1
    one: Literal["x"] = "x"
    only_true: Literal[True] = True
    node: Node | None = None
    nodes: list[Node] = []
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    union: int | str | list[int] | None = None
    counts: dict[str, int] = {}
    by_name: dict[str, Node] = {}
    pair: tuple[int, str] = (1, "a")
    many: tuple[int, ...] = ()
    words: set[str] = set()
    table: list[list[int]] = [[]]
    things: list[Any] = []
    anything: Any = None
    above: Any = Field(default=1, ge=0)
    amount: Decimal = Decimal(1)
    day: date | None = None
    at: UTCDateTime | None = None
    clock: time | None = None
    long: timedelta | None = None
    ref: UUID | None = None
    url: AnyUrl | None = None
    odd: OddKeys | None = None
    odds: list[OddKeys] = []
    share: float = Field(default=0, ge=0, le=1)
    additionalProperties: int = 0
    kind: str = Field(default="", alias="type")
    properties: list[str] = []
    nothing: None = None
    same: list[int] | set[int] = []
    maps: dict[str, int] | dict[str, str] = {}
    blank: Literal["", "a"] = ""
    figure: Circle | Square | None = Field(default=None, description="What is drawn.")
    party: Person | Firm | None = None
    parties: list[Person | Firm | str] = []


class Tree(EntitySchema):
    """A schema whose rows hold others of their kind."""

    name: str
    below: list[Tree] = []


def many_kinds(count: int) -> type[EntitySchema]:
    """Return a schema of as many models, each of which may hold all of them."""
    names = [f"Kind{number}" for number in range(count)]
    held: Any = Annotated[reduce(or_, map(ForwardRef, names)), Field(discriminator="kind")]
    fields: dict[str, Any] = {
        name: {"kind": (Literal[name], name), "items": (list[held], [])} for name in names
    }
    kinds = {name: create_model(name, __base__=EntitySchema, **fields[name]) for name in names}
    for kind in kinds.values():
        kind.model_rebuild(_types_namespace=kinds)
    rule: dict[str, Any] = {"rule": (kinds[names[0]], ...)}
    return create_model("Rule", __base__=EntitySchema, **rule)


def deep(levels: int) -> type[EntitySchema]:
    """Return a schema whose objects are nested as deeply."""
    inner: dict[str, Any] = {"text": (str, ...)}
    for level in range(levels):
        found = create_model(f"Level{level}", __base__=EntitySchema, **inner)
        inner = {"inner": (found, ...)}
    return found


#: Values of a row, in JSON.
FULL = {
    "text": "abc", "colour": "blue", "level": 2, "mixed": "two", "listed": "a", "only_true": True,
    "node": {"size": 2, "parent": {"size": 4, "parent": None}}, "nodes": [{"size": 2}],
    "pets": [{"kind": "cat"}, {"kind": "dog", "tricks": {"sit": 3}}], "union": [1, 2],
    "counts": {"a": 1}, "by_name": {"a": {"size": 2}}, "pair": [1, "a"], "many": [1, 2, 3],
    "words": ["a"], "table": [[1], [2, 3]], "things": ["a", 1, None, ["b"], {"c": 1}],
    "anything": {"free": ["form"]}, "amount": "1.50", "day": "2027-05-01", "at": "2027-05-01T09:00:00Z",
    "clock": "09:00:00", "long": "PT5M", "ref": "0198c5a5-0000-7000-8000-000000000000",
    "url": "https://example.com/", "odd": {"größe": 3, "ok": 1}, "odds": [{"größe": 3}], "share": 0.5,
    "additionalProperties": 3, "type": "t", "properties": ["p"], "nothing": None,
    "same": [1], "maps": {"a": 1}, "blank": "a", "figure": {"size": 2, "shape": "square"},
    "party": {"name": "a", "age": 3}, "parties": [{"name": "a", "vat": "1"}, "b"],
}  # fmt: skip
