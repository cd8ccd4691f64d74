"""An access class that remembers what it was asked, and calls of REST that are sent while it decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentstore.core.access import Access

__all__ = ["Recording", "sender"]


class Recording(Access):
    """Allows everything but ``missing``, and remembers what it was asked."""

    asked: list[tuple[str, str, str]] = []
    missing = ""

    def allows(self, user: Any, tenant: str, capability: str, action: str) -> bool:
        self.asked.append((tenant, capability, action))
        return action != self.missing


def sender(base: str, api_client: Any, settings: Any, monkeypatch: Any) -> Callable[..., Any]:
    """Return what sends a call, (method, path below ``base``, body), while ``Recording`` decides."""
    settings.AGENTSTORE = {"ACCESS": f"{__name__}.Recording"}
    monkeypatch.setattr(Recording, "asked", [])

    def request(call: tuple[str, str, Any], missing: str = "", **headers: str) -> Any:
        method, path, body = call
        monkeypatch.setattr(Recording, "missing", missing)
        if isinstance(body, bytes):
            return api_client.generic(
                "POST", base + path, body, content_type="application/zip", headers=headers
            )
        kind = None if body is None else "json"
        return getattr(api_client, method)(base + path, body, format=kind, headers=headers)

    return request
