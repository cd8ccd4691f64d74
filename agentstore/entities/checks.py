"""The system checks of declared entities (E1xx, W1xx): each names the declaration and the cure."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any, get_origin

from django.core import checks
from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr, ValidationError

from agentstore.core import guards
from agentstore.core.errors import ValidationFailed
from agentstore.core.models import StoreQuerySet
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import Codec
from agentstore.entities.fields import SchemaField, fields_of, schema_json, unalias
from agentstore.entities.options import KEY_RE
from agentstore.entities.query import SYSTEM_FIELDS
from agentstore.entities.registry import all_entities
from agentstore.entities.schema import EntitySchema

__all__ = ["check_entities"]

NAME_RE = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
LONGEST = 40
#: Taken by the generic set of tools.
RESERVED_NAMES = frozenset({"entity"})
#: What pydantic writes as asterisks.
_SECRETS = (SecretStr, SecretBytes, Secret)


def check_entities(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check every declared entity of the given apps (None: of all)."""
    labels = None if app_configs is None else {config.label for config in app_configs}
    chosen = [model for model in all_entities() if labels is None or model._meta.app_label in labels]
    return [message for model in chosen for message in _check(model)] + list(_duplicates(all_entities()))


def _error(model: type[EntityModel], number: int, problem: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"{model.__name__}: {problem}", hint=hint, obj=model, id=f"agentstore.E{number}")


def _check(model: type[EntityModel]) -> Iterator[checks.CheckMessage]:
    schema = getattr(model, "Schema", None)
    yield from _check_name(model)
    yield from _check_columns(model)
    if not (isinstance(schema, type) and issubclass(schema, EntitySchema)):
        hint = "Give it a nested class Schema(EntitySchema), or Schema = YourSchema."
        yield _error(model, 101, "it has no Schema that derives from EntitySchema.", hint)
        return
    yield from _check_schema(model, schema)
    for field in fields_of(schema).values():
        yield from _check_field(model, field)
    for option in ("indexes", "sweep_indexes"):
        yield from _check_indexes(model, option, fields_of(schema))
    yield from _check_limit(model)


def _check_name(model: type[EntityModel]) -> Iterator[checks.CheckMessage]:
    name = model.entity.name
    if not NAME_RE.fullmatch(name) or len(name) > LONGEST or name in RESERVED_NAMES:
        hint = (
            f"Use small letters, digits and _, at most {LONGEST}, starting with a letter; 'entity' is taken."
        )
        yield _error(model, 102, f"{name!r} is not an entity name.", hint)
    if not model.entity.description.strip():
        hint = "Give the model a docstring, or Entity.description: language models read it."
        yield _error(model, 103, "it has no description.", hint)


def _duplicates(models: list[type[EntityModel]]) -> Iterator[checks.CheckMessage]:
    owners: dict[str, list[type[EntityModel]]] = defaultdict(list)
    for model in models:
        owners[model.entity.name].append(model)
    for name, found in owners.items():
        if len(found) > 1:
            who = " and ".join(model._meta.label for model in found)
            yield _error(
                found[-1], 104, f"the entity name {name!r} is used by {who}.", "Set another Entity.name."
            )


def _check_columns(model: type[EntityModel]) -> Iterator[checks.CheckMessage]:
    own = {field.name for field in EntityModel._meta.get_fields()}
    for field in model._meta.get_fields():
        if field.name not in own and not (field.auto_created and not field.concrete):
            hint = "Declare it in the Schema: rows live in the JSON field."
            yield _error(model, 105, f"the column {field.name!r} is not the entity's own.", hint)
    for manager in model._meta.managers:
        if not isinstance(manager.get_queryset(), StoreQuerySet):
            hint = "Leave the manager out, or derive its queryset from StoreQuerySet."
            yield _error(model, 106, f"the manager {manager.name!r} would let writes pass the store.", hint)
    if model._meta.base_manager_name:
        yield _error(
            model, 106, "the store itself needs Django's base manager.", "Remove Meta.base_manager_name."
        )


def _check_schema(model: type[EntityModel], schema: type[EntitySchema]) -> Iterator[checks.CheckMessage]:
    if schema.model_config.get("extra") != "forbid":
        hint = "Remove extra from the schema's model_config: unknown keys would be lost."
        yield _error(model, 107, "its schema does not forbid unknown keys.", hint)
    if not fields_of(schema):
        yield _error(model, 107, "its schema has no fields.", "Declare at least one.")
    lossy = [name for part in (schema, *_nested(schema)) for name in _lossy(part)]
    for name in lossy:
        hint = "Use one alias for both ways; leave out exclude, SecretStr and the like."
        yield _error(model, 108, f"the field {name!r} does not read back what it writes.", hint)
    problem = "" if lossy else _trial(model, schema)
    if problem:
        yield _error(model, 108, problem, "A default fits its type, and each field reads its own JSON form.")
    for nested in _nested(schema):
        root = issubclass(nested, RootModel)
        if not (nested.model_config.get("strict") if root else issubclass(nested, EntitySchema)):
            cure = "Give it ConfigDict(strict=True)" if root else "Derive it from EntitySchema"
            yield checks.Warning(
                f"{model.__name__}: the nested model {nested.__name__} is not strict.",
                hint=f"{cure}: pydantic does not hand the rules down.",
                obj=model,
                id="agentstore.W101",
            )


