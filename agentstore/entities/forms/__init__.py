"""``SchemaForm``: an entity's form, made from its schema. The store, and so the schema, validates.

One widget per leaf. What is posted is compared with what was shown, text with text, and only fields
whose text somebody changed become a patch: a form that nobody touched writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from agentstore.core.values import JSONObject, JSONValue
from agentstore.entities.forms.bound import MAX_CELLS, BoundField, Group, Leaf, Table, bind
from agentstore.entities.forms.shape import MISSING, shapes_of
from agentstore.entities.forms.texts import UNSET

__all__ = ["Changes", "SchemaForm"]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What somebody changed: the store's patch, and the fields to put back to their defaults."""

    patch: JSONObject
    unset: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.patch or self.unset)

    @property
    def keys(self) -> list[str]:
        """The fields that change."""
        return [*self.patch, *self.unset]


class SchemaForm:
    """The fields of ``schema`` bound to a stored document and to what was posted, if anything was.

    With ``only``, what was posted counts for those fields alone; the others show what is stored.
    ``multiline`` names text fields that get room for several lines.
    """

    def __init__(
        self,
        schema: type[BaseModel],
        document: JSONObject | None = None,
        posted: Mapping[str, str] | None = None,
        *,
        only: Collection[str] | None = None,
        multiline: Sequence[str] = (),
    ) -> None:
        stored = {} if document is None else document
        self.is_new = document is None
        shapes = shapes_of(schema, frozenset(multiline))
        cells = MAX_CELLS // max(1, sum(shape.kind == "table" for shape in shapes))
        self.is_bound = posted is not None
        #: Messages that belong to no field.
        self.errors: list[str] = []
        self.fields: dict[str, BoundField] = {}
        for shape in shapes:
            own = posted if only is None or shape.key in only else None
            value: JSONValue = stored.get(shape.key, MISSING)
            self.fields[shape.key] = bind(shape, shape.key, value, own, max_cells=cells)
        self._changes: Changes | None = None

    def __iter__(self) -> Iterator[BoundField]:
        return iter(self.fields.values())

    def __getitem__(self, key: str) -> BoundField:
        return self.fields[key]

    @property
    def leaves(self) -> list[BoundField]:
        """The fields with a line of their own; they stand first."""
        return [field for field in self if isinstance(field, Leaf)]

    @property
    def sections(self) -> list[BoundField]:
        """The nested objects and the tables; each is a fieldset."""
        return [field for field in self if isinstance(field, Group | Table)]

    @property
    def changes(self) -> Changes:
        """What was changed. Texts that mean no value become errors of their fields, and are left out."""
        if self._changes is None:
            values = {key: field.value() for key, field in self.fields.items() if field.touched}
            if values or self.is_new:
                values |= {key: field.empty() for key, field in self.fields.items() if field.lacking}
            patch = {
                key: value for key, value in values.items() if value is not MISSING and value is not UNSET
            }
            unset = tuple(key for key, value in values.items() if value is UNSET)
            self._changes = Changes(patch=patch, unset=unset)
        return self._changes

    @property
    def touched(self) -> list[str]:
        """The fields whose text was changed, whether or not it means a value."""
        return [key for key, field in self.fields.items() if field.touched]

    @property
    def error_count(self) -> int:
        """How many errors the form shows."""
        return len(self.errors) + sum(field.error_count for field in self)

    def attach(self, errors: Mapping[str, Sequence[str]]) -> None:
        """Show the errors of a store (dotted path -> messages) at their fields, the rest above the form."""
        for path, messages in errors.items():
            key, *rest = path.split(".")
            for message in messages:
                if key in self.fields:
                    self.fields[key].attach(rest, message)
                else:
                    self.errors.append(f"{path}: {message}" if path else message)
