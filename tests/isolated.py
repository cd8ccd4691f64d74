"""Code that must run in a process of its own: without settings, or with a host's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "run_python"]

ROOT = Path(__file__).resolve().parent.parent
#: What the surrounding test run has set and a process of its own must not inherit.
_OWN = ("DJANGO_SETTINGS_MODULE", "COV_CORE_DATAFILE", "COV_CORE_SOURCE")


def run_python(
    *arguments: str, cwd: Path = ROOT, check: bool = True, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run ``python -c CODE`` (or ``python ARGUMENTS``) and return what it printed.

    ``environ`` is added to the environment, without Django's settings in it.
    """
    inherited = {key: value for key, value in os.environ.items() if key not in _OWN}
    path = os.pathsep.join([str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])])
    command = ["-c", *arguments] if len(arguments) == 1 else [*arguments]
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=cwd,
        env={**inherited, "PYTHONPATH": path, **environ},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if check and done.returncode:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done
