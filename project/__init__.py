"""The demo project: agentstore as a host project uses it."""
