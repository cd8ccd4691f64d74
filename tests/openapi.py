"""The project's OpenAPI document, and whether an answer is one that it describes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "put", "patch", "delete")
ERROR = {"$ref": "#/components/schemas/AgentstoreError"}


@functools.cache
def document() -> Any:
    """Return the whole document; it is made once."""
    return SchemaGenerator().get_schema(request=None, public=True)


def operations(prefix: str) -> dict[tuple[str, str], Any]:
    """Return the operations below ``prefix`` by method and path."""
    return {
        (method, path): item[method]
        for path, item in document()["paths"].items()
        if path.startswith(prefix)
        for method in METHODS
        if method in item
    }


def validator(schema: Any) -> Any:
    """Return a validator of a schema that may refer to the document's components."""
    whole = {**schema, "components": document()["components"]}
    return jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker())


def references(part: Any) -> Iterator[str]:
    """Yield every reference in a part of the document."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for item in part:
            yield from references(item)


def check_answer(response: Any, method: str, path: str) -> None:
    """Fail unless the document describes a test client's response to ``method`` of ``path``."""
    found = document()["paths"][path][method]["responses"]
    assert str(response.status_code) in found, (response.status_code, response.content)
    described = found[str(response.status_code)]
    for name, header in described.get("headers", {}).items():
        assert response.has_header(name) or not header.get("required"), name
    if not response.content:
        assert "content" not in described
        return
    media_type = response["Content-Type"].split(";")[0]
    assert media_type in described["content"], media_type
    if media_type == "application/json":
        validator(described["content"][media_type]["schema"]).validate(response.json())


def check_body(body: Any, method: str, path: str) -> None:
    """Fail unless the document allows this JSON as the body of a request."""
    content = document()["paths"][path][method]["requestBody"]["content"]
    validator(content["application/json"]["schema"]).validate(body)
