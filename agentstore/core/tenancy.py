"""The rules for tenants, agents and actors: who something belongs to and who acts. Pure Python."""

from __future__ import annotations

import re
import unicodedata

from agentstore.core.errors import ValidationFailed
from agentstore.core.guards import check_text

__all__ = ["AGENT_RE", "MAX_TENANT", "check_agent", "check_label", "check_tenant", "is_tenant"]

#: The longest tenant and actor, in characters.
MAX_TENANT = 255
AGENT_RE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}", re.ASCII)


def check_tenant(value: object) -> str:
    """Return ``value`` if it may name a tenant: compared exactly, never trimmed or normalised.

    Raises:
        ValidationFailed: it is not text, empty, longer than 255 characters, starts or ends with
            white space, or holds a control character.
    """
    return _checked(value, "tenant", MAX_TENANT)


def is_tenant(value: object) -> bool:
    """Tell whether ``value`` may name a tenant."""
    try:
        check_tenant(value)
    except ValidationFailed:
        return False
    return True


def check_agent(value: object) -> str:
    """Return ``value`` if it may name an agent inside a tenant (``AGENT_RE``, case-sensitive).

    Raises:
        ValidationFailed: it does not match.
    """
    if not isinstance(value, str) or not AGENT_RE.fullmatch(value):
        raise ValidationFailed(
            f"{value!r} is not an agent id.",
            hint="Use 1 to 64 letters, digits and . _ : @ -, starting with a letter or digit.",
            errors={"agent": ["This is not an agent id."]},
        )
    return str.__str__(value)


def check_label(value: object, name: str, *, longest: int) -> str:
    """Return ``value`` if it is text of at most ``longest`` characters; empty means "not given".

    Raises:
        ValidationFailed: it is not text, or too long.
    """
    text = check_text(value, name)
    if len(text) > longest:
        raise ValidationFailed(
            f"{name} has {len(text):,} characters; the limit is {longest:,}.",
            errors={name: [f"At most {longest:,} characters."]},
        )
    return text


def _checked(value: object, name: str, longest: int) -> str:
    text = check_label(value, name, longest=longest)
    problem = ""
    if not text:
        problem = f"The {name} is empty."
    elif text != text.strip():
        problem = f"The {name} {text!r} starts or ends with white space."
    elif any(unicodedata.category(char) == "Cc" for char in text):
        problem = f"The {name} {text!r} holds a control character."
    if problem:
        raise ValidationFailed(problem, errors={name: [problem]})
    return text
