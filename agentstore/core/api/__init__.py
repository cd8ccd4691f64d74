"""What every REST view shares: JSON in and out, access, error bodies. It holds no business rules.

Everything that decides about the body is pinned here, so that a host's own REST settings can't change
it; authentication and throttles stay the host's.
"""

from __future__ import annotations

from agentstore.core.api.bodies import JSONRenderer, StrictJSONParser
from agentstore.core.api.failing import STATUS, exception_handler
from agentstore.core.api.views import NoSuchAddressView, StoreView, StoreViewSet, described_by
from agentstore.core.requests import TENANT_HEADER

__all__ = [
    "STATUS",
    "TENANT_HEADER",
    "JSONRenderer",
    "NoSuchAddressView",
    "StoreView",
    "StoreViewSet",
    "StrictJSONParser",
    "described_by",
    "exception_handler",
]
