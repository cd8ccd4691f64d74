"""Entity stores of another server over REST: the methods, results and errors of the local ones.

Needs ``httpx`` (the extra ``remote``), and no Django.
"""

from __future__ import annotations

try:
    import httpx as _httpx  # noqa: F401
except ModuleNotFoundError as _error:  # pragma: no cover - the tests' own environment has it
    raise ModuleNotFoundError(
        "agentstore.remote needs httpx: pip install 'django-agentstore[remote]'", name=_error.name
    ) from _error

from agentstore.remote.aio import AsyncRemoteStore
from agentstore.remote.client import AsyncEntityClient, EntityClient
from agentstore.remote.failures import LocalOnly, RemoteFailed
from agentstore.remote.store import RemoteStore

__all__ = [
    "AsyncEntityClient",
    "AsyncRemoteStore",
    "EntityClient",
    "LocalOnly",
    "RemoteFailed",
    "RemoteStore",
]
