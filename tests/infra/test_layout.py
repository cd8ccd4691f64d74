"""Promises about the repository and about what is shipped from it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    ".ci",
    ".gitattributes",
    ".gitignore",
    ".pre-commit-config.yaml",
    "LICENSE",
    "README.md",
    "agentstore",
    "manage.py",
    "project",
    "pyproject.toml",
    "templates",
    "tests",
}
# Home folders and the like; names of package registries.
MACHINE = re.compile(
    r"(?:^|[^\w.])/(?:farm|home|opt|root|work|Users)/[\w.-]+|pypi\.org|pythonhosted|npmjs\.|deb\.debian"
)


def repository_files() -> list[Path]:
    """Return every file that is or would be committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the committed files, so that a build leaves nothing behind."""
    target = tmp_path_factory.mktemp("source")
    for path in repository_files():
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return target


def build(source: Path, kind: str, target: Path) -> Path:
    options = ["--no-isolation", f"--{kind}", "--outdir", str(target)]
    command = [sys.executable, "-m", "build", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = target.iterdir()
    return built


def test_top_level_holds_the_agreed_names_only():
    names = {path.relative_to(ROOT).parts[0] for path in repository_files()}

    assert names <= TOP_LEVEL


def test_no_file_names_a_machine():
    """Paths of one machine and addresses of registries have no meaning for anyone else."""
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in repository_files()
        if path != Path(__file__) and "data" not in path.parts
        for match in MACHINE.finditer(path.read_bytes().decode(errors="replace"))
    ]

    assert found == []


SQL = re.compile(r"\.cursor\(|\bcursor\.execute|\.raw\(|RawSQL|executemany|\.copy\(.*FROM STDIN")
#: What a pooler in transaction mode hands to the next client, or loses.
SESSION = re.compile(
    r"pg_(?:try_)?advisory_lock|[\"']\s*(?:SET (?!LOCAL)|LISTEN |NOTIFY |DISCARD |DECLARE |CREATE TEMP)"
)


def package_files() -> dict[str, str]:
    """Return the text of every module of the package by its name."""
    files = (ROOT / "agentstore").rglob("*.py")
    return {str(path.relative_to(ROOT)): path.read_text() for path in files}


def test_sql_is_in_the_postgres_modules_and_nowhere_else():
    """But for the one setting of a transaction, and for Django's own doors to a schema."""
    found = {name for name, text in package_files().items() if SQL.search(text)}

    assert {name for name in found if not name.endswith("/postgres.py")} == {"agentstore/core/storage.py"}
    assert {"agentstore/entities/postgres.py", "agentstore/files/postgres.py"} <= found


def test_no_statement_names_a_star():
    """With plans prepared on the server, a column that another session adds would break it for good."""
    found = [
        name
        for name, text in package_files().items()
        if re.search(r"(?:SELECT|RETURNING) (?:\w+\.)?\*", text)
    ]

    assert found == []


def test_nothing_is_kept_in_a_session_of_the_database():
    """It runs behind PgBouncer in transaction mode."""
    assert [name for name, text in package_files().items() if SESSION.search(text)] == []
    assert SESSION.search('execute("SET search_path = x")')


def test_the_hosts_admin_templates_are_not_overridden():
    folders = [ROOT / "agentstore" / "templates", *(ROOT / "agentstore").glob("*/templates")]

    assert {path.name for folder in folders if folder.exists() for path in folder.iterdir()} == {"agentstore"}


def test_wheel_holds_the_package_and_nothing_else(source, tmp_path):
    wheel = build(source, "wheel", tmp_path)

    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = {
        str(path.relative_to(source)) for path in (source / "agentstore").rglob("*") if path.is_file()
    }
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert "agentstore/py.typed" in names
    assert "agentstore/migrations/0001_initial.py" in names


def test_wheel_declares_its_licence_and_extras(source, tmp_path):
    wheel = build(source, "wheel", tmp_path)

    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
        licences = [name for name in archive.namelist() if name.endswith("/licenses/LICENSE")]
    extras = set(re.findall(r"^Provides-Extra: (.+)$", metadata, re.MULTILINE))
    assert "License-Expression: MIT" in metadata
    assert len(licences) == 1
    assert extras == {"demo", "dev", "mcp", "openapi", "remote"}


def test_sdist_builds_the_same_wheel(source, tmp_path):
    direct = build(source, "wheel", tmp_path / "direct")
    sdist = build(source, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since Python 3.11.4
        archive.extractall(tmp_path, **safely)  # noqa: S202 - we made it

    indirect = build(tmp_path / sdist.name.removesuffix(".tar.gz"), "wheel", tmp_path / "indirect")

    with zipfile.ZipFile(direct) as one, zipfile.ZipFile(indirect) as two:
        assert sorted(one.namelist()) == sorted(two.namelist())


def test_requirements_have_lower_bounds_only():
    """An upper bound in a library makes it impossible to install beside something newer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]

    bounds = [re.split(r";", requirement)[0] for group in groups for requirement in group]

    assert [bound for bound in bounds if re.search(r"<|==|~=|!=", bound)] == []


@pytest.mark.parametrize(
    "step",
    [
        "ruff check",
        "ruff format --check",
        "lint-imports",
        "mypy --strict",
        "manage.py makemigrations --check",
        "DATABASE_URL=sqlite:// python -m pytest",
        "PG_BIN=",
    ],
)
def test_ci_takes_every_step(step):
    lines = (ROOT / ".ci" / "run").read_text().splitlines()

    assert any(step in line and not line.lstrip().startswith("#") for line in lines)


def test_ci_runs_the_tests_as_the_readme_says():
    script = (ROOT / ".ci" / "run").read_text()

    assert "python -m pytest" in (ROOT / "README.md").read_text()
    assert "python -m pytest" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
