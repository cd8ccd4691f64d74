"""What conditions are made of: one template a database, values in the form that each compares, and
PostgreSQL's SQL of both where rows are read without a queryset."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import BooleanField, Expression, F, Func, Value
from django.db.models.expressions import OrderBy
from django.db.models.sql.compiler import SQLCompiler

__all__ = ["Condition", "Operand", "Renderer", "render"]

_SLOT = re.compile(r"\{(\d+)\}")
# Making a field object costs more than all the rest of an expression; it holds no state.
_BOOLEAN = BooleanField()


class Condition(Func):
    """A condition from one template a database; ``{0}``, ``{1}`` stand for the expressions."""

    def __init__(self, template: str, *expressions: Any, sqlite: str = "") -> None:
        super().__init__(*expressions, output_field=_BOOLEAN)
        self.postgres, self.sqlite = template, sqlite or template

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **kwargs: Any) -> tuple[str, list[Any]]:
        return self._render(self.postgres, compiler)

    def as_sqlite(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: Any, **kwargs: Any
    ) -> tuple[str, list[Any]]:
        return self._render(self.sqlite, compiler)

    def _render(self, template: str, compiler: SQLCompiler) -> tuple[str, list[Any]]:
        params: list[Any] = []

        def fill(match: re.Match[str]) -> str:
            sql, own = compiler.compile(self.source_expressions[int(match[1])])
            params.extend(own)
            return sql

        return _SLOT.sub(fill, template), params


class Operand(Expression):
    """A value to compare with, in the form that each database compares."""

    def __init__(self, postgres: Any, sqlite: Any, cast: str = "") -> None:
        super().__init__(output_field=_BOOLEAN)
        self.postgres, self.sqlite, self.cast = postgres, sqlite, cast

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **kwargs: Any) -> tuple[str, list[Any]]:
        return f"%s{self.cast}", [self.postgres]

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **kwargs: Any) -> tuple[str, list[Any]]:
        return "%s", [self.sqlite]


class Renderer:
    """Stands in for the compiler of a queryset, where PostgreSQL's rows are read without one."""

    def compile(self, node: Any) -> tuple[str, list[Any]]:
        if isinstance(node, F):
            return f'r."{node.name}"', []  # type: ignore[attr-defined]
        if isinstance(node, Value):
            return "%s", [node.value]
        if isinstance(node, OrderBy):
            sql, params = self.compile(node.expression)
            return f"{sql} {'DESC' if node.descending else 'ASC'}", params
        sql, params = node.as_postgresql(self, None)
        return sql, params


_RENDERER = Renderer()


def render(node: Condition | OrderBy) -> tuple[str, list[Any]]:
    """Return the SQL of a condition or a key of an order on PostgreSQL's table ``r``, and its parameters."""
    return _RENDERER.compile(node)
