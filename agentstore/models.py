"""Every model of the app, gathered for Django. The folders define them."""

from agentstore.core.models import AuditEntry, IdempotencyKey, Usage

__all__ = ["AuditEntry", "IdempotencyKey", "Usage"]
