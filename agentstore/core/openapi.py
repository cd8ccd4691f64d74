"""OpenAPI for views without serializers: each view says what an operation is, in plain JSON Schema.

Imported only where drf-spectacular is an installed app; the views work without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.settings import spectacular_settings

from agentstore.core.context import MAX_REASON
from agentstore.core.oas30 import document_30, schema_30
from agentstore.core.requests import CONTEXT_HEADER, REASON_HEADER, TENANT_HEADER
from agentstore.core.values import JSONObject

__all__ = [
    "ENCODED_PATTERN",
    "NOT_BLANK",
    "NO_NUL",
    "REASON",
    "Operation",
    "StoreAutoSchema",
    "TableAutoSchema",
    "closed",
    "header",
    "json_content",
    "operations",
    "query",
    "ref",
    "shows",
    "whole_list",
]

#: Text that a database can hold; stated, so that nobody has to find out.
NO_NUL = r"^[^\u0000]*$"
#: The same, with something in it.
NOT_BLANK = r"^[^\u0000]*[^\s\u0000][^\u0000]*$"

#: Visible ASCII and percent-encoded UTF-8, no blank at either end: a part of what is taken, but all true.
_CHARACTER = (
    r"([!-$&-~]|%2[1-9A-Fa-f]|%[3-6][0-9A-Fa-f]|%7[0-9A-Ea-e]"
    r"|(%[Cc][3-9A-Fa-f]|%[Dd][0-9A-Fa-f])%[89ABab][0-9A-Fa-f])"
)
ENCODED_PATTERN = f"^({_CHARACTER}|%20)*$"
TENANT_PATTERN = f"^{_CHARACTER}(({_CHARACTER}|%20)*{_CHARACTER})?$"
_ERRORS = {
    400: "The request does not fit; nothing was written.",
    401: "The request says nobody's name.",
    403: "You may not do this.",
    404: "There is no such thing for this tenant.",
    409: "It conflicts with what is there; nothing was written.",
    412: "A condition of If-Match or If-None-Match failed; nothing was written.",
    413: "The body or the row is too large; nothing was written.",
    415: "The body is of a media type that is not listed.",
    429: "Too many requests.",
    503: "The database did not carry it out.",
}
ERROR: JSONObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "code": {"type": "string", "description": "Stable, for programs."},
        "detail": {"type": "string", "description": "What happened."},
        "hint": {"type": "string", "description": "What to do next."},
        "errors": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
            "description": "Dotted path to messages.",
        },
        "current_version": {"type": "integer", "description": "The version that the row is at."},
    },
    "required": ["code", "detail"],
}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What one method of one address does. ``answers`` maps status to response object.

    ``body`` is the schema of a JSON body, ``contents`` what else a body may be: media type to schema.
    """

    id: str
    tag: str
    description: str
    parameters: list[JSONObject] = field(default_factory=list)
    body: JSONObject | None = None
    contents: dict[str, JSONObject] = field(default_factory=dict)
    body_required: bool = True
    answers: dict[int, JSONObject] = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    components: dict[str, JSONObject] = field(default_factory=dict)


def ref(name: str) -> JSONObject:
    """Return a reference to a component schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def json_content(schema: JSONObject) -> JSONObject:
    """Return the content of a JSON body."""
    return {"application/json": {"schema": schema}}


def shows(part: str, description: str) -> dict[int, JSONObject]:
    """Return the answers of an operation that shows a component."""
    return {200: {"description": description, "content": json_content(ref(part))}}


def operations(tag: str, components: dict[str, JSONObject]) -> Callable[..., Operation]:
    """Return what makes the operations of one tag: of an id, a description and more of its details."""

    def operation(id: str, description: str, **details: Any) -> Operation:
        return Operation(id=id, tag=tag, description=description, components=components, **details)

    return operation


def header(name: str, description: str, **schema: Any) -> JSONObject:
    """Return an optional request header."""
    return {"name": name, "in": "header", "description": description, "schema": {"type": "string", **schema}}


#: A write's reason; ``agentstore.core.requests`` reads it.
REASON = header(
    REASON_HEADER,
    f"Why, percent-encoded; audited. {CONTEXT_HEADER} takes a small JSON object that names the run.",
    pattern=ENCODED_PATTERN,
    maxLength=MAX_REASON,
)


def query(name: str, description: str, *, required: bool = False, **schema: Any) -> JSONObject:
    """Return a parameter of the query string."""
    found: JSONObject = {"name": name, "in": "query", "description": description, "schema": schema}
    return {**found, "required": True} if required else found


def closed(properties: JSONObject, *, optional: Iterable[str] = (), description: str = "") -> JSONObject:
    """Return the schema of an object with these properties and no others, all there but the ``optional``."""
    found: JSONObject = {"type": "object", "additionalProperties": False, "properties": properties}
    required = [name for name in properties if name not in set(optional)]
    if required:
        found["required"] = required
    return {**found, "description": description} if description else found


def whole_list(item: JSONObject) -> JSONObject:
    """Return the schema of a list that has no pages."""
    return closed(
        {
            "results": {"type": "array", "items": item},
            "next": {"type": "null"},
            "next_cursor": {"type": "null"},
            "limit": {"type": "integer", "minimum": 0, "description": "How many there are."},
        }
    )


def _with_enums_apart(name: str, schema: JSONObject) -> dict[str, JSONObject]:
    """Return a component, and each enum of its properties as a component named after it.

    Spectacular's hook would name them by the property alone, warn where two entities' differ, and
    write into schemas that are not its own.
    """
    apart: dict[str, JSONObject] = {}
    for key, prop in schema.get("properties", {}).items():
        holder = prop.get("items", prop) if prop.get("type") == "array" else prop
        if isinstance(holder, dict) and "enum" in holder:
            apart[f"{name}.{key}"] = {word: holder.pop(word) for word in ("type", "enum") if word in holder}
            holder["$ref"] = f"#/components/schemas/{name}.{key}"
    return {name: schema, **apart}


def _is_30() -> bool:
    """Tell whether the project's document is one of OpenAPI 3.0: 3.1 must be asked for."""
    return str(spectacular_settings.OAS_VERSION).startswith("3.0")


