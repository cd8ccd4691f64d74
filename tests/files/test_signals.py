"""``file_changed``: sent after the commit, once per version, without content."""

from __future__ import annotations

import pytest
from django.db import transaction

from agentstore.core.errors import AgentStoreError
from agentstore.core.values import now
from agentstore.files.models import AgentFile
from agentstore.signals import file_changed


@pytest.fixture
def told(files):
    """What the receivers were told, as (op, name, version)."""
    heard = []

    def receiver(sender, signal, **values):
        assert sender is AgentFile
        assert set(values) == {"tenant", "agent", "id", "name", "op", "version", "actor"}
        assert (values["tenant"], values["agent"], values["actor"]) == ("acme", "bia", "agent:bia")
        heard.append((values["op"], values["name"], values["version"]))

    file_changed.connect(receiver, sender=AgentFile)
    yield heard
    file_changed.disconnect(receiver, sender=AgentFile)


def test_every_version_is_told_and_nothing_else(files, told, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        files.write("a.md", "one")
        files.write("a.md", "two")
        files.write("a.md", "two")
        files.replace("a.md", "two", "three")
        files.restore("a.md", 1)
        files.rename("a.md", "b.md")
        files.delete("b.md")
        files.delete("b.md")
        files.undelete("b.md")

    assert told == [
        ("created", "a.md", 1),
        ("changed", "a.md", 2),
        ("changed", "a.md", 3),
        ("restored", "a.md", 4),
        ("renamed", "b.md", 5),
        ("deleted", "b.md", 5),
        ("undeleted", "b.md", 6),
    ]


def test_a_refused_write_is_not_told(files, told, django_capture_on_commit_callbacks):
    files.write("a.md", "one")
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        for call in (
            lambda: files.write("a.md", "x", expected_version=9),
            lambda: files.write("A.md", "x"),
            lambda: files.rename("x.md", "y.md"),
        ):
            with pytest.raises(AgentStoreError):
                call()
        files.restore_as_of(now(), dry_run=True)

    assert callbacks == []


def test_what_is_rolled_back_is_not_told(files, told, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True), pytest.raises(RuntimeError), transaction.atomic():
        files.write("a.md", "one")
        raise RuntimeError

    assert told == []


def test_without_receivers_nothing_is_prepared(files, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        files.write("a.md", "one")

    assert callbacks == []


def test_a_receiver_s_error_does_not_undo_the_write(files, django_capture_on_commit_callbacks):
    def receiver(**values):
        raise RuntimeError("receiver")

    file_changed.connect(receiver, sender=AgentFile)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            files.write("a.md", "one")
    finally:
        file_changed.disconnect(receiver, sender=AgentFile)

    assert files.read("a.md") == "one"
