"""The built wheel, alone in an empty environment with a fresh project, does what the README says.

The dependencies come from this interpreter's own site-packages, so that nothing is downloaded.
"""

from __future__ import annotations

import base64
import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.parse
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.readme import README, blocks

ROOT = README.parent
SECTION = "In your own project"
LOGIN = {"username": "root", "password": "a-long-pass-phrase"}
PURCHASE = {"customer": "Palgrove Tiles", "deliver_by": "2027-05-01T09:00:00Z", "lines": [{"sku": "BX-22"}]}


class Site:
    """A fresh Django project in an environment that has the wheel."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self.python = folder, python
        # Nothing of the tests' own environment may help: neither settings nor paths.
        kept = ("PATH", "HOME", "LANG", "SYSTEMROOT", "TMPDIR")
        self.environ = {name: os.environ[name] for name in kept if name in os.environ}
        self.environ |= {f"DJANGO_SUPERUSER_{name.upper()}": value for name, value in LOGIN.items()}
        self.environ["DJANGO_SUPERUSER_EMAIL"] = "root@example.com"

    def run(self, *words: str) -> str:
        """Run Python with ``words``; return what it printed."""
        command = [str(self.python), *words]
        done = subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def path(self, file: str) -> Path:
        """Return where a file is that a block of the README names."""
        return self.folder / ("mysite" if "/" not in file else "") / file

    def write(self, file: str, text: str, *, append: bool = False) -> None:
        """Write a block of the README where it says it belongs."""
        path = self.path(file)
        path.write_text((path.read_text() if append else "") + "\n" + text)

    @contextmanager
    def trying(self, file: str) -> Iterator[None]:
        """Put a file back afterwards, since the tests come in any order: the server may start later."""
        before = self.path(file).read_text()
        try:
            yield
        finally:
            self.path(file).write_text(before)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "agentstore", source / "agentstore", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--wheel",
        "--outdir",
        str(target),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.iterdir())


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The README followed up to its last command."""
    home, folder = tmp_path_factory.mktemp("venv"), tmp_path_factory.mktemp("site")
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    site = Site(folder, python)
    paths = json.loads(site.run("-c", "import json, sysconfig; print(json.dumps(sysconfig.get_paths()))"))
    # A line in a .pth file adds the folder without the .pth files in it: no editable install.
    (Path(paths["purelib"]) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install(wheel, python)
    follow(site)
    return site


def install(wheel: Path, python: Path) -> None:
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--force-reinstall"]
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", *options, str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def follow(site: Site) -> None:
    """Do what the section says, in its order."""
    site.run("-m", "django", "startproject", "mysite", ".")
    site.run("manage.py", "startapp", "shop")
    for block in blocks("python", section=SECTION):
        site.write(block.file, block.text, append=block.file == "settings.py")
    for command in commands():
        if command[2] == "createsuperuser":
            command.append("--noinput")
        if command[2] != "runserver":
            site.run(*command[1:])


def commands() -> list[list[str]]:
    """Return the section's ``manage.py`` calls as lists of words."""
    lines = [line[2:] for b in blocks("console", section=SECTION) for line in b.text.splitlines()]
    return [line.split() for line in lines if "manage.py" in line]


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    """The README's last command: the server, on a port that the system gives it."""
    command = [str(site.python), "-u", "manage.py", "runserver", "127.0.0.1:0", "--noreload"]
    output = site.folder / "server.log"
    with output.open("wb") as log:
        server = subprocess.Popen(command, cwd=site.folder, env=site.environ, stdout=log, stderr=log)
        try:
            yield listening(server, output)
        finally:
            server.terminate()
            server.wait(timeout=120)


def listening(server: subprocess.Popen[bytes], output: Path) -> str:
    """Return the address that the server prints once it listens."""
    for _ in range(1200):
        assert server.poll() is None, output.read_text()
        if found := re.search(r"(http://127\.0\.0\.1:\d+)/", output.read_text()):
            return found.group(1)
        time.sleep(0.1)
    raise AssertionError(f"The server did not start.\n{output.read_text()}")


def rest(address: str, path: str, body: object = None, method: str | None = None) -> tuple[int, dict]:
    """Send a request to the API as the superuser; return status and body."""
    token = base64.b64encode(f"{LOGIN['username']}:{LOGIN['password']}".encode()).decode()
    request = urllib.request.Request(  # noqa: S310 - this machine
        f"{address}/api/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Basic {token}", "Content-Type": "application/json"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310 - this machine
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.fixture
def admin(address: str) -> urllib.request.OpenerDirector:
    """A browser of sorts, logged in to the admin."""
    cookies = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    opener.open(f"{address}/admin/login/", timeout=120)
    token = next(cookie.value for cookie in cookies if cookie.name == "csrftoken")
    form = {**LOGIN, "csrfmiddlewaretoken": token, "next": "/admin/"}
    opener.open(f"{address}/admin/login/", urllib.parse.urlencode(form).encode(), timeout=120)
    return opener


def test_the_package_comes_from_the_wheel(site):
    found = site.run("-c", "import agentstore; print(agentstore.__file__)").strip()

    assert Path(found).is_relative_to(site.python.parent.parent)


def test_the_migration_lands_in_the_app_and_is_complete(site):
    migration = (site.folder / "shop/migrations/0001_initial.py").read_text()
    checked = site.run("manage.py", "makemigrations", "--check", "--dry-run")

    assert migration.count("EntityFieldIndex") == 2
    assert "No changes detected" in checked


def test_a_further_index_gets_the_name_that_the_readme_shows(site):
    """The example of a concurrent index has to continue what ``makemigrations`` writes."""
    (example,) = (b for b in blocks("python") if b.file.startswith("shop/migrations/"))
    models = site.path("shop/models.py")

    with site.trying("shop/models.py"):
        models.write_text(models.read_text().replace('"deliver_by"]', '"deliver_by", "express"]'))
        written = site.run("manage.py", "makemigrations", "shop", "--dry-run", "-v", "3")

    (name,) = re.findall(r'name="(shop_\w+)"', example.text)
    assert "migrations.AddIndex(" in written
    assert f"name='{name}'" in written


def test_the_api_stores_and_returns_rows(address):
    status, made = rest(address, "entities/purchases/", {"data": PURCHASE})
    _, listed = rest(address, "entities/purchases/?customer__startswith=Pal")

    assert status == 201
    assert made["data"]["lines"] == [{"sku": "BX-22", "quantity": 1}]
    assert made["id"] in [row["id"] for row in listed["results"]]


def test_the_api_refuses_what_does_not_fit(address):
    status, body = rest(address, "entities/purchases/", {"data": {**PURCHASE, "express": "yes"}})

    assert (status, body["code"], list(body["errors"])) == (400, "validation", ["express"])


def test_the_api_is_documented(address):
    with urllib.request.urlopen(f"{address}/api/schema/?format=json", timeout=120) as response:  # noqa: S310
        paths = json.load(response)["paths"]
    with urllib.request.urlopen(f"{address}/api/docs/", timeout=120) as response:  # noqa: S310
        assert response.status == 200

    assert {"/api/entities/purchases/", "/api/entities/purchases/{id}/history/"} <= set(paths)


def test_the_admin_shows_a_row_and_its_history(address, admin):
    _, made = rest(address, "entities/purchases/", {"data": {**PURCHASE, "customer": "Wexbury Boatyard"}})
    place = f"{address}/admin/shop/purchase/"

    listed = admin.open(place, timeout=120).read().decode()
    form = admin.open(f"{place}{made['id']}/change/", timeout=120).read().decode()
    history = admin.open(f"{place}{made['id']}/history/", timeout=120).read().decode()

    assert "Wexbury Boatyard" in listed
    assert 'value="Wexbury Boatyard"' in form
    assert f"user:{LOGIN['username']}" in history


def test_the_access_example_runs_in_the_project(site):
    (file,) = (b for b in blocks("python") if b.file == "shop/access.py")
    (setting,) = (b for b in blocks("python") if "AGENTSTORE" in b.text and b.file == "settings.py")
    label_of = "from agentstore.core.access import get_access; print(get_access().label('company:acme'))"

    with site.trying(setting.file):
        site.write(file.file, file.text)
        site.write(setting.file, setting.text, append=True)
        checked = site.run("manage.py", "check")
        label = site.run("manage.py", "shell", "-c", label_of)

    assert "no issues" in checked
    assert label.strip().splitlines()[-1] == "Acme"
