"""``manage.py demo``: a filled database, an admin account and a running server in one step."""

from __future__ import annotations

import argparse
import socket
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser, call_command

from project.companies import COMPANIES
from project.demo import accounts, database
from project.demo.filling import fill

HOST = "127.0.0.1"
PAGES = (("Home", "/"), ("Admin", "/admin/"), ("OpenAPI", "/api/schema/"), ("Documentation", "/api/docs/"))


def port_number(text: str) -> int:
    """Return ``text`` as a port."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 65535, found {text!r}")
    return int(text)


class Command(BaseCommand):
    """Fill the demo's database where it is empty and serve it; again and again."""

    help = "Fills the demo's database where it is empty, prints how to log in, and serves it on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=port_number, default=8000, help="Where to listen (default: 8000).")
        parser.add_argument("--no-serve", action="store_false", dest="serve", help="Stop before the server.")
        parser.add_argument("--reset", action="store_true", help="Remove everything first and start over.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["serve"]:
            self.check_port(options["port"])
        if options["reset"]:
            database.empty()
        database.prepare()
        self.stdout.write(f"Database: {database.describe()}")
        self.fill()
        self.tell(options["port"])
        self.stdout.flush()
        if options["serve"]:
            call_command("runserver", f"{HOST}:{options['port']}", use_reloader=False)

    def check_port(self, port: int) -> None:
        """Refuse a port that is taken before anything else is done."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                reason = f"Port {port} can't be used ({error.strerror}). Choose another with --port."
                raise CommandError(reason) from error

    def fill(self) -> None:
        """Give each company its rows and the people their accounts, where they are missing."""
        for tenant, name in COMPANIES.items():
            changes = fill(tenant)
            self.stdout.write(f"{name}: {f'{changes:,} changes written' if changes else 'filled already'}")
        accounts.make_accounts()

    def tell(self, port: int) -> None:
        """Print the accounts and the addresses."""
        self.stdout.write(f"\nAdmin account: {accounts.ADMIN}  password: {accounts.PASSWORD}")
        people = " and ".join(accounts.PEOPLE)
        self.stdout.write(f"{people} have the same password and see their own company only.\n\n")
        for title, path in PAGES:
            self.stdout.write(f"{title + ':':<15}http://{HOST}:{port}{path}")
        self.stdout.write("")
