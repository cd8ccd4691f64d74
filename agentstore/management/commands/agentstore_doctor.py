"""``agentstore_doctor``: tell what is wrong with what is stored, and recount counters if asked to."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentstore.core.errors import AgentStoreError
from agentstore.core.findings import Check, Finding
from agentstore.core.guards import dump_json, printable
from agentstore.core.tenancy import check_tenant
from agentstore.entities.doctor import Examination
from agentstore.management.terminal import one_line
from agentstore.strategies.doctor import examine as examine_strategies

__all__ = ["Command"]

#: What the capabilities besides entities have looked at.
ALSO: tuple[Check, ...] = (examine_strategies,)


class Command(BaseCommand):
    """Examine rows, counters, migrations, settings and connections; fail where there is a problem."""

    help = (
        "Reports rows that no longer fit their schema, strategies that can't be read, wrong counters, "
        "missing migrations, and settings and connections that deserve a look. Exits with 1 if there is a "
        "problem."
    )
    requires_system_checks = []  # they are among what is reported

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")
        parser.add_argument("--repair", action="store_true", help="Recount wrong counters.")
        parser.add_argument("--tenant", help="Look at this tenant's rows and counters only.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            tenant = None if options["tenant"] is None else check_tenant(options["tenant"])
            examination = Examination(tenant=tenant, repair=options["repair"], also=ALSO)
            (self.print_json if options["json"] else self.print_text)(examination)
        except AgentStoreError as error:
            raise CommandError(error.full_message) from error
        if examination.problems:
            raise CommandError(f"Problems: {examination.problems:,}.")

    def print_text(self, examination: Examination) -> None:
        """Print each finding as it is made, then the sum."""
        for finding in examination:
            self.stdout.write(self.line(finding))
            if finding.hint and finding.row is None:
                self.stdout.write(f"    {finding.hint}")
        self.stdout.write(
            f"{examination.rows:,} rows examined: {examination.problems:,} problems, "
            f"{examination.repaired:,} repaired, {examination.hints:,} hints."
        )

    def line(self, finding: Finding) -> str:
        """Return a finding on one line."""
        word, style = "problem", self.style.ERROR
        if finding.repaired:
            word, style = "repaired", self.style.SUCCESS
        elif not finding.problem:
            word, style = "hint", self.style.WARNING
        where = f"{finding.entity} of tenant {finding.tenant!r}: " if finding.entity else ""
        row = "" if finding.row is None else f"row {finding.row}: "
        why = "; ".join(f"{path}: {text}" for path, texts in finding.errors.items() for text in texts)
        told = f"{finding.message} {why}" if finding.kind == "misfit" else finding.message
        return f"{style(word)}  {one_line(f'{where}{row}{told}')}"

    def print_json(self, examination: Examination) -> None:
        """Print one object, its findings as they are made: there may be a million."""
        self.stdout.write('{"findings": [', ending="")
        lead = "\n"
        for finding in examination:
            self.stdout.write(f"{lead}{printable(dump_json(finding.as_dict()))}", ending="")
            lead = ",\n"
        totals = {
            "ok": not examination.problems,
            "rows": examination.rows,
            "problems": examination.problems,
            "repaired": examination.repaired,
            "hints": examination.hints,
        }
        self.stdout.write(f"\n], {dump_json(totals)[1:]}")
