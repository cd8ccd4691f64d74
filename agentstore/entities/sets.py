"""Sets in a document: kept in one order, since Python's own depends on how a set was made. No Django."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass

from pydantic import BaseModel, RootModel

from agentstore.core.guards import dump_json
from agentstore.core.values import JSONValue
from agentstore.entities.fields import fields_of, schema_json

__all__ = ["has_sets", "order_sets"]


@functools.cache
def has_sets(schema: type[BaseModel]) -> bool:
    """Tell whether a set may stand anywhere in the rows of a schema."""
    return '"uniqueItems"' in json.dumps(schema_json(schema, mode="serialization"))


def order_sets(value: object, document: JSONValue) -> None:
    """Sort, in place, the lists of a document in whose place ``value`` has sets."""
    if isinstance(value, Set) and isinstance(document, list):
        document.sort(key=dump_json)
    elif isinstance(value, RootModel):
        order_sets(value.root, document)
    else:
        for part, dumped in _pairs(value, document):
            order_sets(part, dumped)


def _pairs(value: object, document: JSONValue) -> Iterator[tuple[object, JSONValue]]:
    """Yield the parts of a value with what they were dumped as, both in the same order."""
    if isinstance(value, BaseModel) and isinstance(document, dict):
        for field in fields_of(type(value)).values():
            yield getattr(value, field.name), document.get(field.key)
    elif is_dataclass(value) and isinstance(document, dict):
        for part in fields(value):
            yield getattr(value, part.name), document.get(part.name)
    elif isinstance(value, Mapping) and isinstance(document, dict):
        yield from zip(value.values(), document.values(), strict=False)
    elif isinstance(value, list | tuple) and isinstance(document, list):
        yield from zip(value, document, strict=False)
