"""Index classes that migrations import. The path and the arguments are frozen for ever."""

from __future__ import annotations

import re
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models import BooleanField, F, Field, Func, Index, JSONField, Model, TextField
from django.db.models.sql.compiler import SQLCompiler

__all__ = ["EntityFieldIndex", "FieldValue"]


class FieldValue(Func):
    """The value of one top-level field of ``data``, or NULL unless it has the field's own type.

    Because missing, null and foreign values are all NULL, one expression serves equality, ranges,
    order and "has no value", and both databases agree. Text compares by code point whatever the
    database's collation. The key is written as a literal: PostgreSQL uses an expression index only
    where the query has the very same expression.
    """

    _OUTPUT: dict[str, type[Field[Any, Any]]] = {
        "text": TextField,
        "number": JSONField,
        "boolean": BooleanField,
    }
    _POSTGRES = {
        "text": (
            "(CASE WHEN jsonb_typeof({json} -> '{key}') = 'string' THEN {json} ->> '{key}' END) COLLATE \"C\""
        ),
        "number": "CASE WHEN jsonb_typeof({json} -> '{key}') = 'number' THEN {json} -> '{key}' END",
        "boolean": "CASE WHEN jsonb_typeof({json} -> '{key}') = 'boolean' THEN {json} -> '{key}' END",
    }
    _SQLITE = {
        "text": (
            "CASE WHEN json_type({json}, '$.\"{key}\"') = 'text' THEN json_extract({json}, '$.\"{key}\"') END"
        ),
        "number": "AGENTSTORE_NUMBER({json} -> '$.\"{key}\"')",
        "boolean": "CASE json_type({json}, '$.\"{key}\"') WHEN 'true' THEN 1 WHEN 'false' THEN 0 END",
    }

    def __init__(self, field: str, kind: str) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", field, re.ASCII):
            raise ValueError(f"{field!r} can't be written into SQL: use letters, digits and _.")
        super().__init__(F("data"), output_field=self._OUTPUT[kind]())
        self.key, self.kind = field, kind

    def __repr__(self) -> str:
        return f"data.{self.key} ({self.kind})"  # what makemigrations and migrate print

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **kwargs: Any) -> tuple[str, list[Any]]:
        return self._render(self._POSTGRES, compiler)

    def as_sqlite(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: Any, **kwargs: Any
    ) -> tuple[str, list[Any]]:
        return self._render(self._SQLITE, compiler)

    def _render(self, templates: dict[str, str], compiler: SQLCompiler) -> tuple[str, list[Any]]:
        json, _ = compiler.compile(self.source_expressions[0])
        return templates[self.kind].format(json=json, key=self.key), []


class EntityFieldIndex(Index):
    """``(tenant, field of data, updated_at, id)``: filter, range and order on a declared field.

    ``kind`` is text, number or boolean. With ``tenant=False`` the tenant is left out, for the
    entity's ``sweep``. It makes nothing on a database other than PostgreSQL: SQLite would never
    use it, because the field's path reaches its queries as another expression.
    """

    def __init__(self, *, field: str, kind: str, name: str, tenant: bool = True) -> None:
        first = (F("tenant"),) if tenant else ()
        super().__init__(*first, FieldValue(field, kind), F("updated_at"), F("id"), name=name)
        self.field, self.kind, self.tenant = field, kind, tenant

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        kwargs: dict[str, Any] = {"field": self.field, "kind": self.kind, "name": self.name}
        if not self.tenant:
            kwargs["tenant"] = False
        return "agentstore.indexes.EntityFieldIndex", (), kwargs

    def create_sql(
        self, model: type[Model], schema_editor: BaseDatabaseSchemaEditor, using: str = "", **kwargs: Any
    ) -> Statement:
        if schema_editor.connection.vendor != "postgresql":
            return Statement("SELECT 1", table=model._meta.db_table)
        return super().create_sql(model, schema_editor, using=using, **kwargs)

    def remove_sql(  # type: ignore[override]
        self, model: type[Model], schema_editor: BaseDatabaseSchemaEditor, **kwargs: Any
    ) -> Statement:
        if schema_editor.connection.vendor != "postgresql":
            return Statement("SELECT 1", table=model._meta.db_table)
        return super().remove_sql(model, schema_editor, **kwargs)  # type: ignore[return-value]
