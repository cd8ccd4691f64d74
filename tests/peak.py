"""How much memory this process has held at most, since it was started."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

__all__ = ["peak_megabytes"]


def peak_megabytes() -> float:
    """Return the most memory that was resident at once.

    Linux hands ``ru_maxrss`` down from the process that started this one, so its own figure there
    is ``VmHWM``.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
