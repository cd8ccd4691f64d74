"""What whole stories share: each back end that the database has."""

from __future__ import annotations

import pytest

from tests.entities.conftest import BACKENDS


@pytest.fixture(params=BACKENDS)
def backend(request, settings):
    """Run the story once with each back end."""
    settings.AGENTSTORE = {**settings.AGENTSTORE, "BACKEND": request.param}
    return request.param
