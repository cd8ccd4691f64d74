"""A database that the demo filled, once for each module that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from pytest_django import DjangoDbBlocker


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """What ``demo --no-serve`` printed; its rows are gone after the module's last test."""
    output = StringIO()
    with django_db_blocker.unblock(), transaction.atomic():
        call_command("demo", "--no-serve", "--port", "8123", stdout=output)
        yield output.getvalue()
        transaction.set_rollback(True)
