"""The commands for rows, as an operator runs them: import, export, purge."""

from __future__ import annotations

import io
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from agentstore.core.models import AuditEntry, IdempotencyKey
from agentstore.core.values import clock_at, now
from tests.isolated import run_python
from tests.management.test_terminal import Terminal
from tests.testapp.models import Plain, Small, Task


def run(name, *arguments, err=None, **options):
    """Run a command and return its standard output."""
    out = io.StringIO()
    options = {"stdout": out, "stderr": err or io.StringIO(), "no_color": True, **options}
    call_command(name, *map(str, arguments), **options)
    return out.getvalue()


def load(path, *arguments, entity="tasks", tenant="acme", **options):
    return run("agentstore_import", entity, path, "--tenant", tenant, *arguments, **options)


def dump(*arguments, entity="tasks", tenant="acme", **options):
    return run("agentstore_export", entity, "--tenant", tenant, *arguments, **options)


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# --- import -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "a"}\n{"text": "é"}\n'),
        ("a.json", '[{"text": "a"}, {"text": "é"}]'),
        ("a.csv", "\ufefftext,due_at\r\na,\r\né,\r\n"),
        ("a.txt", '\ufeff[{"text": "a"}, {"text": "é"}]'),
    ],
)
def test_a_file_is_imported_as_its_name_or_content_tells(db, tenant, file, name, content):
    out = load(file(name, content), "--actor", "user:7", "--reason", "move")

    rows = list(Task.store(tenant).iterate(order_by="id"))
    assert out == "2 imported into tasks of tenant 'acme'.\n"
    assert [row.data.text for row in rows] == ["a", "é"]
    (entry,) = Task.store(tenant).history(rows[0].id)
    assert (entry.actor, entry.reason) == ("user:7", "move")


def test_a_format_that_is_given_beats_the_name(db, tenant, file):
    load(file("a.json", '{"text": "a"}\n{"text": "b"}'), "--format", "jsonl")

    assert Task.store(tenant).count() == 2


def test_bad_records_are_told_on_standard_error_and_nothing_is_written(db, tenant, file):
    path, err = file("a.jsonl", '{"text": "a"}\n{"text": 5}\n\n{"txet": "a\\n"}\n'), io.StringIO()

    with pytest.raises(CommandError) as caught:
        load(path, err=err)

    first, second, hint = err.getvalue().splitlines()
    assert first == "record 2, line 2: text: Input should be a valid string"
    assert second == "record 3, line 4: text: Field required; txet: There is no such field."
    assert hint.startswith("Hint: Did you mean 'text'?")
    assert str(caught.value).startswith("Nothing was imported: 2 of 3 records do not fit.")
    assert caught.value.returncode == 1
    assert Task.store(tenant).count() == 0


def test_bad_records_can_be_skipped(db, tenant, file):
    path = file("a.jsonl", '{"text": "a"}\n{"text": 5}\n{"text": "c"}\n')

    assert load(path, "--skip-invalid") == "2 imported into tasks of tenant 'acme', 1 skipped.\n"

    assert [row.data.text for row in Task.store(tenant).iterate(order_by="id")] == ["a", "c"]


