"""The version table is simple-history's: its reading API works, and nothing else of it gets in the way."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import signals

from agentstore.core.errors import BypassRefused
from agentstore.core.values import clock_at, new_id
from agentstore.files import FileStore
from agentstore.files.models import AgentFile, HistoricalAgentFile
from tests.files.conftest import START
from tests.isolated import run_python


@pytest.fixture
def store(files):
    """Three versions, one a day."""
    for day, text in enumerate(("one\n", "one\ntwo\n", "three\n")):
        with clock_at(START + timedelta(days=day)):
            files.write("SOUL.md", text, actor=f"user:{day}", reason=f"reason {day}")
    return files


@pytest.fixture
def file(store):
    return AgentFile.objects.get(tenant=store.tenant, name="SOUL.md")


# --- reading through simple-history -------------------------------------------------------------


def test_each_version_is_a_history_row(file):
    rows = list(file.history.all())

    assert [(row.version, row.history_type, row.content) for row in rows] == [
        (3, "~", "three\n"),
        (2, "~", "one\ntwo\n"),
        (1, "+", "one\n"),
    ]
    assert [row.history_date for row in rows] == [START + timedelta(days=day) for day in (2, 1, 0)]
    assert [row.history_user for row in rows] == ["user:2", "user:1", "user:0"]
    assert [row.history_change_reason for row in rows] == ["reason 2", "reason 1", "reason 0"]


def test_a_history_row_is_the_state_after_its_write(store, file):
    store.restore("SOUL.md", 1, reason="back", context={"run": 1})
    file.refresh_from_db()
    row = file.history.first()

    for field in AgentFile._meta.concrete_fields:
        assert getattr(row, field.attname) == getattr(file, field.attname), field.name
    assert row.restored_from == 1
    assert (row.redacted_at, row.redacted_by, row.redacted_reason) == (None, "", "")


def test_the_ids_of_history_rows_are_made_by_the_application_and_sort_by_time(file):
    ids = list(file.history.order_by("history_date").values_list("history_id", flat=True))

    assert {id.version for id in ids} == {7}
    assert ids == sorted(ids)


def test_as_of_gives_the_file_of_then(store, file):
    then = file.history.as_of(START + timedelta(days=1, hours=1))
    assert (type(then), then.content, then.version) == (AgentFile, "one\ntwo\n", 2)

    store.delete("SOUL.md")
    [listed] = AgentFile.history.as_of(START + timedelta(hours=1)).filter(tenant=store.tenant)
    assert listed.content == "one\n"
    assert AgentFile.history.as_of(START + timedelta(days=999)).count() == 0


def test_diff_against_tells_what_changed(file):
    new, old = file.history.all()[:2]

    delta = new.diff_against(old, included_fields=["content", "version"])

    assert sorted((change.field, change.old, change.new) for change in delta.changes) == [
        ("content", "one\ntwo\n", "three\n"),
        ("version", 2, 3),
    ]


def test_neighbours_and_the_instance_are_found(file):
    middle = file.history.get(version=2)

    assert (middle.prev_record.version, middle.next_record.version) == (1, 3)
    assert middle.instance.content == "one\ntwo\n"
    assert file.history.earliest().version == 1
    assert file.history.most_recent().version == 3


def test_a_file_s_history_names_its_tenant(file):
    sql = str(file.history.all().query)

    assert "tenant" in sql.partition("WHERE")[2]


def test_a_deletion_is_a_row_of_its_own(store, file):
    with clock_at(START + timedelta(days=5)):
        store.delete("SOUL.md", actor="user:9", reason="gone")

    row = HistoricalAgentFile._base_manager.get(history_type="-")

    assert (row.version, row.content, row.history_user, row.history_change_reason) == (
        3,
        "three\n",
        "user:9",
        "gone",
    )


# --- signals and settings -----------------------------------------------------------------------

MODEL_SIGNALS = ("pre_save", "post_save", "pre_delete", "post_delete", "m2m_changed")


def work_with(store):
    """Do everything that writes, trimming and forgetting included."""
    for number in range(25):
        store.write("busy.md", f"text {number}")
    store.rename("busy.md", "calm.md")
    store.restore("calm.md", 10)
    store.redact("calm.md", 12, "secret")
    for number in range(22):
        store.write("x.md", f"{number}")
        store.delete("x.md")
    store.undelete("x.md")
    store.restore_as_of("2030-01-01T00:00:00Z")


def test_no_model_signals_fire(files):
    fired = []

    def receiver(sender, **kwargs):
        fired.append(sender)

    connected = [getattr(signals, name) for name in MODEL_SIGNALS]
    for signal in connected:
        signal.connect(receiver)
    try:
        work_with(files)
    finally:
        for signal in connected:
            signal.disconnect(receiver)

    assert fired == []


def test_no_signals_of_simple_history_fire(files):
    from simple_history import signals as history_signals

    fired = []

    def receiver(**kwargs):
        fired.append(kwargs)

    history_signals.pre_create_historical_record.connect(receiver)
    history_signals.post_create_historical_record.connect(receiver)
    try:
        work_with(files)
    finally:
        history_signals.pre_create_historical_record.disconnect(receiver)
        history_signals.post_create_historical_record.disconnect(receiver)

    assert fired == []


def test_versions_are_written_even_where_simple_history_is_off(files, settings):
    settings.SIMPLE_HISTORY_ENABLED = False

    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")
    files.delete("SOUL.md")

    types = HistoricalAgentFile._base_manager.order_by("history_date", "version").values_list(
        "history_type", flat=True
    )
    assert sorted(types) == ["+", "-", "~"]


HOSTILE = """
from tests.settings import *
SIMPLE_HISTORY_ENABLED = False
SIMPLE_HISTORY_HISTORY_ID_USE_UUID = False
SIMPLE_HISTORY_DATE_INDEX = "composite"
SIMPLE_HISTORY_HISTORY_CHANGE_REASON_USE_TEXT_FIELD = False
SIMPLE_HISTORY_FILEFIELD_TO_CHARFIELD = True
SIMPLE_HISTORY_ENFORCE_HISTORY_MODEL_PERMISSIONS = True
SIMPLE_HISTORY_REVERT_DISABLED = True
SIMPLE_HISTORY_EDIT = True
DEFAULT_AUTO_FIELD = "django.db.models.SmallAutoField"
LANGUAGE_CODE = "de"
USE_I18N = False
INSTALLED_APPS = [*INSTALLED_APPS, "hostile"]
AUTH_USER_MODEL = "hostile.Person"
"""
PERSON = """
from django.contrib.auth.models import AbstractUser
from django.db import models
class Person(AbstractUser):
    number = models.CharField(max_length=9, primary_key=True)
