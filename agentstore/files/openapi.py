"""OpenAPI for the views of agent files. Imported only where drf-spectacular is an installed app."""

from __future__ import annotations

from agentstore.core.context import MAX_REASON
from agentstore.core.openapi import (
    NO_NUL,
    NOT_BLANK,
    REASON,
    Operation,
    TableAutoSchema,
    closed,
    header,
    json_content,
    query,
    ref,
    whole_list,
)
from agentstore.core.values import JSONObject
from agentstore.files.importing import POLICIES
from agentstore.files.names import MAX_NAME_BYTES, MAX_SEGMENTS
from agentstore.files.reading import SOURCES

__all__ = ["Schema"]

_TEXT: JSONObject = {"type": "string"}
_GIVEN: JSONObject = {"type": "string", "pattern": NO_NUL}
_WHY = "Why; people see it in the history."
_WHY_TEXT: JSONObject = {"type": "string", "pattern": NO_NUL, "maxLength": MAX_REASON}
_REASON: JSONObject = {**_WHY_TEXT, "type": ["string", "null"], "description": _WHY}
_SEGMENT = r"[^/\\\u0000-\u001f\u007f-\u009f]+"
#: What a pattern can say of a name; the rest is in the description.
_NAME: JSONObject = {
    "type": "string",
    "format": "agent-file-name",
    "pattern": f"^{_SEGMENT}(/{_SEGMENT}){{0,{MAX_SEGMENTS - 1}}}$",
    "maxLength": MAX_NAME_BYTES,
}
_COUNT: JSONObject = {"type": "integer", "minimum": 0}
_VERSION: JSONObject = {"type": "integer", "minimum": 1}
_TIME: JSONObject = {"type": "string", "format": "date-time"}
_CONTEXT: JSONObject = {"type": "object", "additionalProperties": True}


def _or_null(schema: JSONObject) -> JSONObject:
    return {**schema, "type": [schema["type"], "null"]}


#: What file, version and change have in common: who wrote it, when, how and why.
_WRITTEN: JSONObject = {
    "at": _TIME,
    "actor": _TEXT,
    "source": {"type": "string", "enum": list(SOURCES)},
    "reason": _TEXT,
    "restored_from": {**_or_null(_VERSION), "description": "The version that a restore took it from."},
}
_FILE: JSONObject = {
    "name": {"type": "string", "format": "agent-file-name"},
    "version": _VERSION,
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "size": {**_COUNT, "description": "Bytes of UTF-8."},
    **_WRITTEN,
    "context": _CONTEXT,
    "created_at": _TIME,
    "changed": {"type": "boolean", "description": "Whether a write found anything to do."},
}
_OLDER: JSONObject = {
    **{name: schema for name, schema in _FILE.items() if name not in ("created_at", "changed")},
    "sha256": {"type": "string", "pattern": "^([0-9a-f]{64})?$", "description": "Empty where redacted."},
    "redacted": {"type": "boolean", "description": "Whether the text was blanked out, for good."},
    "redacted_by": _TEXT,
    "redacted_reason": _TEXT,
}
_CHANGE: JSONObject = {
    "name": _TEXT,
    "op": {
        "type": "string",
        "enum": ["created", "changed", "restored", "renamed", "deleted", "undeleted"],
    },
    "version": _VERSION,
    "previous": {**_or_null(_VERSION), "description": "The version before, as far as it is kept."},
    **_WRITTEN,
    "size": _COUNT,
    "previous_size": _or_null(_COUNT),
    "old_name": _or_null(_TEXT),
}
_STEP: JSONObject = {
    "name": _TEXT,
    "action": {
        "type": "string",
        "enum": ["create", "update", "same", "skip", "keep", "delete", "conflict"],
    },
    "version": _or_null(_VERSION),
    "why": _TEXT,
}
_DIFF: JSONObject = {
    "old_label": _TEXT,
    "new_label": _TEXT,
    "added": _COUNT,
    "removed": _COUNT,
    "too_large": {"type": "boolean", "description": "Whether there is too much to show."},
    "only_line_ends": {"type": "boolean", "description": "Whether nothing but line ends differs."},
    "unified": {"type": "string", "description": "As `diff -u` writes it."},
}
_CONTENT: JSONObject = {**_GIVEN, "description": "The text, kept to the byte."}
_ECHOED = {name: {**schema, "readOnly": True} for name, schema in _FILE.items()}
_OLD_NUMBER: JSONObject = {"type": "integer", "description": "The number of an older version."}