@pytest.mark.parametrize("skip", [[], ["--skip-invalid"]])
def test_a_dry_run_tells_all_and_writes_nothing(db, tenant, file, skip):
    good, bad, err = file("a.jsonl", '{"text": "a"}\n'), file("b.jsonl", '{"text": "a"}\n7\n'), io.StringIO()

    assert load(good, "--dry-run") == "Dry run, nothing was written: 1 for tasks of tenant 'acme'.\n"
    if skip:
        assert load(bad, "--dry-run", *skip, err=err).endswith("1 for tasks of tenant 'acme', 1 skipped.\n")
    else:
        with pytest.raises(CommandError, match="1 of 2 records do not fit"):
            load(bad, "--dry-run", err=err)

    assert "record 2, line 2" in err.getvalue()
    assert Task.store(tenant).count() == 0


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--skip-invalid"]])
def test_more_rows_than_there_are_places_are_refused_before_any_is_written(db, tenant, file, more):
    Small.store(tenant).create({})

    with pytest.raises(CommandError) as caught:
        load(file("a.jsonl", "{}\n" * 5), *more, entity="smalls")

    assert str(caught.value).startswith(
        "Nothing was imported: smalls: 5 rows need a place; 1 of 5 are taken. Delete rows"
    )
    assert Small.store(tenant).count() == Small.store(tenant).usage().used == 1


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", "", "Expected a JSON array: the file ends in line 1."),
        ("a.json", '{"text": "a"}\n', "Expected a JSON array, found '{' in line 1. For one record a line"),
        ("a.json", '[{"text": "a"}', "The array is not closed: the file ends in line 1, in record 1."),
        ("a.json", '[{"text": "a"}] 7', "Line 1: there is more after the end of the array."),
        ("a.csv", "", "The file is empty. The first row must name the fields."),
        ("a.csv", "text,text\na,b\n", "The header names 'text' twice."),
        ("a.txt", "text\na\n", "neither its name nor its content tells the format. Add --format"),
        ("a.jsonl", '{"text": "a"}\n'.encode("utf-16"), "The file is UTF-16. Save it as UTF-8."),
    ],
)
@pytest.mark.parametrize("skip", [[], ["--skip-invalid"]])
def test_a_file_that_has_no_records_to_tell_apart_is_refused_whole(
    db, tenant, file, name, content, problem, skip
):
    with pytest.raises(CommandError) as caught:
        load(file(name, content), *skip)

    assert problem in str(caught.value)
    assert "Nothing was imported" in str(caught.value)
    assert Task.store(tenant).count() == 0


def test_an_empty_file_of_lines_has_no_rows(db, file):
    assert load(file("a.jsonl", "")) == "0 imported into tasks of tenant 'acme'.\n"


def test_a_column_that_is_no_field_is_told_with_the_closest(db, file):
    err = io.StringIO()

    with pytest.raises(CommandError, match="1 of 2 records"):
        load(file("a.csv", "text,prioritty\na,5\nb,\n"), err=err)

    assert "record 1, line 2: prioritty: There is no such field." in err.getvalue()
    assert "Did you mean 'priority'?" in err.getvalue()


@pytest.mark.parametrize("path", ["missing.jsonl", "."])
def test_a_file_that_cant_be_read_is_told_by_name(db, tmp_path, path):
    with pytest.raises(CommandError, match=r"can't be read: (No such file|Is a directory)") as caught:
        load(tmp_path / path)

    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("command", [load, dump])
def test_an_entity_or_tenant_that_cant_be_is_told(db, file, command):
    path = file("a.jsonl", "")

    with pytest.raises(CommandError, match=r"There is no entity 'taks'. Did you mean 'tasks'"):
        command(path, entity="taks")
    with pytest.raises(CommandError, match="white space"):
        command(path, tenant=" acme")


def test_standard_input_is_read_from_a_dash(db, tenant, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"text": "a"}\n')))

    assert load("-") == "1 imported into tasks of tenant 'acme'.\n"


def test_a_progress_bar_is_shown_on_a_terminal_only_and_not_when_told_to_be_quiet(db, file):
    path = file("a.jsonl", '{"text": "a"}\n' * 600)
    watched, quiet, plain = Terminal(), Terminal(), io.StringIO()

    load(path, err=watched)
    load(path, err=quiet, verbosity=0)
    load(path, err=plain)

    assert "checking [" in watched.getvalue()
    assert "writing [" in watched.getvalue()
    assert quiet.getvalue() == plain.getvalue() == ""


