"""Every model of the app, gathered for Django. The folders define them."""

from agentstore.core.models import AuditEntry, IdempotencyKey, Usage
from agentstore.files.models import AgentFile, HistoricalAgentFile
from agentstore.strategies.models import Incident, Strategy

__all__ = [
    "AgentFile",
    "AuditEntry",
    "HistoricalAgentFile",
    "IdempotencyKey",
    "Incident",
    "Strategy",
    "Usage",
]
