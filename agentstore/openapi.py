"""The groups of the OpenAPI document, for a project that wants them in order and described.

Name it in the project's settings, beside the hook that is there by default::

    SPECTACULAR_SETTINGS = {"POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums", "agentstore.openapi.describe_groups"]}
"""

from __future__ import annotations

from typing import Any

from agentstore.core.values import JSONObject
from agentstore.entities.registry import all_entities

__all__ = ["describe_groups"]


def describe_groups(result: JSONObject, **context: Any) -> JSONObject:
    """Return the document with our groups behind the project's own: entities, files, strategies, tools.

    A group without operations, or that the project describes itself, is left alone.
    """
    used = {
        tag
        for item in result["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
        for tag in operation.get("tags", ())
    }
    own = result.get("tags", [])
    left = used - {tag["name"] for tag in own}
    return {**result, "tags": [*own, *(group for group in _groups() if group["name"] in left)]}


def _groups() -> list[JSONObject]:
    entities = {model.entity.name: " ".join(model.entity.description.split()) for model in all_entities()}
    texts = {
        "entities": "What there is.",
        **entities,
        "files": "The prompt and memory files of agents, with every version.",
        "strategies": "Short lessons that worked, found again by the words of an objective.",
        "tools": "All of this as tools for language models.",
    }
    return [{"name": name, "description": text} for name, text in texts.items()]
