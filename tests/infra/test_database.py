"""The database that the tests run on."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.db import connection

from tests.parallel import run_parallel


@pytest.mark.postgres_only
def test_marker_postgres_only_runs_on_postgres_alone():
    assert connection.vendor == "postgresql"


def test_threads_share_the_committed_rows(transactional_db):
    results = run_parallel(8, lambda i: Group.objects.create(name=f"g{i}").name)

    assert results == [f"g{i}" for i in range(8)]
    assert Group.objects.count() == 8


def test_an_error_in_a_thread_is_a_result(transactional_db):
    Group.objects.create(name="taken")

    results = run_parallel(3, lambda i: Group.objects.create(name="taken" if i else "free").name)

    assert results[0] == "free"
    assert [type(result).__name__ for result in results[1:]] == ["IntegrityError"] * 2


def test_icu_database_orders_text_by_language(icu_database):
    for name in ["Z", "a", "_b"]:
        Group.objects.create(name=name)

    assert list(Group.objects.order_by("name").values_list("name", flat=True)) == ["_b", "a", "Z"]


def test_after_an_icu_test_text_order_is_the_usual_one(db):
    Group.objects.bulk_create(Group(name=name) for name in ["Z", "a", "_b"])

    assert list(Group.objects.order_by("name").values_list("name", flat=True)) == ["Z", "_b", "a"]


def test_icu_database_starts_empty(icu_database):
    assert Group.objects.count() == 0
