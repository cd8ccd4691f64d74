"""An agent's files as MCP resources: ``agentstore://files/`` and the name, percent-encoded.

They are read through the file tools, so they show what those do, to whom those do: no address can name
another tenant or agent.
"""

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes

import mcp_types as types
from mcp import MCPError

from agentstore.core import errors
from agentstore.core.requests import query_pairs, read_integer
from agentstore.core.values import JSONObject

__all__ = ["MIME_TYPE", "PAGE", "TEMPLATE", "contents", "locate", "refusal", "resource", "uri_of"]

MIME_TYPE = "text/markdown"
#: How many resources a page of the list has.
PAGE = 1000
_PREFIX = "agentstore://files/"

TEMPLATE = types.ResourceTemplate(
    name="file",
    title="A file, or an older version of it",
    uri_template=f"{_PREFIX}{{+name}}{{?version}}",
    description="The text of one of your files by its name, such as notes/day.md; version is optional.",
    mime_type=MIME_TYPE,
)


def uri_of(name: str) -> str:
    """Return the address of a file."""
    return _PREFIX + quote(name, safe="/")


def locate(uri: str) -> JSONObject:
    """Return the arguments that make the tool ``file_read`` read what ``uri`` names.

    Raises:
        NotFound: it is not an address of a file.
        ValidationFailed: the version is not a number.
    """
    path, mark, query = uri.partition("?")
    try:
        name = unquote_to_bytes(path.removeprefix(_PREFIX)).decode()
    except UnicodeError:
        name = ""
    params = query_pairs(query) if mark else []
    if not name or not path.startswith(_PREFIX) or [key for key, _ in params] not in ([], ["version"]):
        raise errors.NotFound(
            f"There is no resource {uri[:300]!r}.",
            hint=f"Files are {_PREFIX} and the name, percent-encoded; ?version=3 asks for an older one.",
        )
    return {"name": name, **{key: read_integer(value, key) for key, value in params}}


def resource(facts: JSONObject) -> types.Resource:
    """Return how a file is listed; ``facts`` is what the tool ``file_list`` says of it."""
    return types.Resource(
        uri=uri_of(facts["name"]),
        name=facts["name"],
        mime_type=MIME_TYPE,
        size=facts["size"],
        annotations=types.Annotations(last_modified=facts["at"]),
        _meta=_version(facts),
    )


def contents(uri: str, found: JSONObject) -> types.TextResourceContents:
    """Return what a client reads at ``uri``; ``found`` is what the tool ``file_read`` gave."""
    return types.TextResourceContents(
        uri=uri, mime_type=MIME_TYPE, text=found["content"], _meta=_version(found)
    )


def _version(facts: JSONObject) -> JSONObject:
    return {"agentstore/version": facts["version"]}


def refusal(error: errors.AgentStoreError, uri: str) -> MCPError:
    """Return the protocol's error for ``error``: reading a resource has no results that are errors."""
    code = types.INTERNAL_ERROR if isinstance(error, errors.StorageFailed) else types.INVALID_PARAMS
    return MCPError(code, error.full_message, {**error.as_dict(), "uri": uri})
