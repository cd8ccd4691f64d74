"""Codecs that the tests of encoding and merging share, and how they call them."""

from __future__ import annotations

import json

import pytest
from pydantic import computed_field, field_validator, model_validator

from agentstore.core.errors import ValidationFailed
from agentstore.entities import EntitySchema
from agentstore.entities.codec import Codec
from tests.testapp.models import Odd, TaskData

LIMITS = {"max_bytes": 256 * 1024, "max_depth": 64}
TASKS = Codec(TaskData, "tasks", ["text", "due_at"])
ODDS = Codec(Odd.Schema, "odds", [])


class Ranged(EntitySchema):
    low: int = 0
    high: int = 10
    note: str = ""

    @model_validator(mode="after")
    def _in_order(self):
        if self.low > self.high:
            raise ValueError("low is over high")
        return self

    @field_validator("note")
    @classmethod
    def _no_shouting(cls, value):
        if value.isupper():
            raise ValueError("No shouting.")
        return value

    @computed_field  # type: ignore[prop-decorator]
    @property
    def width(self) -> int:
        return self.high - self.low


RANGES = Codec(Ranged, "ranges", [])


def encode(data, codec=TASKS):
    return codec.encode(data, **LIMITS)


def problems(call, *arguments, **options):
    with pytest.raises(ValidationFailed) as info:
        call(*arguments, **options)
    return info.value.errors


def merge(text, patch, unset=(), codec=TASKS):
    stored = text if isinstance(text, str) else json.dumps(text)
    return codec.merge(stored, patch, unset, **LIMITS)
