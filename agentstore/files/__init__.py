"""Agent files: an agent's prompt and memory files, every change kept as a version."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentstore.files.reading import agents
    from agentstore.files.store import FileStore

__all__ = ["FileStore", "agents"]

# Resolved on first use (PEP 562), so that the pure modules import without configured settings.
_HOMES = {"FileStore": "store", "agents": "reading"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
