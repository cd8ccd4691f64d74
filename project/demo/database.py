"""The demo's database: emptied on request, and only if the demo filled it."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from project.companies import COMPANIES

__all__ = ["describe", "empty", "prepare"]


def describe() -> str:
    """Return what the database is, in one line without its password."""
    config = connection.settings_dict
    where = f" on {config['HOST']}" if config.get("HOST") else ""
    return f"{connection.display_name}, {config['NAME']}{where}"


def prepare() -> None:
    """Bring the tables up to date.

    Raises:
        CommandError: the database can't be reached, or not be written.
    """
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except OperationalError as error:
        raise CommandError(f"The database can't be used ({describe()}): {error}") from error


def empty() -> None:
    """Remove everything: SQLite's file, or the rows of a database that the demo filled.

    Raises:
        CommandError: the database is on a server and holds what the demo did not make.
    """
    file = Path(str(connection.settings_dict["NAME"]))
    if connection.vendor == "sqlite" and file.is_file():
        connection.close()
        for part in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))):
            part.unlink(missing_ok=True)
        return
    prepare()
    if get_user_model().objects.exists() and not Group.objects.filter(name__in=COMPANIES).exists():
        raise CommandError(f"Not emptied: the demo did not fill this database ({describe()}).")
    call_command("flush", interactive=False, verbosity=0)
