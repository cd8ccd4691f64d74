"""The doctor: what is wrong with what is stored and with how it is stored. Reads, but for recounting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.core.checks import ERROR, CheckMessage, run_checks
from django.db import DatabaseError, connections, router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.questioner import MigrationQuestioner
from django.db.migrations.state import ProjectState
from django.utils import translation
from pydantic import ValidationError

from agentstore.core.findings import Check, Finding, miscounted
from agentstore.core.models import Usage
from agentstore.entities.base import EntityModel
from agentstore.entities.codec import Codec, flat_errors
from agentstore.entities.maintenance import live_texts, recount, wrong_counters
from agentstore.entities.reading import codec_of
from agentstore.entities.registry import all_entities

__all__ = ["Examination", "Finding"]

#: The oldest PostgreSQL that is supported, as ``pg_version`` tells it.
OLDEST_POSTGRES = 150000


class Examination:
    """Goes through the project once; iterate over it for the findings, told as they are made.

    ``also`` are the checks of other capabilities, made after those of entities.
    """

    def __init__(
        self, *, tenant: str | None = None, repair: bool = False, also: Sequence[Check] = ()
    ) -> None:
        self.tenant, self.repair, self.also = tenant, repair, also
        self.rows = self.problems = self.hints = self.repaired = 0

    def __iter__(self) -> Iterator[Finding]:
        for finding in self._findings():
            self.problems += finding.problem and not finding.repaired
            self.hints += not finding.problem
            self.repaired += finding.repaired
            yield finding

    def _findings(self) -> Iterator[Finding]:
        yield from _system_checks()
        yield from _unmade_migrations()
        models = all_entities()
        for alias in sorted({router.db_for_write(Usage), *map(router.db_for_write, models)}):
            own = [model for model in models if router.db_for_write(model) == alias]
            try:
                tables = connections[alias].introspection.table_names()
            except DatabaseError as error:
                message = f"The database {alias!r} can't be read: {str(error).strip()}"
                yield Finding(kind="connection", message=message)
                continue
            yield from _connection(connections[alias])
            yield from _unapplied_migrations(alias)
            for model in own:
                if {model._meta.db_table, "agentstore_usage"} <= set(tables):
                    yield from self._entity(model)
        for check in self.also:
            yield from check(self)

    def _entity(self, model: type[EntityModel]) -> Iterator[Finding]:
        codec = codec_of(model)
        for id, tenant, text in live_texts(model, self.tenant):
            self.rows += 1
            found = _drift(codec, text)
            if found is not None:
                yield Finding(entity=model.entity.name, tenant=tenant, row=id, **found)
        yield from self._counters(model)

    def _counters(self, model: type[EntityModel]) -> Iterator[Finding]:
        for counter in wrong_counters(model, self.tenant):
            yield miscounted(
                entity=model.entity.name,
                tenant=counter.tenant,
                used=counter.used,
                there=f"{counter.live:,} live rows",
                recounted=recount(model, counter.tenant) if self.repair else None,
            )


def _drift(codec: Codec[Any], text: str) -> dict[str, Any] | None:
    """Return what is wrong with a stored text: it does not fit, or holds what the schema does not know."""
    try:
        codec.schema.model_validate_json(text)
        return None
    except ValidationError as error:
        strict = flat_errors(error)
    _, _, problems = codec.decode(text)
    if problems:
        return {
            "kind": "misfit", "message": "The row does not fit its schema.", "errors": problems,
            "hint": "Update it with what is missing or wrong.",
        }  # fmt: skip
    return {
        "kind": "extra_keys", "message": f"The schema does not have {', '.join(sorted(strict))}.",
        "hint": "It is ignored on reading, and dropped by the next write.", "errors": strict,
    }  # fmt: skip


def _system_checks() -> Iterator[Finding]:
    """Yield what Django's system checks say of agentstore: settings, declarations, connections."""
    for found in run_checks():
        if found.id is not None and found.id.startswith("agentstore."):
            yield _from_check(found)


def _from_check(found: CheckMessage) -> Finding:
    return Finding(
        kind="check", message=f"{found.msg} ({found.id})", hint=found.hint or "", problem=found.level >= ERROR
    )


def _labels() -> set[str]:
    """Return the apps whose tables matter here."""
    return {"agentstore", *(model._meta.app_label for model in all_entities())}


def _unmade_migrations() -> Iterator[Finding]:
    labels = _labels()
    with translation.override(None):  # as makemigrations: migrations hold untranslated labels
        found = _changed_models(labels)
    for label in sorted(found.keys() & labels):
        changes = "; ".join(step.describe() for migration in found[label] for step in migration.operations)
        yield Finding(
            kind="migrations", message=f"{label}: its models changed since its last migration: {changes}",
            hint=f"Run makemigrations {label}, then migrate.",
        )  # fmt: skip


def _changed_models(labels: set[str]) -> dict[str, list[Migration]]:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    questioner = MigrationQuestioner(specified_apps=labels, dry_run=True)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps), questioner)
    return detector.changes(graph=loader.graph, trim_to_apps=labels, convert_apps=labels)


def _unapplied_migrations(alias: str) -> Iterator[Finding]:
    executor = MigrationExecutor(connections[alias])
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    names = [f"{step.app_label}.{step.name}" for step, _ in plan if step.app_label in _labels()]
    if names:
        yield Finding(
            kind="migrations", message=f"Not applied to the database {alias!r}: {', '.join(names)}",
            hint="Run migrate.",
        )  # fmt: skip


def _connection(connection: BaseDatabaseWrapper) -> Iterator[Finding]:
    """Yield what only an open connection or this database's own options tell."""
    where = f"DATABASES[{connection.alias!r}]"
    if connection.vendor == "sqlite" and _defers(connection):
        yield Finding(
            kind="connection", problem=False,
            message=f"{where}: a transaction takes SQLite's lock only with its first write.",
            hint="Set OPTIONS = {'transaction_mode': 'IMMEDIATE', 'timeout': 20}: else two writers that both "
            "read first end in 'database is locked'.",
        )  # fmt: skip
    version = getattr(connection, "pg_version", OLDEST_POSTGRES)
    if version < OLDEST_POSTGRES:
        yield Finding(
            kind="connection", message=f"{where} is PostgreSQL {version // 10000}.",
            hint=f"PostgreSQL {OLDEST_POSTGRES // 10000} is the oldest that agentstore supports.",
        )  # fmt: skip


def _defers(connection: BaseDatabaseWrapper) -> bool:
    mode = connection.settings_dict.get("OPTIONS", {}).get("transaction_mode") or "DEFERRED"
    return str(mode).upper() == "DEFERRED"
