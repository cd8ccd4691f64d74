"""Agentstore's tools in the frameworks that people build agents with, and a run without any account."""
