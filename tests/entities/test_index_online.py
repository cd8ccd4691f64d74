"""Indexes of large tables: made and dropped without holding up writers, as the README shows."""

from __future__ import annotations

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import connection
from django.db.migrations.state import ModelState, ProjectState

from agentstore.indexes import EntityFieldIndex
from tests.testapp.models import Plain

INDEX = EntityFieldIndex(field="text", kind="text", name="testapp_pla_online_idx")


def index_names():
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, Plain._meta.db_table))


@pytest.mark.postgres_only
def test_an_index_is_added_and_removed_concurrently(transactional_db):
    before = ProjectState()
    before.add_model(ModelState.from_model(Plain))
    add = AddIndexConcurrently("plain", INDEX)
    after = before.clone()
    add.state_forwards("testapp", after)

    with connection.schema_editor(atomic=False) as editor:
        add.database_forwards("testapp", editor, before, after)
        assert INDEX.name in index_names()
        RemoveIndexConcurrently("plain", INDEX.name).database_forwards("testapp", editor, after, before)

    assert INDEX.name not in index_names()
