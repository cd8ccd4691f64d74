"""What can be known of a schema's top-level fields: key, kind, nullability, filter type. No Django."""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from numbers import Number
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    EmailStr,
    FutureDate,
    FutureDatetime,
    IPvAnyAddress,
    IPvAnyInterface,
    IPvAnyNetwork,
    NaiveDatetime,
    PastDate,
    PastDatetime,
    RootModel,
    StringConstraints,
    TypeAdapter,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import SchemaValidator, core_schema
from typing_extensions import TypeAliasType

from agentstore.core.values import JSONObject
from agentstore.entities.schema import UTCMark
from agentstore.entities.strictness import validator_of

__all__ = ["SchemaField", "StoredJsonSchema", "fields_of", "naming_field", "schema_json", "unalias"]

#: JSON Schema's types and what they are called here.
_KINDS = {
    "string": "text", "integer": "number", "number": "number", "boolean": "boolean",
    "array": "array", "object": "object",
}  # fmt: skip


#: Types whose text sorts otherwise than they do.
_UNORDERED = (
    Number, timedelta, IPvAnyAddress, IPvAnyInterface, IPvAnyNetwork,
    IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network, list, dict,
)  # fmt: skip
#: An alias as ``type Name = str`` makes it, from Python 3.12 on, and as ``typing_extensions`` does.
_ALIASES: tuple[Any, ...] = (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))
#: Classes of pydantic's whose values are of a plain type, held to a constraint.
_CONSTRAINED: dict[Any, type] = {
    EmailStr: str,
    PastDate: date,
    FutureDate: date,
    AwareDatetime: datetime,
    NaiveDatetime: datetime,
    PastDatetime: datetime,
    FutureDatetime: datetime,
}


