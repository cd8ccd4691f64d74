"""Entities that the tests declare: one of everything that a schema can hold."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, PlainSerializer

from agentstore.entities import EntityModel, EntitySchema, UTCDateTime


class Channel(StrEnum):
    CALL = "call"
    EMAIL = "email"
    CHAT = "chat"


class Address(EntitySchema):
    street: str
    city: str = ""


class Line(EntitySchema):
    sku: str
    quantity: int = 1


class TaskData(EntitySchema):
    text: str = Field(description="What is to be done.")
    due_at: UTCDateTime | None = None
    done: bool = False
    priority: int = Field(default=0, ge=-1000, le=1000)
    score: float | None = None
    channel: Channel = Channel.EMAIL
    day: date | None = None
    tags: list[str] = []
    address: Address | None = None
    lines: list[Line] = []


class Task(EntityModel):
    """Tasks with everything that can be indexed."""

    Schema = TaskData

    class Entity:
        name = "tasks"
        indexes = ["text", "due_at", "done", "priority", "score", "channel", "day"]
        sweep_indexes = ["due_at"]


class Small(EntityModel):
    """Rows of which a tenant may have five."""

    class Schema(EntitySchema):
        n: int = 0
        a: int = 0
        b: int = 0

    class Entity:
        name = "smalls"
        max_rows_per_tenant = 5


def _from_text(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdigit() else value


class Odd(EntityModel):
    """Rows with the odd types: aliases, codecs, unions, decimals, literals and free JSON."""

    class Schema(EntitySchema):
        code: Annotated[
            int,
            BeforeValidator(_from_text, json_schema_input_type=str),
            PlainSerializer(str, return_type=str),
        ] = 0
        amount: Decimal | None = None
        at: datetime | None = None
        ref: UUID | None = None
        mood: Literal["good", "bad"] = "good"
        either: int | str = 0
        size: int | float = 0
        meta: dict[str, object] = {}
        anything: object = None
        made_by: str = Field(default="", alias="madeBy")

    class Entity:
        name = "odds"
        indexes = ["mood", "madeBy"]


class Plain(EntityModel):
    """Rows without any declared index, with a limit per tenant."""

    class Schema(EntitySchema):
        value: object = None
        text: str = ""
        number: float | None = None

    class Entity:
        name = "plains"

        @staticmethod
        def max_rows_per_tenant(tenant: str) -> int:
            return 2 if tenant.startswith("small") else 1_000_000
