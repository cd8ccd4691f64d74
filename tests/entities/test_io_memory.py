"""Long files are streamed: the memory that an import takes does not grow with the file."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from django.db import connection

from agentstore.core.models import Usage
from tests.isolated import run_python

#: What a whole process may hold, in MB; ``python -m tests.benchmarks imports --rows 1000000`` is the proof.
LIMIT = 200
SHORT, LONG = 2_000, 30_000
#: What a file may cost more if it is fifteen times as long: 4 MB of lines, read as a whole, cost 40.
SLACK = 12

CODE = """
import django, sys
django.setup()
from django.conf import settings
from django.core.management import call_command
from tests.peak import peak_megabytes
settings.DEBUG = True
heard = [0]
def listen(**news):
    heard[0] += 1
if sys.argv[1] == "listen":
    from agentstore.signals import row_changed
    row_changed.connect(listen)
    del sys.argv[1]
call_command(*sys.argv[1:], no_color=True)
print(heard[0], peak_megabytes())
"""


def address():
    """Return the URL of the tests' own database, for a process of its own."""
    config = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{config['NAME']}"
    user, password, host = (quote(config[key] or "", safe="") for key in ("USER", "PASSWORD", "HOST"))
    port = f":{config['PORT']}" if config["PORT"] else ""
    return f"postgresql://{user}:{password}@{host}{port}/{config['NAME']}"


def peak_of(*words):
    """Run a command in a process of its own; return the most memory that it held, in MB."""
    environ = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": address()}
    done = run_python("-c", CODE, *map(str, words), **environ)
    return float(done.stdout.split()[-1])


@pytest.fixture
def file(tmp_path):
    """Write a file of so many records and return its path."""

    def write(count, format):
        path = tmp_path / f"{count}.{format}"
        text = "Call the supplier about order {}, and tell Tom what they said."
        record = {"number": 1.5, "value": {"tags": ["a", "b"]}}
        lines = [json.dumps({**record, "text": text.format(number)}) for number in range(count)]
        path.write_text(f"[{','.join(lines)}]" if format == "json" else "\n".join(lines))
        return path

    return write


def test_an_import_takes_no_more_memory_for_a_longer_file(transactional_db, tenant, file):
    short = peak_of("agentstore_import", "plains", file(SHORT, "jsonl"), "--tenant", tenant)
    long = peak_of("agentstore_import", "plains", file(LONG, "jsonl"), "--tenant", tenant)

    assert Usage.objects.get(tenant=tenant, entity="plains").used == SHORT + LONG
    assert long < LIMIT
    assert long - short < SLACK


def test_nor_do_those_who_are_told_of_every_row(transactional_db, tenant, file):
    """They are told on commit, of all rows at once."""
    short = peak_of("listen", "agentstore_import", "plains", file(SHORT, "jsonl"), "--tenant", tenant)
    long = peak_of("listen", "agentstore_import", "plains", file(LONG, "jsonl"), "--tenant", tenant)

    assert long - short < SLACK


def test_an_array_on_one_line_is_streamed_too(transactional_db, tenant, file):
    short = peak_of("agentstore_import", "plains", file(SHORT, "json"), "--tenant", tenant, "--dry-run")
    long = peak_of("agentstore_import", "plains", file(LONG, "json"), "--tenant", tenant, "--dry-run")

    assert long - short < SLACK


def test_a_file_of_bad_records_takes_no_more_memory_either(transactional_db, tenant, tmp_path):
    peaks = []
    for count in (SHORT, LONG):
        path = tmp_path / f"{count}.jsonl"
        path.write_text('{"text": 5, "unknown": "something"}\n' * count)
        words = ("agentstore_import", "plains", path, "--tenant", tenant, "--skip-invalid", "--dry-run")
        peaks.append(peak_of(*words))

    assert peaks[1] - peaks[0] < SLACK
