"""``manage.py play``: a recorded conversation of the demo's agent, its tools and rows real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from agentstore import acting
from agentstore.core.models import AuditEntry
from agentstore.core.values import JSONObject
from agentstore.entities.registry import all_entities
from agentstore.files import FileStore
from agentstore.strategies import StrategyStore
from project.companies import COMPANIES
from project.examples.scripted import BOOKING, Step, Transcript, play

State = dict[str, str]

#: How much of a call or result is shown.
WIDTH = 110


class Command(BaseCommand):
    """Play a model's turns through a toolset; show what was there before, and what is there after."""

    help = (
        "Plays a recorded conversation of an agent: no account is needed, what the tools do is real. "
        "Run 'demo --no-serve' once before."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "transcript", nargs="?", type=Path, default=BOOKING, help="Another transcript than the demo's."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        transcript, run = self.load(options["transcript"]), f"play-{uuid4().hex[:8]}"
        self.check_tables()
        before = self.look(transcript)
        company = COMPANIES.get(transcript.tenant, transcript.tenant)
        self.stdout.write(
            f"{transcript.agent.capitalize()} of {company}, run {run}. "
            "A transcript plays the model; the tools and the rows are real."
        )
        self.show("Before", before)
        self.play(transcript, run)
        self.show("After", self.look(transcript), before)
        self.show_changes(transcript.tenant, run)

    def load(self, path: Path) -> Transcript:
        """Return the transcript, or say what is wrong with the file."""
        try:
            return Transcript.load(path)
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} can't be played: {error}") from error

    def check_tables(self) -> None:
        """Refuse to play in a database that was never migrated."""
        if AuditEntry._meta.db_table not in connection.introspection.table_names():
            raise CommandError("There are no tables yet. Run 'python manage.py demo --no-serve' first.")

    def look(self, transcript: Transcript) -> State:
        """Return how much there is of everything that the tools can change."""
        tenant = transcript.tenant
        state = {model.entity.name: f"{model.store(tenant).count():,}" for model in all_entities()}
        state["strategies"] = f"{StrategyStore(tenant).usage().used:,}"
        files = FileStore(tenant, transcript.agent).list()
        return state | {info.name: f"version {info.version}" for info in files}

    def show(self, title: str, state: State, before: State | None = None) -> None:
        """Print a state: the whole of it, or what is other than ``before``."""
        self.stdout.write(f"\n{title}")
        for name, value in state.items():
            old = "not there" if before is None else before.get(name, "not there")
            if before is None:
                self.stdout.write(f"  {name:<28}{value}")
            elif value != old:
                self.stdout.write(f"  {name:<28}{old} -> {value}")

    def play(self, transcript: Transcript, run: str) -> None:
        """Carry the transcript out and print it; the audit has the run's name."""
        try:
            with acting(context={"run": run}):
                for step in play(transcript, run=run, today=timezone.localdate()):
                    self.tell(transcript, step)
        except ValueError as error:
            raise CommandError(f"The transcript does not hold here: {error}") from error

    def tell(self, transcript: Transcript, step: Step) -> None:
        """Print one step of the conversation."""
        who = {"user": "Customer", "colleague": "Meanwhile"}.get(step.role, transcript.agent.capitalize())
        if step.result is None:
            self.stdout.write(f"\n{who}: {step.text}")
            return
        self.stdout.write(f"  {step.call} {_short(step.arguments)}")
        error = step.result.get("error")
        if error:
            self.stdout.write(self.style.ERROR(f"    error {error['code']}: {_explained(error)}"))
        else:
            self.stdout.write(self.style.SUCCESS(f"    {_told(step.result)}"))

    def show_changes(self, tenant: str, run: str) -> None:
        """Print the changes of rows that the audit has of this run."""
        self.stdout.write("\nWhat the audit has of this run")
        entries = AuditEntry.objects.for_tenant(tenant).filter(context__run=run).order_by("at", "id")
        for entry in entries:
            self.stdout.write(
                f"  {entry.entity} {entry.row_id}  {entry.op:<7} version {entry.version}  by {entry.actor}"
            )


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _told(result: JSONObject) -> str:
    """Return a result in one line: of rows what they are, not when they were made."""
    if "row" in result:
        row = result["row"]
        return f"version {row['version']} of {row['id']}: {_short(row['data'])}"
    if "rows" in result:
        return f"{len(result['rows'])} found: {_short([row['data'] for row in result['rows']])}"
    return _short(result)


def _explained(error: JSONObject) -> str:
    fields = "".join(f"\n      {path}: {' '.join(texts)}" for path, texts in error.get("errors", {}).items())
    return f"{error['detail']} {error.get('hint', '')}".rstrip() + fields
