"""The commands: export, import and erase, as an operator runs them."""

from __future__ import annotations

import io
import re

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.core.models import AuditEntry, IdempotencyKey, StoreModel, Usage
from agentstore.files import FileStore
from agentstore.files.archive import export_zip
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.management.commands import agentstore_erase, agentstore_files_export
from agentstore.strategies.incidents import report
from agentstore.strategies.models import Incident, Strategy
from agentstore.strategies.store import StrategyStore
from agentstore.strategies.values import Incident as Report
from tests.referring import referring_to
from tests.testapp.models import Small, Task


def run(name, *arguments, **options):
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, no_color=True, **options)
    return out.getvalue()


def export(path, **options):
    return run("agentstore_files_export", path, "--tenant", "acme", "--agent", "bia", **options)


def load(path, *arguments, agent="zoe"):
    return run("agentstore_files_import", path, "--tenant", "acme", "--agent", agent, *arguments)


@pytest.fixture
def store(db, tenant):
    store = FileStore(tenant, "bia", actor="user:7")
    store.write("SOUL.md", "\ntext\r\n")
    store.write("notes/day.md", "day")
    return store


@pytest.fixture
def copy(db, tenant):
    return FileStore(tenant, "zoe")


@pytest.mark.parametrize("name", ["out", "out.zip", "deep/er/out.ZIP"])
def test_what_is_exported_can_be_imported(store, copy, tmp_path, name):
    path = str(tmp_path / name)

    assert f"2 files of agent bia exported to {path}." in export(path)
    assert "Imported: 2 create." in load(path, "--actor", "user:9", "--reason", "copy")

    assert [(info.name, text) for info, text in copy.contents()] == [
        ("SOUL.md", "\ntext\r\n"),
        ("notes/day.md", "day"),
    ]
    info = copy.info("SOUL.md")
    assert (info.source, info.actor, info.reason) == ("import", "user:9", "copy")
    assert "Imported: 2 same." in load(path)


def test_one_exported_file_is_counted_as_one(store, tmp_path):
    store.delete("notes/day.md")

    assert "1 file of agent bia exported" in export(str(tmp_path / "one.zip"))


def test_only_the_files_that_are_in_the_zip_are_counted(store, tmp_path, monkeypatch):
    """Another is written right after the export has read them."""

    def exported(store):
        data = export_zip(store)
        store.write("late.md", "x")
        return data

    monkeypatch.setattr(agentstore_files_export, "export_zip", exported)

    assert "2 files of agent bia exported" in export(str(tmp_path / "two.zip"))


def test_an_export_does_not_replace_what_is_there_unless_told(store, tmp_path):
    path = tmp_path / "out.zip"
    export(str(path))
    before = path.read_bytes()
    store.write("new.md", "x")

    with pytest.raises(CommandError, match="--overwrite"):
        export(str(path))
    assert path.read_bytes() == before
    assert "3 files" in export(str(path), overwrite=True)

    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("mine")
    with pytest.raises(CommandError, match="not an empty folder"):
        export(str(tmp_path / "folder"))


def test_a_dry_run_shows_the_plan(store, copy, tmp_path):
    export(str(tmp_path / "out"))
    copy.write("extra.md", "x")

    out = load(str(tmp_path / "out"), "--dry-run", "--prune")

    assert out.splitlines() == [
        "delete   extra.md  (It is not among the files.)",
        "create   SOUL.md",
        "create   notes/day.md",
        "Dry run, nothing was written: 2 create, 1 delete.",
    ]
    assert [info.name for info in copy.list()] == ["extra.md"]


def test_conflicts_stop_an_import_and_a_dry_run(store, copy, tmp_path):
    export(str(tmp_path / "out"))
    copy.write("SOUL.md", "mine")

    with pytest.raises(CommandError, match=r"SOUL\.md.*Choose the policy skip or overwrite"):
        load(str(tmp_path / "out"))
    with pytest.raises(CommandError, match="1 conflict, 1 create"):
        load(str(tmp_path / "out"), "--dry-run")
    assert [info.name for info in copy.list()] == ["SOUL.md"]

    load(str(tmp_path / "out"), "--policy", "skip")
    assert copy.read("SOUL.md") == "mine"
    load(str(tmp_path / "out"), "--policy", "overwrite")
    assert copy.read("SOUL.md") == "\ntext\r\n"