_COMPONENTS: dict[str, JSONObject] = {
    "AgentstoreAgents": whole_list(ref("AgentstoreAgent")),
    "AgentstoreAgent": closed({"agent": _TEXT}),
    "AgentstoreFiles": whole_list(ref("AgentstoreFile")),
    "AgentstoreFile": closed(_FILE),
    "AgentstoreFileText": closed({**_FILE, "content": _TEXT}),
    "AgentstoreFileWrite": closed(
        {"content": _CONTENT, "reason": _REASON, **{k: v for k, v in _ECHOED.items() if k != "reason"}},
        optional=["reason", *_ECHOED],
        description="What a read shows beside the content may be sent back, and is ignored.",
    ),
    "AgentstoreFileVersions": whole_list(ref("AgentstoreFileVersion")),
    "AgentstoreFileVersion": closed(_OLDER),
    "AgentstoreFileVersionText": closed({**_OLDER, "content": _TEXT}),
    "AgentstoreFileRestore": closed({"version": _OLD_NUMBER, "reason": _REASON}, optional=["reason"]),
    "AgentstoreFileRedact": closed({"version": _OLD_NUMBER, "reason": {**_WHY_TEXT, "pattern": NOT_BLANK}}),
    "AgentstoreFileRename": closed(
        {"to": {**_NAME, "description": "The new name."}, "reason": _REASON}, optional=["reason"]
    ),
    "AgentstoreFileReason": closed({"reason": _REASON}, optional=["reason"]),
    "AgentstoreFileDiff": closed(_DIFF),
    "AgentstoreFileChanges": whole_list(ref("AgentstoreFileChange")),
    "AgentstoreFileChange": closed(_CHANGE),
    "AgentstoreFileImport": whole_list(ref("AgentstoreFileImportStep")),
    "AgentstoreFileImportStep": closed(_STEP),
}

_ETAG: JSONObject = {"ETag": {"schema": _TEXT, "required": True, "description": "The version, quoted."}}
_LOCATION: JSONObject = {"Location": {"schema": _TEXT, "required": True, "description": "Where the file is."}}
_IF_MATCH = header("If-Match", 'Write only if the file is at this version: "3", or * for any.')
_IF_NONE_MATCH = header(
    "If-None-Match", "Write only if the file is not at this version; * writes new files only."
)
_WHY_PARAMETER = query("reason", _WHY, **_WHY_TEXT)
_CHANGED_ERRORS = (404, 409, 412, 413, 415)
_LINKS: JSONObject = {
    operation: {
        "operationId": operation,
        "parameters": {"agent": "$request.path.agent", "name": "$request.path.name"},
    }
    for operation in ("files_retrieve", "files_destroy", "files_versions", "files_rename", "files_undelete")
}


def _operation(id: str, description: str, **details: object) -> Operation:
    found: dict[str, object] = {
        "id": id,
        "tag": "files",
        "description": description,
        "components": _COMPONENTS,
    }
    return Operation(**{**found, **details})  # type: ignore[arg-type]


def _shows(part: str, description: str) -> dict[int, JSONObject]:
    return {200: {"description": description, "content": json_content(ref(part))}}


def _file_as_it_is() -> dict[int, JSONObject]:
    answer = _shows("AgentstoreFile", "The file as it is now.")[200]
    return {200: {**answer, "headers": _ETAG}}


_READ = _operation(
    "files_retrieve",
    "Read a file, or an older version of it.\n\nJSON with what is known of it, or its text alone where "
    "`Accept` prefers `text/markdown` or `text/plain`.",
    parameters=[
        query("version", "An older version.", type="integer"),
        header("If-None-Match", "The version that you have; 304 if it is still that."),
    ],
    answers={
        200: {
            "description": "The file, or its text.",
            "headers": _ETAG,
            "content": {
                **json_content({"anyOf": [ref("AgentstoreFileText"), ref("AgentstoreFileVersionText")]}),
                "text/markdown": {"schema": _TEXT},
            },
        },
        304: {"description": "It is still at the version that you have.", "headers": _ETAG},
    },
    errors=(404,),
)
_WRITE = _operation(
    "files_write",
    "Write a file, new or existing.\n\nThe body is the text itself, or JSON; an empty body is the empty "
    "text. The text before is kept as a version; the same text makes none.",
    parameters=[_WHY_PARAMETER, _IF_MATCH, _IF_NONE_MATCH, REASON],
    body=ref("AgentstoreFileWrite"),
    contents={"text/markdown": _GIVEN, "text/plain": _GIVEN},
    body_required=False,
    answers={
        200: {**_file_as_it_is()[200], "links": _LINKS},
        201: {
            **_file_as_it_is()[200],
            "description": "The new file.",
            "headers": {**_ETAG, **_LOCATION},
            "links": _LINKS,
        },
    },
    errors=_CHANGED_ERRORS,
)
_IMPORT = _operation(
    "files_import",
    "Import a zip, as a whole or not at all.\n\nA folder of files, with or without the manifest that an "
    "export writes. Unchanged files make no version.",
    parameters=[
        query(
            "policy",
            "What becomes of files that are there with another content. With `seed` they are overwritten "
            "unless somebody changed them since the last seed.",
            type="string",
            enum=list(POLICIES),
            default="fail",
        ),
        query("prune", "Delete the files that are not in the zip.", type="boolean", default=False),
        query("dry_run", "Only say what would be done.", type="boolean", default=False),
        _WHY_PARAMETER,
        REASON,
    ],
    contents={"application/zip": {"type": "string", "contentMediaType": "application/zip"}},
    answers=_shows("AgentstoreFileImport", "What was done to each file."),
    errors=(409, 413, 415),
)
_EXPORT = _operation(
    "files_export",
    "Export the files as a zip with a manifest.",
    answers={
        200: {
            "description": "The zip.",
            "headers": {"Content-Disposition": {"schema": _TEXT, "required": True}},
            "content": {
                "application/zip": {"schema": {"type": "string", "contentMediaType": "application/zip"}}
            },
        }
    },
)


