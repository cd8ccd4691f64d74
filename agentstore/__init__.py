"""Durable, tenant-scoped state for LLM agents inside Django projects."""

from agentstore.core.context import acting

__all__ = ["__version__", "acting"]
__version__ = "0.1.0"
