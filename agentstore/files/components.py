"""What OpenAPI says of agent files: the schemas of what goes in and comes out. No operations here."""

from __future__ import annotations

from agentstore.core.context import MAX_REASON
from agentstore.core.openapi import NO_NUL, NOT_BLANK, closed, ref, whole_list
from agentstore.core.values import JSONObject
from agentstore.files.names import MAX_NAME_BYTES, MAX_SEGMENTS
from agentstore.files.reading import SOURCES

__all__ = ["COMPONENTS", "GIVEN", "NAME", "TEXT", "TIME", "WHY", "WHY_TEXT"]

TEXT: JSONObject = {"type": "string"}
GIVEN: JSONObject = {"type": "string", "pattern": NO_NUL}
WHY = "Why; people see it in the history."
WHY_TEXT: JSONObject = {"type": "string", "pattern": NO_NUL, "maxLength": MAX_REASON}
_REASON: JSONObject = {**WHY_TEXT, "type": ["string", "null"], "description": WHY}
_SEGMENT = r"[^/\\\u0000-\u001f\u007f-\u009f]+"
#: What a pattern can say of a name; the rest is in the description.
NAME: JSONObject = {
    "type": "string",
    "format": "agent-file-name",
    "pattern": f"^{_SEGMENT}(/{_SEGMENT}){{0,{MAX_SEGMENTS - 1}}}$",
    "maxLength": MAX_NAME_BYTES,
}
_COUNT: JSONObject = {"type": "integer", "minimum": 0}
_VERSION: JSONObject = {"type": "integer", "minimum": 1}
TIME: JSONObject = {"type": "string", "format": "date-time"}
_CONTEXT: JSONObject = {"type": "object", "additionalProperties": True}


def _or_null(schema: JSONObject) -> JSONObject:
    return {**schema, "type": [schema["type"], "null"]}


#: What file, version and change have in common: who wrote it, when, how and why.
_WRITTEN: JSONObject = {
    "at": TIME,
    "actor": TEXT,
    "source": {"type": "string", "enum": list(SOURCES)},
    "reason": TEXT,
    "restored_from": {**_or_null(_VERSION), "description": "The version that a restore took it from."},
}
_FILE: JSONObject = {
    "name": {"type": "string", "format": "agent-file-name"},
    "version": _VERSION,
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "size": {**_COUNT, "description": "Bytes of UTF-8."},
    **_WRITTEN,
    "context": _CONTEXT,
    "created_at": TIME,
    "changed": {"type": "boolean", "description": "Whether a write found anything to do."},
}
_OLDER: JSONObject = {
    **{name: schema for name, schema in _FILE.items() if name not in ("created_at", "changed")},
    "sha256": {"type": "string", "pattern": "^([0-9a-f]{64})?$", "description": "Empty where redacted."},
    "redacted": {"type": "boolean", "description": "Whether the text was blanked out, for good."},
    "redacted_by": TEXT,
    "redacted_reason": TEXT,
}
_CHANGE: JSONObject = {
    "name": TEXT,
    "op": {
        "type": "string",
        "enum": ["created", "changed", "restored", "renamed", "deleted", "undeleted"],
    },
    "version": _VERSION,
    "previous": {**_or_null(_VERSION), "description": "The version before, as far as it is kept."},
    **_WRITTEN,
    "size": _COUNT,
    "previous_size": _or_null(_COUNT),
    "old_name": _or_null(TEXT),
}
_STEP: JSONObject = {
    "name": TEXT,
    "action": {
        "type": "string",
        "enum": ["create", "update", "same", "skip", "keep", "delete", "conflict"],
    },
    "version": _or_null(_VERSION),
    "why": TEXT,
}
_DIFF: JSONObject = {
    "old_label": TEXT,
    "new_label": TEXT,
    "added": _COUNT,
    "removed": _COUNT,
    "too_large": {"type": "boolean", "description": "Whether there is too much to show."},
    "only_line_ends": {"type": "boolean", "description": "Whether nothing but line ends differs."},
    "unified": {"type": "string", "description": "As `diff -u` writes it."},
}
_CONTENT: JSONObject = {**GIVEN, "description": "The text, kept to the byte."}
_ECHOED = {name: {**schema, "readOnly": True} for name, schema in _FILE.items()}
_OLD_NUMBER: JSONObject = {"type": "integer", "description": "The number of an older version."}

COMPONENTS: dict[str, JSONObject] = {
    "AgentstoreAgents": whole_list(ref("AgentstoreAgent")),
    "AgentstoreAgent": closed({"agent": TEXT}),
    "AgentstoreFiles": whole_list(ref("AgentstoreFile")),
    "AgentstoreFile": closed(_FILE),
    "AgentstoreFileText": closed({**_FILE, "content": TEXT}),
    "AgentstoreFileWrite": closed(
        {"content": _CONTENT, "reason": _REASON, **{k: v for k, v in _ECHOED.items() if k != "reason"}},
        optional=["reason", *_ECHOED],
        description="What a read shows beside the content may be sent back, and is ignored.",
    ),
    "AgentstoreFileVersions": whole_list(ref("AgentstoreFileVersion")),
    "AgentstoreFileVersion": closed(_OLDER),
    "AgentstoreFileVersionText": closed({**_OLDER, "content": TEXT}),
    "AgentstoreFileRestore": closed({"version": _OLD_NUMBER, "reason": _REASON}, optional=["reason"]),
    "AgentstoreFileRedact": closed({"version": _OLD_NUMBER, "reason": {**WHY_TEXT, "pattern": NOT_BLANK}}),
    "AgentstoreFileRename": closed(
        {"to": {**NAME, "description": "The new name."}, "reason": _REASON}, optional=["reason"]
    ),
    "AgentstoreFileReason": closed({"reason": _REASON}, optional=["reason"]),
    "AgentstoreFileDiff": closed(_DIFF),
    "AgentstoreFileChanges": whole_list(ref("AgentstoreFileChange")),
    "AgentstoreFileChange": closed(_CHANGE),
    "AgentstoreFileImport": whole_list(ref("AgentstoreFileImportStep")),
    "AgentstoreFileImportStep": closed(_STEP),
}
