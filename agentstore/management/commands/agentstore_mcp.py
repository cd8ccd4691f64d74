"""``agentstore_mcp``: serve a tenant's tools to an MCP client over standard input and output."""

from __future__ import annotations

import signal
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.tools import mcp
from agentstore.tools.toolsets import Toolset, toolset

__all__ = ["Command"]


class Command(BaseCommand):
    """Serve one tenant's tools; the client starts this and talks to it until it closes its end."""

    help = (
        "Serves the tools of a tenant to an MCP client over standard input and output. The client starts it; "
        "what it logs goes to standard error."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True, help="Whose data.")
        parser.add_argument("--agent", help="Also this agent's files, as tools and as resources.")
        parser.add_argument("--actor", help="Who acts, for the history; agent:AGENT, or mcp, if left out.")
        parser.add_argument("--read-only", action="store_true", help="Only the tools that read.")
        parser.add_argument(
            "--writable",
            nargs="+",
            action="extend",
            default=[],
            metavar="GLOB",
            help="The agent's files that may be written, such as 'notes/*'; none if left out.",
        )
        parser.add_argument(
            "--generic", action="store_true", help="One set of tools for all entities, not five for each."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tools = self.tools(options)
        try:
            serve = mcp.serve_stdio
        except ImportError as error:
            raise CommandError(str(error)) from error
        # The thread that waits for the client's next line can't be interrupted, so Ctrl-C would wait, too.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        serve(tools)

    def tools(self, options: dict[str, Any]) -> Toolset:
        """Return the tools to serve, or refuse what they can't be made of."""
        agent = options["agent"]
        if options["writable"] and agent is None:
            raise CommandError("--writable is about an agent's files: say whose with --agent.")
        try:
            return toolset(
                options["tenant"],
                agent=agent,
                actor=options["actor"] or (f"agent:{agent}" if agent else "mcp"),
                writable=options["writable"],
                read_only=options["read_only"],
                generic=options["generic"],
            )
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