class StoreAutoSchema(AutoSchema):
    """Builds an operation from what ``operation`` returns; spectacular adds the security."""

    def operation(self) -> Operation:
        """Return what ``self.method`` of ``self.view`` does."""
        raise NotImplementedError

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any
    ) -> JSONObject | None:
        self.registry, self.path, self.method = registry, path, method.upper()
        self.path_regex, self.path_prefix = path_regex, path_prefix
        found = self.operation()
        for name, schema in {**found.components, "AgentstoreError": ERROR}.items():
            for part, described in _with_enums_apart(name, deepcopy(schema)).items():
                self._register(part, schema_30(described) if _is_30() else described)
        document: JSONObject = {
            "operationId": found.id,
            "description": found.description.replace("``", "`"),
            "summary": found.description.splitlines()[0].rstrip(".").replace("`", ""),
            "parameters": deepcopy([*self._path_parameters(), *found.parameters, self._tenant()]),
            "tags": [found.tag],
            "responses": deepcopy(self._responses(found)),
        }
        content = {} if found.body is None else json_content(found.body)
        content |= {media_type: {"schema": schema} for media_type, schema in found.contents.items()}
        if content:
            document["requestBody"] = deepcopy({"content": content, "required": found.body_required})
        if _is_30():
            document = document_30(document)
        security = self.get_auth()
        return {**document, "security": security} if security else document

    def _register(self, name: str, schema: JSONObject) -> None:
        kind = ResolvedComponent.SCHEMA
        component = ResolvedComponent(name, kind, schema=schema, object=name)  # type: ignore[no-untyped-call]
        self.registry.register_on_missing(component)

    def _path_parameters(self) -> list[JSONObject]:
        return [self._path_parameter(name) for name in re.findall(r"{(\w+)}", self.path)]

    def _path_parameter(self, name: str) -> JSONObject:
        schema = dict(self.path_schema(name))
        about = {"description": schema.pop("description")} if "description" in schema else {}
        return {"name": name, "in": "path", "required": True, **about, "schema": schema}

    def path_schema(self, name: str) -> JSONObject:
        """Return the schema of a parameter in the path."""
        return {"type": "string"}

    def _tenant(self) -> JSONObject:
        about = "The tenant to work on, percent-encoded, for those who may name one. Default: your own."
        return header(TENANT_HEADER, about, pattern=TENANT_PATTERN, minLength=1, maxLength=255)

    def _responses(self, found: Operation) -> JSONObject:
        errors = {*found.errors, 400, 401, 403, 503} | ({429} if self.view.throttle_classes else set())
        content = json_content(ref("AgentstoreError"))
        answers = {**found.answers, **{s: {"description": _ERRORS[s], "content": content} for s in errors}}
        return {str(status): answers[status] for status in sorted(answers)}


class TableAutoSchema(StoreAutoSchema):
    """Describes the views of a module by a table: the name of the view and the method."""

    operations: ClassVar[Mapping[tuple[str, str], Operation]] = {}
    #: The schemas of the parameters in the paths.
    path_parameters: ClassVar[Mapping[str, JSONObject]] = {}

    def operation(self) -> Operation:
        return self.operations[type(self.view).__name__, self.method]

    def path_schema(self, name: str) -> JSONObject:
        return self.path_parameters.get(name) or super().path_schema(name)
