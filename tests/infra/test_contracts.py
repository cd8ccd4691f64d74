"""The import contracts hold, and each of them notices what it is there for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


@pytest.fixture
def copied(tmp_path):
    """A copy of the package with its contracts, to break them in; other processes may be compiling it."""
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "agentstore", tmp_path / "agentstore", ignore=compiled)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", LINT], cwd=folder, env=environ, capture_output=True, text=True
    )


def plant(folder: Path, module: str, line: str) -> None:
    """Append ``line`` to a module, which is made if it isn't there."""
    path = folder.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    path.parent.mkdir(exist_ok=True)
    for package in (path.parent / "__init__.py", path):
        package.touch()
    path.write_text(f"{path.read_text()}\n{line}\n")


def test_package_keeps_its_contracts():
    result = lint(ROOT)

    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("agentstore.core.values", "import agentstore.entities.schema", "never upwards"),
        ("agentstore.conf", "import agentstore.core.models", "never upwards"),
        ("agentstore.files.planted", "import agentstore.entities.schema", "never upwards"),
        ("agentstore.strategies.planted", "import agentstore.files.planted", "never upwards"),
        ("agentstore.entities.planted", "import agentstore.tools.planted", "never upwards"),
        ("agentstore.strategies.admin", "import agentstore.overview.admin", "never upwards"),
        ("agentstore.overview.admin", "import agentstore.files.api", "nothing of REST"),
        ("agentstore.entities.store", "import agentstore.entities.api", "In a folder"),
        ("agentstore.entities.forms", "import agentstore.entities.api", "In a folder"),
        ("agentstore.entities.admin", "import agentstore.entities.api", "nothing of REST"),
        ("agentstore.files.api", "import agentstore.files.admin", "nothing of the admin"),
        ("agentstore.entities.portable", "import agentstore.entities.store", "In a folder"),
        ("agentstore.files.models", "import agentstore.files.store", "In a folder"),
        ("agentstore.entities.store", "import rest_framework.exceptions", "urls modules only"),
        ("agentstore.tools.planted", "import drf_spectacular", "urls modules only"),
        ("agentstore.entities.schema", "import django.db", "without Django"),
        ("agentstore.strategies.terms", "import django", "without Django"),
        ("agentstore.core.errors", "import django", "without Django"),
        ("agentstore.remote.client", "import django", "without Django"),
        ("agentstore.remote.client", "import agentstore.core.context", "nothing else of the package"),
        ("agentstore.remote.client", "import agentstore.entities.schema", "nothing else of the package"),
    ],
)
def test_a_forbidden_import_breaks_its_contract(copied, module, line, contract):
    for imported in (line.split()[1], module):
        if imported.startswith("agentstore."):
            plant(copied, imported, "")
    plant(copied, module, line)

    result = lint(copied)

    broken = [text for text in result.stdout.splitlines() if " BROKEN" in text]
    assert result.returncode == 1
    assert any(contract in text for text in broken), result.stdout


@pytest.mark.parametrize(
    "module",
    [
        "agentstore.urls",
        "agentstore.core.api",
        "agentstore.entities.api",
        "agentstore.entities.openapi",
        "agentstore.files.api",
    ],
)
def test_surfaces_may_import_rest_framework(copied, module):
    plant(copied, module, "import rest_framework.views")

    assert lint(copied).returncode == 0


def test_remote_may_import_the_errors_and_values(copied):
    plant(copied, "agentstore.remote.client", "import agentstore.core.errors, agentstore.core.values")

    assert lint(copied).returncode == 0


@pytest.mark.parametrize(("module", "allowed"), [("admin", True), ("store", False)])
def test_the_admin_is_imported_in_admin_modules_only(tmp_path, module, allowed):
    path = tmp_path / "agentstore" / "files" / f"{module}.py"
    path.parent.mkdir(parents=True)
    path.write_text('"""Planted."""\n\nfrom django.contrib import admin\n\nadmin.site.urls\n')
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251"]

    result = subprocess.run(
        [*command, "--config", str(ROOT / "pyproject.toml"), "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert ("TID251" not in result.stdout) is allowed
    assert result.returncode == (0 if allowed else 1), result.stdout + result.stderr
