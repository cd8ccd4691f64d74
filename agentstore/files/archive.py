"""An agent's files as a zip or a folder, beside them ``manifest.json``; and back again, to the byte.

Here stands what the bundles look like and what in one is refused: paths that lead out of it, links,
names that are the same but for capitals, and more bytes than an agent may have. What an import does
to the files that are there is decided in ``importing``.
"""

from __future__ import annotations

import io
import json
import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agentstore.conf import settings
from agentstore.core import guards
from agentstore.core.errors import AgentStoreError, AlreadyExists, TooLarge, ValidationFailed
from agentstore.core.normalizing import normalized
from agentstore.core.values import JSONValue, utc_text
from agentstore.files.names import check_name, digest, name_key
from agentstore.files.reading import ReadingFiles
from agentstore.files.zipped import DAMAGED, is_folder, is_resource_fork, path_of

__all__ = ["MANIFEST", "Packed", "export_folder", "export_zip", "read_folder", "read_packed", "read_zip"]

MANIFEST = "manifest.json"
#: What a manifest of ours calls itself; any other ``manifest.json`` is a file like the rest.
FORMAT = "agentstore-files"
MAX_MANIFEST = 4 * 1024 * 1024
#: What operating systems leave in folders; never an agent's file.
DROPPINGS = frozenset({".ds_store", ".git", "__macosx", "thumbs.db", "desktop.ini"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """One file in a bundle: its path, its size as the bundle states it, and how to read so much of it."""

    path: str
    size: int
    read: Callable[[int], bytes]


# --- out --------------------------------------------------------------------------------------------


def export_zip(store: ReadingFiles) -> bytes:
    """Return the agent's live files as a zip with a manifest."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in _bundle(store).items():
            info = zipfile.ZipInfo(path)  # with a fixed date: the same files make the same zip
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def export_folder(store: ReadingFiles, folder: Path) -> int:
    """Write the agent's live files and a manifest into a new or empty folder; return how many files.

    Raises:
        AlreadyExists: there is something at that path already.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise AlreadyExists(f"{folder} exists and is not an empty folder.", hint="Name a new folder.")
    bundle = _bundle(store)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name[:50]}-") as made:
        inside = Path(made) / "files"
        for path, content in bundle.items():
            target = inside.joinpath(*path.split("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        inside.replace(folder)
    return len(bundle) - 1


def _bundle(store: ReadingFiles) -> dict[str, bytes]:
    """Return path -> bytes, the manifest first."""
    contents = store.contents()
    paths = _paths([info.name for info, _ in contents])
    listed = [
        {
            "name": info.name,
            "path": paths[info.name],
            "sha256": info.sha256,
            "size": info.size,
            "version": info.version,
            "at": utc_text(info.at),
            "actor": info.actor,
            "reason": info.reason,
        }
        for info, _ in contents
    ]
    manifest = {"format": FORMAT, "format_version": 1, "agent": store.agent, "files": listed}
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    return {MANIFEST: text.encode(), **{paths[info.name]: text.encode() for info, text in contents}}


def _paths(names: list[str]) -> dict[str, str]:
    """Return name -> path: the name, unless a folder, the manifest or a dropping has that path."""
    keys = {name_key(name) for name in names}
    folders = {key.rsplit("/", n)[0] for key in keys for n in range(1, key.count("/") + 1)}
    paths = {}
    for name in names:
        path = "/".join(part + "~" * (part.casefold() in DROPPINGS) for part in name.split("/"))
        while (
            name_key(path) in folders
            or name_key(path) == MANIFEST
            or (path != name and name_key(path) in keys)
        ):
            path += "~"
        keys.add(name_key(path))
        paths[name] = path
    return paths


# --- in ---------------------------------------------------------------------------------------------


def read_zip(data: bytes) -> dict[str, str]:
    """Return name -> content of every file in a zip.

    Raises:
        ValidationFailed: it is not a zip, or holds what may not be a file; every problem is told.
        TooLarge: it holds more than an agent may have.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_count(len(members))
            return read_packed([_member(archive, info) for info in members if not is_folder(info)])
    except DAMAGED as error:
        guards.refuse("archive", f"The zip can't be read: {error}.")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Packed:
    kind, path = stat.S_IFMT(info.external_attr >> 16), path_of(info)
    problem = ""
    if kind not in (0, stat.S_IFREG):
        problem = "is a link or device"
    elif info.flag_bits & 1:
        problem = "is encrypted"
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = "is compressed in a way that is not supported"
    elif "\0" in path:
        problem = "has a NUL in its name"
    if problem:
        guards.refuse("archive", f"{path[:100]!r} {problem}.")

    def read(most: int) -> bytes:
        with archive.open(info) as file:
            return file.read(most)

    return Packed(path=path, size=info.file_size, read=read)


def read_folder(folder: Path) -> dict[str, str]:
    """Return name -> content of every file in a folder and the folders in it.

    Raises:
        ValidationFailed: it is not a folder, or holds what may not be a file; every problem is told.
        TooLarge: it holds more than an agent may have.
    """
    if not folder.is_dir():
        guards.refuse("folder", f"{folder} is not a folder.")
    packed = []
    for entry in _walk(folder):
        packed.append(_on_disk(folder, entry))
        _check_count(len(packed))
    return read_packed(packed)


def _walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what is not a folder; a link to a folder is not a folder."""
    left = [os.fspath(folder)]
    while left:  # no recursion: folders may stand in each other a thousandfold
        with os.scandir(left.pop()) as entries:
            found = [entry for entry in entries if entry.name.casefold() not in DROPPINGS]
        for entry in sorted(found, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                left.append(entry.path)
            else:
                yield entry


def _on_disk(folder: Path, entry: os.DirEntry[str]) -> Packed:
    path = Path(entry.path).relative_to(folder).as_posix()
    if not entry.is_file(follow_symlinks=False):
        guards.refuse("folder", f"{path[:100]!r} is a link or device.")

    def read(most: int) -> bytes:
        descriptor = os.open(
            entry.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
        with open(descriptor, "rb") as file:
            return file.read(most)

    return Packed(path=path, size=entry.stat(follow_symlinks=False).st_size, read=read)


def _check_count(count: int) -> None:
    most = settings.FILE_MAX_FILES + 1  # the manifest is one more
    if count > 2 * most:  # folders count too
        raise TooLarge(
            f"There are {count:,} entries; an agent has at most {settings.FILE_MAX_FILES:,} files."
        )


def read_packed(packed: Iterable[Packed]) -> dict[str, str]:
    """Return name -> content of the files of a bundle, checked; every problem is told at once.

    Raises:
        ValidationFailed: something in it may not be a file.
        TooLarge: it holds more than an agent may have.
    """
    given = [file for file in packed if not DROPPINGS & set(file.path.casefold().split("/"))]
    files = [file for file in given if not is_resource_fork(file.path, file.read)]
    if len(files) > settings.FILE_MAX_FILES + 1:
        raise TooLarge(f"There are {len(files):,} files; the limit is {settings.FILE_MAX_FILES:,}.")
    first = next((file for file in files if file.path == MANIFEST), None)
    manifest = None if first is None else _manifest(first)
    if manifest is not None:
        files = [file for file in files if file is not first]
    errors: dict[str, list[str]] = {}
    found: dict[str, tuple[str, str]] = {}
    total = 0
    for file in files:
        try:
            name, text = _one(file, manifest)
        except TooLarge:
            raise
        except AgentStoreError as error:
            errors[file.path[:200]] = [error.message]
            continue
        total += len(text.encode())
        if total > settings.FILE_MAX_AGENT_BYTES:
            raise TooLarge(f"The files have more than {settings.FILE_MAX_AGENT_BYTES:,} bytes together.")
        key = name_key(name)
        if key in found:
            errors[file.path] = [f"It has the same name as {found[key][0]!r}, capitals aside."]
        found.setdefault(key, (name, text))
    for path in (
        {} if manifest is None else manifest.keys() - {normalized("NFC", file.path) for file in files}
    ):
        errors[path[:200]] = [f"{MANIFEST} lists it, and it is missing."]
    if errors:
        problems = "; ".join(f"{path}: {messages[0]}" for path, messages in sorted(errors.items())[:5])
        raise ValidationFailed(f"Nothing was read: {problems}", errors=errors)
    return dict(found.values())


def _one(file: Packed, manifest: dict[str, JSONValue] | None) -> tuple[str, str]:
    limit, path = settings.FILE_MAX_BYTES, check_name(file.path)
    entry = {"name": path} if manifest is None else manifest.get(path)
    if entry is None:
        hint = f"Remove {MANIFEST} to import what is there."
        raise ValidationFailed(f"{MANIFEST} does not list it. {hint}", hint=hint)
    name = check_name(entry.get("name"))
    data = file.read(limit + 1) if file.size <= limit else b""
    size = max(file.size, len(data))
    if size > limit:
        raise TooLarge(f"{name!r} has {size:,} bytes; the limit is {limit:,}.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        guards.refuse("content", f"It is not valid UTF-8: byte {error.start} can't be decoded.")
    if manifest is not None and entry.get("sha256") != digest(text):
        hint = f"Remove {MANIFEST} to import what is there."
        raise ValidationFailed(f"It is not what {MANIFEST} says: it was changed since. {hint}", hint=hint)
    return name, guards.check_text(text, "content")


def _manifest(file: Packed) -> dict[str, JSONValue] | None:
    """Return path -> entry of a manifest of ours, None if it is another file of that name.

    Raises:
        ValidationFailed: it is of a later format, or not well formed.
    """
    if file.size > MAX_MANIFEST:
        return None
    try:
        manifest = guards.parse_json(file.read(MAX_MANIFEST).removeprefix(b"\xef\xbb\xbf"))
    except ValidationFailed:
        return None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        return None
    if manifest.get("format_version") != 1:
        guards.refuse(MANIFEST, f"Its format version is {manifest.get('format_version')!r:.50}, not 1.")
    entries = manifest.get("files")
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("path"), str) for entry in entries
    ):
        guards.refuse(MANIFEST, "Its files are not a list of objects with a path.")
    return {normalized("NFC", entry["path"]): entry for entry in entries}
