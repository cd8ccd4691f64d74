"""Another tenant's and another agent's files: never seen, never changed, and always named in the SQL."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper

from agentstore.core.errors import NotFound, StorageFailed, ValidationFailed
from agentstore.files import FileStore, agents
from agentstore.files.archive import export_zip
from agentstore.files.importing import import_files
from agentstore.files.models import AgentFile, HistoricalAgentFile
from tests.entities.test_tenancy_sql import captured, complaints

SINCE = "2020-01-01T00:00:00Z"
#: Every operation of a store, on names that only the other store has.
READS = {
    "read": lambda store: store.read("SOUL.md"),
    "read a version": lambda store: store.read("SOUL.md", 1),
    "info": lambda store: store.info("SOUL.md"),
    "list": lambda store: store.list(),
    "contents": lambda store: store.contents(),
    "usage": lambda store: store.usage(),
    "versions": lambda store: store.versions("SOUL.md"),
    "deleted": lambda store: store.deleted(),
    "changes": lambda store: store.changes(SINCE),
    "restore_as_of": lambda store: store.restore_as_of(SINCE),
    "assemble": lambda store: store.assemble(["SOUL.md"]).parts,
    "delete": lambda store: store.delete("SOUL.md"),
}
REFUSED = {
    "write": lambda store: store.write("SOUL.md", "x", expected_version=2),
    "replace": lambda store: store.replace("SOUL.md", "two", "x"),
    "rename": lambda store: store.rename("SOUL.md", "x.md"),
    "restore": lambda store: store.restore("SOUL.md", 1),
    "redact": lambda store: store.redact("SOUL.md", 1, "why"),
    "diff": lambda store: store.diff("SOUL.md", 1),
    "undelete": lambda store: store.undelete("gone.md"),
    "restore_as_of": lambda store: store.restore_as_of(SINCE, ["SOUL.md"]),
}
EVERYTHING = {
    **READS,
    "write": lambda store: store.write("SOUL.md", "three"),
    "create": lambda store: store.write("new.md", "x"),
    "write identical": lambda store: store.write("SOUL.md", "two"),
    "replace": lambda store: store.replace("SOUL.md", "two", "x"),
    "rename": lambda store: store.rename("SOUL.md", "x.md"),
    "restore": lambda store: store.restore("SOUL.md", 1),
    "redact": lambda store: store.redact("SOUL.md", 1, "why"),
    "diff": lambda store: store.diff("SOUL.md", 1),
    "undelete": lambda store: store.undelete("gone.md"),
    "export": export_zip,
    "import": lambda store: import_files(
        store, {"SOUL.md": "x", "a.md": "b"}, policy="overwrite", prune=True
    ),
    "seed": lambda store: import_files(store, {"SOUL.md": "x", "gone.md": "b"}, policy="seed"),
    "agents": lambda store: agents(store.tenant),
}


@pytest.fixture
def store(files):
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")
    files.write("gone.md", "x")
    files.delete("gone.md")
    return files


@pytest.fixture(params=["tenant", "agent", "letter case"])
def stranger(request, store, tenant, other_tenant):
    """A store that must not see what ``store`` holds."""
    return {
        "tenant": FileStore(other_tenant, "bia"),
        "agent": FileStore(tenant, "zoe"),
        "letter case": FileStore(tenant, "Bia"),
    }[request.param]


def everything():
    return [list(model._base_manager.order_by("pk").values()) for model in (AgentFile, HistoricalAgentFile)]


@pytest.mark.parametrize("what", READS)
def test_a_stranger_reads_nothing(store, stranger, what):
    before = everything()

    assert not READS[what](stranger) or READS[what](stranger) == (0, 0)

    assert everything() == before


@pytest.mark.parametrize("what", REFUSED)
def test_a_stranger_gets_the_words_of_a_file_that_never_was(store, stranger, what):
    before = everything()

    with pytest.raises(NotFound) as theirs:
        REFUSED[what](stranger)
    with pytest.raises(NotFound) as nobodys:
        REFUSED[what](FileStore("nobody", stranger.agent))

    assert theirs.value.as_dict() == nobodys.value.as_dict()
    assert everything() == before


def test_a_stranger_s_own_file_of_the_same_name_is_another(store, stranger):
    assert stranger.write("SOUL.md", "mine").version == 1
    stranger.write("gone.md", "mine")
    stranger.rename("SOUL.md", "x.md")
    stranger.delete("x.md")

    assert (store.read("SOUL.md"), store.info("SOUL.md").version) == ("two", 2)
    assert [gone.name for gone in store.deleted()] == ["gone.md"]
    assert store.undelete("gone.md").version == 2


def test_agents_of_another_tenant_are_not_listed(store, other_tenant):
    assert agents(other_tenant) == []


@pytest.mark.parametrize("what", EVERYTHING)
def test_a_broken_database_is_a_storage_error_whatever_is_asked(store, monkeypatch, what):
    def broken(self, sql, params=None):
        raise OperationalError("could not connect to 10.0.0.1")

    with monkeypatch.context() as broken_for_now, pytest.raises(StorageFailed) as info:
        broken_for_now.setattr(CursorWrapper, "execute", broken)
        EVERYTHING[what](store)

    connection.needs_rollback = False
    assert info.value.retryable and "10.0.0.1" not in str(info.value.as_dict())


@pytest.mark.parametrize("what", EVERYTHING)
def test_every_statement_names_the_tenant_in_its_where(store, what):
    with captured() as found:
        EVERYTHING[what](store)

    assert any("agentstore_" in sql for sql, _ in found)
    assert [line for sql, params in found for line in complaints(sql, params, tenant="acme")] == []


@pytest.mark.parametrize("tenant_given", ["", " acme", "acme\n", None, 5, "x" * 256])
def test_a_store_needs_a_tenant(tenant_given):
    with pytest.raises(ValidationFailed):
        FileStore(tenant_given, "bia")
    with pytest.raises(ValidationFailed):
        agents(tenant_given)


@pytest.mark.parametrize("agent", ["", "a/b", "../x", " bia", "bia\n", "ü", "x" * 65, None, 5])
def test_a_store_needs_an_agent(tenant, agent):
    with pytest.raises(ValidationFailed):
        FileStore(tenant, agent)
