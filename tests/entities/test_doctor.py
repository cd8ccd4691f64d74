"""The doctor finds what is wrong with what is stored, and nothing where nothing is."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.utils import translation

from agentstore.core.models import Usage
from agentstore.entities import doctor, maintenance
from agentstore.entities.doctor import Examination, Finding
from tests.testapp.models import Plain, Small, Task


def findings(**how):
    return [finding for finding in Examination(**how) if finding.kind != "check" or finding.problem]


def run(*arguments):
    """Run the command; return its output and the words of its failure."""
    out = io.StringIO()
    try:
        call_command("agentstore_doctor", *arguments, stdout=out, no_color=True)
    except CommandError as error:
        assert error.returncode == 1
        return out.getvalue(), str(error)
    return out.getvalue(), ""


# --- rows ---------------------------------------------------------------------------------------


def test_a_healthy_project_has_no_problems(tasks, spoil):
    row = tasks.create({"text": "a"})
    tasks.delete(tasks.create({"text": "b"}).id)
    spoil({"text": "written before the other fields were there"}, row=row)

    assert findings() == []


def test_rows_that_do_not_fit_are_found_with_their_reasons(tasks, tenant, spoil):
    fine, missing, both, list_ = tasks.create_many([{"text": "a"}] * 4)
    spoil({"priority": 1}, row=missing)
    spoil({"text": 5, "done": "yes", "colour": "red"}, row=both)
    spoil([1], row=list_)

    found = findings()

    assert [(f.kind, f.entity, f.tenant, f.row, f.problem) for f in found] == [
        ("misfit", "tasks", tenant, row.id, True) for row in (missing, both, list_)
    ]
    assert found[0].errors == {"text": ["Field required"]}
    assert found[1].errors.keys() == {"text", "done"}


def test_stored_keys_that_the_schema_does_not_have_are_found(tasks, spoil):
    row, deep = tasks.create_many([{"text": "a"}] * 2)
    spoil({"text": "a", "colour": "red", "size": 1}, row=row)
    spoil({"text": "a", "lines": [{"sku": "x", "price": 3}]}, row=deep)

    found = findings()

    assert [(f.kind, f.row) for f in found] == [("extra_keys", row.id), ("extra_keys", deep.id)]
    assert found[0].message == "The schema does not have colour, size."
    assert found[1].message == "The schema does not have lines.0.price."


def test_deleted_rows_are_not_examined(tasks, spoil):
    row = tasks.create({"text": "a"})
    spoil({"text": 5}, row=row)
    tasks.delete(row.id)

    assert findings() == []


def test_a_write_cures_what_was_found(tasks, spoil):
    row = tasks.create({"text": "a"})
    spoil({"colour": "red"}, row=row)
    assert [f.kind for f in findings()] == ["misfit"]

    tasks.update(row.id, {"text": "b"})

    assert findings() == []


def test_large_tables_are_read_a_few_rows_at_a_time(tasks, spoil, monkeypatch):
    monkeypatch.setattr(maintenance, "FEW", 3)
    rows = tasks.create_many([{"text": "a"}] * 10)
    for row in rows[::3]:
        spoil({"text": 5}, row=row)
    sizes = []

    def count(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if "LIMIT 3" in sql:
            sizes.append(sql)
        return result

    with connection.execute_wrapper(count):
        examination = Examination()
        found = [finding.row for finding in examination if finding.kind == "misfit"]

    assert found == [row.id for row in rows[::3]]
    assert examination.rows == 10
    assert len(sizes) >= 4


# --- counters -----------------------------------------------------------------------------------


def test_wrong_counters_are_found_and_repaired_only_when_asked_to(tasks, tenant, other_tenant):
    tasks.create_many([{"text": "a"}] * 2)
    Small.store(other_tenant).create({})
    Usage._base_manager.filter(tenant=tenant).update(used=9)
    Usage._base_manager.filter(tenant=other_tenant).delete()

    found = findings()
    told = {(f.entity, f.tenant, f.message) for f in found}
    assert told == {
        ("tasks", tenant, "The counter says 9, there are 2 live rows."),
        ("smalls", other_tenant, "The counter says 0, there are 1 live rows."),
    }
    assert all(f.problem and not f.repaired and "--repair" in f.hint for f in found)
    assert tasks.usage().used == 9

    examination = Examination(repair=True)
    assert {(f.entity, f.repaired) for f in examination if f.kind == "counter"} == {
        ("tasks", True), ("smalls", True),
    }  # fmt: skip
    assert (examination.problems, examination.repaired) == (0, 2)
    assert (tasks.usage().used, Small.store(other_tenant).usage().used) == (2, 1)
    assert findings() == []


def test_an_examination_can_keep_to_one_tenant(tasks, spoil, tenant, other_tenant):
    other = Task.store(other_tenant)
    other.create({"text": "a"})
    Usage._base_manager.filter(tenant=other_tenant).update(used=9)
    spoil({"text": 5}, row=tasks.create({"text": "a"}))

    assert [f.kind for f in findings(tenant=tenant)] == ["misfit"]
    assert [f.kind for f in findings(tenant=other_tenant, repair=True)] == ["counter"]
    assert findings(tenant="unknown") == []


def test_counters_of_renamed_entities_are_made_anew(db, tenant, monkeypatch):
    Plain.store(tenant).create({})
    Usage._base_manager.update(entity="before")

    assert [(f.entity, f.repaired) for f in findings(repair=True)] == [("plains", True)]

    assert Plain.store(tenant).usage().used == 1


# --- migrations, settings, connections ----------------------------------------------------------


def test_migrations_that_were_not_applied_are_found(db):
    MigrationRecorder.Migration.objects.filter(app="testapp").delete()

    (found,) = findings()

    assert (found.kind, found.hint) == ("migrations", "Run migrate.")
    assert "testapp.0001_initial" in found.message


def test_migrations_that_were_not_made_are_found(db, monkeypatch):
    extra = models.Index(fields=["version"], name="testapp_small_more_idx")
    monkeypatch.setattr(Small._meta, "indexes", [*Small._meta.indexes, extra])
    monkeypatch.setitem(Small._meta.original_attrs, "indexes", Small._meta.indexes)

    (found,) = findings()

    assert found.kind == "migrations"
    assert "testapp" in found.message
    assert "testapp_small_more_idx" in found.message
    assert found.hint == "Run makemigrations testapp, then migrate."


def test_a_translated_label_is_no_change_of_a_model(db):
    """Migrations hold what is not translated; those who run the doctor may speak any language."""
    with translation.override("de"):
        assert [found for found in Examination() if found.kind == "migrations"] == []


def test_an_app_without_any_migrations_is_found(db, settings):
    settings.MIGRATION_MODULES = {"testapp": None}

    messages = [f.message for f in findings() if f.kind == "migrations"]

    assert any("Create model Small" in message for message in messages)


def test_a_table_that_is_not_there_is_no_crash(db):
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE testapp_small")

    examination = Examination()
    list(examination)

    assert examination.rows == 0


def test_what_the_system_checks_say_of_agentstore_is_told(db, settings):
    settings.AGENTSTORE = {"MAX_ROWS": 5}
    settings.USE_TZ = False

    found = findings()

    assert {f.kind for f in found} == {"check"}
    assert {f.message[-16:] for f in found} == {"agentstore.E001)", "agentstore.E004)"}
    assert run()[1] == "Problems: 2."


@pytest.mark.postgres_only
def test_a_connection_that_plans_every_statement_anew_gets_a_hint(db, settings):
    options = dict(settings.DATABASES["default"]["OPTIONS"])
    settings.DATABASES["default"]["OPTIONS"] = {}
    try:
        hints = [f for f in Examination() if not f.problem]
    finally:
        settings.DATABASES["default"]["OPTIONS"] = options

    assert ["server_side_binding" in f.hint for f in hints] == [True]


@pytest.mark.parametrize(
    ("mode", "hints"), [(None, 1), ("DEFERRED", 1), ("deferred", 1), ("IMMEDIATE", 0), ("EXCLUSIVE", 0)]
)
def test_sqlite_that_locks_late_gets_a_hint(mode, hints):
    class Connection:
        vendor, alias = "sqlite", "default"
        settings_dict = {"OPTIONS": {} if mode is None else {"transaction_mode": mode}}

    found = list(doctor._connection(Connection()))

    assert len(found) == hints
    assert all(not f.problem and "IMMEDIATE" in f.hint for f in found)


@pytest.mark.parametrize(("version", "problems"), [(140012, 1), (150000, 0), (180001, 0)])
def test_a_postgresql_that_is_too_old_is_a_problem(version, problems):
    class Connection:
        vendor, alias, pg_version = "postgresql", "default", version

    found = list(doctor._connection(Connection()))

    assert [f.message for f in found] == ["DATABASES['default'] is PostgreSQL 14."] * problems


def test_a_database_that_cant_be_reached_is_a_problem(db, monkeypatch):
    def fail(*args, **kwargs):
        raise OperationalError("no route\n")

    monkeypatch.setattr(type(connection.introspection), "table_names", fail)

    (found,) = findings()

    assert (found.kind, found.message) == ("connection", "The database 'default' can't be read: no route")


# --- the command --------------------------------------------------------------------------------


def test_the_command_prints_each_finding_and_fails_where_there_is_a_problem(tasks, spoil, tenant):
    row = tasks.create({"text": "a"})
    spoil({"te\nxt": 5}, row=row)
    Usage._base_manager.update(used=9)

    out, failure = run()

    told = out.splitlines()
    start = next(number for number, line in enumerate(told) if line.startswith("problem"))
    first, second, hint, *rest = told[start:]  # a hint about the connection may come before
    assert first == (
        f"problem  tasks of tenant 'acme': row {row.id}: The row does not fit its schema. "
        "text: Field required"
    )
    assert second == "problem  tasks of tenant 'acme': The counter says 9, there are 1 live rows."
    assert hint == "    Run agentstore_doctor --repair."
    assert rest[-1].startswith("1 rows examined: 2 problems, 0 repaired, ")
    assert failure == "Problems: 2."


def test_the_command_succeeds_where_all_is_well_or_was_repaired(tasks):
    tasks.create({"text": "a"})
    assert run()[1] == ""
    Usage._base_manager.update(used=9)

    out, failure = run("--repair")

    assert "repaired  tasks of tenant 'acme': The counter says 9, there are 1 live rows. Recounted: 1." in out
    assert failure == ""
    assert tasks.usage().used == 1


def test_hints_alone_are_no_failure(db, monkeypatch):
    hint = Finding(kind="connection", message="Something to look at.", hint="Look.", problem=False)
    monkeypatch.setattr(doctor, "_connection", lambda connection: iter([hint]))

    out, failure = run()

    assert "hint  Something to look at.\n    Look.\n" in out
    assert failure == ""


def test_as_json_it_is_one_object(tasks, spoil, tenant):
    row = tasks.create({"text": "a"})
    spoil({"text": 5}, row=row)
    Usage._base_manager.update(used=9)

    out, failure = run("--json", "--repair")

    told = json.loads(out)
    assert failure == "Problems: 1."
    assert {key: told[key] for key in ("ok", "rows", "problems", "repaired")} == {
        "ok": False, "rows": 1, "problems": 1, "repaired": 1,
    }  # fmt: skip
    found = [finding for finding in told["findings"] if finding["kind"] != "check"]
    assert found[0] == {
        "kind": "misfit", "problem": True, "message": "The row does not fit its schema.", "entity": "tasks",
        "tenant": tenant, "row": str(row.id), "errors": {"text": ["Input should be a valid string"]},
        "hint": "Update it with what is missing or wrong.",
    }  # fmt: skip
    assert (found[1]["kind"], found[1]["repaired"]) == ("counter", True)


def test_as_json_a_healthy_project_is_ok(db):
    out, failure = run("--json")

    assert (json.loads(out)["ok"], failure) == (True, "")


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_what_a_hand_has_spoiled_can_be_printed(tasks, spoil, arguments):
    surrogate = "\ud800" if connection.vendor == "sqlite" else ""  # PostgreSQL would not hold it
    spoil({"text": "a", f"\x1b[2J{surrogate}": 1})

    out, _ = run(*arguments)

    assert out.isascii()
    assert "\x1b" not in out


def test_a_tenant_that_cant_be_is_refused(db):
    assert "white space" in run("--tenant", " acme")[1]
