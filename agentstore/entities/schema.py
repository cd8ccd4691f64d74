"""The base of every entity's schema, and its field types. Pure pydantic: no Django."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from agentstore.entities.strictness import json_validator

__all__ = ["EntitySchema", "UTCDateTime", "UTCMark"]


class EntitySchema(BaseModel):
    """What one row of an entity holds; subclass it and declare fields.

    Strict: "5" is no 5, unknown keys are refused, NaN and Infinity too, and defaults are
    validated like any value. A field may opt out with ``Field(strict=False)``. Nested models
    should derive from this class as well: pydantic does not hand the rules down.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, validate_default=True, protected_namespaces=()
    )

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Do what pydantic does, and take JSON's form of a date behind a ``before`` validator as well."""
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        found: Self = json_validator(cls).validate_json(json_data, **options)
        return found


_EXPECTED = "a date and time with an offset, such as 2026-01-31T09:00:00Z"
#: RFC 3339, section 5.6, with the blank that it allows in place of the T.
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class UTCMark:
    """Marks a datetime field whose stored form is fixed-width UTC, so that text order is time order."""


def _to_utc(value: object) -> datetime:
    if isinstance(value, str) and _RFC3339.fullmatch(value):
        try:
            value = datetime.fromisoformat(value.upper())
        except ValueError:
            raise ValueError(f"Input should be {_EXPECTED}; there is no such day or time") from None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError(f"Input should be {_EXPECTED}")
    try:
        return value if value.tzinfo is UTC else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("Input should lie in the years 1 to 9999 in UTC") from None


def _render(value: datetime) -> str:
    return value.isoformat(timespec="microseconds")[:26] + "Z"


#: An aware datetime, kept in UTC. Takes ISO 8601 text with an offset or an aware ``datetime``;
#: stored as ``2026-01-31T09:00:00.000000Z``.
UTCDateTime = Annotated[
    datetime,
    UTCMark(),
    BeforeValidator(_to_utc),
    PlainSerializer(_render, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
