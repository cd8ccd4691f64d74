"""Agent files over REST. A file's address is its name below ``files/``; its text goes to the byte."""

from __future__ import annotations

from agentstore.files.api.acts import RedactView, RenameView, RestoreView, UndeleteView
from agentstore.files.api.archive import ArchiveView
from agentstore.files.api.files import AgentsView, ChangesView, DiffView, FilesView, FileView, VersionsView

__all__ = [
    "AgentsView",
    "ArchiveView",
    "ChangesView",
    "DiffView",
    "FileView",
    "FilesView",
    "RedactView",
    "RenameView",
    "RestoreView",
    "UndeleteView",
    "VersionsView",
]
