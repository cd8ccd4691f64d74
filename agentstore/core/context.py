"""Who is acting, why, and in which run: set once around a block, read by every store. Pure Python.

The tenant is never ambient: it is named when a store is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from agentstore.core.errors import ValidationFailed
from agentstore.core.guards import check_size, dump_json, to_json
from agentstore.core.tenancy import MAX_TENANT, check_label
from agentstore.core.values import NOBODY, Acting, JSONObject, JSONValue, Who, ambient

__all__ = ["MAX_CONTEXT_BYTES", "MAX_REASON", "Acting", "Who", "acting", "checked", "current", "resolve"]

#: The longest reason, in characters.
MAX_REASON = 2000
#: The largest context, in bytes of JSON.
MAX_CONTEXT_BYTES = 8192


def checked(
    *, actor: str | None = None, reason: str | None = None, context: Mapping[str, JSONValue] | None = None
) -> Acting:
    """Return the arguments alone, checked: what a store is made with.

    Raises:
        ValidationFailed: the actor or reason is not text or too long, the context no small object.
    """
    return Acting(
        actor="" if actor is None else check_label(actor, "actor", longest=MAX_TENANT),
        reason="" if reason is None else check_label(reason, "reason", longest=MAX_REASON),
        context={} if context is None else _check_context(context),
    )


def current() -> Acting:
    """Return who is acting in this context (thread, task)."""
    return ambient.get()


@contextmanager
def acting(
    *, actor: str | None = None, reason: str | None = None, context: Mapping[str, JSONValue] | None = None
) -> Iterator[Acting]:
    """Name who acts, why and in which run for every store call inside the block.

    What is not given keeps what an outer block set.

    Raises:
        ValidationFailed: the actor or reason is not text or too long, the context no small object.
    """
    token = ambient.set(resolve(actor=actor, reason=reason, context=context))
    try:
        yield ambient.get()
    finally:
        ambient.reset(token)


def resolve(
    *,
    actor: str | None = None,
    reason: str | None = None,
    context: Mapping[str, JSONValue] | None = None,
    default: Acting | None = None,
) -> Acting:
    """Return what counts: the arguments, else ``default`` (the store's own), else the ambient.

    Raises:
        ValidationFailed: the actor or reason is not text or too long, the context no small object.
    """
    outer, own = ambient.get(), default or NOBODY
    if actor is None and reason is None and context is None and outer is NOBODY:
        return own
    given = checked(actor=actor, reason=reason, context=context)
    return Acting(
        actor=own.actor or outer.actor if actor is None else given.actor,
        reason=own.reason or outer.reason if reason is None else given.reason,
        context=own.context or outer.context if context is None else given.context,
    )


def _check_context(context: Mapping[str, JSONValue]) -> JSONObject:
    plain = to_json(context, path="context")
    if not isinstance(plain, dict):
        raise ValidationFailed(f"context must be an object, found {type(context).__name__}.")
    check_size(dump_json(plain), limit=MAX_CONTEXT_BYTES, what="The context")
    return plain