def _lossy(schema: type[BaseModel]) -> Iterator[str]:
    """Yield the fields that are not stored, or stored as what they can't be read from."""
    taken = {"root"}  # of a RootModel, which is stored as what it holds
    if not issubclass(schema, RootModel):
        taken = set(schema_json(schema, mode="validation").get("properties", {}))
    for field in fields_of(schema).values():
        if (
            field.info.exclude
            or field.info.exclude_if
            or _secret(field.info.annotation)
            or field.key not in taken
        ):
            yield field.key


#: What a required field is tried with.
_SAMPLES = {str: "x", int: 1, float: 0.5, bool: True, date: "2026-01-31", datetime: "2026-01-31T09:00:00Z"}


def _trial(model: type[EntityModel], schema: type[EntitySchema]) -> str:
    """Store and read a row of defaults, and of samples where there is none; return what went wrong."""
    fields = fields_of(schema)
    given = {key: _SAMPLES.get(field.base) for key, field in fields.items() if field.required}
    codec = Codec(schema, model.entity.name, ())
    try:
        instance = schema.model_validate_json(guards.dump_json(given))
    except ValidationError as error:
        wrong = [str(item["loc"][0]) for item in error.errors() if item["loc"]]
        return next((f"the default of {key!r} does not fit." for key in wrong if key not in given), "")
    except Exception:  # a validator of the host's may raise anything for what is but a sample
        return ""
    try:
        codec.dump(instance, max_bytes=2**30, max_depth=guards.MAX_DEPTH)
    except ValidationFailed as error:
        return error.message.removeprefix(f"{codec.name}: ")
    except Exception as error:  # a serializer of the host's may raise anything
        return f"its own code can't write the row ({type(error).__name__}: {error})."
    return ""


def _secret(annotation: Any) -> bool:
    kinds = (part if isinstance(part, type) else get_origin(part) for part in _parts(annotation))
    return any(isinstance(kind, type) and issubclass(kind, _SECRETS) for kind in kinds)


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield all that an annotation is made of, each once: what aliases stand for, which may be recursive."""
    waiting, seen = [annotation], list[Any]()
    while waiting:
        part = unalias(waiting.pop(0))
        if part not in seen:
            seen.append(part)
            yield part
            waiting += getattr(part, "__args__", ())


def _nested(schema: type[BaseModel]) -> list[type[BaseModel]]:
    """Return every model that a schema refers to, directly or not."""
    found: dict[type[BaseModel], None] = {}

    def walk(model: type[BaseModel]) -> None:
        for info in model.model_fields.values():
            for part in _parts(info.annotation):
                nested = isinstance(part, type) and issubclass(part, BaseModel)
                if nested and part not in found and part is not schema:
                    found[part] = None
                    walk(part)

    walk(schema)
    return list(found)


def _check_field(model: type[EntityModel], field: SchemaField) -> Iterator[checks.CheckMessage]:
    if not KEY_RE.fullmatch(field.key) or "__" in field.key:
        hint = "Use letters, digits and single _, starting with a letter, or set an alias that does."
        yield _error(model, 109, f"the field {field.key!r} can't be filtered or shown to a model.", hint)
    if field.key in SYSTEM_FIELDS or field.key == "tenant":
        yield checks.Warning(
            f"{model.__name__}: in filters and orders, {field.key!r} means the row's own column.",
            hint="Rename the field to filter by it.",
            obj=model,
            id="agentstore.W102",
        )


def _check_indexes(
    model: type[EntityModel], option: str, known: dict[str, SchemaField]
) -> Iterator[checks.CheckMessage]:
    for name in getattr(model.entity, option):
        if name not in known:
            hint = f"Valid: {', '.join(known)}. Name the stored key (the alias, where there is one)."
            yield _error(model, 110, f"Entity.{option} names the unknown field {name!r}.", hint)
        elif not known[name].indexable:
            hint = "Index fields of type str, int, float, bool, date, UTCDateTime or a str enum (or None)."
            yield _error(model, 111, f"Entity.{option}: {name!r} has a type that can't be indexed.", hint)
        elif len(name) > LONGEST:
            yield _error(
                model, 112, f"Entity.{option}: {name!r} is too long.", f"At most {LONGEST} characters."
            )


def _check_limit(model: type[EntityModel]) -> Iterator[checks.CheckMessage]:
    limit = model.entity.max_rows_per_tenant
    if callable(limit):
        fits = _takes_tenant(limit)
    else:
        fits = isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0
    if not fits:
        hint = "Give an int >= 0 or a callable, not async, that takes the tenant alone."
        yield _error(model, 113, f"max_rows_per_tenant is {limit!r}.", hint)


def _takes_tenant(limit: Callable[..., Any]) -> bool:
    if inspect.iscoroutinefunction(limit) or inspect.iscoroutinefunction(type(limit).__call__):
        return False
    try:
        inspect.signature(limit).bind("tenant")
    except TypeError:
        return False
    except ValueError:  # some built-in functions do not tell
        return True
    return True
