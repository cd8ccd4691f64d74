"""OpenAPI for the views of agent files. Imported only where drf-spectacular is an installed app."""

from __future__ import annotations

from agentstore.core.openapi import (
    REASON,
    TableAutoSchema,
    header,
    json_content,
    operations,
    query,
    ref,
    shows,
)
from agentstore.core.tenancy import AGENT_RE
from agentstore.core.values import JSONObject
from agentstore.files.components import COMPONENTS, GIVEN, NAME, TEXT, TIME, WHY, WHY_TEXT
from agentstore.files.importing import POLICIES
from agentstore.files.names import MAX_NAME_BYTES, MAX_SEGMENTS

__all__ = ["Schema"]

_ETAG: JSONObject = {"ETag": {"schema": TEXT, "required": True, "description": "The version, quoted."}}
_LOCATION: JSONObject = {"Location": {"schema": TEXT, "required": True, "description": "Where the file is."}}
_IF_MATCH = header("If-Match", 'Write only if the file is at this version: "3", or * for any.')
_IF_NONE_MATCH = header(
    "If-None-Match", "Write only if the file is not at this version; * writes new files only."
)
_WHY_PARAMETER = query("reason", WHY, **WHY_TEXT)
_CHANGED_ERRORS = (404, 409, 412, 413, 415)
_LINKS: JSONObject = {
    operation: {
        "operationId": operation,
        "parameters": {"agent": "$request.path.agent", "name": "$request.path.name"},
    }
    for operation in ("files_retrieve", "files_destroy", "files_versions", "files_rename", "files_undelete")
}


_operation = operations("files", COMPONENTS)


def _file_as_it_is() -> dict[int, JSONObject]:
    answer = shows("AgentstoreFile", "The file as it is now.")[200]
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
                "text/markdown": {"schema": TEXT},
                "text/plain": {"schema": TEXT},
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
    contents={"text/markdown": GIVEN, "text/plain": GIVEN},
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
    answers=shows("AgentstoreFileImport", "What was done to each file."),
    errors=(409, 413, 415),
)
_EXPORT = _operation(
    "files_export",
    "Export the files as a zip with a manifest.",
    answers={
        200: {
            "description": "The zip.",
            "headers": {"Content-Disposition": {"schema": TEXT, "required": True}},
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
            "pattern": f"^{AGENT_RE.pattern}$",
            "description": "The agent's id.",
        },
        "name": {
            **NAME,
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
            answers=shows("AgentstoreAgents", "The agents."),
        ),
        ("FilesView", "GET"): _operation(
            "files_list",
            "List an agent's files, without their contents.",
            parameters=[query("prefix", "Only names that start with this.", **GIVEN)],
            answers=shows("AgentstoreFiles", "The files, by name."),
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
            answers=shows("AgentstoreFileVersions", "The versions, without their contents."),
            errors=(404,),
        ),
        ("DiffView", "GET"): _operation(
            "files_diff",
            "Compare two versions of a file.",
            parameters=[
                query("a", "The version to compare from.", required=True, type="integer"),
                query("b", "The version to compare with; the current one if left out.", type="integer"),
            ],
            answers=shows("AgentstoreFileDiff", "What changed."),
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
                query("since", "Only changes after this time.", required=True, **TIME),
                query("until", "Only changes until this time.", **TIME),
            ],
            answers=shows("AgentstoreFileChanges", "The changes that are kept."),
        ),
        ("ArchiveView", "GET"): _EXPORT,
        ("ArchiveView", "POST"): _IMPORT,
    }
