"""Agent files: an agent's prompt and memory files, every change kept as a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentstore.core.lazy import names_of

if TYPE_CHECKING:
    from agentstore.files.reading import agents
    from agentstore.files.store import FileStore

__all__ = ["FileStore", "agents"]

# Resolved on first use (PEP 562), so that the pure modules import without configured settings.
__getattr__ = names_of(__name__, {"FileStore": "store", "agents": "reading"})
