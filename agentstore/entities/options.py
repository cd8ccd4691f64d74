"""What the inner ``Entity`` class of a declaration says, read once, and the index names it leads to."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.utils import names_digest
from django.db.models import Index, Q
from pydantic import BaseModel

from agentstore.entities.fields import fields_of
from agentstore.indexes import EntityFieldIndex

__all__ = ["DEFAULT_ROWS", "KEY_RE", "EntityOptions", "build_indexes", "read_options"]

#: How many live rows a tenant may have where a declaration says nothing.
DEFAULT_ROWS = 10_000
#: What a stored key may be: it is written into SQL, query strings and tools.
KEY_RE = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class EntityOptions:
    """The options of one entity; what is wrong with them is told by the system checks."""

    name: str
    indexes: tuple[str, ...] = ()
    sweep_indexes: tuple[str, ...] = ()
    max_rows_per_tenant: int | Callable[[str], int] = DEFAULT_ROWS
    description: str = ""

    def capacity(self, tenant: str) -> int:
        """Return how many live rows ``tenant`` may have.

        Raises:
            ImproperlyConfigured: the declaration's callable gave something else than an int >= 0.
        """
        limit = self.max_rows_per_tenant
        value = limit(tenant) if callable(limit) else limit
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ImproperlyConfigured(
                f"{self.name}: max_rows_per_tenant must be an int >= 0, found {value!r}."
            )
        return value


def read_options(model_name: str, declared: type | None, docstring: str | None) -> EntityOptions:
    """Return the options of a declaration; a misspelt one raises ``ImproperlyConfigured``."""
    given = {} if declared is None else _attributes(declared)
    known = [field.name for field in fields(EntityOptions)]
    for name in given:
        if name not in known:
            valid = ", ".join(known)
            raise ImproperlyConfigured(f"{model_name}.Entity.{name} is not an option. Valid: {valid}.")
    for name in ("indexes", "sweep_indexes"):
        given[name] = _names(model_name, name, given.get(name, ()))
    given.setdefault("name", model_name.lower())
    given.setdefault("description", inspect.cleandoc(docstring or ""))
    for name in ("name", "description"):
        if not isinstance(given[name], str):
            raise ImproperlyConfigured(f"{model_name}.Entity.{name} must be text, found {given[name]!r}.")
    return EntityOptions(**given)


def _attributes(declared: type) -> dict[str, Any]:
    """Return the public attributes of the inner class, those of its bases included."""
    return {name: getattr(declared, name) for name in dir(declared) if not name.startswith("_")}


def _names(model_name: str, option: str, value: Any) -> tuple[str, ...]:
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence)
        or not all(isinstance(x, str) for x in value)
    ):
        raise ImproperlyConfigured(
            f"{model_name}.Entity.{option} must be a list of field names, found {value!r}."
        )
    return tuple(dict.fromkeys(value))


def build_indexes(table: str, schema: type[BaseModel], options: EntityOptions) -> list[Index]:
    """Return the indexes of an entity; fields that can't be indexed are left to the system checks.

    Names follow Django's own recipe and come from the untruncated table name, so that they are
    the same on every database.
    """
    live = Index(
        fields=["tenant", "updated_at", "id"],
        condition=Q(deleted_at__isnull=True),
        name=_index_name(table, "live", "idx"),
    )
    return [live, *_field_indexes(table, schema, options)]


def _field_indexes(table: str, schema: type[BaseModel], options: EntityOptions) -> list[Index]:
    known = fields_of(schema)
    wanted = [(name, True) for name in options.indexes] + [(name, False) for name in options.sweep_indexes]
    return [
        EntityFieldIndex(
            field=name,
            kind=known[name].kind,
            # The index of live rows has taken the name that a field "live" would get.
            name=_index_name(table, name, "idx" if tenant else "swp", *(["field"] if name == "live" else [])),
            tenant=tenant,
        )
        for name, tenant in wanted
        if name in known and known[name].indexable and KEY_RE.fullmatch(name)
    ]


def _index_name(table: str, tag: str, suffix: str, *more: str) -> str:
    name = f"{table[:11]}_{tag[:7]}_{names_digest(table, tag, *more, suffix, length=6)}_{suffix}"
    return f"D{name[1:]}" if name[0] == "_" or name[0].isdigit() else name