"""


@pytest.mark.parametrize("history_app", [False, True], ids=["library alone", "app installed"])
def test_no_setting_of_a_host_makes_migrations_in_the_package(tmp_path, history_app):
    apps = '[app for app in INSTALLED_APPS if app != "simple_history"]'
    extra = f"""INSTALLED_APPS = {apps}{' + ["simple_history"]' if history_app else ""}\n"""
    (tmp_path / "hostile_settings.py").write_text(HOSTILE + extra)
    (tmp_path / "hostile").mkdir()
    (tmp_path / "hostile" / "__init__.py").write_text("")
    (tmp_path / "hostile" / "models.py").write_text(PERSON)
    code = (
        "import django; django.setup()\n"
        "from django.core.management import call_command\n"
        "call_command('makemigrations', 'agentstore', check=True, dry_run=True)\n"
    )

    done = run_python(
        code, PYTHONPATH=str(tmp_path), DJANGO_SETTINGS_MODULE="hostile_settings", DATABASE_URL="sqlite://"
    )

    assert "No changes detected" in done.stdout


def test_migrations_are_complete(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


# --- writes around the store --------------------------------------------------------------------

BYPASSES = {
    "save": lambda file: file.save(),
    "delete": lambda file: file.delete(),
    "create": lambda file: AgentFile.objects.create(id=new_id(), tenant="acme"),
    "bulk_create": lambda file: AgentFile.objects.bulk_create([file]),
    "update": lambda file: AgentFile.objects.filter(pk=file.pk).update(content="x"),
    "bulk_update": lambda file: AgentFile.objects.bulk_update([file], ["content"]),
    "queryset delete": lambda file: AgentFile.objects.filter(pk=file.pk).delete(),
    "update_or_create": lambda file: AgentFile.objects.update_or_create(
        pk=file.pk, defaults={"content": "x"}
    ),
    "version save": lambda file: file.history.first().save(),
    "version delete": lambda file: file.history.first().delete(),
    "versions delete": lambda file: file.history.all().delete(),
    "versions update": lambda file: file.history.update(content="x"),
    "versions create": lambda file: file.history.create(version=9),
    "all versions delete": lambda file: AgentFile.history.all().delete(),
    "all versions update": lambda file: AgentFile.history.update(content="x"),
    "history objects": lambda file: HistoricalAgentFile.objects.all().delete(),
    "history objects update": lambda file: HistoricalAgentFile.objects.update(content="x"),
    "history objects create": lambda file: HistoricalAgentFile.objects.create(history_id=new_id()),
    "bulk_history_create": lambda file: AgentFile.history.bulk_history_create([file]),
}


@pytest.mark.parametrize("what", BYPASSES)
def test_a_write_around_the_store_is_refused_and_names_the_store(file, what):
    before = [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]

    with pytest.raises(BypassRefused) as info:
        BYPASSES[what](file)

    assert "FileStore(tenant, agent)" in info.value.hint
    after = [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]
    assert after == before


def test_async_writes_around_the_store_are_refused_too(transactional_db, tenant):
    FileStore(tenant, "bia").write("SOUL.md", "x")
    file = AgentFile.objects.get()

    for call in (file.asave, file.adelete, AgentFile.objects.all().adelete):
        with pytest.raises(BypassRefused):
            asyncio.run(call())


@pytest.mark.parametrize("command", ["clean_old_history", "clean_duplicate_history", "populate_history"])
def test_commands_of_a_host_s_own_histories_pass_the_versions_by(store, command):
    """A host that has them run every night must neither lose versions nor be stopped by a refusal."""
    for number in range(3):
        with clock_at(START + timedelta(minutes=number)):
            store.write("old.md", str(number))
    store.delete("old.md")
    before = [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]
    options = {"days": 0} if command == "clean_old_history" else {}

    call_command(command, auto=True, verbosity=0, **options)

    after = [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]
    assert after == before
    with pytest.raises(BypassRefused):
        call_command("clean_old_history", "agentstore.AgentFile", days=0, verbosity=0)


def test_a_name_whose_file_is_gone_for_good_is_not_taken_for_a_file_without_history(store, settings):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_DELETED_KEPT": 0}
    for name in ("SOUL.md", "gone.md"):
        store.write(name, "x")
        store.delete(name)

    call_command("populate_history", auto=True, verbosity=0)

    assert AgentFile._base_manager.exists() and not HistoricalAgentFile._base_manager.exists()


def test_fixtures_can_be_loaded(store, tmp_path):
    """What ``dumpdata`` wrote ``loaddata`` brings back, versions and all."""
    path = tmp_path / "files.json"
    call_command(
        "dumpdata", "agentstore.agentfile", "agentstore.historicalagentfile", output=str(path), verbosity=0
    )
    before = [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]
    AgentFile._base_manager.all().delete()
    HistoricalAgentFile._base_manager.all().delete()

    call_command("loaddata", str(path), verbosity=0)

    after = [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]
    assert after == before
    assert store.restore("SOUL.md", 1).version == 4


def test_a_file_says_what_it_is(file):
    assert str(file) == "bia: SOUL.md"


def test_the_tables_have_the_agreed_names(db):
    tables = set(connection.introspection.table_names())

    assert {"agentstore_agentfile", "agentstore_historicalagentfile"} <= tables