def test_bad_arguments_are_told_plainly(store, tmp_path, settings):
    (tmp_path / "bad.zip").write_text("no zip")
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_MAX_AGENT_BYTES": 1}

    for path, told in (("missing", "can't be read"), ("bad.zip", "The zip can't be read")):
        with pytest.raises(CommandError, match=told):
            load(str(tmp_path / path))
    with pytest.raises(CommandError, match="not an agent id"):
        load(str(tmp_path), agent="../x")
    with pytest.raises(CommandError, match="invalid choice"):
        load(str(tmp_path), "--policy", "merge")
    (tmp_path / "file").write_text("x")
    with pytest.raises(CommandError, match="can't be written"):
        export(str(tmp_path / "file" / "out.zip"))


def test_a_zip_that_is_far_too_large_is_not_even_read(store, tmp_path):
    with open(tmp_path / "huge.zip", "wb") as file:
        file.truncate(10**9)

    with pytest.raises(CommandError, match=r"1,000,000,000 bytes; the limit is"):
        load(str(tmp_path / "huge.zip"))


# --- erase --------------------------------------------------------------------------------------

TABLES = [
    Task, Small, AuditEntry, Usage, IdempotencyKey, AgentFile, HistoricalAgentFile, Strategy, Incident
]  # fmt: skip


@pytest.fixture
def two_tenants(db, tenant, other_tenant):
    """Two tenants with something in every table."""
    for each in (tenant, other_tenant):
        tasks = Task.store(each, actor="agent:bia")
        row = tasks.create({"text": "x"}, idempotency_key="k")
        tasks.update(row.id, {"done": True})
        tasks.delete(tasks.create({"text": "y"}).id)
        Small.store(each).create({})
        lessons = StrategyStore(each)
        lessons.save(problem="late parcel", strategy="call the depot")
        report("default", each, Report(op="find", error="no database", id=""))
        for agent in ("bia", "zoe"):
            store = FileStore(each, agent)
            for text in ("one", "two"):
                store.write("SOUL.md", text)
            store.write("gone.md", "x")
            store.delete("gone.md")
            store.rename("SOUL.md", "b.md")


def stored(**owner):
    """Return table -> how many rows of that owner."""
    names = [model for model in TABLES if "agent" not in owner or model in (AgentFile, HistoricalAgentFile)]
    return {model.__name__: model._base_manager.filter(**owner).count() for model in names}


def test_erasing_a_tenant_removes_everything_and_says_how_much(two_tenants, tenant, other_tenant):
    before, others = stored(tenant=tenant), stored(tenant=other_tenant)
    assert min(before.values()) > 0

    out = run("agentstore_erase", "--tenant", tenant, "--no-input")

    assert set(stored(tenant=tenant).values()) == {0}
    assert stored(tenant=other_tenant) == others
    assert "Removed of tenant 'acme':\n" in out
    assert out.count(f"{sum(before.values()):,} rows in all") == 2
    assert f"Agent files: {before['AgentFile']}" in out
    assert f"Audit entries: {before['AuditEntry']}" in out


def test_erasing_an_agent_removes_its_files_and_versions_alone(two_tenants, tenant, other_tenant):
    before, others = stored(tenant=tenant), stored(tenant=other_tenant)

    run("agentstore_erase", "--tenant", tenant, "--agent", "bia", "--no-input")

    assert set(stored(tenant=tenant, agent="bia").values()) == {0}
    left = stored(tenant=tenant)
    assert left["AgentFile"] == before["AgentFile"] / 2
    assert {**left, "AgentFile": 0, "HistoricalAgentFile": 0} == {
        **before, "AgentFile": 0, "HistoricalAgentFile": 0,
    }  # fmt: skip
    assert stored(tenant=other_tenant) == others
    assert FileStore(tenant, "bia").deleted() == []


def test_nothing_is_erased_while_a_table_of_the_hosts_refers_to_a_row(two_tenants, tenant):
    before = stored(tenant=tenant)
    row = Task.store(tenant).create({"text": "referred to"})
    with referring_to(Task, row.id), pytest.raises(CommandError, match="still referred to by another table"):
        run("agentstore_erase", "--tenant", tenant, "--no-input")

    assert stored(tenant=tenant)["Task"] == before["Task"] + 1
    run("agentstore_erase", "--tenant", tenant, "--no-input")
    assert set(stored(tenant=tenant).values()) == {0}


#: Tenants that a pattern, a prefix, a trim or a comparison without capitals would take for ``user_1``.
ALIKE = ["user_10", "userX1", "USER_1", "user_", "user%", "x user_1", "user_1\u0301", "%", "_"]


@pytest.mark.parametrize("name", ["user_1", "user%", "_"])
def test_a_tenant_of_a_similar_name_keeps_everything(db, name):
    for each in {"user_1", *ALIKE}:
        FileStore(each, "bia").write("SOUL.md", each)
        StrategyStore(each).save(problem="late parcel", strategy="call the depot")
        Task.store(each).create({"text": each})
    others = {"user_1", *ALIKE} - {name}
    before = {each: stored(tenant=each) for each in others}

    run("agentstore_erase", "--tenant", name, "--no-input")

    assert set(stored(tenant=name).values()) == {0}
    assert {each: stored(tenant=each) for each in others} == before


