"""The commands of Anthropic's memory tool (``memory_20250818``) over an agent's files, with its texts.

Pure of the SDK: ``memory_sdk`` wraps it for that. A path ``/memories/x`` is the file ``<root>x``; folders
exist by the files below them. Every writing command is one versioned write with the source ``tool``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentstore.core import errors
from agentstore.core.values import JSONValue
from agentstore.files.names import check_name
from agentstore.files.store import FileStore
from agentstore.files.values import FileInfo

__all__ = ["MemoryCommands", "MemoryFailed"]

TOP = "/memories"
LINE_NUMBER_WIDTH = 6
#: How deep a folder is shown.
DEPTH = 2
COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")


class MemoryFailed(errors.AgentStoreError):
    """A command that could not be carried out; the message is the text for the model."""

    code = "memory"


class MemoryCommands:
    """Carries out memory commands on the files of one agent below ``root``."""

    def __init__(self, store: FileStore, *, root: str = "memories/") -> None:
        self.store = store.with_source("tool")
        self.root = root if root.endswith("/") or not root else f"{root}/"

    def run(self, command: Mapping[str, JSONValue]) -> str:
        """Carry out a command and return the text for the model.

        Raises:
            MemoryFailed: it can't be carried out; the message says why, in the documented words.
        """
        name = command.get("command")
        if name not in COMMANDS:
            raise MemoryFailed(f"Unknown command: {str(name)[:100]}. Valid: {', '.join(COMMANDS)}.")
        try:
            text: str = getattr(self, f"_{name}")(command)
        except MemoryFailed:
            raise
        except errors.AgentStoreError as error:
            raise MemoryFailed(f"{error.message} {error.hint}".strip()) from error
        return text

    def clear(self) -> str:
        """Delete every file below the root."""
        for info in self.store.list(self.root):
            self.store.delete(info.name)
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
        name = self._file_name(path)
        if self._below(name):
            raise MemoryFailed(f"File {path} already exists")
        try:
            self.store.write(name, text, create_only=True)
        except errors.AlreadyExists:
            raise MemoryFailed(f"File {path} already exists") from None
        return f"File created successfully at: {path}"

    def _str_replace(self, command: Mapping[str, JSONValue]) -> str:
        path = self._path(command)
        old, new = _text(command, "old_str"), _text(command, "new_str", default="")
        info, content = self._existing(path)
        places = _occurrences(content, old)
        if not places:
            raise MemoryFailed(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(content.count("\n", 0, place) + 1) for place in places)
            raise MemoryFailed(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        at = places[0]
        changed = content[:at] + new + content[at + len(old) :]
        self._save(info, changed)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _snippet(changed, content.count("\n", 0, at))
        )

    def _insert(self, command: Mapping[str, JSONValue]) -> str:
        path, text = self._path(command), _text(command, "insert_text")
        info, content = self._existing(path)
        lines = content.split("\n")
        if lines[-1] == "":
            lines.pop()
        at = command.get("insert_line")
        if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at <= len(lines):
            raise MemoryFailed(
                f"Invalid `insert_line` parameter: {str(at)[:40]}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        # One newline at the end is the line's own; blank lines beyond it are kept.
        lines.insert(at, text.removesuffix("\n"))
        self._save(info, "\n".join(lines) + "\n")
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
            for info in below:
                self.store.delete(info.name)
        return f"Successfully deleted {path}"

    def _rename(self, command: Mapping[str, JSONValue]) -> str:
        old_path, new_path = self._path(command, "old_path"), self._path(command, "new_path")
        old, new = self._name(old_path), self._file_name(new_path)
        if not old:
            raise MemoryFailed(f"Cannot rename the {TOP} directory itself")
        if self.store.info(new) is not None or self._below(new):
            raise MemoryFailed(f"The destination {new_path} already exists")
        if self.store.info(old) is not None:
            moves = {old: new}
        else:
            moves = {info.name: f"{new}{info.name[len(old) :]}" for info in self._below(old)}
        if not moves:
            raise MemoryFailed(f"The path {old_path} does not exist")
        for source, target in moves.items():
            self.store.rename(source, target)
        return f"Successfully renamed {old_path} to {new_path}"

    # --- paths and texts ----------------------------------------------------------------------

    def _path(self, command: Mapping[str, JSONValue], key: str = "path") -> str:
        path = command.get(key)
        if not isinstance(path, str):
            raise MemoryFailed(f"The argument {key} is missing: it is a path that starts with {TOP}.")
        if path != TOP and not path.startswith(f"{TOP}/"):
            raise MemoryFailed(f"Path must start with {TOP}, got: {_printable(path)}")
        if any(part in (".", "..") for part in path.split("/")):
            raise MemoryFailed(f"Path {_printable(path)} would escape {TOP} directory")
        self._checked(path)
        return path

    def _checked(self, path: str) -> str:
        rest = path[len(TOP) :].strip("/")
        try:
            return check_name(f"{self.root}{rest}") if rest else ""
        except errors.ValidationFailed as error:
            raise MemoryFailed(f"Invalid path {_printable(path)}: {error.message}") from error

    def _name(self, path: str) -> str:
        """Return the name of a path's file, or "" for the root."""
        return self._checked(path)

    def _file_name(self, path: str) -> str:
        name = self._checked(path)
        if not name:
            raise MemoryFailed(f"The path {path} is not a file.")
        return name

    def _below(self, name: str) -> list[FileInfo]:
        return self.store.list(f"{name}/" if name else self.root)

    def _existing(self, path: str) -> tuple[FileInfo, str]:
        name = self._name(path)
        info = self.store.info(name) if name else None
        content = None if info is None else self.store.read(info.name)
        if info is None or content is None:
            if not name or self._below(name):
                raise MemoryFailed(f"The path {path} is not a file.")
            raise MemoryFailed(f"The path {path} does not exist. Please provide a valid path.")
        return info, content

    def _save(self, info: FileInfo, content: str) -> None:
        try:
            self.store.write(info.name, content, expected_version=info.version)
        except errors.Conflict:
            raise MemoryFailed("The file was changed by someone else meanwhile. View it again.") from None

    def _numbered(self, path: str, content: str, view_range: Any) -> str:
        lines, first, last = content.split("\n"), 1, None
        if isinstance(view_range, list) and len(view_range) == 2 and all(type(n) is int for n in view_range):
            first = max(1, view_range[0])
            last = None if view_range[1] == -1 else max(view_range[1], 0)
        shown = lines[first - 1 : last]
        numbered = [f"{number:>{LINE_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(shown, first)]
        return f"Here's the content of {path} with line numbers:\n" + "\n".join(numbered)

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
        shown += [f"{format_size(size)}\t{path.rstrip('/')}/{entry}" for entry, size in sorted(sizes.items())]
        head = (
            f"Here're the files and directories up to {DEPTH} levels deep in {path}, excluding hidden items:"
        )
        return "\n".join([head, *shown])


def format_size(size: int) -> str:
    """Return a size as the tool shows it: 0B, 512B, 1.5K."""
    if not size:
        return "0B"
    power = min((size.bit_length() - 1) // 10, 3)
    value = size / 1024**power
    return f"{int(value) if value == int(value) else round(value, 1)}{'BKMG'[power]}"


def _text(command: Mapping[str, JSONValue], key: str, *, default: str | None = None) -> str:
    value = command.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise MemoryFailed(f"The argument {key} is missing: it is a text.")
    return value


def _occurrences(content: str, old: str) -> list[int]:
    """Return where ``old`` occurs, overlaps included."""
    found: list[int] = []
    at = content.find(old) if old else -1
    while at >= 0:
        found.append(at)
        at = content.find(old, at + 1)
    return found


def _snippet(content: str, line: int) -> str:
    lines = content.split("\n")
    first = max(0, line - 2)
    shown = lines[first : min(len(lines), line + 3)]
    return "\n".join(f"{number:>{LINE_NUMBER_WIDTH}}\t{text}" for number, text in enumerate(shown, first + 1))


def _printable(path: str) -> str:
    return path[:200].encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
