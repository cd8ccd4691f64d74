"""``EntityModel``: the class that a host project subclasses to declare an entity.

A subclass is an ordinary Django model, so app loading, migrations and imports need no magic; the
metaclass only completes ``Meta`` with the indexes and permissions that the declaration implies.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, ClassVar, Protocol, TypeVar, overload

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models.base import ModelBase
from pydantic import BaseModel, PydanticUserError

from agentstore.core.guards import printable
from agentstore.core.models import StoreModel
from agentstore.core.values import EntityRow, JSONValue
from agentstore.entities.fields import fields_of, naming_field
from agentstore.entities.options import EntityOptions, build_indexes, read_options
from agentstore.entities.schema import EntitySchema
from agentstore.entities.store import EntityStore
from agentstore.entities.sweep import asweep, sweep

__all__ = ["EntityModel"]

S = TypeVar("S", bound=EntitySchema)


class HasSchema(Protocol[S]):
    """A model class whose ``Schema`` is known to the type checker."""

    Schema: type[S]


class EntityBase(ModelBase):
    """Completes ``Meta`` before Django reads it; historical models in migrations never meet it."""

    def __new__(mcs, name: str, bases: tuple[type, ...], ns: dict[str, Any], **kwargs: Any) -> Any:
        declared = ns.get("Meta")
        parents = [base for base in bases if isinstance(base, EntityBase)]
        if not parents or getattr(declared, "abstract", False) or getattr(declared, "proxy", False):
            return super().__new__(mcs, name, bases, ns, **kwargs)
        if any(not parent._meta.abstract for parent in parents):  # type: ignore[attr-defined]
            raise ImproperlyConfigured(
                f"{name}: an entity can't inherit from the entity {parents[0].__name__}."
            )
        schema = mcs._inherited("Schema", ns, bases)
        options = read_options(name, mcs._inherited("Entity", ns, bases), ns.get("__doc__"))
        ns = {**ns, "Meta": mcs._complete_meta(name, bases, ns, schema, options), "entity": options}
        return super().__new__(mcs, name, bases, ns, **kwargs)

    @staticmethod
    def _inherited(attribute: str, ns: dict[str, Any], bases: tuple[type, ...]) -> Any:
        if attribute in ns:
            return ns[attribute]
        return next((getattr(base, attribute) for base in bases if getattr(base, attribute, None)), None)

    @staticmethod
    def _complete_meta(
        name: str, bases: tuple[type, ...], ns: dict[str, Any], schema: Any, options: EntityOptions
    ) -> type:
        base = ns.get("Meta") or next((b.Meta for b in bases if hasattr(b, "Meta")), object)
        meta = type("Meta", (base,), {"abstract": False})
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            table = getattr(meta, "db_table", "") or f"{_app_label(name, meta, ns)}_{name.lower()}"
            own = list(getattr(meta, "indexes", ()))
            meta.indexes = [*own, *build_indexes(table, _complete(name, schema), options)]  # type: ignore[attr-defined]
        if not hasattr(base, "default_permissions"):
            meta.default_permissions = ("add", "change", "delete", "view", "undelete")  # type: ignore[attr-defined]
        return meta


def _app_label(name: str, meta: type, ns: dict[str, Any]) -> str:
    label = getattr(meta, "app_label", None)
    config = apps.get_containing_app_config(ns["__module__"])
    if label or config:
        return str(label or config.label)  # type: ignore[union-attr]
    raise ImproperlyConfigured(
        f"{name} is in no installed app. Add its app to INSTALLED_APPS or set Meta.app_label."
    )


def _complete(name: str, schema: type[BaseModel]) -> type[BaseModel]:
    """Return ``schema`` with its forward references resolved: the indexes need its field types."""
    if not schema.__pydantic_complete__ and not schema.model_rebuild(raise_errors=False):
        raise ImproperlyConfigured(
            f"{name}.Schema refers to a type that is not defined yet. Define it above the entity."
        )
    try:
        fields_of(schema)
    except PydanticUserError as error:
        raise ImproperlyConfigured(
            f"{name}.Schema has a field that JSON can't hold: {error.message}"
        ) from error
    return schema


class EntityModel(StoreModel, metaclass=EntityBase):
    """Typed, tenant-scoped rows that agents read and write through a store.

    A subclass gives ``Schema`` (an ``EntitySchema``), an inner ``Entity`` class with ``name``,
    ``indexes``, ``sweep_indexes``, ``max_rows_per_tenant`` and ``description`` (default: the
    docstring), and is otherwise an ordinary model without columns of its own.
    """

    Schema: ClassVar[type[EntitySchema]]
    entity: ClassVar[EntityOptions]

    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.CharField(max_length=255, editable=False)
    data = models.JSONField()
    version = models.PositiveIntegerField(editable=False)
    created_at = models.DateTimeField(editable=False)
    updated_at = models.DateTimeField(editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        methods = "create(), create_many(), update(), replace(), delete() and undelete()"
        cls.store_hint = f"{cls.__name__}.store(tenant) has {methods}"

    def __str__(self) -> str:
        data = self.data if isinstance(self.data, dict) else {}  # no dict: spoiled by hand
        field = naming_field(self.Schema)
        text = data.get(field.key) if field else None
        return printable(text[:100]) if isinstance(text, str) and text.strip() else str(self.pk)

    @overload
    @classmethod
    def store(
        cls: type[HasSchema[S]],
        tenant: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> EntityStore[S]: ...
    @overload
    @classmethod
    def store(
        cls,
        tenant: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> EntityStore[Any]: ...
    @classmethod
    def store(
        cls,
        tenant: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        context: Mapping[str, JSONValue] | None = None,
    ) -> EntityStore[Any]:
        """Return the store of one tenant's rows of this entity.

        Raises:
            ValidationFailed: the tenant, actor, reason or context is not allowed.
        """
        return EntityStore(cls, tenant, actor=actor, reason=reason, context=context)

    @classmethod
    def sweep(
        cls, filter: Mapping[str, JSONValue] | None = None, *, order_by: str | None = None, reason: str
    ) -> Iterator[EntityRow[Any]]:
        """Iterate over the live rows of all tenants that match, for dispatchers; each row says its tenant.

        The one door across tenants: every call is logged with its ``reason``.

        Raises:
            ValidationFailed: the filter, the order or the reason does not hold.
        """
        return sweep(cls, filter, order_by=order_by, reason=reason)

    @classmethod
    def asweep(
        cls, filter: Mapping[str, JSONValue] | None = None, *, order_by: str | None = None, reason: str
    ) -> AsyncIterator[EntityRow[Any]]:
        """Do what ``sweep`` does, for async code; iterate with ``async for``."""
        return asweep(cls, filter, order_by=order_by, reason=reason)
