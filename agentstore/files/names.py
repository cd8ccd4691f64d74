"""The rules for file names and contents: one validator for every way in. Pure Python."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

from agentstore.core import guards
from agentstore.core.errors import TooLarge, ValidationFailed
from agentstore.core.normalizing import normalized

__all__ = [
    "MAX_NAME_BYTES",
    "MAX_SEGMENTS",
    "check_content",
    "check_name",
    "check_size",
    "digest",
    "name_key",
]

MAX_NAME_BYTES = 255
MAX_SEGMENTS = 20
#: Percent-encoded dot, slash and backslash: some server on the way might decode them.
_ENCODED = re.compile(r"%(2e|2f|5c)", re.IGNORECASE)
#: Control, format (bidi marks, zero width), surrogate, line and paragraph separators.
_FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def check_name(name: object) -> str:
    """Return ``name`` in its stored form (NFC).

    Raises:
        ValidationFailed: it is no relative path of 1 to 255 bytes made of ordinary segments.
    """
    if not isinstance(name, str):
        guards.refuse("name", f"A file name is text, found {type(name).__name__}.")
    return _checked(str.__str__(name))


@lru_cache(maxsize=4096)
def _checked(name: str) -> str:
    """Return a name in its stored form; what is refused is not remembered."""
    name = normalized("NFC", name)
    problem = _problem(name)
    if problem:
        raise ValidationFailed(
            f"{name[:100]!r} is not a file name: {problem}.",
            hint="Use a relative path such as SOUL.md or notes/day.md.",
            errors={"name": [f"{problem[0].upper()}{problem[1:]}."]},
        )
    return name


def _problem(name: str) -> str:
    odd = next((char for char in name if unicodedata.category(char) in _FORBIDDEN), None)
    if odd is not None:
        return f"it holds the character U+{ord(odd):04X}"
    size = len(name.encode())
    segments = name.split("/")
    checks = [
        (not name, "it is empty"),
        (size > MAX_NAME_BYTES, f"it has {size:,} bytes, the limit is {MAX_NAME_BYTES}"),
        (name != name.strip(), "it starts or ends with white space"),
        ("\\" in name, "it holds a backslash"),
        (bool(_ENCODED.search(name)), "it holds an encoded dot, slash or backslash"),
        (len(segments) > MAX_SEGMENTS, f"it has {len(segments)} segments, the limit is {MAX_SEGMENTS}"),
        ("" in segments, "it starts or ends with a slash, or has two in a row"),
        ("." in segments or ".." in segments, "it has a segment . or .."),
    ]
    return next((problem for wrong, problem in checks if wrong), "")


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """Return what is unique per agent: the name without the difference of capitals."""
    return normalized("NFC", name.casefold())


def check_content(content: object, *, name: str, agent: str, limit: int) -> str:
    """Return ``content`` unchanged if it may be kept: it is stored to the byte.

    Raises:
        ValidationFailed: it is no ``str``, or holds a NUL or a lone surrogate.
        TooLarge: it has more than ``limit`` bytes of UTF-8.
    """
    where = f"content of {name!r} (agent {agent!r})"
    if not isinstance(content, str):
        raise ValidationFailed(
            f"The {where} must be text, found {type(content).__name__}.",
            hint="Pass a str. Nothing is converted, so that no wrapper is ever stored as its repr.",
            errors={"content": [f"Expected text, found {type(content).__name__}."]},
        )
    content = str.__str__(content)  # a subclass, such as Django's SafeString, becomes its plain text
    guards.check_text(content, "content")
    check_size(len(content.encode()), name=name, agent=agent, limit=limit)
    return content


def check_size(size: int, *, name: str, agent: str, limit: int) -> None:
    """Raise ``TooLarge`` for a content of more than ``limit`` bytes of UTF-8."""
    if size > limit:
        raise TooLarge(
            f"The content of {name!r} (agent {agent!r}) has {size:,} bytes; the limit is {limit:,}.",
            hint="Split it into several files.",
        )


def digest(content: str) -> str:
    """Return the SHA-256 of the content's UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(content.encode()).hexdigest()
