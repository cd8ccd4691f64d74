"""What the hot paths are on PostgreSQL: one statement each, into simple-history's own table."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentstore.files.models import HistoricalAgentFile

pytestmark = [
    pytest.mark.postgres_only,
    pytest.mark.parametrize("backend", ["auto"], indirect=True),
]

WRITES = {
    "a write": lambda files: files.write("SOUL.md", "three"),
    "a write of an expected version": lambda files: files.write("SOUL.md", "three", expected_version=2),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_write_is_one_statement_that_writes_the_version_and_trims(files, settings, what):
    settings.AGENTSTORE = {**settings.AGENTSTORE, "FILE_VERSIONS_KEPT": 1, "FILE_DAILY_KEPT": 0}
    files.write("SOUL.md", "one")
    files.write("SOUL.md", "two")

    with CaptureQueriesContext(connection) as found:
        assert WRITES[what](files).version == 3

    assert len(found) == 1
    versions = HistoricalAgentFile.objects.order_by("version").values_list("version", "content")
    assert list(versions) == [(2, "two"), (3, "three")]


def test_reading_what_a_file_holds_is_one_statement(files):
    files.write("SOUL.md", "one")

    with CaptureQueriesContext(connection) as found:
        assert files.read("SOUL.md") == "one"

    assert len(found) == 1
