"""What can fail beside the operation: the way to the server and back, and what only a local store does."""

from __future__ import annotations

from agentstore.core.errors import AgentStoreError, StorageFailed

__all__ = ["LocalOnly", "RemoteFailed"]


class RemoteFailed(StorageFailed):
    """The server could not be reached, or gave no answer that can be used.

    ``retryable`` says whether the same call may go through later. ``maybe_done`` is True where a
    write may have happened all the same: look before you repeat it.
    """

    code = "remote"

    def __init__(
        self, message: str, *, hint: str = "", retryable: bool = False, maybe_done: bool = False
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.maybe_done = maybe_done


class LocalOnly(AgentStoreError):
    """The server does not offer this over REST; it takes the models, in the Django project."""

    code = "local_only"