def test_the_exit_code_tells_whether_anything_was_refused(tmp_path, file):
    """Through ``manage.py`` itself, where an exception becomes a code and one line of text."""
    environ = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": f"sqlite:///{tmp_path}/db"}

    def manage(entity, path):
        words = ["manage.py", "agentstore_import", entity, str(path), "--tenant", "acme", "--skip-checks"]
        return run_python(*words, check=False, **environ)

    refused = manage("tasks", file("b.jsonl", "7\n"))
    strange = manage("taks", file("a.jsonl", ""))

    assert (refused.returncode, strange.returncode) == (1, 1)
    assert refused.stdout == ""
    assert "record 1, line 1: Expected an object, found int" in refused.stderr
    assert "Traceback" not in refused.stderr + strange.stderr


# --- export -------------------------------------------------------------------------------------


@pytest.fixture
def two(db, tenant):
    return Task.store(tenant).create_many([{"text": "a"}, {"text": "é"}])


@pytest.mark.parametrize("format", ["csv", "json", "jsonl"])
def test_rows_are_exported_to_a_file_or_to_standard_output(two, tmp_path, other_tenant, format):
    path = tmp_path / f"out.{format}"

    assert dump(path) == f"2 tasks of tenant 'acme' exported to {path}.\n"
    assert dump("--format", format) == path.read_bytes().decode()
    assert load(path, tenant=other_tenant) == "2 imported into tasks of tenant 'globex'.\n"
    assert [row.raw for row in Task.store(other_tenant).iterate(order_by="id")] == [row.raw for row in two]


def test_without_a_name_that_tells_the_format_is_json_lines(two, tmp_path):
    dump(tmp_path / "out")

    text = (tmp_path / "out").read_text("utf-8")
    assert [json.loads(line)["text"] for line in text.splitlines()] == ["a", "é"]
    assert dump() == text


def test_the_file_may_stand_before_or_after_the_options(two, tmp_path):
    for words in (["tasks", "OUT", "--tenant", "acme"], ["tasks", "--tenant", "acme", "OUT"],
                  ["--tenant", "acme", "tasks", "OUT"]):  # fmt: skip
        path = tmp_path / f"{words.index('OUT')}{words[0][0]}.jsonl"

        run("agentstore_export", *(path if word == "OUT" else word for word in words))

        assert len(path.read_text("utf-8").splitlines()) == 2


