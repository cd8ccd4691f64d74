"""The tools of an agent's files: list, read, versions, and, where globs allow it, write and replace."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import asdict
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from agentstore.core.errors import PermissionDenied
from agentstore.core.values import JSONObject, utc_text
from agentstore.files.names import check_name
from agentstore.files.store import FileStore
from agentstore.tools.jsonschema import object_schema
from agentstore.tools.spec import Tool, describing

__all__ = ["check_globs", "file_tools"]

_NAME: JSONObject = {"type": "string", "description": "The file's name, such as notes/day.md."}
_EXPECTED: JSONObject = {
    "type": "integer",
    "description": "The version that you read. If the file was changed since, nothing is written.",
}
_FACTS: JSONObject = {
    "name": {"type": "string"},
    "version": {"type": "integer"},
    "size": {"type": "integer", "description": "Bytes of UTF-8."},
    "at": {"type": "string", "format": "date-time"},
    "actor": {"type": "string"},
    "reason": {"type": "string"},
}


def _facts(value: Any) -> JSONObject:
    """Return what a model needs to know of a file or version."""
    shown = {name: item for name, item in asdict(value).items() if name in _FACTS}
    return {name: utc_text(item) if isinstance(item, datetime) else item for name, item in shown.items()}


def check_globs(writable: object) -> None:
    """Raise ``ImproperlyConfigured`` for what is not a list of globs."""
    if isinstance(writable, str):  # its letters would be taken for globs
        raise ImproperlyConfigured(f"writable is a list of globs, found the text {writable!r}.")
    if not isinstance(writable, Collection) or not all(isinstance(glob, str) for glob in writable):
        raise ImproperlyConfigured(f"writable is a list of globs, found {writable!r:.100}.")


def file_tools(store: FileStore, *, writable: Sequence[str], read_only: bool) -> Iterable[Tool]:
    """Return the tools of one agent's files; without ``writable`` globs they only read."""
    globs = sorted(writable) if isinstance(writable, Set) else writable  # the same in every process
    writable = [unicodedata.normalize("NFC", glob) for glob in globs]  # as the names are
    yield _list(store)
    yield _read(store)
    yield _versions(store)
    if writable and not read_only:
        yield _write(store, writable)
        yield _replace(store, writable)


def _allow(name: str, writable: Sequence[str]) -> str:
    checked = check_name(name)
    if not any(_matches(checked, glob) for glob in writable):
        raise PermissionDenied(
            f"The file {checked!r} may not be written.", hint=f"Writable: {', '.join(writable)}."
        )
    return checked


def _matches(name: str, glob: str) -> bool:
    """Tell whether a glob means a name; ``*`` stands for folders too, and ``**/`` also for none."""
    return fnmatchcase(name, glob) or ("**/" in glob and fnmatchcase(name, glob.replace("**/", "")))


def _list(store: FileStore) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        return {"files": [_facts(info) for info in store.list(arguments.get("prefix", ""))]}

    prefix: JSONObject = {"type": "string", "description": "Only names that start with this."}
    return Tool(
        name="file_list",
        title="List files",
        description="List your files: name, version, size, last change and by whom. Without their contents.",
        input_schema=object_schema({"prefix": prefix}),
        output_schema=object_schema(
            {"files": {"type": "array", "items": object_schema(_FACTS, _FACTS)}}, ["files"]
        ),
        handler=handle,
        read_only=True,
        idempotent=True,
    )


def _read(store: FileStore) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        info = store.info(arguments["name"])
        if info is None:
            raise store.not_found(arguments["name"])
        version = arguments.get("version", info.version)
        return {"name": info.name, "version": version, "content": store.need_content(info.name, version)}

    version: JSONObject = {"type": "integer", "description": "An older version; the current one if left out."}
    properties: JSONObject = {name: _FACTS[name] for name in ("name", "version")} | {
        "content": {"type": "string"}
    }
    return Tool(
        name="file_read",
        title="Read a file",
        description="Read the whole text of one of your files, or of an older version of it.",
        input_schema=object_schema({"name": _NAME, "version": version}, ["name"]),
        output_schema=object_schema(properties, properties),
        handler=handle,
        read_only=True,
        idempotent=True,
    )


def _versions(store: FileStore) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        info = store.info(arguments["name"])
        if info is None:
            raise store.not_found(arguments["name"])
        return {"current": _facts(info), "versions": [_facts(item) for item in store.versions(info.name)]}

    facts = object_schema(_FACTS, _FACTS)
    return Tool(
        name="file_versions",
        title="List the versions of a file",
        description="List the older versions of one of your files, newest first: when, by whom and why.",
        input_schema=object_schema({"name": _NAME}, ["name"]),
        output_schema=object_schema(
            {"current": facts, "versions": {"type": "array", "items": facts}}, ["current", "versions"]
        ),
        handler=handle,
        read_only=True,
        idempotent=True,
    )


def _write(store: FileStore, writable: Sequence[str]) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        info = store.write(
            _allow(arguments["name"], writable),
            arguments["content"],
            expected_version=arguments.get("expected_version"),
            reason=arguments.get("reason"),
        )
        return {"file": _facts(info), "changed": info.changed}

    properties: JSONObject = {
        "name": _NAME,
        "content": {"type": "string", "description": "The whole new text; it is kept to the byte."},
        "expected_version": _EXPECTED,
        "reason": {"type": "string", "description": "Why you write it; people see this in the history."},
    }
    return Tool(
        name="file_write",
        title="Write a file",
        description=describing(
            "Write the whole text of a file, new or existing. The text before is kept as a version. "
            "Writable: ",
            f"{', '.join(writable)}.",
            "",
        ),
        input_schema=object_schema(properties, ["name", "content"]),
        output_schema=_written(),
        handler=handle,
        destructive=True,
        idempotent=True,
    )


def _replace(store: FileStore, writable: Sequence[str]) -> Tool:
    def handle(arguments: JSONObject, call_id: str | None) -> JSONObject:
        name = _allow(arguments["name"], writable)
        stored = store.info(name)  # its capitals may be others, and then the globs mean those
        name = name if stored is None else _allow(stored.name, writable)
        info = store.replace(name, arguments["old"], arguments["new"], reason=arguments.get("reason"))
        return {"file": _facts(info), "changed": info.changed}

    properties: JSONObject = {
        "name": _NAME,
        "old": {"type": "string", "description": "Text that occurs exactly once in the file."},
        "new": {"type": "string", "description": "What takes its place."},
        "reason": {"type": "string", "description": "Why you change it; people see this in the history."},
    }
    return Tool(
        name="file_replace",
        title="Replace text in a file",
        description=describing(
            "Replace one piece of text in a file; it must occur exactly once, letter by letter. Writable: ",
            f"{', '.join(writable)}.",
            "",
        ),
        input_schema=object_schema(properties, ["name", "old", "new"]),
        output_schema=_written(),
        handler=handle,
        destructive=True,
    )


def _written() -> JSONObject:
    return object_schema(
        {"file": object_schema(_FACTS, _FACTS), "changed": {"type": "boolean"}}, ["file", "changed"]
    )
