"""A table of the host's with a foreign key to rows of ours, as a migration of the host's makes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, models

__all__ = ["referring_to"]


@contextmanager
def referring_to(model: type[models.Model], id: UUID) -> Iterator[None]:
    """Let a row of another table refer to the row of that id."""
    table, key = model._meta.db_table, model._meta.pk
    with connection.cursor() as cursor:
        kind = key.db_type(connection)
        cursor.execute(f"CREATE TABLE host_remark (about {kind} REFERENCES {table} (id))")
        cursor.execute("INSERT INTO host_remark VALUES (%s)", [key.get_db_prep_value(id, connection)])
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE host_remark")
