"""OpenAPI for the views of tools. Imported only where drf-spectacular is an installed app."""

from __future__ import annotations

from agentstore.core.openapi import (
    REASON,
    Operation,
    TableAutoSchema,
    header,
    json_content,
    query,
    ref,
    whole_list,
)
from agentstore.core.tenancy import AGENT_RE
from agentstore.core.values import JSONObject
from agentstore.tools.jsonschema import KEY_RE
from agentstore.tools.spec import DIALECTS

__all__ = ["Schema"]

_ANY_OBJECT: JSONObject = {"type": "object", "additionalProperties": True}
_LIST = whole_list({**_ANY_OBJECT, "description": "A definition, in the form of the dialect."})
_COMPONENTS: dict[str, JSONObject] = {
    "AgentstoreTools": {
        **_LIST,
        "properties": {
            **_LIST["properties"],
            "instructions": {"type": "string", "description": "A few sentences for the system prompt."},
        },
        "required": [*_LIST["required"], "instructions"],
    },
    "AgentstoreToolArguments": {
        **_ANY_OBJECT,
        "description": "The arguments, as the tool's definition describes them.",
    },
    "AgentstoreToolResult": {**_ANY_OBJECT, "description": "The result, as the tool's output schema says."},
}
_WHICH: list[JSONObject] = [
    query(
        "agent",
        "The agent whose files there are tools for; without it there are none on files.",
        type="string",
        format="agent-id",
        pattern=f"^{AGENT_RE.pattern}$",
    ),
    query(
        "writable",
        "A glob of files that may be written, such as `notes/*`; repeat it for more. Default: none.",
        type="array",
        items={"type": "string"},
    ),
    query("read_only", "Leave out what writes.", type="boolean", default=False),
    query("strict", "OpenAI's strict variant: null means not given.", type="boolean", default=False),
    query("generic", "One set of tools for all entities.", type="boolean", default=False),
]
_DIALECT = query(
    "dialect", "The form of the definitions.", type="string", enum=list(DIALECTS), default=DIALECTS[-1]
)
_KEY = header(
    "Idempotency-Key",
    "Makes a create happen once: the same key and arguments again give the same result, for a day.",
    minLength=1,
    maxLength=255,
)


class Schema(TableAutoSchema):
    """Describes the list of tools, and their call."""

    path_parameters = {
        "name": {
            "type": "string",
            "pattern": f"^{KEY_RE.pattern}$",
            "description": "The tool's name.",
        }
    }
    operations = {
        ("ToolsView", "GET"): Operation(
            id="tools_list",
            tag="tools",
            description=(
                "List the tools that you may use.\n\nThey are derived from the entities, files and "
                "strategies; what you may not do there is left out."
            ),
            parameters=[_DIALECT, *_WHICH],
            answers={
                200: {"description": "The definitions.", "content": json_content(ref("AgentstoreTools"))}
            },
            components=_COMPONENTS,
        ),
        ("ToolView", "POST"): Operation(
            id="tools_call",
            tag="tools",
            description="Call a tool.\n\nThe body is its arguments. The parameters are those of the list.",
            parameters=[*_WHICH, _KEY, REASON],
            body=ref("AgentstoreToolArguments"),
            body_required=False,
            answers={
                200: {"description": "What it did.", "content": json_content(ref("AgentstoreToolResult"))}
            },
            errors=(404, 409, 413, 415),
            components=_COMPONENTS,
        ),
    }
