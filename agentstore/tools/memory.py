"""The commands of Anthropic's memory tool (``memory_20250818``) over an agent's files, with its texts.

Pure of the SDK: ``memory_sdk`` wraps it for that. A path ``/memories/x`` is the file ``<root>x``; folders
exist by the files below them. Every writing command is one versioned write with the source ``tool``;
what it does to a whole folder is one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentstore.core import errors
from agentstore.core.values import JSONValue
from agentstore.files.names import check_name, name_key
from agentstore.files.store import FileStore
from agentstore.files.values import FileInfo
from agentstore.files.writing import together
from agentstore.tools.memory_text import (
    format_size,
    lines_at,
    numbered,
    occurrences,
    printable,
    sendable,
    snippet,
    whole,
)

__all__ = ["MemoryCommands", "MemoryFailed"]

TOP = "/memories"
#: How deep a folder is shown.
DEPTH = 2
MAX_LINES = 999_999
COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


class MemoryFailed(errors.AgentStoreError):
    """A command that could not be carried out; the message is the text for the model."""

    code = "memory"


class MemoryCommands:
    """Carries out memory commands on the files of one agent below ``root``, or on all with "".

    Raises:
        ValidationFailed: the root can't be the beginning of a file's name.
    """

    def __init__(self, store: FileStore, *, root: str = "memories/") -> None:
        self.store = store.with_source("tool")
        self.root = "" if root == "" else f"{check_name(_folder(root))}/"

    def run(self, command: Mapping[str, JSONValue]) -> str:
        """Carry out a command and return the text for the model.

        Raises:
            MemoryFailed: it can't be carried out; the message says why, in the documented words.
        """
        name = command.get("command")
        try:
            if name not in COMMANDS:
                raise MemoryFailed(f"Unknown command: {str(name)[:100]}. Valid: {', '.join(COMMANDS)}.")
            text: str = getattr(self, f"_{name}")(command)
        except errors.AgentStoreError as error:
            # What the model sent stands in some texts: a lone surrogate in it could not be sent back.
            raise MemoryFailed(sendable(error.full_message)) from error
        return text

    def clear(self) -> str:
        """Delete every file below the root."""
        self._delete_all(self.store.list(self.root))
        return "All memory cleared"

    # --- commands ---------------------------------------------------------------------------

    def _view(self, command: Mapping[str, JSONValue]) -> str:
        path = self._path(command)
        name = self._name(path)
        content = self.store.read(name) if name else None
        if content is not None:
            return self._numbered(path, content, command.get("view_range"))
        below = self._below(name)
        if not below and name:
            raise MemoryFailed(f"The path {path} does not exist. Please provide a valid path.")
        return self._listing(path, below)

    def _create(self, command: Mapping[str, JSONValue]) -> str:
        path, text = self._path(command), _text(command, "file_text")
        name = self._name(path)
        if not name or self._below(name):
            raise MemoryFailed(f"File {path} already exists")
        self._check_folders(name)
        try:
            self.store.write(name, text, create_only=True)
        except errors.AlreadyExists:
            raise MemoryFailed(f"File {path} already exists") from None
        return f"File created successfully at: {path}"

    def _str_replace(self, command: Mapping[str, JSONValue]) -> str:
        path = self._path(command)
        old, new = _text(command, "old_str"), _text(command, "new_str", default="")
        info, content = self._existing(path)
        places = occurrences(content, old)
        if not places:
            raise MemoryFailed(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if len(places) > 1:
            raise MemoryFailed(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{lines_at(content, places)}. Please ensure it is unique"
            )
        at = places[0]
        changed = content[:at] + new + content[at + len(old) :]
        self._save(path, info, changed)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + snippet(changed, content.count("\n", 0, at))
        )

    def _insert(self, command: Mapping[str, JSONValue]) -> str:
        path, text = self._path(command), _text(command, "insert_text")
        info, content = self._existing(path)
        lines = content.split("\n")
        if lines[-1] == "":
            lines.pop()
        at = whole(command.get("insert_line"))
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at <= len(lines):
            raise MemoryFailed(
                f"Invalid `insert_line` parameter: {at!r:.40}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        # One newline at the end is the line's own; blank lines beyond it are kept.
        lines.insert(at, text.removesuffix("\n"))
        self._save(path, info, "\n".join(lines) + "\n")
        return f"The file {path} has been edited."

    def _delete(self, command: Mapping[str, JSONValue]) -> str:
        path = self._path(command)
        name = self._name(path)
        if not name:
            raise MemoryFailed(f"Cannot delete the {TOP} directory itself")
        if not self.store.delete(name):
            below = self._below(name)
            if not below:
                raise MemoryFailed(f"The path {path} does not exist")
            self._delete_all(below)
        return f"Successfully deleted {path}"

    def _rename(self, command: Mapping[str, JSONValue]) -> str:
        old_path, new_path = self._path(command, "old_path"), self._path(command, "new_path")
        old, new = self._name(old_path), self._name(new_path)
        if not old:
            raise MemoryFailed(f"Cannot rename the {TOP} directory itself")
        info = self.store.info(old)
        if info is not None:
            moves = {info.name: new}
        else:
            moves = {below.name: f"{new}{below.name[len(old) :]}" for below in self._below(old)}
        if not new or self._is_taken(new, info):
            raise MemoryFailed(f"The destination {new_path} already exists")
        if not moves:
            raise MemoryFailed(f"The path {old_path} does not exist")
        self._check_folders(new)
        if new.startswith(f"{old}/"):
            raise MemoryFailed(f"Cannot move {old_path} into itself")
        try:
            self._rename_all(moves)
        except errors.AlreadyExists:
            raise MemoryFailed(f"The destination {new_path} already exists") from None
        except errors.NotFound:  # deleted or renamed meanwhile
            raise MemoryFailed(f"The path {old_path} does not exist") from None
        return f"Successfully renamed {old_path} to {new_path}"

    # --- paths and texts ----------------------------------------------------------------------

    def _path(self, command: Mapping[str, JSONValue], key: str = "path") -> str:
        path = command.get(key)
        if not isinstance(path, str):
            raise MemoryFailed(f"The argument {key} is missing: it is a path that starts with {TOP}.")
        if path != TOP and not path.startswith(f"{TOP}/"):
            raise MemoryFailed(f"Path must start with {TOP}, got: {printable(path)}")
        if any(part in (".", "..") for part in path.split("/")):
            raise MemoryFailed(f"Path {printable(path)} would escape {TOP} directory")
        self._checked(path)
        return path

    def _checked(self, path: str) -> str:
        rest = path[len(TOP) :].strip("/")
        try:
            return check_name(f"{self.root}{rest}") if rest else ""
        except errors.ValidationFailed as error:
            raise MemoryFailed(f"Invalid path {printable(path)}: {error.message}") from error

    def _name(self, path: str) -> str:
        """Return the name of a path's file, or "" for the root."""
        return self._checked(path)

    def _below(self, name: str) -> list[FileInfo]:
        return self.store.list(f"{name}/" if name else self.root)

    def _is_taken(self, name: str, moved: FileInfo | None) -> bool:
        """Tell whether something has the name, other than a file that only gets other capitals."""
        there = self.store.info(name)
        if there is not None and moved is not None and name_key(moved.name) == name_key(name):
            return there.name == name
        return there is not None or bool(self._below(name))

    def _check_folders(self, name: str) -> None:
        """Refuse a name below a file: a file is not a folder."""
        parts = name[len(self.root) :].split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if self.store.info(f"{self.root}{folder}") is not None:
                raise MemoryFailed(f"The path {TOP}/{folder} is a file, not a directory.")

    def _delete_all(self, files: list[FileInfo]) -> None:
        with together(self.store, [info.name for info in files]) as held:
            for info in held:
                self.store.delete(info.name, expected_version=info.version)

    def _rename_all(self, moves: Mapping[str, str]) -> None:
        with together(self.store, [*moves, *moves.values()]) as held:
            versions = {info.name: info.version for info in held}
            for old, new in moves.items():
                self.store.rename(old, new, expected_version=versions.get(old))

    def _existing(self, path: str) -> tuple[FileInfo, str]:
        name = self._name(path)
        info = self.store.info(name) if name else None
        content = None if info is None else self.store.read(info.name)
        if info is None or content is None:
            if not name or self._below(name):
                raise MemoryFailed(f"The path {path} is not a file.")
            raise MemoryFailed(f"The path {path} does not exist. Please provide a valid path.")
        return info, content

    def _save(self, path: str, info: FileInfo, content: str) -> None:
        try:
            self.store.write(info.name, content, expected_version=info.version)
        except (errors.Conflict, errors.AlreadyExists):  # or only its capitals were
            raise MemoryFailed("The file was changed by someone else meanwhile. View it again.") from None
        except errors.NotFound:
            raise MemoryFailed(f"The path {path} does not exist. Please provide a valid path.") from None

    def _numbered(self, path: str, content: str, view_range: Any) -> str:
        lines, first, last = content.split("\n"), 1, None
        if len(lines) > MAX_LINES:
            raise MemoryFailed(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
        ends = [whole(end) for end in view_range] if isinstance(view_range, list) else []
        if len(ends) == 2 and all(type(end) is int for end in ends):
            first = max(1, ends[0])
            last = None if ends[1] == -1 else max(ends[1], 0)
        shown = lines[first - 1 : last]
        return f"Here's the content of {path} with line numbers:\n{numbered(shown, first)}"

    def _listing(self, path: str, below: list[FileInfo]) -> str:
        """Return a folder two levels deep: sizes in bytes below, hidden names left out."""
        base = self._name(path)
        skip = len(base) + 1 if base else len(self.root)
        sizes: dict[str, int] = {}
        for info in below:
            parts = info.name[skip:].split("/")
            if any(part.startswith(".") for part in parts):
                continue
            for depth in range(1, min(len(parts), DEPTH) + 1):
                entry = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
                sizes[entry] = sizes.get(entry, 0) + info.size
        total = sum(info.size for info in below)
        shown = [f"{format_size(total)}\t{path}"]
        shown += [
            f"{format_size(sizes[entry])}\t{path.rstrip('/')}/{entry}"
            for entry in sorted(sizes, key=lambda entry: entry.rstrip("/").split("/"))
        ]
        head = (
            f"Here're the files and directories up to {DEPTH} levels deep in {path}, excluding hidden items:"
        )
        return "\n".join([head, *shown])


def _folder(root: str) -> str:
    return root.removesuffix("/") if isinstance(root, str) else root


def _text(command: Mapping[str, JSONValue], key: str, *, default: str | None = None) -> str:
    value = command.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise MemoryFailed(f"The argument {key} is missing: it is a text.")
    return value
