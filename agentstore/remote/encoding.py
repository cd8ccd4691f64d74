"""Turns what callers hand over into what a request carries, and refuses what no request can carry.

The rules of the data itself (the schema, sizes, NUL characters) are the server's alone.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Set
from typing import NoReturn
from urllib.parse import quote
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from agentstore.core.errors import ValidationFailed
from agentstore.core.values import JSONValue

__all__ = [
    "check_key",
    "check_name",
    "check_tenant",
    "check_text",
    "check_version",
    "dump_body",
    "header_text",
    "parse_id",
    "refuse",
    "to_json",
]

#: How deep objects and arrays may nest, the outermost counted as 1.
MAX_DEPTH = 64
#: CPython turns no integer of more than 4,300 digits into text.
_BOUND = 10**4300
#: The longest header that web servers commonly take is 8 KiB, its name included.
MAX_HEADER = 8000
_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_VISIBLE = "!#$&'()*+,-./:;=?@[]^_`{|}~\""


def refuse(path: str, problem: str, hint: str = "") -> NoReturn:
    """Raise ``ValidationFailed`` for the value at ``path`` (dotted; empty for the whole value)."""
    where = f"{path}: " if path else ""
    raise ValidationFailed(f"{where}{problem}", hint=hint, errors={path: [problem]})


def to_json(value: object, *, path: str = "", left: int = MAX_DEPTH + 1) -> JSONValue:
    """Return ``value`` as JSON, Python values in their customary form.

    Raises:
        ValidationFailed: something in it has no JSON form, with the path of the offender.
    """
    if isinstance(value, enum.Enum):
        return to_json(value.value, path=path, left=left)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return _number(value, path)
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="python", by_alias=True, round_trip=True, warnings=False)
    if isinstance(value, Mapping | list | tuple | Set):
        if left < 1:
            refuse(path, "The value is nested too deeply.", f"At most {MAX_DEPTH} levels are kept.")
        return _container(value, path, left - 1)
    try:
        plain = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        refuse(path, f"A {type(value).__name__} has no JSON form.")
    return to_json(plain, path=path, left=left)


def _number(value: float, path: str) -> JSONValue:
    if isinstance(value, int) and not -_BOUND < value < _BOUND:
        refuse(path, "The number has more than 4,300 digits.")
    if isinstance(value, float) and not math.isfinite(value):
        refuse(path, f"{value} is not a JSON number.", "Send null or a finite number.")
    return value


def _container(value: object, path: str, left: int) -> JSONValue:
    prefix = f"{path}." if path else ""
    if isinstance(value, Mapping):
        return {
            _key(key, path): to_json(item, path=f"{prefix}{key}", left=left) for key, item in value.items()
        }
    items = value if isinstance(value, list | tuple) else sorted(value, key=repr)  # type: ignore[call-overload]
    return [to_json(item, path=f"{prefix}{number}", left=left) for number, item in enumerate(items)]


def _key(key: object, path: str) -> str:
    key = key.value if isinstance(key, enum.Enum) else key
    if not isinstance(key, str):
        refuse(path, f"The key {key!r} is not text: JSON objects have text keys.")
    return key


def dump_body(value: JSONValue) -> bytes:
    """Return JSON as a body carries it; a lone surrogate, which the server refuses by its path, escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def header_text(text: str, name: str) -> str:
    """Return ``text`` as a header carries it: percent-encoded UTF-8.

    Raises:
        ValidationFailed: it is not text that UTF-8 can hold, or longer than servers take.
    """
    encoded = quote(check_text(text, name), safe=_VISIBLE)
    if len(encoded) > MAX_HEADER:
        refuse(name, f"It takes {len(encoded):,} characters of a header; servers take {MAX_HEADER:,}.")
    return encoded


def check_text(value: object, name: str) -> str:
    """Return ``value`` if it is text that UTF-8 can hold.

    Raises:
        ValidationFailed: it is not.
    """
    if not isinstance(value, str):
        refuse(name, f"Expected text, found {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        refuse(name, f"The text holds a lone surrogate at position {error.start}.")
    return value


def check_tenant(value: object) -> str:
    """Return ``value`` if it may name a tenant.

    Raises:
        ValidationFailed: it is not text, empty, longer than 255 characters, starts or ends with
            white space, or holds a control character.
    """
    text = check_text(value, "tenant")
    if not text:
        refuse("tenant", "The tenant is empty.")
    if len(text) > 255:
        refuse("tenant", f"It has {len(text):,} characters; the limit is 255.")
    if text != text.strip() or any(unicodedata.category(char) == "Cc" for char in text):
        refuse("tenant", f"{text!r} starts or ends with white space, or holds a control character.")
    return text


def check_name(value: object) -> str:
    """Return ``value`` if it may be the public name of an entity.

    Raises:
        ValidationFailed: it may not.
    """
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        hint = "Give the name that REST shows, such as reminders."
        refuse("name", f"{value!r:.100} is not the name of an entity.", hint)
    return value


def check_key(key: object) -> str:
    """Return an idempotency key as its header carries it: as it is where it is plain ASCII.

    Raises:
        ValidationFailed: it is not text, empty, or longer than 255 characters.
    """
    text = check_text(key, "idempotency_key")
    if not text or "\0" in text:
        refuse("idempotency_key", "The key holds a NUL character." if text else "The key is empty.")
    if len(text) > 255:
        refuse("idempotency_key", f"The key has {len(text):,} characters; the limit is 255.")
    encoded = quote(text, safe=_VISIBLE)
    return encoded if len(encoded) <= 255 else f"sha256.{hashlib.sha256(text.encode()).hexdigest()}"


def check_version(version: object, name: str) -> int | None:
    """Return ``version``, an int within what a version can be, or None.

    Raises:
        ValidationFailed: it is something else.
    """
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        refuse(name, f"Expected a whole number, found {version!r:.100}.")
    return None if version is None else max(0, min(version, 2**31 - 1))


def parse_id(id: object) -> UUID | None:
    """Return ``id`` as a UUID; anything that is none is None, and so as unknown as a strange id."""
    if isinstance(id, UUID):
        return id
    return UUID(id) if isinstance(id, str) and _ID.fullmatch(id) else None