def test_an_agent_of_a_similar_name_keeps_everything(db, tenant):
    agents = ["bia", "bia2", "Bia", "b.a", "bi"]
    for each in agents:
        FileStore(tenant, each).write("SOUL.md", each)

    run("agentstore_erase", "--tenant", tenant, "--agent", "bia", "--no-input")

    assert [FileStore(tenant, each).read("SOUL.md") for each in agents] == [None, *agents[1:]]


def test_what_the_admin_s_log_says_of_erased_rows_goes_too(admin_client, admin_user, tenant, other_tenant):
    """The log holds names of files and words of rows; what it says of others stays."""
    for each in (tenant, other_tenant):
        files = FileStore(each, "bia")
        files.write("SOUL.md", "x")
        row = Task.store(each).create({"text": f"secret of {each}"})
        for obj in (AgentFile.objects.get(tenant=each), Task.objects.get(id=row.id)):
            LogEntry.objects.log_actions(admin_user.pk, [obj], CHANGE, "Saved.")
    kind = ContentType.objects.get_for_model(Task)
    LogEntry.objects.create(user=admin_user, content_type=kind, object_repr="12 tasks", action_flag=CHANGE)

    out = run("agentstore_erase", "--tenant", tenant, "--no-input")

    assert "Log entries: 2" in out
    left = sorted(entry.object_repr for entry in LogEntry.objects.all())
    assert left == ["12 tasks", "bia: SOUL.md", f"secret of {other_tenant}"]


def test_a_log_of_any_length_is_gone_through_in_batches(admin_user, tenant, other_tenant, monkeypatch):
    """A statement takes 65,535 parameters, and the log of an admin in use has more entries than that."""
    monkeypatch.setattr(agentstore_erase, "BATCH", 3)
    for each, number in ((tenant, 8), (other_tenant, 4)):
        Task.store(each).create_many([{"text": each}] * number)
    LogEntry.objects.log_actions(admin_user.pk, Task.objects.order_by("id"), CHANGE, "Saved.")

    with CaptureQueriesContext(connection) as captured:
        out = run("agentstore_erase", "--tenant", tenant, "--no-input")

    assert "Log entries: 8\n" in out
    assert [entry.object_repr for entry in LogEntry.objects.all()] == [other_tenant] * 4
    lists = [re.search(r" IN \((.*?)\)", query["sql"]) for query in captured if "admin_log" in query["sql"]]
    assert max(len(found[1].split(",")) for found in lists if found) == 3


def test_a_host_without_the_admin_can_erase(two_tenants, tenant, monkeypatch):
    monkeypatch.setattr("django.apps.apps.is_installed", lambda name: name != "django.contrib.admin")

    run("agentstore_erase", "--tenant", tenant, "--no-input")

    assert set(stored(tenant=tenant).values()) == {0}


def test_every_table_of_a_store_is_erased(db):
    from django.apps import apps

    from agentstore.management.commands.agentstore_erase import stored as found

    tables = {model for model in apps.get_models() if issubclass(model, StoreModel)}

    assert {rows.model for rows in found({"tenant": "acme"})} == tables
    assert tables >= set(TABLES)


@pytest.mark.parametrize(("answer", "kept"), [("yes", False), ("y", True), ("", True), ("no", True)])
def test_erasing_asks_first(two_tenants, tenant, monkeypatch, answer, kept):
    questions = []
    monkeypatch.setattr("builtins.input", lambda question: questions.append(question) or answer)

    if kept:
        with pytest.raises(CommandError, match="Nothing was removed"):
            run("agentstore_erase", "--tenant", tenant)
    else:
        run("agentstore_erase", "--tenant", tenant)

    assert (sum(stored(tenant=tenant).values()) > 0) == kept
    assert "tenant 'acme'" in questions[0]


def test_a_dry_run_and_an_unknown_tenant_erase_nothing(two_tenants, tenant):
    before = stored(tenant=tenant)

    assert "rows in all" in run("agentstore_erase", "--tenant", tenant, "--dry-run")
    assert "  0 rows in all" in run("agentstore_erase", "--tenant", "nobody")

    assert stored(tenant=tenant) == before


@pytest.mark.parametrize(
    "owner", [("--tenant", ""), ("--tenant", " x"), ("--tenant", "a", "--agent", "../x")]
)
def test_an_owner_that_can_not_be_is_refused(db, owner):
    with pytest.raises(CommandError):
        run("agentstore_erase", *owner, "--no-input")