def test_an_export_replaces_a_file_only_once_it_is_complete(two, tmp_path, monkeypatch):
    path = tmp_path / "out.jsonl"
    dump(path)
    before = path.read_bytes()
    Task.store("acme").create({"text": "c"})

    with monkeypatch.context() as patched, pytest.raises(CommandError, match="can't be written: disk full"):
        patched.setattr("agentstore.entities.io._dumped", fail)
        dump(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["out.jsonl"]
    dump(path)
    assert len(path.read_bytes().splitlines()) == 3


def fail(*args):
    raise OSError("disk full")


def test_a_link_stays_a_link_to_what_was_exported(two, tmp_path):
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")

    dump(tmp_path / "link.jsonl")

    assert (tmp_path / "link.jsonl").is_symlink()
    assert len((tmp_path / "real.jsonl").read_text("utf-8").splitlines()) == 2


def test_a_device_is_written_to_and_not_replaced(two):
    assert dump(os.devnull).startswith("2 tasks")
    assert not os.path.isfile(os.devnull)


def test_a_path_that_cant_be_written_is_told_by_name(two, tmp_path):
    with pytest.raises(CommandError, match="missing/out.jsonl can't be written: No such file or directory"):
        dump(tmp_path / "missing" / "out.jsonl")


def test_rows_that_do_not_fit_are_told_and_left_out_of_csv_only(two, spoil, tmp_path):
    spoil({"text": 5})
    err = io.StringIO()

    assert len(dump(err=err).splitlines()) == 3
    assert err.getvalue().startswith("1 rows do not fit their schema and are exported as they are stored")
    with pytest.raises(CommandError, match="1 rows do not fit their schema and were left out"):
        dump(tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text("utf-8").splitlines()) == 3


def test_an_export_shows_a_bar_on_a_terminal(two, tmp_path):
    err = Terminal()

    dump(tmp_path / "out.jsonl", err=err)

    assert "exporting 0 records" in err.getvalue()


# --- purge --------------------------------------------------------------------------------------

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def purge(*arguments):
    return run("agentstore_purge", "--days", *arguments)


@pytest.fixture
def deleted(db, tenant):
    """A task and a note deleted long ago, a task deleted yesterday, and one that lives."""
    tasks, plain = Task.store(tenant), Plain.store(tenant)
    old, recent, live = tasks.create_many([{"text": "old"}, {"text": "recent"}, {"text": "live"}])
    other = plain.create({"text": "old"})
    with clock_at(LONG_AGO):
        tasks.update(old.id, {"text": "changed"})
        tasks.delete(old.id)
        plain.delete(other.id)
    with clock_at(now() - timedelta(days=1)):
        tasks.delete(recent.id)
    return old, recent, live


def test_rows_deleted_long_ago_go_with_their_audit(deleted, tenant):
    old, recent, live = deleted

    out = purge(30)

    assert out.splitlines() == [
        "Removed:",
        "  plains: 1 rows, 2 audit entries",
        "  tasks: 1 rows, 3 audit entries",
        "  idempotency keys: 0",
        "2 rows in all, deleted more than 30 days ago.",
    ]
    assert set(Task.objects.values_list("id", flat=True)) == {recent.id, live.id}
    assert set(AuditEntry.objects.values_list("row_id", flat=True)) == {recent.id, live.id}
    assert Task.store(tenant).usage().used == 1
    assert purge(30).endswith("0 rows in all, deleted more than 30 days ago.\n")
    assert Task.store(tenant).undelete(recent.id).data.text == "recent"


def test_a_dry_run_of_a_purge_says_how_many_and_removes_none(deleted):
    before = Task.objects.count(), Plain.objects.count(), AuditEntry.objects.count()

    out = purge(0, "--dry-run")

    assert out.startswith("There are:\n  plains: 1 rows, 2 audit entries\n  tasks: 2 rows, 5 audit entries\n")
    assert out.endswith("3 rows in all, deleted more than 0 days ago.\n")
    assert (Task.objects.count(), Plain.objects.count(), AuditEntry.objects.count()) == before


def test_a_purge_can_keep_to_one_tenant(deleted, tenant, other_tenant):
    store = Task.store(other_tenant)
    row = store.create({"text": "theirs"}, idempotency_key="k")
    with clock_at(LONG_AGO):
        store.delete(row.id)
    IdempotencyKey._base_manager.update(created_at=LONG_AGO)

    assert "2 rows in all" in purge(30, "--tenant", tenant)

    assert store.undelete(row.id).data.text == "theirs"
    assert [entry.op for entry in store.history(row.id)] == ["undelete", "delete", "create"]
    assert IdempotencyKey.objects.for_tenant(other_tenant).exists()


def test_idempotency_keys_that_expired_go_too(db, tenant, other_tenant, settings):
    with clock_at(now() - timedelta(hours=25)):
        Task.store(tenant).create({"text": "a"}, idempotency_key="old")
        Task.store(other_tenant).create({"text": "a"}, idempotency_key="old")
    Task.store(tenant).create({"text": "a"}, idempotency_key="new")

    assert "  idempotency keys: 2\n" in purge(30, "--dry-run")
    assert "  idempotency keys: 2\n" in purge(30)

    assert list(IdempotencyKey.objects.values_list("key", flat=True)) == ["new"]
    settings.AGENTSTORE = {"IDEMPOTENCY_HOURS": 48}
    assert "  idempotency keys: 0\n" in purge(30)


@pytest.mark.parametrize("days", ["-1", "1.5", "x", "", "36501", "9" * 30, "²"])
def test_days_are_a_whole_number_that_a_date_can_be_reckoned_back_by(days):
    with pytest.raises(CommandError, match="not a whole number from 0 to 36,500"):
        call_command("agentstore_purge", f"--days={days}")


def test_a_purge_needs_to_be_told_how_old(db):
    with pytest.raises(CommandError, match="--days"):
        call_command("agentstore_purge")
    with pytest.raises(CommandError, match="white space"):
        purge(30, "--tenant", " acme")
