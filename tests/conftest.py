"""What all tests share: the database they run on, the tenants, the users and the clients."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import hypothesis
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from agentstore.remote import EntityClient
from tests.live import LiveServer, credentials, serving
from tests.postgres import Cluster

# A busy machine is slow, never wrong: no property fails for the time that it took.
hypothesis.settings.register_profile(
    "suite", hypothesis.settings(), deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Supply the database: a throw-away PostgreSQL, or a file that threads can share."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        config["TEST"]["NAME"] = str(tmp_path_factory.mktemp("sqlite") / "test.sqlite3")
        yield
    elif os.environ.get("DATABASE_URL"):
        yield
    else:
        cluster = Cluster.start()
        config["HOST"] = cluster.host
        yield
        cluster.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names of tests that hold an address: several workers could not agree on what there is."""
    unlike = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unlike:
        raise pytest.UsageError(f"Give these tests ids that are alike in every process: {unlike}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("postgres_only") and connection.vendor != "postgresql":
        pytest.skip("runs on PostgreSQL only")


@pytest.fixture(scope="session")
def _icu_name(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str | None]:
    """Make a migrated database whose default collation is ICU's, once; None where there is none."""
    with django_db_blocker.unblock():
        if not _knows_icu():
            yield None
            return
        name = f"{connection.settings_dict['NAME']}_icu"
        quoted = connection.ops.quote_name(name)
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {quoted}")
            cursor.execute(
                f"CREATE DATABASE {quoted} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' "
                "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
            )
        with _connected_to(name):
            call_command("migrate", verbosity=0)
    yield name
    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {quoted} WITH (FORCE)")


def _knows_icu() -> bool:
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_collation WHERE collname = 'en-US-x-icu'")
        return cursor.fetchone() is not None


@contextmanager
def _connected_to(name: str) -> Iterator[None]:
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


@pytest.fixture
def icu_database(_icu_name: str | None, transactional_db: None) -> Iterator[None]:
    """Let this test's default database be one whose text order is that of ICU's en-US.

    Skipped on SQLite and on a PostgreSQL built without ICU. Commits are real, threads may join in.
    """
    if _icu_name is None:
        pytest.skip("no database with an ICU collation here")
    with _connected_to(_icu_name):
        yield
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture
def tenant() -> str:
    """The tenant of most tests."""
    return "acme"


@pytest.fixture
def other_tenant() -> str:
    """A tenant that must never see what ``tenant`` stores."""
    return "globex"


@pytest.fixture
def actor() -> str:
    return "agent:bia"


@pytest.fixture
def user(db: None) -> User:
    """An ordinary user."""
    return get_user_model().objects.create_user("ursula", "ursula@example.com", "secret")


@pytest.fixture
def staff(db: None) -> User:
    """A user who may enter the admin, and nothing else. ``admin_user`` is the superuser."""
    return get_user_model().objects.create_user("stella", "stella@example.com", "secret", is_staff=True)


@pytest.fixture
def api_client(user: User) -> APIClient:
    """A REST client signed in as ``user``."""
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture(scope="session")
def live_server_of_tests(django_db_setup: None) -> Iterator[LiveServer]:
    """The REST API on a port, started once."""
    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def kept_alive() -> Iterator[httpx.Client]:
    """The connections to it, kept from test to test."""
    with httpx.Client(timeout=120) as client:
        yield client


@pytest.fixture
def live(live_server_of_tests: LiveServer, db: None, settings: Any) -> Iterator[LiveServer]:
    """The REST API on a port, over this test's own database; users act for any tenant."""
    settings.AGENTSTORE = {**settings.AGENTSTORE, "ACCESS": "tests.live.ActorAccess"}
    with live_server_of_tests.for_one_test():
        yield live_server_of_tests


@pytest.fixture
def connect(live: LiveServer, kept_alive: httpx.Client) -> Callable[..., EntityClient]:
    """Return a function that makes a client of the API for an actor."""

    def client(actor: str = "", **options: Any) -> EntityClient:
        options = {"client": kept_alive, "auth": credentials(actor), **options}
        return EntityClient(live.url, **options)

    return client
