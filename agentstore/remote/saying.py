"""Why and in which run a write happens, as headers carry it. Who acts is for the server to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agentstore.core.values import JSONObject, JSONValue, ambient
from agentstore.remote.encoding import dump_body, header_text, refuse, to_json

__all__ = ["check_actor", "check_context", "check_reason", "why_headers"]


def why_headers(
    own_reason: str,
    own_context: JSONObject,
    *,
    actor: str | None = None,
    reason: str | None = None,
    context: Mapping[str, JSONValue] | None = None,
) -> dict[str, str]:
    """Return the headers of what counts: the call's own, else the store's, else that of the block around.

    Raises:
        ValidationFailed: there is an actor, or the reason or context can't be sent.
    """
    check_actor(actor)
    outer = ambient.get()
    why = own_reason or outer.reason if reason is None else check_reason(reason)
    run = own_context or outer.context if context is None else check_context(context)
    found = {"X-Agentstore-Reason": header_text(why, "reason")} if why else {}
    if run:
        found["X-Agentstore-Context"] = header_text(dump_body(run).decode(), "context")
    return found


def check_actor(actor: object) -> None:
    """Raise ``ValidationFailed`` for any actor: the server names who acts."""
    if actor is not None:
        refuse(
            "actor",
            "Over REST the server says who acts, by who is logged in.",
            "Leave it out, and give the client the credentials of who acts.",
        )


def check_reason(reason: object) -> str:
    """Return a reason; none is empty.

    Raises:
        ValidationFailed: it is not text, or longer than a header may be.
    """
    if reason is None:
        return ""
    if isinstance(reason, str) and "\0" in reason:
        refuse("reason", "The text holds a NUL character.")
    header_text(reason, "reason")  # type: ignore[arg-type]  # refused there
    return cast("str", reason)


def check_context(context: object) -> JSONObject:
    """Return a context as JSON; none is empty.

    Raises:
        ValidationFailed: it is not an object, or longer than a header may be.
    """
    if context is None:
        return {}
    plain = to_json(context, path="context")
    if not isinstance(plain, dict):
        refuse("context", f"Expected an object, found {type(context).__name__}.")
    header_text(dump_body(plain).decode(), "context")
    return plain