class Schema(TableAutoSchema):
    """Describes the operations on agent files."""

    path_parameters = {
        "agent": {
            "type": "string",
            "format": "agent-id",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}$",
            "description": "The agent's id.",
        },
        "name": {
            **_NAME,
            "description": (
                f"The file's name: a relative path of at most {MAX_NAME_BYTES} bytes and {MAX_SEGMENTS} "
                "segments. Its slashes may stand as they are, or percent-encoded."
            ),
        },
    }
    operations = {
        ("AgentsView", "GET"): _operation(
            "agents_list",
            "List the agents that have files.",
            answers=_shows("AgentstoreAgents", "The agents."),
        ),
        ("FilesView", "GET"): _operation(
            "files_list",
            "List an agent's files, without their contents.",
            parameters=[query("prefix", "Only names that start with this.", **_GIVEN)],
            answers=_shows("AgentstoreFiles", "The files, by name."),
        ),
        ("FileView", "GET"): _READ,
        ("FileView", "PUT"): _WRITE,
        ("FileView", "DELETE"): _operation(
            "files_destroy",
            "Delete a file; it can be undeleted.",
            parameters=[_WHY_PARAMETER, _IF_MATCH, _IF_NONE_MATCH, REASON],
            answers={204: {"description": "It is deleted."}},
            errors=(404, 412),
        ),
        ("VersionsView", "GET"): _operation(
            "files_versions",
            "List the older versions of a file that are kept, newest first.",
            answers=_shows("AgentstoreFileVersions", "The versions, without their contents."),
            errors=(404,),
        ),
        ("DiffView", "GET"): _operation(
            "files_diff",
            "Compare two versions of a file.",
            parameters=[
                query("a", "The version to compare from.", required=True, type="integer"),
                query("b", "The version to compare with; the current one if left out.", type="integer"),
            ],
            answers=_shows("AgentstoreFileDiff", "What changed."),
            errors=(404,),
        ),
        ("RestoreView", "POST"): _operation(
            "files_restore",
            "Write the text of an older version anew: a new version that names its source.",
            parameters=[_IF_MATCH, _IF_NONE_MATCH, REASON],
            body=ref("AgentstoreFileRestore"),
            answers=_file_as_it_is(),
            errors=_CHANGED_ERRORS,
        ),
        ("UndeleteView", "POST"): _operation(
            "files_undelete",
            "Bring the last deleted file of that name back, with its versions.",
            parameters=[REASON],
            body=ref("AgentstoreFileReason"),
            body_required=False,
            answers=_file_as_it_is(),
            errors=(404, 409, 413, 415),
        ),
        ("RenameView", "POST"): _operation(
            "files_rename",
            "Give a file another name: a new version with the same text.",
            parameters=[_IF_MATCH, _IF_NONE_MATCH, REASON],
            body=ref("AgentstoreFileRename"),
            answers=_file_as_it_is(),
            errors=_CHANGED_ERRORS,
        ),
        ("RedactView", "POST"): _operation(
            "files_redact",
            "Blank out the text of an older version, for good; it takes a permission of its own.",
            body=ref("AgentstoreFileRedact"),
            answers={204: {"description": "The text is gone; number, time and author stay."}},
            errors=(404, 413, 415),
        ),
        ("ChangesView", "GET"): _operation(
            "files_changes",
            "List the changes of all files of an agent, newest first.",
            parameters=[
                query("since", "Only changes after this time.", required=True, **_TIME),
                query("until", "Only changes until this time.", **_TIME),
            ],
            answers=_shows("AgentstoreFileChanges", "The changes that are kept."),
        ),
        ("ArchiveView", "GET"): _EXPORT,
        ("ArchiveView", "POST"): _IMPORT,
    }