@dataclass(frozen=True, kw_only=True)
class SchemaField:
    """One top-level field of a schema, as it is stored.

    ``key`` is the stored key, ``kind`` the one JSON kind of its values (text, number, boolean,
    array, object; ``mixed`` where there are several), ``base`` the plain Python type behind it
    where there is exactly one. ``utc`` marks a ``UTCDateTime``, ``dated`` what is stored as an ISO
    date. ``json_schema`` is the field's own, with ``$ref`` left as they are.
    """

    key: str
    name: str
    kind: str
    nullable: bool
    required: bool
    base: Any
    utc: bool
    dated: bool
    title: str
    description: str
    json_schema: JSONObject
    info: FieldInfo

    @property
    def scalar(self) -> bool:
        """True for text, numbers and booleans."""
        return self.kind in ("text", "number", "boolean")

    @property
    def orderable(self) -> bool:
        """True where the stored order is the order of the values.

        Not for a Decimal, a plain datetime, a duration, an address or a number that are kept as text.
        """
        if self.kind != "text" or not isinstance(self.base, type) or issubclass(self.base, str):
            return self.scalar
        if issubclass(self.base, datetime):
            return self.utc
        if issubclass(self.base, date):
            return self.dated  # else a codec of its own writes it
        return not issubclass(self.base, _UNORDERED)

    @property
    def indexable(self) -> bool:
        """True for str, int, float, bool, date, UTCDateTime, str enums and literals."""
        if not self.orderable or not isinstance(self.base, type):
            return False
        if issubclass(self.base, enum.Enum):
            return issubclass(self.base, str)
        return issubclass(self.base, str | int | float | date)

    @functools.cached_property
    def validator(self) -> SchemaValidator:
        """Validate the JSON of a filter's operand, as ``adapter`` does."""
        return validator_of(self.adapter.core_schema, self.adapter.validator)

    @functools.cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Validate a filter's operand: the field's type without its constraints, or null."""
        # ``rebuild_annotation`` puts validators and serializers of the field back on its type.
        annotation: Any = self.info.rebuild_annotation()
        return TypeAdapter[Any](
            # An alias of mixed values may refer to itself by name, which only pydantic can follow.
            Union[_unconstrained(annotation) if self.scalar else annotation, None],  # type: ignore[arg-type]  # noqa: UP007
            config=ConfigDict(strict=True, allow_inf_nan=False),
        )


class StoredJsonSchema(GenerateJsonSchema):
    """JSON Schema of what is stored: JSON inside a text stays text there."""

    def json_schema(self, schema: core_schema.JsonSchema) -> JsonSchemaValue:
        found = super().json_schema(schema)
        stored = {"type": "string", "contentMediaType": "application/json"}
        return stored if self.mode == "serialization" else found


@functools.cache
def schema_json(schema: type[BaseModel], *, mode: Literal["validation", "serialization"]) -> JSONObject:
    """Return the JSON Schema of ``schema`` by stored keys, an object at its root."""
    found = schema.model_json_schema(by_alias=True, schema_generator=StoredJsonSchema, mode=mode)
    if "$ref" in found:  # a schema that refers to itself stands among its own definitions
        found = {**found["$defs"][found["$ref"].rsplit("/", 1)[1]], "$defs": found["$defs"]}
    return found


@functools.cache
def fields_of(schema: type[BaseModel]) -> dict[str, SchemaField]:
    """Return the stored fields of ``schema`` by key, in the order of declaration."""
    properties = schema_json(schema, mode="serialization").get("properties", {})
    found = (_field(schema, name, info, properties) for name, info in schema.model_fields.items())
    return {field.key: field for field in found}


@functools.cache
def naming_field(schema: type[BaseModel]) -> SchemaField | None:
    """Return the field that names a row: the first of plain text, None where there is none."""
    plain = (f for f in fields_of(schema).values() if f.kind == "text" and f.base is str)
    return next((field for field in plain if not {"enum", "const"} & set(field.json_schema)), None)


def _field(schema: type[BaseModel], name: str, info: FieldInfo, properties: JSONObject) -> SchemaField:
    key = info.serialization_alias or info.alias or name
    own = properties.get(key, {})
    root = schema_json(schema, mode="serialization")
    kinds = set(_kinds(own, root))
    bases = {*_bases(info.annotation)} - {type(None)}
    marks = [*info.metadata, *_metadata(info.annotation)]
    return SchemaField(
        key=key,
        name=name,
        kind=_only(kinds - {"null"}),
        nullable=bool(kinds & {"null", "any"}),
        required=info.is_required(),
        base=bases.pop() if len(bases) == 1 else None,
        utc=any(isinstance(mark, UTCMark) for mark in marks),
        dated="date" in _formats(own, root),
        title=info.title or key.replace("_", " "),
        description=info.description or "",
        json_schema=own,
        info=info,
    )


def _formats(part: JSONObject, root: JSONObject) -> Iterator[str | None]:
    if "$ref" in part:
        yield from _formats(root["$defs"][part["$ref"].rsplit("/", 1)[1]], root)
    for option in part.get("anyOf", ()):
        yield from _formats(option, root)
    yield part.get("format")


def _only(kinds: set[str]) -> str:
    return kinds.pop() if len(kinds) == 1 and "any" not in kinds else "mixed"


def _kinds(part: JSONObject, root: JSONObject) -> Iterator[str]:
    """Yield the JSON kinds that a part of a JSON Schema allows; nothing known yields ``any``."""
    if "$ref" in part:
        yield from _kinds(root["$defs"][part["$ref"].rsplit("/", 1)[1]], root)
    elif "anyOf" in part or "oneOf" in part:
        for option in part.get("anyOf") or part["oneOf"]:
            yield from _kinds(option, root)
    elif "const" in part or "enum" in part:
        for value in part.get("enum", [part.get("const")]):
            yield _kind_of(value)
    elif isinstance(part.get("type"), str):
        yield _KINDS.get(part["type"], "null")
    else:
        yield "any"


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def unalias(annotation: Any) -> Any:
    """Return what a ``NewType`` or an alias (``type Name = str``) stands for, or the annotation itself."""
    if isinstance(annotation, NewType):
        return unalias(annotation.__supertype__)
    origin = get_origin(annotation)
    if isinstance(origin, _ALIASES):  # a generic one
        return unalias(origin.__value__[get_args(annotation)])
    if isinstance(annotation, _ALIASES) and not isinstance(annotation.__value__, str):
        return unalias(annotation.__value__)
    return annotation


def _held(annotation: Any) -> Any:
    """Return what is stored for an annotation: a ``RootModel`` is stored as what it holds."""
    annotation = unalias(annotation)
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        return _held(annotation.model_fields["root"].rebuild_annotation())
    return annotation


def _bases(annotation: Any) -> Iterator[Any]:
    annotation = _held(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _bases(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for option in get_args(annotation):
            yield from _bases(option)
    elif origin is Literal:
        yield from {type(value) for value in get_args(annotation)}
    else:
        yield origin or _CONSTRAINED.get(annotation, annotation)


def _metadata(annotation: Any) -> Iterator[Any]:
    annotation = _held(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from annotation.__metadata__
        yield from _metadata(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for option in get_args(annotation):
            yield from _metadata(option)


def _unconstrained(annotation: Any) -> Any:
    """Return ``annotation`` without constraints (bounds, lengths, patterns), codecs kept."""
    annotation = unalias(annotation)
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        kept = [mark for mark in metadata if not _constrains(mark)]
        bare = _unconstrained(inner)
        return Annotated[(bare, *kept)] if kept else bare
    if origin in (Union, types.UnionType):
        return Union[tuple(_unconstrained(option) for option in get_args(annotation))]  # noqa: UP007
    return _CONSTRAINED.get(annotation, annotation)


def _constrains(mark: object) -> bool:
    kind = type(mark)
    if kind.__module__.startswith("annotated_types") or isinstance(mark, FieldInfo | StringConstraints):
        return True
    return (
        kind.__name__ == "_PydanticGeneralMetadata"
    )  # pattern, max_digits: pydantic has no public name for it
